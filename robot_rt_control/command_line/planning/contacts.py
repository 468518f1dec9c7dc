"""When each pair of a plan touches, and where virtual forces found that contact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robot_rt_control.planning import Plan

TOUCHING = 2e-3
"""[m] Below this distance a pair counts as in contact."""


@dataclass(frozen=True, kw_only=True)
class Contact:
    """One pair of a plan."""

    pair: str
    intervals: tuple[tuple[float, float], ...]
    """[s] Begin and end of each contact."""
    nearest: float
    """[m] Least φ."""
    nearest_at: float
    """[s]"""
    virtual_force: float
    """[N] Greatest γ of the iterate that the plan was made from."""
    virtual_at: float
    """[s] When that was."""


def contacts_of(plan: Plan) -> list[Contact]:
    """Contacts of each pair, in the order of the plan."""
    step = plan.header["time"] / plan.header["steps"]
    found = []
    for i, pair in enumerate(plan.header["pairs"]):
        phi, force = plan.distance[:, i], plan.virtual_force[:, i]
        nearest, strongest = int(phi.argmin()), int(force.argmax())
        found.append(
            Contact(
                pair=pair,
                intervals=_intervals([bool(value < TOUCHING) for value in phi], step),
                nearest=float(phi[nearest]),
                nearest_at=nearest * step,
                virtual_force=float(force[strongest]),
                virtual_at=strongest * step,
            )
        )
    return found


def _intervals(touching: list[bool], step: float) -> tuple[tuple[float, float], ...]:
    found: list[tuple[float, float]] = []
    begin = None
    for i, touches in enumerate([*touching, False]):
        if touches and begin is None:
            begin = i
        elif not touches and begin is not None:
            found.append((begin * step, (i - 1) * step))
            begin = None
    return tuple(found)
