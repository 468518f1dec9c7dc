"""Checks a program as a whole before anything of it moves: everything that is wrong, each with its line.

What the action types' own code refuses shows when the actions are prepared, see `ControlServer.install_program`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from robot_rt_control.conditions.compiler import unknown_variable
from robot_rt_control.conditions.grammar import parse_condition
from robot_rt_control.conditions.tree import variables
from robot_rt_control.conditions.types import ConditionTypes, VariableRef
from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.program.action_check import Found, check_action
from robot_rt_control.program.catalogue import Catalogue, ProgramScope, moved_slots
from robot_rt_control.program.conflicts import find_conflicts
from robot_rt_control.program.file import FilledProgram
from robot_rt_control.program.graph import Edge, edges, unreachable, without_exit
from robot_rt_control.program.places import Mistakes, Path
from robot_rt_control.vocabulary.errors import DefinitionError, unknown


@dataclass(frozen=True, kw_only=True)
class SessionFacts:
    """What is known of the session that takes a program.

    Args:
        parts: that it holds.
        actions: those that it has already: type and the parts that they move.
    """

    parts: tuple[str, ...]
    actions: Mapping[str, tuple[type[ActionType], frozenset[str]]] = field(default_factory=dict)


def check_program(
    program: FilledProgram, catalogue: Catalogue | None, session: SessionFacts | None = None
) -> list[str]:
    """Check a program.

    Args:
        catalogue: what there is; None: only what the program's text says by itself is checked.
        session: that is going to take it; None: none yet.

    Returns:
        Warnings, with their lines: what may be meant, but looks wrong.

    Raises:
        DefinitionError: the only mistake, with its line.
        ProgramError: several, by line.
    """
    return _Check(program, catalogue, session).run()


class _Check:
    def __init__(self, program: FilledProgram, catalogue: Catalogue | None, session: SessionFacts | None) -> None:
        self.program, self.definition, self.places = program, program.definition, program.places
        self.catalogue, self.session = catalogue, session
        self.mistakes = Mistakes()
        self.warnings: list[tuple[int, str]] = []
        self.roles = {role.name: role for role in program.template.roles} if program.is_sample else {}
        existing = session.actions if session is not None else {}
        self.types: dict[str, type[ActionType] | None] = dict.fromkeys(program.defined)
        self.types |= {id: action_type for id, (action_type, _) in existing.items()}
        self.moved = {id: parts for id, (_, parts) in existing.items()}

    def run(self) -> list[str]:
        for action in self.definition.actions:
            action_type = self.catalogue.types.get(action.type) if self.catalogue is not None else None
            names = action.parts.values() if isinstance(action.parts, Mapping) else action.parts
            self.types[action.id] = action_type
            moved = frozenset(names) if action_type is None else moved_slots(action_type, action.parts)
            self.moved[action.id] = moved & self.known_parts(moved)
        if self.catalogue is not None:
            self.take(self.check_roles(self.catalogue))
            for action in self.definition.actions:
                self.take(check_action(action, self.catalogue, self.roles, self.program.sampled))
            scope = ProgramScope(self.catalogue, self.types, self.roles)
            for edge in edges(self.definition):
                self.take(self.check_reaction(edge, scope))
            held = self.session.parts if self.session is not None else None
            self.take(find_conflicts(self.definition, self.moved, held))
        self.take(self.check_graph())
        self.warn_of_unused()
        self.mistakes.raise_all()
        return [text for _, text in sorted(self.warnings)]

    def known_parts(self, names: frozenset[str]) -> frozenset[str]:
        """Those of these names that there are: of the others it is said once that there are none."""
        if self.catalogue is None or self.catalogue.parts is None:
            return names
        return frozenset({*self.catalogue.parts, *self.roles})

    def take(self, found: Found) -> None:
        self.mistakes.errors += [self.places.locate(error, *path) for error, path in found]

    def warn(self, text: str, path: Path) -> None:
        line = self.places.line(*path)
        self.warnings.append((line, f"{self.places.source}:{line}: {text}"))

    # --- as a whole -----------------------------------------------------------------------------

    def check_graph(self) -> Found:
        for id in unreachable(self.definition):
            error = DefinitionError(
                f"action {id!r} cannot be reached",
                expected="a reaction that starts it, or its name in `start`",
                got="none that leads to it",
                hint="Where a user starts it by hand, say so: manual: true",
            )
            yield error, ("actions", id)
        for id in without_exit(self.definition, self.moved):
            text = f"action {id!r} has no exit: nothing starts another one in its place, stops it, or emits an event"
            self.warn(f"{text}. Where the program may end there, say so: final: true", ("actions", id))

    def warn_of_unused(self) -> None:
        declared = {p.name for p in self.program.template.parameters}
        for name in self.program.unused:
            kind, key = ("parameter", "parameters") if name in declared else ("role", "roles")
            self.warn(f"{kind} {name!r} is not used", (key, name))

    def check_roles(self, catalogue: Catalogue) -> Found:
        """Whether the parts that were given fit; before they are given, whether there are any that would."""
        for role in self.program.template.roles:
            path: Path = ("roles", role.name)
            if self.program.is_sample:
                if catalogue.parts is not None and not catalogue.candidates(role):
                    self.warn(f"role {role.name!r}: the workcell has no part of kind {role.shown_kinds}", path)
                continue
            name = self.program.roles[role.name]
            part = catalogue.part(name, {})
            if part is None and catalogue.parts is not None:
                error = DefinitionError(
                    f"role {role.name!r}: unknown part", expected=unknown("part", name, catalogue.parts), got=repr(name)
                )
                yield error, path
            elif part is not None and role.kinds and part.kinds[0] not in role.kinds:
                fitting = ", ".join(catalogue.candidates(role))
                error = DefinitionError(
                    f"role {role.name!r}: part {name!r} does not fit",
                    expected=f"a part of kind {role.shown_kinds}" + (f": {fitting}" if fitting else ""),
                    got=part.kinds[0],
                )
                yield error, path

    # --- reactions ------------------------------------------------------------------------------

    def check_reaction(self, edge: Edge, scope: ProgramScope) -> Found:
        reaction, owner = edge.reaction, edge.owner
        of = f"{reaction.label}{f' of action {owner!r}' if owner else ''}"
        mentioned: list[str] = []
        try:
            mentioned += self.check_condition(edge, scope, f"condition of {of}" if reaction.name else "condition")
        except DefinitionError as mistake:
            yield mistake, (*edge.path, "when")
        for name in reaction.capture:
            try:
                scope.resolve(name, owner)
            except KeyError:
                error = DefinitionError(
                    f"{of} captures an unknown state variable",
                    expected=unknown("state variable", name, scope.known(owner)),
                    got=repr(name),
                )
                yield error, (*edge.path, "capture")
            else:
                mentioned.append(name)
        yield from self.check_signal(edge, of)
        self.warn_of_inactive(edge, {scope.action_of(name, owner) for name in mentioned} - {""})

    def check_condition(self, edge: Edge, scope: ProgramScope, of: str) -> list[str]:
        """Check names, types and units. Returns the state variables that it names.

        Raises:
            ConditionError: the first that is wrong.
        """
        text = edge.reaction.condition
        tree = parse_condition(text, of=of)
        mentioned = variables(tree)
        refs: dict[str, VariableRef] = {}
        for variable in mentioned:
            try:
                ref = scope.resolve(variable.name, edge.owner)
            except KeyError:
                raise unknown_variable(of, text, variable, scope.known(edge.owner)) from None
            if ref is not None:
                refs[variable.name] = ref
        if len(refs) == len(mentioned):  # else there are some of which nothing is known yet
            ConditionTypes(text, of, refs).check(tree)
        return [v.name for v in mentioned]

    def check_signal(self, edge: Edge, of: str) -> Found:
        action, _, signal = edge.reaction.signal.rpartition(".")
        action_type = self.types.get(action or edge.owner)
        if signal and action_type is not None and signal not in action_type.signals:
            error = DefinitionError(
                f"{of} raises a signal that action {action or edge.owner!r} (type {action_type.name!r}) does not have",
                expected=unknown("signal", signal, action_type.signals),
                got=repr(signal),
            )
            yield error, (*edge.path, "signal")

    def warn_of_inactive(self, edge: Edge, others: Collection[str]) -> None:
        """An action that shares a part with the owner is never active while the owner's reactions are judged."""
        for other in sorted(others):
            shared = self.moved.get(other, frozenset()) & self.moved.get(edge.owner, frozenset())
            if edge.owner and shared:
                text = f"{edge.reaction.label} of action {edge.owner!r} reads a state variable of action {other!r}"
                both = f"both move {', '.join(sorted(shared))}, so they are never active together"
                self.warn(f"{text}, which is always unknown there: {both}", (*edge.path, "when"))
