"""What a program file may say: every key, in one place. The reader takes its keys from here, editors the JSON Schema.

The models describe what is written, before parameters and roles are filled in; `program_file.py` reads it with lines.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from robot_rt_control.vocabulary.capacities import (
    MAX_ACTION_SLOTS,
    MAX_ACTIONS_PER_COMMAND,
    MAX_CAPTURES,
    MAX_NAME_LENGTH,
)
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.names import VARIABLE_PATTERN

SCHEMA_FILE = Path(__file__).resolve().parents[1] / "program.schema.json"
"""Ships with the package; `write_schema` makes it."""

_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
Name = Annotated[str, Field(pattern=f"^{_IDENTIFIER}$", max_length=MAX_NAME_LENGTH)]
TypeName = Annotated[str, Field(pattern=rf"^{_IDENTIFIER}(\.{_IDENTIFIER})*$", max_length=MAX_NAME_LENGTH)]
SignalName = Annotated[str, Field(pattern=rf"^{_IDENTIFIER}(\.{_IDENTIFIER})?$", max_length=MAX_NAME_LENGTH)]
VariableName = Annotated[str, Field(pattern=f"^{VARIABLE_PATTERN}$", max_length=MAX_NAME_LENGTH)]
Kind = Annotated[str, Field(json_schema_extra={"enum": [kind.name.lower() for kind in PartKind]})]
Scalar = float | bool | str
"""A text is taken as it is, or computed where it has a dollar: "-$speed"."""


class Model(BaseModel):
    """Base of all: other keys are refused."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class ParameterDeclaration(Model):
    """A value that whoever uses the program may choose. `$name` stands for it in values and conditions."""

    type: Literal["float", "int", "bool", "text"] = "float"
    length: Annotated[int, Field(ge=1, le=1024)] | Literal["any"] = 1
    """1: one value; n: a list of n; any: a list of any length."""
    unit: str = ""
    """In SI; values may repeat it, and must then agree. Units are not converted."""
    default: float | bool | str | list[float | bool] | None = None
    """Left out: the value must be given."""
    minimum: float | None = None
    maximum: float | None = None
    choices: str | list[str | float | bool] = []
    """Of a text: the valid ones, taken as they are written."""
    description: str = ""


class RoleDeclaration(Model):
    """A part that the program needs; its name stands wherever a part's name may stand."""

    kinds: list[Kind] | Kind = []
    """Kinds of parts that fit; left out: all."""
    default: Name | None = None
    """The part that plays it when none is given; left out: one must be given."""
    description: str = ""


class ValueWithUnit(Model):
    """A value with its unit, which must be the declared one."""

    value: Scalar | Annotated[list[Scalar], Field(min_length=1)]
    unit: str = ""


class Reaction(Model):
    """When the condition becomes true, all responses happen in the same tick. At least one of start, stop, signal,
    event."""

    when: str | bool
    """The condition: "rangefinder.distance < $near and not is_done"."""
    name: Name | None = None
    """Appears in events; unique among its owner's."""
    start: Name | None = None
    """Id of the action to start."""
    stop: bool = False
    """Stop the owner; free-standing: all actions."""
    signal: SignalName | None = None
    """Signal to raise: of the owner, or action.signal."""
    event: Name | None = None
    """Name of the event to emit."""
    fire_once: bool = False
    """At most once in each activation of the owner."""
    keep_owner: bool = False
    """The started action uses other parts, and the owner goes on."""
    capture: VariableName | Annotated[list[VariableName], Field(max_length=MAX_CAPTURES)] = []
    """State variables whose values the event carries."""


class ActionState(Model):
    """A state of the program: an action with its reactions."""

    type: TypeName
    """Name of the action type."""
    parts: (
        Name
        | Annotated[list[Annotated[str, Field(max_length=2 * MAX_NAME_LENGTH)]], Field(max_length=MAX_ACTION_SLOTS)]
        | dict[Name, Name]
    )
    """A part or role, several in the order of the type's slots, or slot: part."""
    parameters: dict[Name, Scalar | Annotated[list[Scalar], Field(min_length=1)] | ValueWithUnit] = {}
    """What is left out takes the type's default."""
    reactions: list[Reaction] = []
    """Judged, in this order, while the action is active."""
    final: bool = False
    """The program may end here: nothing needs to lead away."""
    manual: bool = False
    """A user starts it by hand: nothing needs to lead here."""


class ProgramFile(Model):
    """Actions and reactions as one state machine, for robot_rt_control."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True, title="robot_rt_control program")

    name: Name | None = None
    """The name that it is kept under."""
    description: str = ""
    """What it does, for people who pick it by name."""
    roles: dict[Name, RoleDeclaration] = {}
    """Parts that it needs. Without roles it names the workcell's parts itself."""
    parameters: dict[Name, ParameterDeclaration] = {}
    """Values that can be chosen when it is used."""
    parts: Name | list[Name] = []
    """Parts that it moves; left out: those of its actions."""
    start: Name | Annotated[list[Name], Field(max_length=MAX_ACTIONS_PER_COMMAND)] = []
    """Ids of the actions that begin, all in one tick."""
    actions: dict[Name, ActionState]
    """Id → action: the states."""
    reactions: list[Reaction] = []
    """Free-standing ones, judged in every state."""


def keys(model: type[Model]) -> tuple[str, ...]:
    """The keys of a mapping in the file."""
    return tuple(model.model_fields)


def program_schema() -> dict[str, Any]:
    """The JSON Schema of program files."""
    schema = ProgramFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_without_titles(schema)}


def _without_titles(value: Any) -> Any:
    """Titles that only repeat the key would clutter what an editor shows."""
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if k != "title" or not isinstance(v, str) or v.startswith("robot_rt")}
        return {k: _without_titles(v) for k, v in kept.items()}
    return [_without_titles(v) for v in value] if isinstance(value, list) else value


def write_schema(path: Path = SCHEMA_FILE) -> None:
    """Write the JSON Schema: `python -m robot_rt_control.program.schema`."""
    path.write_text(json.dumps(program_schema(), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_schema()
