"""What a trajectory must be to be followed at all, whatever the part does at the moment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_rt_control.controllers.trajectory.goal import Code, Goal, GoalRefused
from robot_rt_control.controllers.trajectory.options import Options
from robot_rt_control.motion_group.limits import PlanLimits
from robot_rt_control.vocabulary.errors import unknown

_ZERO = float(np.finfo(np.float32).eps)
"""A velocity below it is 0."""
_LIMITED = ("position", "velocity", "acceleration")
"""Only the first one cannot be kept by going slower."""


def check_goal(goal: Goal, limits: PlanLimits, options: Options, now: float) -> None:
    """Check a goal by itself.

    Args:
        limits: of the part's joints, in its order.
        now: [s] on the ROS clock.

    Raises:
        GoalRefused: names joint, point, limit and value.
    """
    if goal.has_more:
        raise GoalRefused(
            "multi_dof_trajectory", expected="none: joints have one degree of freedom", got="a trajectory"
        )
    _check_joints(goal.joints, limits.names, options)
    if not goal.points:
        raise GoalRefused("the trajectory", expected="at least one point", got="none")
    _check_times(goal, now)
    for i, point in enumerate(goal.points):
        for name, values in (
            ("positions", point.positions),
            ("velocities", point.velocities),
            ("accelerations", point.accelerations),
        ):
            first = getattr(goal.points[0], name)
            if name == "positions" or values or first:
                _check_size(goal, i, name, values, bool(first) or name == "positions")
        if point.efforts:
            raise GoalRefused(
                f"efforts of point {i + 1}", expected="none: the joints are commanded by position", got="efforts"
            )
    if goal.points[0].accelerations and not goal.points[0].velocities:
        raise GoalRefused("accelerations", expected="velocities with them", got="none")
    _check_limits(goal, limits, _LIMITED[: 1 if options.constraints.retime else 3])
    if goal.points[-1].velocities and not options.allow_nonzero_velocity_at_trajectory_end:
        for name, velocity in zip(goal.joints, goal.points[-1].velocities, strict=True):
            if abs(velocity) > _ZERO:
                raise GoalRefused(
                    f"velocity of joint {name!r} at the last point, {len(goal.points)}",
                    expected="0",
                    got=f"{velocity:g}",
                    hint="Or set the option allow_nonzero_velocity_at_trajectory_end",
                )


def _check_joints(given: Sequence[str], known: Sequence[str], options: Options) -> None:
    def refused(what: str, expected: str, got: str, hint: str = "") -> GoalRefused:
        return GoalRefused.because(Code.INVALID_JOINTS, what, expected=expected, got=got, hint=hint)

    for name in given:
        if name not in known:
            raise refused(f"joint {name!r}", unknown("joint", name, known), repr(name))
        if list(given).count(name) > 1:
            raise refused(f"joint {name!r}", "each joint once", f"{list(given).count(name)} times")
    if not given:
        raise refused("joint names", f"those of the part: {', '.join(known)}", "none")
    missing = [name for name in known if name not in given]
    if missing and not options.allow_partial_joints_goal:
        raise refused(
            "joint names", f"all {len(known)} of the part", f"no {', '.join(missing)}",
            "Or set the option allow_partial_joints_goal",
        )  # fmt: skip


def _check_times(goal: Goal, now: float) -> None:
    before = -1.0
    for i, point in enumerate(goal.points):
        if not (np.isfinite(point.time) and point.time >= 0.0 and point.time > before):
            raise GoalRefused(
                f"time_from_start of point {i + 1}",
                expected="at least 0 s" if i == 0 else f"more than that of the point before, {before:.9g} s",
                got=f"{point.time:.9g} s",
            )
        before = point.time
    if goal.start is not None and goal.start + before <= now:
        raise GoalRefused.because(
            Code.OLD_HEADER_TIMESTAMP,
            "header.stamp: the whole trajectory is in the past",
            expected=f"an end after {now:.3f} s",
            got=f"{goal.start + before:.3f} s",
        )


def _check_size(goal: Goal, i: int, name: str, values: Sequence[float], needed: bool) -> None:
    if len(values) != (len(goal.joints) if needed else 0):
        raise GoalRefused(
            f"{name} of point {i + 1}",
            expected=f"{len(goal.joints)}, one for each joint name" if needed else f"none, as point 1 has no {name}",
            got=str(len(values)),
        )
    for joint, value in zip(goal.joints, values, strict=True):
        if not np.isfinite(value):
            raise GoalRefused(f"{name} of point {i + 1}: joint {joint!r}", expected="a finite number", got=f"{value}")


def _check_limits(goal: Goal, limits: PlanLimits, quantities: Sequence[str]) -> None:
    order = [limits.names.index(name) for name in goal.joints]
    ranges = {
        "position": (limits.lower, limits.upper),
        "velocity": (-limits.velocity, limits.velocity),
        "acceleration": (-limits.acceleration, limits.acceleration),
    }
    for name in quantities:
        low, high = ranges[name]
        plural = "velocities" if name == "velocity" else f"{name}s"
        if not getattr(goal.points[0], plural):
            continue
        values = np.array([getattr(point, plural) for point in goal.points])
        slack = 1e-9 * np.maximum(np.abs(low), np.abs(high))
        bad = ~((values >= (low - slack)[order]) & (values <= (high + slack)[order]))
        if bad.any():
            i, k = np.argwhere(bad)[0]
            raise GoalRefused(
                f"{name} of joint {goal.joints[k]!r} at point {i + 1} is outside its limits",
                expected=f"{low[order[k]]:.4f} to {high[order[k]]:.4f}",
                got=f"{values[i, k]:.4f}",
            )
