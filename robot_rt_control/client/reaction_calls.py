"""The firings that belong to a reaction's callback."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import inf

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.event import Event
from robot_rt_control.vocabulary.event_kinds import Kind

Ticks = tuple[float, float]
"""The first tick of a definition, and the first one after it."""
NEVER: Ticks = (0, 0)


@dataclass(frozen=True, eq=False)
class ReactionCall:
    """A reaction with a callback."""

    reaction: Reaction
    call: Callable[[Event], object]
    owners: dict[str, Ticks] = field(default_factory=dict)
    """Id of each action that has it, and when; "": it is free-standing."""

    def concerns(self, event: Event) -> bool:
        """Whether an event is a firing of this reaction; another one may emit an event of the same name."""
        if event.kind != Kind.REACTION_FIRED or event.reaction != self.reaction.name:
            return False
        first, end = self.owners.get("", self.owners.get(event.previous_action, NEVER))
        return first <= event.tick < end


class ReactionCalls:
    """The reactions with callbacks that one session has defined. One thread at a time."""

    def __init__(self) -> None:
        self._known: dict[int, ReactionCall] = {}
        self._names = 0

    def prepare(
        self, actions: Iterable[Action], free: Iterable[Reaction]
    ) -> tuple[list[ReactionCall], Callable[[], None]]:
        """Note reactions that are about to be defined.

        Reactions with a callback get a name and an event if they have none: firings are recognized by these.

        Returns:
            The new ones, and a function that undoes this call if the definition fails.
        """
        new: dict[int, ReactionCall] = {}
        changed = _Changed()
        for owner, reaction in [("", r) for r in free] + [(a.id, r) for a in actions for r in a.reactions]:
            if reaction.call is None:
                continue
            known = self._known.get(id(reaction))
            if known is None:
                self._name(reaction)
                known = self._known[id(reaction)] = new[id(reaction)] = ReactionCall(reaction, reaction.call)
            if known.owners.get(owner, NEVER)[1] < inf:
                # If it replaces one of its name, that one gets the firings until the tick is known.
                changed.set(known, owner, (inf if self._has(owner, reaction.name) else 0, inf))

        def undo() -> None:
            changed.undo()
            for key in new:
                del self._known[key]

        return list(new.values()), undo

    def replaced(self, actions: Iterable[Action], tick: int) -> Callable[[], None]:
        """These actions have their new definitions from a tick on. Returns a function that undoes this call."""
        new = {a.id: {id(r) for r in a.reactions} for a in actions}
        changed = _Changed()
        for key, call in self._known.items():
            for owner, (first, end) in list(call.owners.items()):
                if owner in new and end == inf:
                    changed.set(call, owner, (tick if first == inf else first, inf if key in new[owner] else tick))
        return changed.undo

    def _has(self, owner: str, name: str) -> bool:
        return any(c.reaction.name == name and c.owners.get(owner, NEVER)[1] == inf for c in self._known.values())

    def _name(self, reaction: Reaction) -> None:
        self._names += 1
        reaction.event = reaction.event or f"callback_{self._names}"
        reaction.name = reaction.name or f"callback_{self._names}"


class _Changed:
    """Ticks of owners that have been changed, so that they can be restored."""

    def __init__(self) -> None:
        self._before: list[tuple[ReactionCall, str, Ticks]] = []

    def set(self, call: ReactionCall, owner: str, ticks: Ticks) -> None:
        self._before.append((call, owner, call.owners.get(owner, NEVER)))
        call.owners[owner] = ticks

    def undo(self) -> None:
        for call, owner, ticks in self._before:
            call.owners[owner] = ticks
            if ticks == NEVER:
                del call.owners[owner]
