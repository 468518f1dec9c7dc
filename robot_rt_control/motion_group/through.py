"""Plans through via points: a path, and how fast to follow it within velocity, acceleration and jerk limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PPoly

from robot_rt_control.motion.calls import change_of_velocity, planned_between
from robot_rt_control.motion_group.limits import PlanLimits
from robot_rt_control.motion_group.path import Path, blended_path
from robot_rt_control.motion_group.plan import Plan, State, sequence
from robot_rt_control.motion_group.point_to_point import point_to_point
from robot_rt_control.motion_group.time_optimal import faster
from robot_rt_control.vocabulary.errors import DefinitionError


@dataclass(frozen=True, eq=False)
class PathPlan:
    """Positions q(s(t)) on a path."""

    path: PPoly  # (dof,) over s
    motion: PPoly  # s over time
    end: np.ndarray  # (dof,) exact

    @property
    def duration(self) -> float:
        return float(self.motion.x[-1])

    @property
    def dof(self) -> int:
        return len(self.end)

    def sample(self, times: np.ndarray) -> State:
        times = np.clip(np.asarray(times, float), 0.0, self.duration)
        s, ds, dds = (self.motion(times, order)[:, None] for order in range(3))
        q, dq, ddq = (self.path(s[:, 0], order) for order in range(3))
        v, a = dq * ds, ddq * ds**2 + dq * dds
        done = times >= self.duration
        q[done], v[done], a[done] = self.end, 0.0, 0.0
        return q, v, a

    def breaks(self) -> np.ndarray:
        return np.asarray(self.motion.x)


def through(
    start: np.ndarray, via: Sequence[np.ndarray] | np.ndarray, goal: np.ndarray, limits: PlanLimits, blend: float
) -> Plan:
    """A motion from rest to rest on straight lines in joint space, rounded near the via points.

    It is followed nearly time-optimally (docs/motion_groups.md). It may take seconds.

    Args:
        start, goal: (dof,) [rad or m].
        via: (n, dof) points between; may be empty.
        limits: of velocity, acceleration and jerk. The path stays between its points, so their ranges are its range.
        blend: largest distance of the path from a via point, of any joint [rad or m]; 0: it stops at each.

    Raises:
        DefinitionError: a number is not finite, or the blend is negative.
    """
    points = np.array([start, *via, goal], float)
    if not (np.isfinite(points).all() and 0.0 <= blend < math.inf):
        raise DefinitionError(
            "motion through via points", expected="finite numbers, and a blend of at least 0", got=f"blend {blend:g}"
        )
    if blend > 0.0 or len(points) == 2:
        return _on_path(points, blend, limits)
    return sequence([_on_path(points[k : k + 2], 0.0, limits) for k in range(len(points) - 1)])


def _on_path(points: np.ndarray, blend: float, limits: PlanLimits) -> Plan:
    path = blended_path(points, blend)
    if path is None:
        return point_to_point(points[-1], points[-1], limits)
    plan = PathPlan(path.curve, constant_in_curves(path, limits), points[-1])
    # A straight line is followed time-optimally by the motion generator.
    return plan if len(path.tangents) == 1 else faster(plan, limits)


def _ramp(v0: float, v1: float, amax: float, jmax: float) -> float:
    """Distance of the fastest change between two velocities, from and to zero acceleration."""
    return change_of_velocity(v0, v1, amax, jmax)[1]


def _reachable(v0: float, v1: float, distance: float, amax: float, jmax: float) -> float:
    """The velocity nearest to v1 >= v0 that can be reached from v0 within a distance."""
    if _ramp(v0, v1, amax, jmax) <= distance:
        return v1
    low, high = v0, v1
    for _ in range(60):
        middle = (low + high) / 2.0
        if _ramp(v0, middle, amax, jmax) <= distance:
            low = middle
        else:
            high = middle
    return low


def constant_in_curves(path: Path, limits: PlanLimits) -> PPoly:
    """s over time, within the limits of all joints: constant velocity in each curve, on each line as fast as possible.

    At constant velocity w the acceleration is q'' w², the jerk q''' w³, so the largest w follows directly. On a line
    the joints' limits become limits of s, for which the motion generator is time-optimal. The velocities in the
    curves are then lowered, forwards and backwards, until each line is long enough for the change.
    """
    t = np.abs(path.tangents)
    turn = np.abs(np.diff(path.tangents, axis=0))
    length = path.blend_lengths[:, None]
    with np.errstate(divide="ignore"):
        vmax, amax, jmax = ((x / t).min(axis=1) for x in (limits.velocity, limits.acceleration, limits.jerk))
        # The largest second derivative of a curve is 1.5 turn / length, the largest third one 6 turn / length².
        by_acceleration = np.sqrt((limits.acceleration * length / (1.5 * turn)).min(axis=1, initial=np.inf))
        by_jerk = np.cbrt((limits.jerk * length**2 / (6.0 * turn)).min(axis=1, initial=np.inf))
    in_curves = np.minimum(np.minimum(by_acceleration, by_jerk), np.minimum(vmax[:-1], vmax[1:]))
    w = np.concatenate(([0.0], in_curves, [0.0]))  # at the ends of the lines
    room = path.line_lengths * (1.0 - 1e-9)
    m = len(room)
    for k in range(m):
        w[k + 1] = min(w[k + 1], _reachable(w[k], max(w[k + 1], w[k]), room[k], amax[k], jmax[k]))
    for k in reversed(range(m)):
        w[k] = min(w[k], _reachable(w[k + 1], max(w[k], w[k + 1]), room[k], amax[k], jmax[k]))
    s = path.curve.x
    segments = []  # each: duration, then s, velocity, acceleration and jerk at its start
    for k in range(m):
        begin, end = s[2 * k], s[2 * k + 1]
        profile = planned_between((begin, w[k]), (end, w[k + 1]), vmax[k], amax[k], jmax[k])
        if profile is None:
            raise DefinitionError("motion through via points", expected="limits above 0", got="no plan")
        fields = (profile.duration, begin + profile.travelled, profile.start_velocity, profile.start_acceleration)
        segments.append(np.column_stack([*fields, profile.jerk])[: int(profile.n)])
        if k + 1 < m:
            segments.append(np.array([[(s[2 * k + 2] - end) / w[k + 1], end, w[k + 1], 0.0, 0.0]]))
    table = np.concatenate(segments)
    times = np.concatenate(([0.0], np.cumsum(table[:, 0])))
    kept = np.diff(times) > 0.0
    coefficients = table[kept, 4] / 6.0, table[kept, 3] / 2.0, table[kept, 2], table[kept, 1]
    return PPoly(np.stack(coefficients), np.append(times[:-1][kept], times[-1]))
