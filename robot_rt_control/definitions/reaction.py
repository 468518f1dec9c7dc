"""A reaction as users define it: a condition and its responses."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field

from robot_rt_control.conditions.grammar import parse_condition
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError
from robot_rt_control.vocabulary.names import check_name, check_signal_reference, check_variable, each_once, names_of

_MAX_PLACE = 250
"""Characters."""


def captures_of(label: str, given: object) -> tuple[str, ...]:
    """Names of state variables whose values an event carries.

    Args:
        label: what captures them, for messages.

    Raises:
        CapacityError: there are too many.
        DefinitionError: it is no list of names.
    """
    captures = names_of(f"{label}: capture", given)
    if len(captures) > capacities.MAX_CAPTURES:
        raise CapacityError(
            f"{label}: captures too much",
            expected=f"at most {capacities.MAX_CAPTURES} state variables (MAX_CAPTURES)",
            got=str(len(captures)),
        )
    for variable in captures:
        check_variable(f"{label}: name of a captured state variable", variable)
    return captures


@dataclass(frozen=True, kw_only=True)
class ReactionDefinition:
    """A condition and what happens when it becomes true.

    Args:
        condition: see conditions/grammar.py.
        name: appears in events; unique among its owner's reactions. Empty: the server makes one.
        start: ids of the actions to start, at most MAX_ACTIONS_PER_COMMAND; they share no part.
        stop: stop the owner (free-standing: all actions of the session).
        signal: signal to raise, `signal` of the owner or `action.signal`, or empty.
        event: name of the event to emit, or empty.
        fire_once: at most once in each activation of the owner (free-standing: at most once).
        keep_owner: the started actions use other parts, and the owner stays active.
        capture: names of the state variables whose values the event carries, at most MAX_CAPTURES.
        place: file and line that defined it, "pick.py:31", for people; empty: not known. A longer text is cut at its
            beginning.
        leaves: the used program (an element of the owner's `within`) that it ends, even if it starts one of its
            actions; empty: those that it leaves. Only flattened programs have it (program/flatten.py).
        parse: False: `validation` checks the condition later, together with the rest of its program.

    Raises:
        ConditionError: the condition is not valid.
        CapacityError: there are too many captures, or a name or the condition is too long.
        DefinitionError: there is no response, responses exclude each other, or a name is not valid.
    """

    condition: str
    name: str = ""
    start: tuple[str, ...] = ()
    stop: bool = False
    signal: str = ""
    event: str = ""
    fire_once: bool = False
    keep_owner: bool = False
    capture: tuple[str, ...] = ()
    place: str = field(default="", compare=False)
    leaves: str = ""
    parse: InitVar[bool] = True

    @property
    def label(self) -> str:
        """Its name in messages."""
        return f"reaction {self.name!r}" if self.name else f"reaction on {self.condition!r}"

    def __post_init__(self, parse: bool) -> None:
        if self.name != "":
            check_name("name of a reaction", self.name)
        object.__setattr__(self, "place", self.place[-_MAX_PLACE:])
        if parse:
            parse_condition(self.condition, of=f"condition of reaction {self.name!r}" if self.name else "condition")
        for flag in ("stop", "fire_once", "keep_owner"):
            if not isinstance(getattr(self, flag), bool):
                raise DefinitionError(
                    f"{self.label}: {flag!r}", expected="true or false", got=repr(getattr(self, flag))
                )
        object.__setattr__(self, "start", names_of(f"{self.label}: start", self.start or ()))
        for action in self.start:
            check_name(f"{self.label}: id of the action to start", action)
        each_once(f"{self.label}: action to start", list(self.start))
        if len(self.start) > capacities.MAX_ACTIONS_PER_COMMAND:
            raise CapacityError(
                f"{self.label}: starts too much",
                expected=f"at most {capacities.MAX_ACTIONS_PER_COMMAND} actions (MAX_ACTIONS_PER_COMMAND)",
                got=str(len(self.start)),
            )
        if self.signal != "":
            check_signal_reference(f"{self.label}: signal", self.signal)
        if self.event != "":
            check_name(f"{self.label}: name of the event", self.event)
        self._check_responses()
        object.__setattr__(self, "capture", captures_of(self.label, self.capture))

    def _check_responses(self) -> None:
        if not (self.start or self.stop or self.signal or self.event):
            raise DefinitionError(
                f"{self.label} has no response", expected="at least one of start, stop, signal, event", got="none"
            )
        if self.start and self.stop:
            raise DefinitionError(
                f"{self.label} starts and stops",
                expected="start or stop, not both",
                got=f"start {', '.join(map(repr, self.start))} with stop",
                hint="Starting an action ends the owner already, unless keep_owner is set",
            )
        if self.keep_owner and not self.start:
            raise DefinitionError(
                f"{self.label} keeps its owner", expected="keep_owner together with start", got="no start"
            )

    def check_free_standing(self) -> None:
        """Check that the reaction makes sense without an owner.

        Raises:
            DefinitionError: it needs one.
        """
        if self.keep_owner:
            raise DefinitionError(
                f"{self.label} keeps its owner",
                expected="keep_owner in a reaction of an action",
                got="a free-standing reaction, which has no owner",
            )
        if self.signal and "." not in self.signal:
            raise DefinitionError(
                f"{self.label}: signal",
                expected="'action.signal' in a free-standing reaction",
                got=repr(self.signal),
            )
