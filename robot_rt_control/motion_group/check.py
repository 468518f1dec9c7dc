"""What is wrong with a motion command by itself and for its part, before anything is planned: all mistakes at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robot_rt_control.definitions.action_type import Part
from robot_rt_control.definitions.motion_command import MotionCommand
from robot_rt_control.motion_group.limits import PlanLimits, part_limits
from robot_rt_control.vocabulary.errors import DefinitionError

_TARGETS = "position", "pose", "velocity", "trajectory"


def command_mistakes(label: str, command: MotionCommand, part: Part) -> list[DefinitionError]:
    """All mistakes of a command that show without a plan.

    Args:
        label: names the command in the errors.
        command: for `part`.
        part: one with joints.
    """
    limits = part_limits(part)
    return [
        *_targets(label, command, part),
        *_lengths(label, command, part),
        *_ranges(label, command, limits),
        *_fractions(label, command, limits),
        *_times(label, command),
    ]


def _targets(label: str, command: MotionCommand, part: Part) -> Iterator[DefinitionError]:
    given = [name for name in _TARGETS if getattr(command, name) is not None]
    if len(given) != 1:
        yield DefinitionError(
            f"{label}: target", expected=f"exactly one of {', '.join(_TARGETS)}", got=", ".join(given) or "none"
        )
    if (command.velocity is None) != (command.time is None):
        missing = "time" if command.time is None else "velocity"
        yield DefinitionError(f"{label}: {missing}", expected="velocity and time together", got="only one of them")
    if command.velocity is not None and command.duration is not None:
        yield DefinitionError(f"{label}: duration", expected="`time` alone for a velocity", got="both")
    if command.via and command.position is None and command.pose is None:
        yield DefinitionError(f"{label}: via points", expected="a position or a pose as target", got=", ".join(given))
    if command.trajectory is not None:
        if (command.trajectory.positions is None) == (command.trajectory.poses is None):
            yield DefinitionError(f"{label}: trajectory", expected="either positions or poses", got="both or none")
        if command.jerk_percent != 100.0:
            yield DefinitionError(
                f"{label}: jerk_percent", expected="none: the points of a trajectory say its jerk", got="a value"
            )
    if not part.has_kinematics and command.has_pose:
        yield DefinitionError(f"{label}: pose", expected="an arm", got=f"a {part.kind.name.lower()} without a chain")


def _joint_values(command: MotionCommand) -> Iterator[tuple[str, np.ndarray]]:
    """Name and values of what has one number for each joint."""
    for name in ("position", "velocity", "start"):
        if getattr(command, name) is not None:
            yield name, np.array(getattr(command, name))
    for k, point in enumerate(command.via):
        yield f"via point {k + 1}", np.array(point)


def _joint_speeds(command: MotionCommand) -> np.ndarray:
    """One for all joints, or one for each; empty: none."""
    return np.atleast_1d([] if command.joint_speed is None else command.joint_speed)


def _lengths(label: str, command: MotionCommand, part: Part) -> Iterator[DefinitionError]:
    wrong = [(name, len(values)) for name, values in _joint_values(command) if len(values) != part.dof]
    n_speeds = len(_joint_speeds(command))
    if n_speeds not in (0, 1, part.dof):
        wrong.append(("joint_speed", n_speeds))
    if command.trajectory is not None:
        for name in ("positions", "velocities", "accelerations"):
            array = getattr(command.trajectory, name)
            if array is not None and array.shape[1] != part.dof:
                wrong.append((f"{name} of the trajectory", array.shape[1]))
    for name, n in wrong:
        yield DefinitionError(f"{label}: {name}", expected=f"{part.dof} numbers, one for each joint", got=str(n))


def _ranges(label: str, command: MotionCommand, limits: PlanLimits) -> Iterator[DefinitionError]:
    for name, values in _joint_values(command):
        if name == "velocity" or len(values) != len(limits.names):
            continue
        for j in np.flatnonzero(~((values >= limits.lower) & (values <= limits.upper))):
            yield DefinitionError(
                f"{label}: {name} of joint {limits.names[j]!r} is outside its limits",
                expected=f"{limits.lower[j]:.4f} to {limits.upper[j]:.4f}",
                got=f"{values[j]:.4f}",
            )


def _fractions(label: str, command: MotionCommand, limits: PlanLimits) -> Iterator[DefinitionError]:
    if not 0.0 < command.speed <= 1.0:
        yield DefinitionError(
            f"{label}: speed",
            expected="a fraction above 0, at most 1",
            got=f"{command.speed:g}",
            hint="For a speed in rad/s or m/s give joint_speed",
        )
    for name in ("acceleration_percent", "jerk_percent"):
        value = getattr(command, name)
        if not 0.0 < value <= 100.0:
            yield DefinitionError(f"{label}: {name}", expected="above 0, at most 100", got=f"{value:g}")
    speeds = _joint_speeds(command)
    if len(speeds) in (1, len(limits.names)):
        for j, speed in enumerate(np.broadcast_to(speeds, len(limits.names))):
            if not 0.0 < speed <= limits.velocity[j]:
                yield DefinitionError(
                    f"{label}: joint_speed of joint {limits.names[j]!r}",
                    expected=f"above 0, at most {limits.velocity[j]:g}",
                    got=f"{speed:g}",
                )


def _times(label: str, command: MotionCommand) -> Iterator[DefinitionError]:
    for name in ("start_tolerance", "blend"):
        value = getattr(command, name)
        if not 0.0 <= value < np.inf:
            yield DefinitionError(f"{label}: {name}", expected="a finite number, at least 0", got=f"{value:g}")
    for name in ("time", "duration"):
        value = getattr(command, name)
        if value is not None and not 0.0 < value < np.inf:
            yield DefinitionError(f"{label}: {name}", expected="a number of seconds above 0", got=f"{value:g}")
