"""What forms of motion commands have: the keys of a program file, as they are declared where programs are read."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import get_args, get_type_hints

from robot_rt_control.definitions.motion_command import MotionCommand
from robot_rt_control.editor.robot import Json
from robot_rt_control.program.motion_commands import Command, Number, Points, Pose, units_of
from robot_rt_control.text.json_schema import descriptions_of_keys
from robot_rt_control.text.schema import Model

_LENGTHS = ((Number, "1"), (Points, "points"))
_UNIT = re.compile(r"\s*\[[^]]*\]")
_DEFAULTS = {field.name: field.default for field in fields(MotionCommand)}


def motion_command_keys() -> list[Json]:
    """Each key as msg/ParameterInfo, without `part` and `trajectory`. Those of a pose have dotted names."""
    keys = [_info(name, Command, name) for name in Command.model_fields if name not in ("part", "pose", "trajectory")]
    return keys + [_info(f"pose.{name}", Pose, name) for name in Pose.model_fields]


def _info(name: str, model: type[Model], key: str) -> Json:
    hint = get_type_hints(model, include_extras=True)[key]
    kinds = (hint, *get_args(hint))  # with None: it may be left out
    default = _DEFAULTS.get(name)
    description = _UNIT.sub("", descriptions_of_keys(model)[key]).strip()
    return {
        "name": name,
        "type": "float",
        "unit": " or ".join(units_of(name)),
        "length": next((length for kind, length in _LENGTHS if kind in kinds), "any"),
        "required": False,
        "default_value": f"{default:g}" if isinstance(default, float) else "",
        "minimum": None,
        "maximum": None,
        "choices": [],
        "description": description,
    }
