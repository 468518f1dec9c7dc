"""Between what applications write and the ROS messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from robot_rt_control import msg
from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.event import Event
from robot_rt_control.vocabulary.errors import DefinitionError


def _has_unit(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], str)


def parameter_messages(parameters: Mapping[str, Any]) -> list[msg.ParameterValue]:
    """Parameters by name: number, bool, text, list of numbers, or (value, "unit").

    Raises:
        DefinitionError: a value is none of these.
    """
    messages = []
    for name, given in parameters.items():
        value, unit = given if _has_unit(given) else (given, "")
        message = msg.ParameterValue(name=name, unit=unit)
        if isinstance(value, str):
            message.text = value
        else:
            try:
                numbers = np.atleast_1d(np.asarray(value, float)).ravel()
            except (TypeError, ValueError):
                raise DefinitionError(
                    f"parameter {name!r}", expected="a number, bool, text or list of numbers", got=repr(value)
                ) from None
            message.values = numbers.tolist()
        messages.append(message)
    return messages


def role_texts(parts: Mapping[str, str] | Iterable[str]) -> list[str]:
    """Parts for a program's roles as the interface spells them: "role=part"."""
    if isinstance(parts, Mapping):
        return [f"{role}={part}" for role, part in parts.items()]
    return [parts] if isinstance(parts, str) else list(parts)


def reaction_message(reaction: Reaction) -> msg.Reaction:
    return msg.Reaction(
        name=reaction.name,
        condition=reaction.when,
        start=reaction.start,
        stop=reaction.stop,
        signal=reaction.signal,
        event=reaction.event,
        fire_once=reaction.fire_once,
        keep_owner=reaction.keep_owner,
        capture=reaction.capture,
    )


def action_message(action: Action, session_parts: tuple[str, ...]) -> msg.ActionDefinition:
    return msg.ActionDefinition(
        id=action.id,
        type=action.type,
        parts=action.parts_of(session_parts),
        parameters=parameter_messages(action.parameters),
        reactions=[reaction_message(r) for r in action.reactions],
    )


def event_of(message: msg.Event) -> Event:
    return Event(
        kind=message.kind,
        session=message.session,
        tick=message.tick,
        time=message.stamp.sec + message.stamp.nanosec * 1e-9,
        name=message.event,
        reaction=message.reaction,
        previous_action=message.previous_action,
        current_action=message.current_action,
        part=message.part,
        reason=message.reason,
        file=message.file,
        values=dict(zip(message.names, message.values, strict=True)),
        sequence=message.sequence,
    )
