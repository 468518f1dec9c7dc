"""A program of one action, so that whatever runs programs runs action types as well."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from robot_rt_control.definitions.definitions import ParameterValue
from robot_rt_control.text.dump import dump

DONE = "done"
"""The event that ends it."""


def program_of_action(
    type: str,
    parts: Mapping[str, str],
    parameters: Iterable[ParameterValue],
    *,
    until: str = "",
    taken: Collection[str] = (),
) -> str:
    """The YAML text of a program that starts one action and emits `DONE` once; the action goes on.

    Args:
        parts: slot → part.
        until: condition for the event; empty: the action's own `is_done`.
        taken: names that the action's id must not have, such as those of parts.
    """
    id = type.rpartition(".")[2]
    while id in taken:
        id += "_action"
    reaction = {"when": until or "is_done", "event": DONE, "fire_once": True}
    action: dict[str, Any] = {"type": type, "parts": dict(parts), "reactions": [reaction]}
    values = {p.name: _written(p) for p in parameters}
    if values:
        action["parameters"] = values
    return dump({"name": f"run_{id}", "start": [id], "actions": {id: action}})


def _written(parameter: ParameterValue) -> Any:
    value = parameter.value
    plain: Any = [_text(v) for v in value] if isinstance(value, tuple) else _text(value)
    return {"value": plain, "unit": parameter.unit} if parameter.unit else plain


def _text(value: Any) -> Any:
    return value.replace("$", "$$") if isinstance(value, str) else value
