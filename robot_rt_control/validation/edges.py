"""All reactions of a set of definitions, each with its owner and its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from robot_rt_control.definitions.definitions import ProgramDefinition, ReactionDefinition
from robot_rt_control.text.document import Mistake, Path

Found = Iterator[Mistake]
"""Mistakes, each with its place."""


@dataclass(frozen=True, kw_only=True)
class Edge:
    """A reaction with its place in the program."""

    owner: str
    """Id of its action; empty: free-standing."""
    reaction: ReactionDefinition
    path: Path

    @property
    def label(self) -> str:
        """Its name in messages."""
        return self.reaction.label + self._of_owner

    @property
    def condition_label(self) -> str:
        """The name of its condition in messages, with its text."""
        name = f"reaction {self.reaction.name!r}" if self.reaction.name else "a reaction"
        return f"condition of {name}{self._of_owner}"

    @property
    def _of_owner(self) -> str:
        return f" of action {self.owner!r}" if self.owner else ""


def edges(program: ProgramDefinition) -> Iterator[Edge]:
    """All reactions, in definition order; free-standing ones last."""
    for action in program.actions:
        for i, reaction in enumerate(action.reactions):
            yield Edge(owner=action.id, reaction=reaction, path=("actions", action.id, "reactions", i))
    for i, reaction in enumerate(program.reactions):
        yield Edge(owner="", reaction=reaction, path=("reactions", i))
