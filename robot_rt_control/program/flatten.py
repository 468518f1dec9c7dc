"""Programs that are used as states of others, flattened: their actions take the place of the state.

The state `corner` with `use: move_to_corner` becomes the actions `corner__ready`, `corner__watch` and so on. Rules:
docs/semantics/composing.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from robot_rt_control.definitions.definitions import (
    ActionDefinition,
    AxisDefinition,
    ProgramDefinition,
    ReactionDefinition,
    StrategyDefinition,
)
from robot_rt_control.program.filled_program import Use
from robot_rt_control.program.substitution import Substitution
from robot_rt_control.program.used_program import FlatPlaces, UsedProgram
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.validation.strategies import strategy_key
from robot_rt_control.vocabulary.capacities import MAX_ACTIONS
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError, unknown


@dataclass(frozen=True, kw_only=True)
class FlatProgram:
    """The states of a program after used programs have taken the places of theirs."""

    actions: tuple[ActionDefinition, ...]
    reactions: tuple[ReactionDefinition, ...]
    start: tuple[str, ...]
    uses: tuple[Use, ...]
    sampled: frozenset[tuple[str, str]]
    """What used programs sample, as `ProgramReader.sampled`."""


class Flattening:
    """Connects the states of one program with those of the programs that it uses.

    Args:
        states: actions and used programs, in the order of the text.
        known: ids that the exits of used programs may lead to.
        places: of the flat program.
        mistakes: gets what is wrong.
    """

    def __init__(
        self,
        states: Sequence[ActionDefinition | UsedProgram],
        known: frozenset[str],
        places: FlatPlaces,
        mistakes: Mistakes,
    ) -> None:
        self._states, self._known, self._places, self._mistakes = states, known, places, mistakes
        self._used = [state for state in states if isinstance(state, UsedProgram)]
        self._first = {used.state: used.start for used in self._used}
        self._sampled: set[tuple[str, str]] = set()

    def program(self, reactions: Sequence[ReactionDefinition], start: Sequence[str]) -> FlatProgram:
        """The flat program.

        Raises:
            CapacityError: more actions than fit; with the line of the use that is too much.
        """
        actions: list[ActionDefinition] = []
        for state in self._states:
            if isinstance(state, ActionDefinition):
                actions.append(replace(state, reactions=self._led(state.reactions, "actions", state.id)))
                continue
            actions += self._flattened(state)
            if len(actions) > MAX_ACTIONS:
                error = CapacityError(
                    "too many actions, those of used programs included",
                    expected=f"at most {MAX_ACTIONS} (MAX_ACTIONS)",
                    got=f"{len(actions)} so far",
                )
                raise self._places.locate(error, *state.written.path, "use")
        return FlatProgram(
            actions=tuple(actions),
            reactions=self._led(reactions),
            start=self._entered(start),
            uses=tuple(use for used in self._used for use in used.uses),
            sampled=frozenset(self._sampled),
        )

    def _entered(self, states: Iterable[str]) -> tuple[str, ...]:
        """The actions that start when these states are entered."""
        return tuple(action for state in states for action in self._first.get(state, (state,)))

    def _led(self, reactions: Sequence[ReactionDefinition], *path: str) -> tuple[ReactionDefinition, ...]:
        """Reactions of the program itself, leading to the first actions of used programs."""
        found = []
        for i, reaction in enumerate(reactions):
            with self._mistakes.collect(self._places, *path, "reactions", i, "start"):
                found.append(replace(reaction, start=self._entered(reaction.start), parse=False))
        return tuple(found)

    def _flattened(self, used: UsedProgram) -> Iterator[ActionDefinition]:
        taken = {state.id for state in self._states if isinstance(state, ActionDefinition)}
        path = used.written.path
        for name, states in used.written.exits.items():
            for state in states:
                if state not in self._known:
                    error = DefinitionError(
                        f"{used.label}: exit {name!r} leads to a state that is not defined",
                        expected=unknown("state", state, self._known),
                        got=repr(state),
                    )
                    self._mistakes.errors.append(self._places.locate(error, *path, "exits", name))
        names = Substitution({}, {a.id: used.inner(a.id) for a in used.filled.draft.actions})
        # Exits come first: they respond before the reactions of actions beside them that end with the program.
        for action in sorted(used.filled.draft.actions, key=lambda a: not a.final):
            if action.id in used.exits.entered:
                continue
            with self._mistakes.collect(self._places, *path):
                if used.inner(action.id) in taken:
                    raise DefinitionError(
                        f"{used.label}: action {used.inner(action.id)!r} exists",
                        expected="another id for this state, or for that action",
                        got=repr(used.state),
                    )
                if action.id in used.filled.roles.values():  # its name in a condition could mean either
                    raise DefinitionError(
                        f"{used.label}: part {action.id!r} has the name of an action of that program",
                        expected="another part, or a copy of the program with another name for the action",
                        got=repr(action.id),
                    )
                yield self._renamed(used, action, names)

    def _renamed(self, used: UsedProgram, action: ActionDefinition, names: Substitution) -> ActionDefinition:
        id = used.inner(action.id)
        keys = {action.id: id}
        strategies = []
        for axis in action.strategies:
            strategies.append(_renamed_axis(axis, names))
            keys |= {strategy_key(action.id, axis.axis, s): strategy_key(id, axis.axis, s) for s in axis.strategies}
        self._sampled |= {(keys[key], name) for key, name in used.filled.sampled if key in keys}
        reactions = []
        for i, reaction in enumerate(action.reactions):
            with self._mistakes.collect(self._places, "actions", id, "reactions", i):
                reactions.append(self._connected(used, reaction, used.exits.of(action.id, i, reaction), names))
        return replace(
            action,
            id=id,
            reactions=tuple(reactions),
            strategies=tuple(strategies),
            final=False,
            within=(used.state, *map(used.inner, action.within)),
        )

    def _connected(
        self, used: UsedProgram, reaction: ReactionDefinition, exit: str, names: Substitution
    ) -> ReactionDefinition:
        """A reaction of a used program; those to its exits lead to the states that follow."""
        leaves = used.inner(reaction.leaves) if reaction.leaves else ""
        found = replace(_renamed_reaction(reaction, names), leaves=leaves, parse=False)
        states = used.written.exits.get(exit, ())
        if not states or not self._known.issuperset(states):
            return found
        following = self._entered(states)
        return replace(found, start=following, stop=False, keep_owner=False, leaves=used.state, parse=False)


def prefixed(program: ProgramDefinition, prefix: str) -> ProgramDefinition:
    """The program with other ids, so that several can be in one session: `<prefix>__<id>`.

    Raises:
        DefinitionError: an id becomes too long.
    """
    ids = {action.id: f"{prefix}__{action.id}" for action in program.actions}
    names = Substitution({}, ids)

    def renamed(reaction: ReactionDefinition) -> ReactionDefinition:
        leaves = f"{prefix}__{reaction.leaves}" if reaction.leaves else ""
        return replace(_renamed_reaction(reaction, names), leaves=leaves, parse=False)

    return replace(
        program,
        actions=tuple(
            replace(
                action,
                id=ids[action.id],
                reactions=tuple(map(renamed, action.reactions)),
                strategies=tuple(_renamed_axis(axis, names) for axis in action.strategies),
                within=tuple(f"{prefix}__{state}" for state in action.within),
            )
            for action in program.actions
        ),
        reactions=tuple(map(renamed, program.reactions)),
        start=tuple(map(names.part, program.start)),
    )


def _renamed_reaction(reaction: ReactionDefinition, names: Substitution) -> ReactionDefinition:
    return replace(
        reaction,
        condition=names.condition(reaction.condition, reaction.label),
        start=tuple(map(names.part, reaction.start)),
        signal=names.variable(reaction.signal),
        capture=tuple(map(names.variable, reaction.capture)),
        parse=False,
    )


def _renamed_axis(axis: AxisDefinition, names: Substitution) -> AxisDefinition:
    def renamed(strategy: StrategyDefinition) -> StrategyDefinition:
        return replace(
            strategy,
            when=names.condition(strategy.when, strategy.name),
            inputs=tuple((name, names.variable(source)) for name, source in strategy.inputs),
            capture=tuple(map(names.variable, strategy.capture)),
            parse=False,
        )

    return replace(axis, strategies=tuple(map(renamed, axis.strategies)))
