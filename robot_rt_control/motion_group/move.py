"""One motion command as a motion of its part, from a known start: what the loop, or a plan, is made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from robot_rt_control.definitions.action_type import Part
from robot_rt_control.definitions.motion_command import MotionCommand
from robot_rt_control.motion_group.led_onto import led_onto
from robot_rt_control.motion_group.limits import PlanLimits, command_limits
from robot_rt_control.motion_group.plan import Plan, stretched
from robot_rt_control.motion_group.point_to_point import point_to_point, velocity_for_time
from robot_rt_control.motion_group.trajectory import positions_of_poses, trajectory
from robot_rt_control.vocabulary.errors import DefinitionError


@dataclass(frozen=True, eq=False, kw_only=True)
class Move:
    """A motion to rest, and from rest, but for a trajectory."""

    start: np.ndarray
    """(dof,) [rad or m]"""
    end: np.ndarray
    checks_start: bool
    """Whether it may only begin at `start`."""
    start_tolerance: float
    limits: PlanLimits
    duration: float | None
    """[s] asked for; None: as short as possible."""
    path: Callable[[float | None], Plan] | None = None
    """Makes a path that the loop could not plan; None: it is a motion from point to point."""

    def plan(self, duration: float | None) -> Plan:
        """The motion's plan.

        Args:
            duration: [s] wanted duration; None: as asked for.
        """
        wanted = self.duration if duration is None else duration
        if self.path is not None:
            return self.path(wanted)
        return point_to_point(self.start, self.end, self.limits, wanted)


def move_of(part: Part, command: MotionCommand, before: np.ndarray | None) -> Move:
    """The motion of a command that has no mistakes of its own (`command_mistakes`).

    Args:
        before: (dof,) end of the part's command before this one; None: it is the first, and begins at its own start, or
            where the part is commanded to be.

    Raises:
        DefinitionError: it begins elsewhere than the one before ends, a pose is out of reach, the duration is too
            short, or the motion leaves the limits.
    """
    limits = command_limits(part, command)
    given = command.trajectory
    positions = given.positions if given is not None else None
    start = np.array(part.commanded_position if before is None else before, float)
    if given is not None and positions is None:
        assert given.poses is not None  # checked
        positions = positions_of_poses(part, given.times, given.poses, start)
    known = command.start if command.start is not None else None if positions is None else positions[0]
    if known is not None and before is not None:
        _near("start", np.array(known), before, command, limits)
    elif known is not None:
        start = np.array(known, float)
    move = Move(
        start=start,
        end=start,
        checks_start=known is not None or command.velocity is not None,
        start_tolerance=command.start_tolerance,
        limits=limits,
        duration=command.duration,
    )
    if command.velocity is not None:
        assert command.time is not None  # checked
        end, own = velocity_for_time(start, np.array(command.velocity, float), command.time, limits)
        return replace(move, end=end, limits=own, duration=command.time)
    if given is not None:
        assert positions is not None
        plan = trajectory(given.times, positions, given.velocities, given.accelerations, limits=limits)
        if (positions[0] != start).any():
            plan = led_onto(plan, start, limits)
        if before is not None and plan.sample(np.zeros(1))[1].any():
            raise DefinitionError(
                "trajectory: velocities at the first point",
                expected="0: the command before it ends at rest",
                got="others",
            )
        return _along(replace(move, end=positions[-1]), plan)
    via = np.array(command.via).reshape(len(command.via), part.dof)
    if command.pose is not None:
        goal = part.inverse_kinematics(*command.pose, seed=via[-1] if len(via) else start)
    else:
        goal = np.array(command.position, float)
    move = replace(move, end=goal)
    if len(via):
        from robot_rt_control.motion_group.through import through  # slow: it loads much of SciPy

        return _along(move, through(start, via, goal, limits, command.blend))
    move.plan(None)  # the duration may be too short
    return move


def _along(move: Move, plan: Plan) -> Move:
    """A motion along a path whose fastest plan this is."""

    def path(duration: float | None) -> Plan:
        return plan if duration is None else stretched(plan, duration)

    path(move.duration)
    return replace(move, path=path)


def _near(what: str, expected: np.ndarray, start: np.ndarray, command: MotionCommand, limits: PlanLimits) -> None:
    distance = np.abs(expected - start)
    j = int(np.argmax(distance))
    if not distance[j] <= command.start_tolerance:
        raise DefinitionError(
            f"{what}, joint {limits.names[j]!r}",
            expected=f"within {command.start_tolerance:g} of {start[j]:.4f}, where the command before it ends",
            got=f"{expected[j]:.4f}, {distance[j]:.4f} away",
            hint="Leave `start` out, or set start_tolerance",
        )
