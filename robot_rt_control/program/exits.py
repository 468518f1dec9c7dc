"""How a program can end: its exits, as programs that use it and blueprints see them, and the values with them."""

from __future__ import annotations

from robot_rt_control.definitions.definitions import ActionDefinition, ProgramDefinition, ReactionDefinition
from robot_rt_control.program.filled_program import FilledProgram
from robot_rt_control.validation.edges import Found
from robot_rt_control.vocabulary.errors import DefinitionError, unknown


class Exits:
    """The exits of a program that another one uses as a state.

    A reaction of a final state that stops it and emits an event is the exit of that name. A final state without such
    a reaction is an exit with its own name, which is taken instead of starting it.
    """

    def __init__(self, program: ProgramDefinition) -> None:
        self._leaving = {
            (action.id, i): reaction.event
            for action in program.actions
            for i, reaction in enumerate(action.reactions)
            if _leaves(action, reaction)
        }
        with_reaction = {action for action, _ in self._leaving}
        self.entered = tuple(a.id for a in program.actions if a.final and a.id not in with_reaction)
        """Final states that are exits themselves."""
        self.names = tuple(dict.fromkeys([*self._leaving.values(), *self.entered]))

    def of(self, action: str, index: int, reaction: ReactionDefinition) -> str:
        """The exit to which a reaction leads; empty: none."""
        entered = next((name for name in reaction.start if name in self.entered), "")
        return self._leaving.get((action, index), entered)


def _leaves(action: ActionDefinition, reaction: ReactionDefinition) -> bool:
    """Whether a reaction is an exit: its state is final, it stops that, and it emits an event."""
    return bool(action.final and reaction.stop and reaction.event)


def exits_of(program: ProgramDefinition) -> dict[str, tuple[str, ...]]:
    """Exit of a run → the state variables whose values come with it, in the order of the text.

    The exits are the events with which final states stop; without such events, all events.
    """
    leaving = [r for a in program.actions for r in a.reactions if _leaves(a, r)]
    emitting = [r for a in program.actions for r in a.reactions if r.event]
    return _captures(leaving or [*emitting, *(r for r in program.reactions if r.event)])


def _captures(reactions: list[ReactionDefinition]) -> dict[str, tuple[str, ...]]:
    """What each event captures; if several reactions emit it, what any of them captures."""
    found: dict[str, dict[str, None]] = {}
    for reaction in reactions:
        found.setdefault(reaction.event, {}).update(dict.fromkeys(reaction.capture))
    return {event: tuple(captured) for event, captured in found.items()}


def captured_as_written(program: FilledProgram) -> dict[str, str]:
    """State variable that an event of the filled program captures → how the text names it, with its role."""
    written = {a.id: a for a in program.template.sample().draft.actions}
    return {
        name: text
        for action in program.draft.actions
        for reaction, sample in zip(action.reactions, written[action.id].reactions, strict=True)
        for name, text in zip(reaction.capture, sample.capture, strict=True)
    }


def find_in_exits(declared: dict[str, bool], program: ProgramDefinition) -> Found:
    """Declared exits that the program does not have, and those that it has beside them."""
    found = exits_of(program)
    for name in declared:
        if name not in found:
            error = DefinitionError(
                f"exit {name!r}: the program never emits it", expected=unknown("exit", name, found), got=repr(name)
            )
            yield error, ("exits", name)
    missing = [name for name in found if name not in declared]
    if declared and missing:
        error = DefinitionError(
            f"exits: {', '.join(map(repr, missing))} missing",
            expected="all exits of the program, or none",
            got=", ".join(declared),
        )
        yield error, ("exits",)
