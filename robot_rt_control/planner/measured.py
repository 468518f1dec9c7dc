"""Where joints and the body are measured, as the start of a plan. No ROS."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from robot_rt_control.model.pose import Pose
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.planning.scene.task_cell import POSE_VALUES
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError, raise_all, unknown

Measure = Callable[[Sequence[str]], Mapping[str, float]]
"""Prefixes → present values of the state variables whose names begin with them, from one tick; NaN: unknown."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What was measured in one tick."""

    joints: dict[str, tuple[float, ...]]
    """Part → [rad or m] position of each joint."""
    body: Pose | None
    """X_WB; None: it was not asked for."""


def measure_start(workcell: Workcell, parts: Sequence[str], pose: str, measure: Measure, *, body: bool) -> Measured:
    """Measure joints, and the pose of the body.

    Args:
        workcell: the running one.
        parts: whose joints are measured.
        pose: part of kind sensor whose seven values are the body's position and quaternion.
        measure: reads values of the running workcell.
        body: whether the pose is measured.

    Raises:
        DefinitionError, ProgramError: all values that are unknown or too old, by name; or there is no such part.
        RobotControlError: the workcell does not answer.
    """
    jointed = [workcell.part(part) for part in parts]
    sensor = _pose_sensor(workcell, pose) if body else None
    prefixes = [f"{part.name}." for part in [*jointed, *([] if sensor is None else [sensor])]]
    values = measure(prefixes) if prefixes else {}  # no prefix at all would be everything
    raise_all(
        [
            *(mistake for part in jointed for mistake in _unknown_joints(part, values)),
            *([] if sensor is None else _unknown_values(sensor, values)),
        ]
    )
    joints = {
        part.name: tuple(values[f"{part.name}.position[{j}]"] for j in range(part.dof)) for part in jointed
    }
    return Measured(joints=joints, body=None if sensor is None else _pose_of(sensor, values))


def _pose_sensor(workcell: Workcell, name: str) -> PartDescription:
    sensors = {part.name: part for part in workcell.parts if part.kind == PartKind.SENSOR}
    if name not in sensors:
        raise DefinitionError(
            "start, pose: the part that measures where the body is",
            expected=unknown("part of kind sensor", name, sensors),
            got=repr(name) if name else "none",
            hint="Name it in the task: start: {from: measured, pose: <part>}",
        )
    sensor = sensors[name]
    if len(sensor.inputs) != POSE_VALUES:
        raise DefinitionError(
            f"start, pose: part {name!r}",
            expected="seven values: position x y z, quaternion x y z w",
            got=str(len(sensor.inputs)),
        )
    return sensor


def _unknown_joints(part: PartDescription, values: Mapping[str, float]) -> Iterator[DefinitionError]:
    for j, joint in enumerate(part.joint_names):
        name = f"{part.name}.position[{j}]"
        if not math.isfinite(values.get(name, math.nan)):
            yield DefinitionError(
                f"start, joint {part.name}.{joint}: {name}",
                expected="a measured position",
                got="unknown",
                hint=f"Is the device {part.device!r} running, and does it give new values?",
            )


def _unknown_values(sensor: PartDescription, values: Mapping[str, float]) -> Iterator[DefinitionError]:
    for channel in sensor.inputs:
        name = f"{sensor.name}.{channel.name}"
        if not math.isfinite(values.get(name, math.nan)):
            age = values.get(f"{name}_age", math.nan)
            yield DefinitionError(
                f"start, pose of the body: {name}",
                expected="a value that is not too old",
                got=f"one that is {age:.3g} s old" if math.isfinite(age) else "none was ever received",
                hint="Does the camera, or the simulation, see the body?",
            )


def _pose_of(sensor: PartDescription, values: Mapping[str, float]) -> Pose:
    x, y, z, *quaternion = (values[f"{sensor.name}.{channel.name}"] for channel in sensor.inputs)
    length = math.hypot(*quaternion)
    if not 0.99 < length < 1.01:
        raise DefinitionError(
            f"start, pose of the body: orientation of {sensor.name!r}",
            expected="a unit quaternion x y z w, the last four values",
            got=f"one of length {length:.3g}",
        )
    qx, qy, qz, qw = (value / length for value in quaternion)
    return Pose(position=(x, y, z), orientation=(qx, qy, qz, qw))
