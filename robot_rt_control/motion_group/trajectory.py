"""Plans through points in time: smooth curves, and joint positions for poses of the tool."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robot_rt_control.definitions.action_type import Part
from robot_rt_control.motion_group.curve import Curve, cubic, polynomial, spline
from robot_rt_control.motion_group.limits import PlanLimits
from robot_rt_control.motion_group.plan import Plan, State
from robot_rt_control.vocabulary.errors import DefinitionError

_CHECKS_PER_SEGMENT = 20
_SEGMENTS_AT_ONCE = 4096
"""Bounds the memory of a check."""
_REST = 1e-6
"""A velocity below this fraction of its limit counts as zero: rounding of the one who made the points."""


@dataclass(frozen=True, eq=False)
class CurvePlan:
    """A piecewise polynomial."""

    curve: Curve
    end: np.ndarray  # (dof,) exact
    start_velocity: np.ndarray | float = 0.0  # (dof,) exact

    @property
    def duration(self) -> float:
        return float(self.curve.x[-1])

    @property
    def dof(self) -> int:
        return len(self.end)

    def sample(self, times: np.ndarray) -> State:
        times = np.clip(np.asarray(times, float), 0.0, self.duration)
        q, v, a = (self.curve(times, order) for order in range(3))
        done = times >= self.duration
        v[times <= 0.0] = self.start_velocity
        q[done], v[done], a[done] = self.end, 0.0, 0.0
        return q, v, a

    def breaks(self) -> np.ndarray:
        return np.asarray(self.curve.x)


def trajectory(
    times: ArrayLike,
    positions: ArrayLike,
    velocities: ArrayLike | None = None,
    accelerations: ArrayLike | None = None,
    *,
    limits: PlanLimits,
) -> Plan:
    """A motion through points in time, to rest.

    Positions alone: the cubic spline with continuous acceleration, from rest. With velocities: cubic pieces.
    With accelerations as well: quintic pieces. The jerk is that of the points; it is not limited.

    Args:
        times: (n,) [s], from 0, increasing; at least two.
        positions, velocities: (n, dof) [rad or m, per s].
        accelerations: (n, dof) [rad/s² or m/s²]; or (2 n - 2, dof): those at the begin of each piece, then those at
            its end, which may differ at a point.
        limits: of position, velocity and acceleration.

    Raises:
        DefinitionError: numbers are missing or not finite; the curve exceeds a limit, or does not end at rest.
    """
    t = np.array(times, float)
    if t.ndim != 1 or len(t) < 2 or t[0] != 0.0 or not np.all(np.diff(t) > 0.0) or not np.isfinite(t[-1]):
        raise DefinitionError(
            "trajectory: times", expected="at least two, from 0 on, each above the one before", got=str(t[:8])
        )
    n = len(t)
    points = _points("positions", positions, n, limits)
    v = None if velocities is None else _points("velocities", velocities, n, limits)
    a = None
    if accelerations is not None:
        in_pieces = len(np.atleast_1d(accelerations)) == 2 * n - 2
        a = _points("accelerations", accelerations, 2 * n - 2 if in_pieces else n, limits)
        a = a.reshape(2, n - 1, -1) if in_pieces else a
    if v is None and a is not None:
        raise DefinitionError("trajectory: accelerations", expected="velocities with them", got="none")
    if v is not None:
        for j in np.flatnonzero(np.abs(v[-1]) > _REST * limits.velocity):
            raise DefinitionError(
                f"trajectory: velocity of joint {limits.names[j]!r} at the last point",
                expected="0: a command ends at rest",
                got=f"{v[-1, j]:.4g}",
            )
        v[-1] = 0.0
        if (np.abs(v[0]) <= _REST * limits.velocity).all():
            v[0] = 0.0
    curve = curve_through(t, points, v, a)
    check_curve("trajectory", curve, limits)
    return CurvePlan(curve, points[-1], 0.0 if v is None else v[0])


def curve_through(
    times: np.ndarray,
    positions: np.ndarray,
    velocities: np.ndarray | None = None,
    accelerations: np.ndarray | None = None,
) -> Curve:
    """The curve through points (n, dof) at times (n,): cubic, or quintic if accelerations are given.

    Without velocities it begins and ends at rest. Accelerations (2, n - 1, dof) are those at the begin of each piece,
    then at its end; they may differ at a point.
    """
    if velocities is None:
        return spline(times, positions)
    if accelerations is None:
        return cubic(times, positions, velocities)
    h = np.diff(times)[:, None]
    v = velocities
    begin, end = accelerations if accelerations.ndim == 3 else (accelerations[:-1], accelerations[1:])
    # What is missing after the cubic that the start gives, in position, velocity (times h) and acceleration (times h²)
    dq = np.diff(positions, axis=0) - h * v[:-1] - h**2 * begin / 2.0
    dv = h * np.diff(v, axis=0) - h**2 * begin
    da = h**2 * (end - begin)
    return Curve(
        np.stack(
            [
                (6.0 * dq - 3.0 * dv + 0.5 * da) / h**5,
                (-15.0 * dq + 7.0 * dv - da) / h**4,
                (10.0 * dq - 4.0 * dv + 0.5 * da) / h**3,
                begin / 2.0,
                v[:-1],
                positions[:-1],
            ]
        ),
        times,
    )


def states_of(curve: Curve) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions and velocities (n, dof) at the points of a curve, accelerations (2, n - 1, dof) of its pieces there."""
    h = np.diff(curve.x)[:, None]
    last = [polynomial(curve.c[:, -1:], h[-1:], order) for order in (0, 1)]
    q, v = (np.concatenate([polynomial(curve.c, 0.0 * h, order), last[order]]) for order in (0, 1))
    return q, v, np.stack([polynomial(curve.c, 0.0 * h, 2), polynomial(curve.c, h, 2)])


@dataclass(frozen=True, kw_only=True)
class Excess:
    """Where a curve exceeds a limit."""

    quantity: str
    """position, velocity, acceleration or jerk"""
    joint: str
    time: float
    """[s]"""
    segment: int
    low: float
    high: float
    value: float

    def error(self, what: str) -> DefinitionError:
        """The error that says so; `what` names the curve."""
        return DefinitionError(
            f"{what}: the {self.quantity} of joint {self.joint!r} at {self.time:.3f} s is outside its limits",
            expected=f"{self.low:.4f} to {self.high:.4f}",
            got=f"{self.value:.4f}",
            hint="Slow the trajectory down" if self.quantity != "position" else "",
        )


def check_curve(what: str, curve: Curve, limits: PlanLimits) -> None:
    """Raise DefinitionError if a curve exceeds a limit; `what` names it."""
    excess = find_excess(curve, limits)
    if excess is not None:
        raise excess.error(what)


def find_excess(curve: Curve, limits: PlanLimits) -> Excess | None:
    """Where a curve exceeds a limit first; each piece is sampled densely, and accelerations where they are largest.
    None: it keeps them. Jerks count if they are to be kept; steps of the acceleration between pieces are not seen."""
    fractions = np.linspace(0.0, 1.0, _CHECKS_PER_SEGMENT + 1)[:, None]
    ranges = [
        ("position", limits.lower, limits.upper),
        ("velocity", -limits.velocity, limits.velocity),
        ("acceleration", -limits.acceleration, limits.acceleration),
    ]
    if limits.keeps_jerk:
        ranges.append(("jerk", -limits.jerk, limits.jerk))
    for first in range(0, len(curve.x) - 1, _SEGMENTS_AT_ONCE):
        knots = curve.x[first : first + _SEGMENTS_AT_ONCE + 1]
        c = curve.c[:, first : first + _SEGMENTS_AT_ONCE, None]  # highest power, then segment, sample, joint
        s = np.diff(knots)[:, None, None] * fractions
        for order, (name, low, high) in enumerate(ranges):
            slack = 1e-9 * np.maximum(np.abs(low), np.abs(high))
            for at in (s, largest_accelerations(c[:, :, 0], np.diff(knots))) if order == 2 else (s,):
                value = polynomial(c, at, order)
                bad = ~((value >= low - slack) & (value <= high + slack))
                if bad.any():
                    i, k, j = np.argwhere(bad)[0]
                    return Excess(
                        quantity=name,
                        joint=limits.names[j],
                        time=float(knots[i] + at[i, k, j if at.shape[2] > 1 else 0]),
                        segment=int(first + i),
                        low=float(low[j]),
                        high=float(high[j]),
                        value=float(value[i, k, j]),
                    )
    return None


def largest_accelerations(c: np.ndarray, h: np.ndarray) -> np.ndarray:
    """(n, 2, dof) [s] in n pieces with coefficients (degree + 1, n, dof) and durations (n,): where each joint's
    acceleration has its extremes; 0 for one that is none, or is outside the piece."""
    if len(c) < 5:
        return np.zeros((c.shape[1], 0, c.shape[2]))  # linear
    a, b, d = (60.0 * c[-6] if len(c) > 5 else 0.0 * c[-5]), 24.0 * c[-5], 6.0 * c[-4]
    with np.errstate(all="ignore"):
        root = np.sqrt(b**2 - 4.0 * a * d)
        larger = -(b + np.copysign(root, b)) / 2.0
        found = np.stack([larger / a, d / larger], axis=1)
        inside = (found > 0.0) & (found < h[:, None, None])
    return np.where(inside, found, 0.0)


def _points(name: str, given: ArrayLike, n: int, limits: PlanLimits) -> np.ndarray:
    array = np.array(given, float)
    if array.shape != (n, len(limits.names)):
        raise DefinitionError(
            f"trajectory: {name}",
            expected=f"{n} points of {len(limits.names)} joints",
            got=" x ".join(map(str, array.shape)),
        )
    for k, j in np.argwhere(~np.isfinite(array)):
        raise DefinitionError(
            f"trajectory: {name} of joint {limits.names[j]!r} at point {k + 1}",
            expected="a finite number",
            got=str(array[k, j]),
        )
    return array


def positions_of_poses(
    part: Part,
    times: ArrayLike,
    poses: ArrayLike,
    seed: ArrayLike,
) -> np.ndarray:
    """Joint positions that bring the tool to poses, one after the other, each near the one before.

    Args:
        part: an arm.
        times: (n,) [s] of the poses.
        poses: (n, 7) p_WT [m], q_WT (x y z w), in the world.
        seed: (dof,) where the arm is before [rad or m]: it decides the configuration.

    Returns:
        (n, dof) [rad or m].

    Raises:
        DefinitionError: a pose is out of reach, or the arm would have to move faster than its limits to the next
            pose, because it is too far, near a singularity, or can only be reached in another configuration.
    """
    t, tool = np.asarray(times, float), np.asarray(poses, float)
    q, limit = np.array(seed, float), part.limits("velocity_limit")
    found = np.empty((len(tool), len(q)))
    for k, pose in enumerate(tool):
        try:
            found[k] = part.inverse_kinematics(pose[:3], pose[3:], seed=q)
        except DefinitionError as error:
            raise DefinitionError(
                f"pose {k + 1} of the trajectory, at {t[k]:.3f} s: {error.what}",
                expected=error.expected,
                got=error.got,
                hint=error.hint,
            ) from None
        if k > 0:
            most = limit * (t[k] - t[k - 1])
            j = int(np.argmax(np.abs(found[k] - q) / most))
            if abs(found[k, j] - q[j]) > most[j]:
                raise DefinitionError(
                    f"pose {k + 1} of the trajectory, at {t[k]:.3f} s: part {part.name!r} cannot get there in time, or "
                    f"only by another configuration; joint {part.joint_names[j]!r}",
                    expected=f"at most {most[j]:.4g} from the pose before",
                    got=f"{abs(found[k, j] - q[j]):.4g}",
                    hint="Slow down there, avoid the singularity, or begin in another configuration",
                )
        q = found[k]
    return found
