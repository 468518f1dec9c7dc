"""The firings that belong to a reaction's callback."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.event import Event
from robot_rt_control.vocabulary.event_kinds import Kind


@dataclass(frozen=True, eq=False)
class ReactionCall:
    """A reaction with a callback."""

    reaction: Reaction
    call: Callable[[Event], object]
    owners: set[str] = field(default_factory=set)
    """Ids of the actions that have it; "": it is free-standing."""

    def concerns(self, event: Event) -> bool:
        """Whether an event is a firing of this reaction; another one may emit an event of the same name."""
        return (
            event.kind == Kind.REACTION_FIRED
            and event.reaction == self.reaction.name
            and ("" in self.owners or event.previous_action in self.owners)
        )


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
        grown: list[tuple[set[str], str]] = []
        for owner, reaction in [("", r) for r in free] + [(a.id, r) for a in actions for r in a.reactions]:
            if reaction.call is None:
                continue
            known = self._known.get(id(reaction))
            if known is None:
                self._name(reaction)
                known = self._known[id(reaction)] = new[id(reaction)] = ReactionCall(reaction, reaction.call)
            if owner not in known.owners:
                known.owners.add(owner)
                grown.append((known.owners, owner))

        def undo() -> None:
            for owners, owner in grown:
                owners.discard(owner)
            for key in new:
                del self._known[key]

        return list(new.values()), undo

    def _name(self, reaction: Reaction) -> None:
        self._names += 1
        reaction.event = reaction.event or f"callback_{self._names}"
        reaction.name = reaction.name or f"callback_{self._names}"
