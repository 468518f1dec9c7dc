"""Motion commands of a motion group in program files: their keys, how they are read, and how they are written.

    commands:
      - {part: left, position: [0.1, -0.4, 0.0], speed: $speed, jerk_percent: 30}
      - {part: right, position: $home, via: [[0.0, 0.2, 0.1]], blend: 0.05}

The keys and units are those of MotionCommand. Every number may be an expression; a list may be a list parameter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import Field, PlainValidator

from robot_rt_control.definitions.definitions import Value
from robot_rt_control.definitions.motion_command import MotionCommand, Trajectory
from robot_rt_control.program.substitution import Substitution
from robot_rt_control.text.document import Document
from robot_rt_control.text.schema import Model, Name, finite, refuse, shown
from robot_rt_control.vocabulary.errors import DefinitionError


def _number(value: Any) -> float | str:
    if isinstance(value, str) and "$" in value:
        return value
    number = finite(value)
    if number is None:
        raise refuse("a number, or an expression such as 2 * $speed", got=shown(value))
    return number


def _numbers(value: Any) -> tuple[float | str, ...] | str:
    if not isinstance(value, list):
        number = _number(value)
        return number if isinstance(number, str) else (number,)
    if not value:
        raise refuse("at least one number")
    return tuple(map(_number, value))


def _points(value: Any) -> tuple[tuple[float | str, ...] | str, ...]:
    if not isinstance(value, list) or not value:
        raise refuse("a list of points")
    found = []
    for i, point in enumerate(value):
        if isinstance(point, list) or (isinstance(point, str) and "$" in point):
            found.append(_numbers(point))
        else:
            raise refuse("a point: a list of numbers, or a list parameter such as $home", key=i, got=shown(point))
    return tuple(found)


_Number = float | Annotated[str, Field(pattern=r"\$")]
_List = Annotated[list[_Number], Field(min_length=1)]
_Point = _List | Annotated[str, Field(pattern=r"\$")]
Number = Annotated[float | str, PlainValidator(_number, json_schema_input_type=_Number)]
Numbers = Annotated[tuple[float | str, ...] | str, PlainValidator(_numbers, json_schema_input_type=_List | _Number)]
Points = Annotated[
    tuple[tuple[float | str, ...] | str, ...],
    PlainValidator(_points, json_schema_input_type=Annotated[list[_Point], Field(min_length=1)]),
]


class Pose(Model):
    """A pose of the tool in the world."""

    position: Numbers
    """x, y, z [m]."""
    orientation: Numbers
    """Quaternion x, y, z, w."""


class PointsInTime(Model):
    """A motion given at points in time. It ends at rest, and begins with the first velocity."""

    times: Numbers
    """[s] From 0 on, increasing."""
    positions: Points | None = None
    """All joints at each time [rad or m]."""
    velocities: Points | None = None
    """[rad/s or m/s]; default: a smooth curve."""
    accelerations: Points | None = None
    """[rad/s^2 or m/s^2], with velocities."""
    poses: Points | None = None
    """Poses of the tool, in place of positions: x, y, z, and the quaternion x, y, z, w."""


class Command(Model):
    """A motion of one part to rest. One target: position, pose, velocity with time, or trajectory."""

    part: Name
    """A part or role."""
    position: Numbers | None = None
    """To reach [rad or m]."""
    pose: Pose | None = None
    """Pose of the tool to reach."""
    velocity: Numbers | None = None
    """To keep for `time` [rad/s or m/s]."""
    time: Number | None = None
    """[s] After which the motion at `velocity` has ended, both ramps included."""
    trajectory: PointsInTime | None = None
    """Points in time."""
    start: Numbers | None = None
    """Where the motion begins [rad or m]; default: where the part is commanded to be."""
    start_tolerance: Number | None = None
    """Largest difference of a joint from the start [rad or m]; default 0.02."""
    speed: Number | None = None
    """Fraction of the velocity limits, above 0, at most 1; default 1."""
    joint_speed: Numbers | None = None
    """Largest velocity of each joint, or one for all [rad/s or m/s]."""
    acceleration_percent: Number | None = None
    """Percentage of the acceleration limits, above 0, at most 100; default 100."""
    jerk_percent: Number | None = None
    """Percentage of the jerk limits, above 0, at most 100; default 100."""
    duration: Number | None = None
    """[s] That the motion takes; default: as short as possible."""
    via: Points | None = None
    """Points to pass on the way [rad or m]."""
    blend: Number | None = None
    """Largest distance of a joint from a via point [rad or m]; default 0: it stops at each."""


_JOINT, _PER_SECOND = ("rad", "m"), ("rad/s", "m/s")
_UNITS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    dict.fromkeys(("position", "start", "start_tolerance", "via", "blend", "trajectory.positions"), _JOINT)
    | dict.fromkeys(("velocity", "joint_speed", "trajectory.velocities"), _PER_SECOND)
    | dict.fromkeys(("time", "duration", "trajectory.times"), ("s",))
    | {"pose.position": ("m",), "trajectory.accelerations": ("rad/s^2", "m/s^2"), "trajectory.poses": ("m",)}
)
"""Units of parameters that may be used there; the others have none."""


def units_of(key: str) -> tuple[str, ...]:
    """Units of a key's numbers, such as "pose.position"; empty: they have none."""
    return _UNITS.get(key, ())


def read_command(written: Command, *, action: str, substitution: Substitution, places: Document) -> MotionCommand:
    """A motion command with its expressions computed and its role replaced.

    Raises:
        DefinitionError: a value is not valid, with its line.
    """
    reading = _Reading(f"action {action!r}: motion command {int(written.path[-1]) + 1}", substitution)
    part, given = substitution.part(written.part), {}
    for name in written.model_fields_set - {"part"}:
        try:
            given[name] = reading.value(name, getattr(written, name))
        except DefinitionError as error:
            raise places.locate(error, *written.path, name) from None
    try:
        if given.get("pose") is not None:
            given["pose"] = tuple(given["pose"].values())
        if given.get("trajectory") is not None:
            given["trajectory"] = Trajectory(**given["trajectory"])
        return MotionCommand(part=part, **_without_none(given))
    except DefinitionError:
        if not reading.is_sample:
            raise
        return MotionCommand(part=part)  # samples may have other lengths


class _Reading:
    def __init__(self, label: str, substitution: Substitution) -> None:
        self._label, self._substitution = label, substitution
        self.is_sample = False

    def value(self, key: str, written: Any) -> Any:
        """A number, list, or mapping with everything computed."""
        if isinstance(written, Model):
            return {name: self.value(f"{key}.{name}", value) for name, value in written}
        if isinstance(written, tuple):
            return tuple(self.value(key, value) for value in written)
        return self._computed(key, written) if isinstance(written, str) else written

    def _computed(self, key: str, text: str) -> Value:
        of = f"{self._label}: {key}"
        result = self._substitution.value(text, of)
        values = result.value if isinstance(result.value, tuple) else (result.value,)
        if any(isinstance(value, bool | str) for value in values):
            got = f"{text}, which is {result.value!r}"
            raise DefinitionError(of, expected="a number, or a list of numbers", got=got)
        units = units_of(key)
        if result.unit and result.unit not in units:
            expected = " or ".join(map(repr, units)) or "no unit"
            raise DefinitionError(f"{of}: wrong unit", expected=expected, got=f"{text} in {result.unit!r}")
        self.is_sample |= self._substitution.is_sampled(result.references)
        return result.value


def _without_none(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def command_document(command: MotionCommand) -> dict[str, Any]:
    """The content of a motion command in a file; `read_command` gives the same command again."""
    document = {}
    for field in fields(command):
        value = getattr(command, field.name)
        if field.name == "part" or value != field.default:
            document[field.name] = _plain(value)
    if command.pose is not None:
        document["pose"] = dict(zip(Pose.model_fields, document["pose"], strict=True))
    return document


def _plain(value: Any) -> Any:
    if isinstance(value, Trajectory):
        given = {field.name: getattr(value, field.name) for field in fields(value)}
        return {name: array.tolist() for name, array in _without_none(given).items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
