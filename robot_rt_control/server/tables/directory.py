"""Names of all identities that events may mention. Read by the dispatcher, written before an installation."""

from __future__ import annotations

from collections.abc import Iterable

from robot_rt_control.server.tables.entities import DefinedAction, DefinedReaction


class Directory:
    """identity → what it is. Single steps of dict are atomic, so reading needs no lock.

    An entry stays until the loop has taken tables without it: up to then its events may come.
    """

    def __init__(self) -> None:
        self.sessions: dict[int, str] = {}
        """identity → id; empty: the system's."""
        self.actions: dict[int, DefinedAction] = {}
        self.reactions: dict[int, DefinedReaction] = {}

    def add(self, actions: Iterable[DefinedAction], reactions: Iterable[DefinedReaction]) -> None:
        """Enter actions with their reactions, and free-standing reactions."""
        for action in actions:
            self.actions[action.entry.identity] = action
            self.reactions.update((r.identity, r) for r in action.reactions)
        self.reactions.update((r.identity, r) for r in reactions)

    def forget(self, identities: Iterable[int]) -> None:
        """Drop entries of any kind."""
        for identity in identities:
            for table in (self.sessions, self.actions, self.reactions):
                table.pop(identity, None)

    def action_id(self, identity: int) -> str:
        """Id of an action; empty: none, or none of this server's."""
        action = self.actions.get(identity)
        return action.id if action is not None else ""

    def session_id(self, identity: int) -> str:
        """Id of a session; empty: none, the system's, or none of this server's."""
        return self.sessions.get(identity, "")
