"""Actions and reactions as an application writes them."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from robot_rt_control.client.event import Event
from robot_rt_control.client.expression import Condition
from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.vocabulary.errors import DefinitionError


class Reaction:
    """A condition and what happens, within the same tick, when it becomes true.

    Args:
        when: the condition, as text or expression; bare names are the owner action's state variables.
        start: id of the action to start.
        stop: stop the owner (free-standing: everything of the session).
        signal: "action_id.signal_name" to raise.
        event: name of the event to emit.
        call: callback to call with the event, outside real time, in a thread of its own. It may take as long as it
            likes, and call the session's methods.
        reply_to: id of the action that gets the mapping that `call` returns as new values of its parameters, whenever
            it returns: {"velocity": 0.1}. Returning None changes nothing.
        fire_once: at most once in each activation of the owner.
        keep_owner: the started action uses other parts, and the owner goes on.
        capture: names of state variables that the event carries.
        name: of the reaction itself; found when left out.
        queue: how many events may wait for the callback.
    """

    def __init__(
        self,
        when: str | Condition,
        *,
        start: str | Action = "",
        stop: bool = False,
        signal: str = "",
        event: str = "",
        call: Callable[[Event], object] | None = None,
        reply_to: str | Action = "",
        fire_once: bool = False,
        keep_owner: bool = False,
        capture: Iterable[str | Condition] = (),
        name: str = "",
        queue: int = 100,
    ) -> None:
        self.when = str(when)
        self.start = start if isinstance(start, str) else start.id
        self.stop, self.signal, self.event, self.call = stop, signal, event, call
        self.reply_to = reply_to if isinstance(reply_to, str) else reply_to.id
        if self.reply_to and call is None:
            raise DefinitionError(
                f"reaction {self.when!r}: reply_to={self.reply_to!r}", expected="a callback to reply", got="no `call`"
            )
        self.fire_once, self.keep_owner = fire_once, keep_owner
        self.capture = [str(c) for c in capture]
        self.name, self.queue = name, queue


def reply_of(result: object, reply_to: str) -> Mapping[str, Any]:
    """The parameters that a callback has returned; empty: none.

    Raises:
        DefinitionError: it returned something else.
    """
    if result is None:
        return {}
    if not isinstance(result, Mapping):
        raise DefinitionError(
            f"the callback's result for action {reply_to!r}",
            expected="a mapping of parameters, such as {'velocity': 0.1}, or None",
            got=repr(result),
        )
    return result


class Action:
    """An action: a type with parameters, on some parts, with its reactions.

    Args:
        id: its name in the session, never used again.
        type: name of the action type; or a class of your own, from this file or another one: the server loads it, where
            it is not there as it is, from its file on this machine.
        parts: the part, or slot → part; left out: the session's only part.
        reactions: judged while this action is active.
        parameters: by name: number, bool, text, list of numbers, or (value, "unit").
    """

    def __init__(
        self,
        id: str,
        type: str | type[ActionType],
        *,
        parts: str | Mapping[str, str] | None = None,
        reactions: Iterable[Reaction] = (),
        **parameters: Any,
    ) -> None:
        self.id, self.parts = id, parts
        self.type: str = type if isinstance(type, str) else type.name
        self.action_class: builtins.type[ActionType] | None = None if isinstance(type, str) else type
        self.reactions = list(reactions)
        self.parameters = parameters

    def parts_of(self, session_parts: tuple[str, ...]) -> list[str]:
        """The parts as the interface spells them: "arm", or "slot=part"."""
        if self.parts is None:
            if len(session_parts) != 1:
                raise DefinitionError(
                    f"action {self.id!r}: which part",
                    expected=f"parts=…, as the session holds {len(session_parts)} parts",
                    got="none",
                )
            return list(session_parts)
        if isinstance(self.parts, str):
            return [self.parts]
        return [f"{slot}={part}" for slot, part in self.parts.items()]
