"""What a joint measured and was commanded in each cycle, and what can be read from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_STILL = 5
"""Cycles with the same command that show that the joint is held."""


@dataclass(frozen=True, kw_only=True)
class Trace:
    """Cycles in their order; each array has shape (n,)."""

    seconds: np.ndarray
    """When the cycle was; of a constant period."""
    measured: np.ndarray
    """Position that the cycle began with [rad]."""
    commanded: np.ndarray
    """Position that the cycle ended with [rad]."""
    behaviour: np.ndarray | None = None
    """Number of the action that commanded, if it is known."""


def first_beyond(trace: Trace, threshold: float) -> int:
    """The first cycle that measures more than the threshold.

    Raises:
        ValueError: there is none.
    """
    found = np.flatnonzero(trace.measured > threshold)
    if not len(found):
        raise ValueError(f"the joint was never beyond {threshold}: {trace.measured.max():.3f} at most")
    return int(found[0])


def switched_at(trace: Trace, begin: int) -> int:
    """The first cycle, from `begin` on, that another behaviour commands.

    If the numbers of the behaviours are not known: the first one whose command stays, as the other behaviour holds.

    Raises:
        ValueError: there is none.
    """
    if trace.behaviour is not None:
        others = np.flatnonzero(trace.behaviour[begin:] != trace.behaviour[begin - 1])
    else:
        same = np.abs(np.diff(trace.commanded[begin:])) == 0.0
        held = np.lib.stride_tricks.sliding_window_view(same, _STILL).all(axis=1) if len(same) >= _STILL else same[:0]
        others = np.flatnonzero(held)
    if not len(others):
        raise ValueError("no other behaviour has commanded since")
    return begin + int(others[0])


def largest_acceleration(trace: Trace) -> float:
    """Largest absolute acceleration of the commands [rad/s²], over cycles that follow each other."""
    steps = np.diff(trace.seconds)
    period = float(np.median(steps))
    whole = np.abs(steps - period) < 0.5 * period  # else cycles between them are missing
    changes = np.abs(np.diff(trace.commanded, 2))[whole[1:] & whole[:-1]]
    return float(changes.max()) / period**2
