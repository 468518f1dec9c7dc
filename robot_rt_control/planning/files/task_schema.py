"""All keys of a task file, for reading tasks and, as a JSON Schema, for editors.

The models describe the text before its parameters have values: a number may be an expression such as -$distance. The
sections of settings are made from the planner's own settings, see settings_keys.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, PlainValidator, create_model

from robot_rt_control.planning.files.settings_keys import Setting, optional_sections, task_settings
from robot_rt_control.planning.task import COORDINATES, PairGroup
from robot_rt_control.program.schema import ParameterDeclaration
from robot_rt_control.text.json_schema import json_schema, write_json_schema
from robot_rt_control.text.schema import Each, Flag, Model, Name, finite, refuse, shown
from robot_rt_control.vocabulary.errors import unknown

SCHEMA_FILE = Path(__file__).resolve().parents[2] / "task.schema.json"
"""Part of the package; `write_schema` makes it."""
FREE = "free"
"""In place of a coordinate of the target: it does not count."""

Written = float | str
"""A number, or an expression; of the target's coordinates also FREE."""
_Expression = Annotated[str, Field(pattern=r"\$")]
_Free = Literal["free"]


def _computed(value: Any) -> bool:
    return isinstance(value, str) and "$" in value


def _number(value: Any) -> Written:
    if _computed(value):
        return str(value)
    number = finite(value)
    if number is None:
        raise refuse("a finite number, or an expression such as -$distance")
    return number


def _numbers(length: int | None, *, free: bool = False) -> Callable[[Any], str | tuple[Written, ...]]:
    """A list of numbers; also one parameter that is such a list."""

    def check(value: Any) -> str | tuple[Written, ...]:
        if _computed(value):
            return str(value)
        count = "a list of numbers" if length is None else f"a list of {length} numbers"
        expected = count + (", each of which may be free" if free else "")
        if not isinstance(value, list) or (length is not None and len(value) != length):
            raise refuse(expected)
        for i, element in enumerate(value):
            if not (_computed(element) or finite(element) is not None or (free and element == FREE)):
                raise refuse(f"{expected}, or expressions such as -$distance", got=f"{shown(element)} at [{i}]")
        return tuple(value)

    return check


def _faces(value: Any) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise refuse("the name of a face, or a list of at least one")
    return tuple(texts)


def _free(value: Any) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list):
        raise refuse("a list of coordinates: " + ", ".join(COORDINATES))
    for text in texts:
        if text not in COORDINATES:
            raise refuse(unknown("coordinate", str(text), COORDINATES), got=repr(text))
    return tuple(texts)


def _orientation(value: Any) -> str | tuple[Written, ...]:
    return FREE if value == FREE else _numbers(4)(value)


_FreeNumber = float | _Free | _Expression
Number = Annotated[Written, PlainValidator(_number, json_schema_input_type=float | _Expression)]
Numbers = Annotated[
    str | tuple[Written, ...],
    PlainValidator(_numbers(None), json_schema_input_type=list[float | _Expression] | _Expression),
]
Triple = Annotated[
    str | tuple[Written, ...],
    PlainValidator(
        _numbers(3), json_schema_input_type=tuple[float | _Expression, float | _Expression, float | _Expression]
        | _Expression,
    ),
]  # fmt: skip
Pair = Annotated[
    str | tuple[Written, ...],
    PlainValidator(_numbers(2), json_schema_input_type=tuple[float | _Expression, float | _Expression] | _Expression),
]
FreeTriple = Annotated[
    str | tuple[Written, ...],
    PlainValidator(
        _numbers(3, free=True), json_schema_input_type=tuple[_FreeNumber, _FreeNumber, _FreeNumber] | _Expression
    ),
]
_Quaternion = Annotated[list[float | _Expression], Field(min_length=4, max_length=4)]
Orientation = Annotated[
    str | tuple[Written, ...],
    PlainValidator(_orientation, json_schema_input_type=_Quaternion | _Free | _Expression),
]
Faces = Annotated[
    tuple[str, ...],
    BeforeValidator(_faces, json_schema_input_type=str | Annotated[list[str], Field(min_length=1)]),
]
FreeCoordinates = Annotated[
    tuple[str, ...],
    BeforeValidator(
        _free,
        json_schema_input_type=Annotated[str, Field(json_schema_extra={"enum": list(COORDINATES)})]
        | list[Annotated[str, Field(json_schema_extra={"enum": list(COORDINATES)})]],
    ),
]


class TargetKeys(Model):
    """The body's pose at the end: by how much it moves, or where it is then."""

    by: FreeTriple | None = None
    """[m] Way from its start, along the axes of `frame`; `free`: that coordinate does not count."""
    turn: FreeTriple | None = None
    """[rad] Rotation vector from its start, about the axes of `frame`; with `by`, or alone."""
    frame: Literal["world", "body"] = "world"
    """Whose axes `by` and `turn` follow; `body`: those of the body at its start."""
    position: FreeTriple | None = None
    """[m] In the world, in place of `by`; `free`: that coordinate does not count."""
    orientation: Orientation | None = None
    """Unit quaternion x y z w in the world, in place of `turn`, or `free`; default: as at the start."""
    free: FreeCoordinates = ()
    """Further coordinates that do not count: x, y, z in the world; rx, ry, rz about the body's axes."""
    rest: Flag = True
    """Whether the body must be at rest at the end."""


class PartKeys(Model):
    """How a part is driven."""

    control: Literal["velocity", "effort"] = "velocity"
    """velocity: the planner chooses the acceleration of the command; effort: it chooses efforts beyond gravity."""


class PairKeys(Model):
    """One robot geometry and the faces that it may touch: a contact pair for each face."""

    robot: str
    """`<part>.<link>`; the link has collision shapes. Tools of the simulated world are links."""
    faces: Faces
    """The body's faces; of a box, in its frame: back (-x), front (+x), right (-y), left (+y), bottom (-z), top (+z)."""
    curvature: Number = PairGroup.curvature
    """[1/m] decay of the virtual force with distance."""


class PatchKeys(Model):
    """A rectangle on the body that may touch."""

    position: Triple
    """[m] Its middle, in the body's frame."""
    orientation: Orientation = (0.0, 0.0, 0.0, 1.0)
    """Unit quaternion x y z w in the body's frame: x is the outward normal, y and z are along the edges."""
    size: Pair
    """[m] Edges along y and z."""


class HorizonKeys(Model):
    """How long the motion takes."""

    time: Number
    """[s]"""
    steps: Number
    """Control steps; each input is constant over one of them."""


class DurationKeys(Model):
    """How long the motion may take, if the planner chooses that: slowly enough for friction to hold the body."""

    at_most: Number
    """[s] The horizon's time is the least."""


class PoseKeys(Model):
    """A pose in the world."""

    position: Triple
    """[m]"""
    orientation: Orientation = (0.0, 0.0, 0.0, 1.0)
    """Unit quaternion x y z w."""


class _StartKeys(Model):
    joints: Annotated[dict[Name, Numbers], Each] = {}
    """Part → [rad or m] position of each joint; the others are where the workcell starts."""
    body: PoseKeys | None = None
    """Where the body is; default: as in the workcell."""
    pose: Name = ""
    """Part of kind sensor that measures where the body is: its values are position x y z [m], quaternion x y z w."""


_FROM: dict[str, Any] = {
    "from": (
        Literal["workcell", "measured", "given"] | None,
        Field(
            default=None,
            description="workcell: where the workcell's file has it (the default); measured: where robot and body"
            " of a running workcell are; given: by `joints` and `body`.",
        ),
    )
}
"""A word of Python, so no attribute of a class as it is written."""
StartKeys: Any = create_model("StartKeys", __base__=_StartKeys, __doc__="Where the motion begins.", **_FROM)


class _MainKeys(Model):
    name: Name = ""
    """For people, and in the plan; default: the file's."""
    description: str = ""
    """What it does, for people."""
    workcell: str
    """Its file, relative to the task's, or the name of one that comes with the package: robot, limits, scene and start
    are there."""
    body: str
    """The free body that is to move: an object of the scene, or `<part>.<link>` of a robot that floats."""
    target: TargetKeys
    """The pose that the body is to reach."""
    patches: Annotated[dict[Name, PatchKeys], Each] = {}
    """Rectangles on the body, an object: faces beside those that its shape has."""
    parts: Annotated[dict[Name, PartKeys], Each] = {}
    """Part → how it is driven; the others by velocity."""
    tools: dict[Name, Name] = {}
    """Part → the tool that is on, of those that the workcell lists; default: that of its start."""
    pairs: Annotated[list[PairKeys], Each]
    """What may touch. Nobody says when, where, or in which order."""
    horizon: HorizonKeys
    """How long the motion takes, in how many steps."""
    duration: DurationKeys | None = None
    """How long it may take at most; without it, the horizon is its time."""
    start: Annotated[StartKeys, Field()] = StartKeys()
    """Where robot and body are."""
    parameters: Annotated[dict[Name, ParameterDeclaration | None], Each] = {}
    """Values that the user may choose, as in programs; numbers may refer to them: $distance, -0.5 * $distance."""


def _key(setting: Setting) -> Any:
    def check(value: Any) -> Any:
        if setting.is_computed and _computed(value):
            return value
        return setting.check(value)

    schema = setting.json_schema()
    annotation = Annotated[Any, PlainValidator(check), Field(json_schema_extra=lambda its: its.update(schema))]
    default = None if setting.default == math.inf else setting.default  # JSON has no word for it
    return annotation, Field(default=default, description=setting.comment or None)


def _sections() -> dict[str, Any]:
    """Section, or key without one → what pydantic makes a field of."""
    tree: dict[str, Any] = {}
    for setting in task_settings():
        *above, name = setting.path
        branch = tree
        for step in above:
            branch = branch.setdefault(step, {})
        branch[name] = setting
    return {name: _branch((name,), branch) for name, branch in tree.items()}


def _branch(path: tuple[str, ...], branch: Any) -> Any:
    if isinstance(branch, Setting):
        return _key(branch)
    name = path[-1]
    keys = {step: _branch((*path, step), inner) for step, inner in branch.items()}
    model: Any = create_model(f"{name.title().replace('_', '')}Keys", __base__=Model, **keys)
    about = f"Settings, all with defaults: {name.replace('_', ' ')}."
    for section in optional_sections():
        if section.path == path:
            default = model() if section.on else None
            return model | None, Field(default=default, description=f"{about} null: it is off.")
    return model, Field(default=model(), description=about)


TaskDocument: Any = create_model(
    "TaskDocument",
    __base__=_MainKeys,
    __config__=ConfigDict(title="robot_rt_control task"),
    __doc__="A task of the contact-interaction planner of robot_rt_control.",
    **_sections(),
)
"""The content of a task file."""


def task_schema() -> dict[str, Any]:
    """The JSON Schema of task files."""
    return json_schema(TaskDocument)


def write_schema(path: Path = SCHEMA_FILE) -> None:
    """Write the JSON Schema: `python -m robot_rt_control.planning.files.task_schema`."""
    write_json_schema(TaskDocument, path)


if __name__ == "__main__":
    write_schema()
