"""All keys of a program file, for reading programs and, as a JSON Schema, for editors.

The models describe the text before parameters and roles are filled in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Discriminator, Field, PlainValidator, Tag
from pydantic_core import PydanticCustomError

from robot_rt_control.definitions.definitions import Value
from robot_rt_control.program.motion_commands import Command
from robot_rt_control.text.json_schema import json_schema, write_json_schema
from robot_rt_control.text.schema import Each, EachOfEach, Flag, Model, Name, Number, refuse
from robot_rt_control.vocabulary.capacities import (
    MAX_ACTION_SLOTS,
    MAX_ACTIONS_PER_COMMAND,
    MAX_CAPTURES,
    MAX_DOTTED_NAME_LENGTH,
    MAX_NAME_LENGTH,
)
from robot_rt_control.vocabulary.names import REFERENCE_PATTERN, SIGNAL_PATTERN, TYPE_PATTERN, VARIABLE_PATTERN
from robot_rt_control.vocabulary.part_kinds import WORKCELL_KINDS

SCHEMA_FILE = Path(__file__).resolve().parents[1] / "program.schema.json"
"""Part of the package; `write_schema` makes it."""


def _scalar(value: Any) -> bool:
    return isinstance(value, bool | int | float | str)


def _value(value: Any) -> Any:
    if _scalar(value):
        return value
    if isinstance(value, list) and value and all(map(_scalar, value)):
        return tuple(value)
    raise refuse("a number, true, false, a text, or a list of these")


def _with_unit(value: Any) -> Any:
    return value if isinstance(value, Mapping) else {"value": value}


def _texts(value: Any) -> tuple[str, ...]:
    """A list; a single element may be written without brackets."""
    texts = (value,) if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise refuse("a text, or a list of texts")
    return tuple(texts)


def _parts(value: Any) -> tuple[str, ...] | dict[str, str]:
    if isinstance(value, dict) and all(isinstance(part, str) for part in value.values()):
        return value
    try:
        parts = _texts(value)
    except PydanticCustomError:
        raise refuse("a part, a list of parts, or slot: part") from None
    if len(parts) > MAX_ACTION_SLOTS:
        raise refuse(f"at most {MAX_ACTION_SLOTS} parts (MAX_ACTION_SLOTS)")
    return parts


def _condition(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _reference(value: str) -> str:
    if not re.fullmatch(REFERENCE_PATTERN, value):
        raise refuse("the name of a program such as trace_edge or trace_edge@2")
    return value


def _length(value: Any) -> Any:
    if value == "any" or (isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 1024):
        return value
    raise refuse("1 to 1024, or any")


def _pattern(pattern: str) -> Any:
    """For editors only: the definitions themselves check names."""
    return Field(json_schema_extra={"pattern": f"^{pattern}$", "maxLength": MAX_DOTTED_NAME_LENGTH})


# Patterns for editors.
_Scalar = float | bool | str
_Value = _Scalar | Annotated[list[_Scalar], Field(min_length=1)]
_Part = Annotated[str, Field(max_length=2 * MAX_NAME_LENGTH)]

TypeName = Annotated[str, _pattern(TYPE_PATTERN)]
SignalName = Annotated[str, _pattern(SIGNAL_PATTERN)]
VariableName = Annotated[str, _pattern(VARIABLE_PATTERN)]
Kind = Annotated[str, Field(json_schema_extra={"enum": [kind.name.lower() for kind in WORKCELL_KINDS]})]
Texts = Annotated[tuple[str, ...], BeforeValidator(_texts, json_schema_input_type=str | list[str])]
Names = Annotated[tuple[Name, ...], BeforeValidator(_texts, json_schema_input_type=Name | list[Name])]
Captures = Annotated[
    tuple[VariableName, ...],
    BeforeValidator(
        _texts, json_schema_input_type=VariableName | Annotated[list[VariableName], Field(max_length=MAX_CAPTURES)]
    ),
]
Starts = Annotated[
    Names,
    BeforeValidator(
        _texts, json_schema_input_type=Name | Annotated[list[Name], Field(max_length=MAX_ACTIONS_PER_COMMAND)]
    ),
]
View = dict[str, Any]
"""Places of a picture's boxes that a person moved: id → [x, y] of the top left corner, y downwards."""
ValueOf = Annotated[Value, PlainValidator(_value, json_schema_input_type=_Value)]


class ParameterDeclaration(Model):
    """A value that the user of the program may choose. Values and conditions refer to it by `$name`."""

    type: Literal["float", "int", "bool", "text"] = "float"
    length: Annotated[
        int | str,
        PlainValidator(_length, json_schema_input_type=Annotated[int, Field(ge=1, le=1024)] | Literal["any"]),
    ] = 1
    """1: one value; n: a list of n; any: a list of any length."""
    unit: str = ""
    """SI unit. Values may repeat it; they must then agree. Units are not converted."""
    default: ValueOf | None = None
    """No default: the value must be given."""
    minimum: Number | None = None
    maximum: Number | None = None
    choices: Texts = ()
    """The valid values of a text."""
    description: str = ""


class RoleDeclaration(Model):
    """A part that the program needs; its name is used in place of a part's name."""

    kinds: Annotated[tuple[Kind, ...], BeforeValidator(_texts, json_schema_input_type=Kind | list[Kind])] = ()
    """Kinds of parts that fit; default: all."""
    default: Name = ""
    """The part if none is given; no default: one must be given."""
    description: str = ""


class ExitDeclaration(Model):
    """How a run of the program can end: the name is that of an event that it emits."""

    failure: Flag = False
    """For a blueprint that runs the program: nothing has to be reached there."""


class ValueWithUnit(Model):
    """A value with its unit, which must be the declared one."""

    value: ValueOf
    """A text is computed if it contains a dollar: "-$speed"; otherwise it is taken as it is."""
    unit: str = ""


GivenValue = Annotated[ValueWithUnit, BeforeValidator(_with_unit, json_schema_input_type=_Value | ValueWithUnit)]


class Reaction(Model):
    """When the condition becomes true, all responses happen in the same tick. At least one of start, stop, signal,
    event."""

    when: Annotated[str, BeforeValidator(_condition, json_schema_input_type=str | bool)]
    """The condition: "rangefinder.distance < $near and not is_done"."""
    name: Name = ""
    """Appears in events; unique within its owner."""
    start: Starts = ()
    """Id of the state to start, or several that share no part: all start in the same tick, or none."""
    stop: Flag = False
    """Stop the owner; free-standing: all actions."""
    signal: SignalName = ""
    """Signal to raise: of the owner, or action.signal."""
    event: Name = ""
    """Name of the event to emit."""
    fire_once: Flag = False
    """At most once in each activation of the owner."""
    keep_owner: Flag = False
    """The owner continues; the started states must use other parts."""
    capture: Captures = ()
    """State variables whose values the event carries."""


class Strategy(Model):
    """A law for one degree of freedom. The first one of a list whose condition holds governs in that tick."""

    name: Name
    """Unique in its list."""
    when: Annotated[str, BeforeValidator(_condition, json_schema_input_type=str | bool)] = ""
    """The condition; only the last one of a list has none."""
    law: TypeName
    """Name of an action type that commands one degree of freedom."""
    parts: Names = ()
    """Parts or roles that the law reads, in the order of its slots after the first."""
    parameters: Annotated[dict[Name, GivenValue], Each] = {}
    """An omitted parameter takes the law's default."""
    inputs: Annotated[dict[Name, VariableName], Each] = {}
    """Input of the law → the state variable that it reads."""
    capture: Captures = ()
    """State variables whose values its event strategy_changed carries."""


class _ActionKeys(Model):
    """What all actions have."""

    parameters: Annotated[dict[Name, GivenValue], Each] = {}
    """The others take the type's defaults."""
    reactions: Annotated[list[Reaction], Each] = []
    """Evaluated in this order while the action is active."""
    time_limit: GivenValue | None = None
    """[s] of the action's time after which it ends as by `stop`, unless one of its reactions ends it in that tick."""
    final: Flag = False
    """The program may end here: nothing needs to lead away."""
    manual: Flag = False
    """A user starts it by hand: nothing needs to lead here."""


class ActionState(_ActionKeys):
    """A state of the program: an action with its reactions."""

    type: TypeName
    """Name of the action type."""
    parts: Annotated[
        tuple[str, ...] | dict[str, str],
        PlainValidator(
            _parts,
            json_schema_input_type=Name | Annotated[list[_Part], Field(max_length=MAX_ACTION_SLOTS)] | dict[Name, Name],
        ),
    ]
    """A part or role, several in the order of the type's slots, or slot: part."""
    strategies: Annotated[dict[VariableName, Annotated[list[Strategy], EachOfEach]], Each] = {}
    """Degree of freedom ("elbow", "joint[3]", "left.elbow", "x") → its strategies in order of priority."""


class GroupState(_ActionKeys):
    """A state of the program: a motion group with its reactions."""

    type: Literal["motion_group"]
    commands: Annotated[list[Command], Each]
    """Its motion commands; each part carries its own out in this order."""
    parts: Names = ()
    """Its parts or roles; default: those of its commands."""


class UseState(Model):
    """A state that is a program: its states take this one's place, each with the id <this state>__<its id>."""

    use: Annotated[str, AfterValidator(_reference), Field(json_schema_extra={"pattern": f"^{REFERENCE_PATTERN}$"})]
    """Name of a kept program or of one of the library: trace_edge, trace_edge@2."""
    parts: dict[Name, Name] = {}
    """Role of the used program → part, or role of this program."""
    parameters: Annotated[dict[Name, GivenValue], Each] = {}
    """Values of its parameters."""
    exits: dict[Name, Starts] = {}
    """Each exit of the used program → the state that follows in the same tick, or several that share no part."""


# No keys: locations of mistakes contain them.
_ACTION, _GROUP, _USE = "an action", "a motion group", "a used program"


def _kind_of_state(value: Any) -> str:
    if isinstance(value, UseState) or (isinstance(value, Mapping) and "use" in value):
        return _USE
    group = isinstance(value, GroupState) or (isinstance(value, Mapping) and value.get("type") == "motion_group")
    return _GROUP if group else _ACTION


State = Annotated[
    Annotated[ActionState, Tag(_ACTION)] | Annotated[GroupState, Tag(_GROUP)] | Annotated[UseState, Tag(_USE)],
    Discriminator(_kind_of_state),
]


class ProgramFile(Model):
    """Actions and reactions as one state machine, for robot_rt_control."""

    model_config = ConfigDict(title="robot_rt_control program")

    name: Name = ""
    """The name under which it is stored."""
    description: str = ""
    """What it does, for users who pick it by name."""
    tags: Names = ()
    """Words by which users find it."""
    roles: Annotated[dict[Name, RoleDeclaration | None], Each] = {}
    """Parts that it needs. A program without roles names the workcell's parts itself."""
    parameters: Annotated[dict[Name, ParameterDeclaration | None], Each] = {}
    """Values that its user may choose."""
    exits: Annotated[dict[Name, ExitDeclaration | None], Each] = {}
    """All exits, if some of them are failures; default: those that its final states have, none of them a failure."""
    parts: Names = ()
    """Parts that it moves; default: those of its actions."""
    start: Starts = ()
    """Ids of the states that begin, all in one tick."""
    actions: Annotated[dict[Name, State], Each]
    """Id → action, or used program: the states."""
    reactions: Annotated[list[Reaction], Each] = []
    """Free-standing reactions, evaluated in every state."""
    view: View = {}
    """Places of states that a person moved: state → [x, y]. Only pictures use it."""


def program_schema() -> dict[str, Any]:
    """The JSON Schema of program files."""
    return json_schema(ProgramFile)


def write_schema(path: Path = SCHEMA_FILE) -> None:
    """Write the JSON Schema: `python -m robot_rt_control.program.schema`."""
    write_json_schema(ProgramFile, path)


if __name__ == "__main__":
    write_schema()
