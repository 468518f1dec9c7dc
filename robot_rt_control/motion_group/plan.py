"""A planned motion of one part over path time, and what can be made of plans: one after the other, slower, braked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from robot_rt_control.vocabulary.errors import DefinitionError

State = tuple[np.ndarray, np.ndarray, np.ndarray]

_MOST_SAMPLES = 100_000
"""Samples of a dense check: a plan of many pieces gets fewer in each."""
_JOIN_TOLERANCE = 1e-9
"""[rad or m] by which a plan may begin beside the end of the one before."""
_FLOOR = 0.1
"""As in realtime/tick/speed.py: this fraction of the acceleration always brakes, so that a stop always ends."""


class Plan(Protocol):
    """A motion to rest, and from rest or with a velocity. It is not changed after it was made, and can be pickled."""

    @property
    def duration(self) -> float:
        """[s]"""
        ...

    @property
    def dof(self) -> int: ...

    def sample(self, times: np.ndarray) -> State:
        """Positions, velocities, accelerations at path times.

        Args:
            times: (n,) [s]; before 0 and after `duration` it is as at its exact start and end.

        Returns:
            q, v, a: each (n, dof) [rad or m, per s, per s²].
        """
        ...

    def breaks(self) -> np.ndarray:
        """(m,) path times from 0 to `duration`, increasing, between which the motion is smooth."""
        ...


def dense_times(plan: Plan, *, per_piece: int = 64) -> np.ndarray:
    """Path times at all breaks of a plan and evenly between them, for checks."""
    breaks = plan.breaks()
    n = max(min(per_piece, _MOST_SAMPLES // len(breaks)), 4)
    fractions = np.arange(n) / n
    between = breaks[:-1, None] + np.diff(breaks)[:, None] * fractions
    return np.append(between.ravel(), breaks[-1])


def shortest_text(duration: float) -> str:
    """A shortest duration [s] for an error text, rounded up: this very number is long enough."""
    return f"{math.ceil(duration * 1e6) / 1e6:.6f} s"


def refuse_shorter(what: str, duration: float, shortest: float) -> None:
    """Raise DefinitionError if a given duration [s] is below the shortest."""
    if not duration >= shortest * (1.0 - 1e-12) or not math.isfinite(duration):
        raise DefinitionError(
            f"{what}: duration",
            expected=f"at least {shortest_text(shortest)}",
            got=f"{duration:g} s",
            hint="Give more time, or raise speed, acceleration or jerk",
        )


@dataclass(frozen=True, eq=False)
class _Sequence:
    plans: tuple[Plan, ...]
    starts: np.ndarray  # (m,) [s]
    duration: float
    dof: int

    def sample(self, times: np.ndarray) -> State:
        times = np.clip(np.asarray(times, float), 0.0, self.duration)
        which = np.searchsorted(self.starts, times, side="right") - 1
        q, v, a = (np.empty((len(times), self.dof)) for _ in range(3))
        for k in np.unique(which):
            here = which == k
            q[here], v[here], a[here] = self.plans[k].sample(times[here] - self.starts[k])
        if len(times):
            last = times >= self.duration  # rounding of the starts must not miss the exact end
            q[last], v[last], a[last] = self.plans[-1].sample(np.array([self.plans[-1].duration]))
        return q, v, a

    def breaks(self) -> np.ndarray:
        times = [start + plan.breaks() for start, plan in zip(self.starts, self.plans, strict=True)]
        return np.unique(np.clip(np.concatenate(times), 0.0, self.duration))


def sequence(plans: Sequence[Plan]) -> Plan:
    """Plans one after the other.

    Raises:
        DefinitionError: there is none, the numbers of joints differ, or one begins elsewhere than the one before ends.
    """
    if not plans:
        raise DefinitionError("a sequence of motions", expected="at least one", got="none")
    for k in range(1, len(plans)):
        if plans[k].dof != plans[0].dof:
            raise DefinitionError(
                f"motion {k + 1} of a sequence", expected=f"{plans[0].dof} joints", got=str(plans[k].dof)
            )
        end = plans[k - 1].sample(np.array([plans[k - 1].duration]))[0][0]
        start = plans[k].sample(np.zeros(1))[0][0]
        j = int(np.argmax(np.abs(start - end)))
        if not abs(start[j] - end[j]) <= _JOIN_TOLERANCE:
            raise DefinitionError(
                f"motion {k + 1} of a sequence begins elsewhere than the one before ends: joint {j}",
                expected=f"{end[j]:.6g}",
                got=f"{start[j]:.6g}",
            )
    durations = [plan.duration for plan in plans]
    starts = np.concatenate(([0.0], np.cumsum(durations)))
    return _Sequence(tuple(plans), starts[:-1], float(starts[-1]), plans[0].dof)


@dataclass(frozen=True, eq=False)
class _Stretched:
    plan: Plan
    duration: float

    @property
    def dof(self) -> int:
        return self.plan.dof

    @property
    def rate(self) -> float:
        return self.plan.duration / self.duration

    def sample(self, times: np.ndarray) -> State:
        times = np.asarray(times, float)
        inner = np.where(times >= self.duration, self.plan.duration, times * self.rate)
        q, v, a = self.plan.sample(inner)
        return q, v * self.rate, a * self.rate**2

    def breaks(self) -> np.ndarray:
        if self.rate == 0.0:
            return np.array([0.0, self.duration])
        return np.append(self.plan.breaks()[:-1] / self.rate, self.duration)


def stretched(plan: Plan, duration: float) -> Plan:
    """The same motion over a longer time: velocities k times, accelerations k² times, jerks k³ times smaller.

    Raises:
        DefinitionError: `duration` [s] is shorter than the plan's, or not finite.
    """
    refuse_shorter("motion through points", duration, plan.duration)
    return plan if duration <= plan.duration else _Stretched(plan, float(duration))


def braking_rate(plan: Plan, acceleration: np.ndarray) -> float:
    """The constant rate at which path time may be slowed down and sped up anywhere on a plan.

    Path time runs at r, from 1 (as planned) to 0 (at rest), with |dr/dt| at most the result ρ. The acceleration of a
    joint is then q'' r² ± q' ρ, at most |q''| + |q'| ρ. So ρ is the smallest (A - |q''|) / |q'| on the plan.
    _FLOOR of A is left to ρ even where the plan needs more. Then the acceleration exceeds A by at most that.

    Args:
        plan: with velocity q' and acceleration q'' at path times.
        acceleration: (dof,) A: the loop's own limit, not what the plan was made with.

    Returns:
        ρ [1/s]; inf: nothing moves. Rest is reached after 1 / ρ [s], 1 / (2 ρ) of path time.
    """
    _, v, a = plan.sample(dense_times(plan, per_piece=256))
    speed = np.abs(v)
    left = np.maximum(acceleration - np.abs(a), _FLOOR * np.asarray(acceleration))
    with np.errstate(over="ignore"):
        rates = np.divide(left, speed, out=np.full_like(left, np.inf), where=speed > 0.0)
    return float(rates.min(initial=np.inf))
