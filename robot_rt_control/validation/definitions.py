"""Finds every mistake in definitions that the catalogue can show: the one list of the rules.

The control server calls it before it defines anything; `program check` and uploads call it for a text's lines. Errors
from the action types' own code (`create`, `prepare_parameters`) appear only when the server prepares the actions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.definitions.definitions import ProgramDefinition
from robot_rt_control.validation.actions import find_in_action
from robot_rt_control.validation.catalogue import Catalogue, moved_parts
from robot_rt_control.validation.conflicts import find_conflicts
from robot_rt_control.validation.edges import Edge, Found, edges
from robot_rt_control.validation.reactions import find_in_reaction
from robot_rt_control.validation.scope import Scope, Variables, variables_of_axes, variables_of_type
from robot_rt_control.validation.strategies import KeptStrategy, find_in_kept, find_in_strategies
from robot_rt_control.vocabulary.errors import DefinitionError, raise_all, unknown
from robot_rt_control.vocabulary.names import SESSION


@dataclass(frozen=True, kw_only=True)
class SessionFacts:
    """The session that gets the definitions.

    Args:
        label: its name in messages.
        parts: the parts that it holds; None: there is no session yet, or it may use all parts.
        actions: its existing actions: type (None: not known) and the parts that they move.
        axes: the degrees of freedom with strategies, of those of its existing actions that have any.
        used_ids: ids of all actions that it ever had.
        reactions: names of its free-standing reactions.
        variables: those that its application has written; None: not known.
        edges: reactions of what it keeps that refer to actions which the definitions replace.
        strategies: likewise.
    """

    label: str = "the session"
    parts: tuple[str, ...] | None = None
    actions: Mapping[str, tuple[DeclaredType | None, frozenset[str]]] = field(default_factory=dict)
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    used_ids: Collection[str] = ()
    reactions: Collection[str] = ()
    variables: Variables | None = None
    edges: Sequence[Edge] = ()
    strategies: Sequence[KeptStrategy] = ()


def check_definitions(program: ProgramDefinition, catalogue: Catalogue, session: SessionFacts | None = None) -> None:
    """Check definitions that do not come from a text.

    Raises:
        DefinitionError: there is one mistake.
        ProgramError: there are several.
    """
    raise_all(error for error, _ in Subject(program, catalogue, session).find_mistakes())


class Subject:
    """Definitions, together with the data for their checks.

    Args:
        sampled: (action, parameter) whose values are not known, or only show their type.

    Attributes:
        types: types of all actions, including the session's existing ones; None: not known.
        moved: the parts that each of them moves; all parts that it names, if its type is not known.
        scope: the variables that its reactions can name.
    """

    def __init__(
        self,
        program: ProgramDefinition,
        catalogue: Catalogue,
        session: SessionFacts | None = None,
        sampled: Collection[tuple[str, str]] = (),
    ) -> None:
        self.program, self.catalogue, self.sampled = program, catalogue, sampled
        self.session = session or SessionFacts()
        self.types = {id: action_type for id, (action_type, _) in self.session.actions.items()}
        self.moved = {id: moved for id, (_, moved) in self.session.actions.items()}
        there = {*catalogue.parts, *catalogue.roles} if catalogue.parts is not None else None
        for action in program.actions:
            action_type = (catalogue.types or {}).get(action.type)
            names = action.parts.values() if isinstance(action.parts, Mapping) else action.parts
            moved = frozenset(names if action_type is None else moved_parts(action_type, action.parts))
            self.types[action.id] = action_type
            self.moved[action.id] = moved if there is None else moved & there  # unknown ones are reported once
        variables = {t: variables_of_type(t) for t in self.types.values() if t is not None}
        axes = {**self.session.axes, **{a.id: tuple(x.axis for x in a.strategies) for a in program.actions}}
        self.scope = Scope(
            catalogue,
            {
                id: None if t is None else {**variables[t], **variables_of_axes(axes.get(id, ()))}
                for id, t in self.types.items()
            }
            | {SESSION: self.session.variables},
        )

    def find_mistakes(self) -> Found:
        """Every mistake, with its place."""
        yield from self._find_in_ids()
        for action in self.program.actions:
            yield from find_in_action(action, self.catalogue, self.sampled)
            yield from find_in_strategies(action, self.catalogue, self.scope, self.sampled)
        for kept in self.session.strategies:
            yield from find_in_kept(kept, self.scope)
        reactions = [*edges(self.program), *self.session.edges]
        for edge in reactions:
            yield from find_in_reaction(edge, self.types, self.scope)
        yield from self._find_in_start()
        sure = {id: moved for id, moved in self.moved.items() if self.types[id] is not None}
        yield from find_conflicts(self.program, reactions, sure, self.session.parts)

    def _find_in_ids(self) -> Found:
        once = "Ids are never used again within a session: choose another one"
        new = f"an id that {self.session.label} has not used yet"
        for action in self.program.actions:
            id, path = action.id, ("actions", action.id)
            if id in self.session.actions:
                yield DefinitionError(f"action {id!r} exists", expected=new, hint=once), path
            elif id in self.session.used_ids:
                what = f"action {id!r} existed before and was removed"
                yield DefinitionError(what, expected=new, hint=once), path
            if id in (self.catalogue.parts or ()):
                error = DefinitionError(
                    f"action {id!r} has the name of a part",
                    expected="an id that is not the name of a part, to keep conditions unambiguous",
                    got=repr(id),
                )
                yield error, path
        for i, reaction in enumerate(self.program.reactions):
            if reaction.name and reaction.name in self.session.reactions:
                error = DefinitionError(
                    f"{reaction.label} exists",
                    expected="a name that no other free-standing reaction of the session has",
                    got=repr(reaction.name),
                )
                yield error, ("reactions", i)

    def _find_in_start(self) -> Found:
        for name in self.program.start:
            if name not in self.types:
                error = DefinitionError(
                    "program starts an action that is not defined",
                    expected=unknown("action", name, self.types),
                    got=repr(name),
                )
                yield error, ("start",)
