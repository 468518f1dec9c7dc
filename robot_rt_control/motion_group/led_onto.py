"""A plan that begins beside its own start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_rt_control.motion_group.limits import PlanLimits
from robot_rt_control.motion_group.plan import Plan, State
from robot_rt_control.motion_group.trajectory import CurvePlan, curve_through
from robot_rt_control.vocabulary.errors import DefinitionError

BLEND_TIME = 0.25
"""[s] in which a difference at the start vanishes."""


@dataclass(frozen=True, eq=False)
class _LedOnto:
    """A plan, and a difference at its start that vanishes."""

    plan: Plan
    difference: Plan

    @property
    def duration(self) -> float:
        return self.plan.duration

    @property
    def dof(self) -> int:
        return self.plan.dof

    def sample(self, times: np.ndarray) -> State:
        q, v, a = self.plan.sample(times)
        dq, dv, da = self.difference.sample(times)
        return q + dq, v + dv, a + da

    def breaks(self) -> np.ndarray:
        return np.unique(np.append(self.plan.breaks(), self.difference.duration))


def led_onto(plan: Plan, start: np.ndarray, limits: PlanLimits) -> Plan:
    """The plan, from `start` (dof,) [rad or m] on; the difference vanishes by a quintic.

    Raises:
        DefinitionError: that needs more than the limits.
    """
    times = np.array([0.0, min(BLEND_TIME, plan.duration)])
    rest = np.zeros((2, plan.dof))
    offset = np.stack([start - plan.sample(times[:1])[0][0], rest[1]])
    led = _LedOnto(plan, CurvePlan(curve_through(times, offset, rest, rest), rest[1]))
    _, v, a = led.sample(np.linspace(0.0, times[1], 500))
    for name, value, most in (("velocity", v, limits.velocity), ("acceleration", a, limits.acceleration)):
        peak = np.abs(value).max(axis=0)
        for j in np.flatnonzero(peak > most * (1.0 + 1e-6)):
            raise DefinitionError(
                f"start beside the first point of the trajectory: {name} of joint {limits.names[j]!r} to get onto it",
                expected=f"at most {most[j]:.4f}",
                got=f"{peak[j]:.4f}",
                hint="Begin nearer to the first point, or more slowly",
            )
    return led
