"""Rules for the names of parts, actions, reactions, signals, events, programs and state variables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError

SESSION = "session"
"""In conditions, what the variables that an application writes belong to: `session.offset`."""
_UNWRITTEN = "Variables of a session exist once its application has written them: session.set('session', offset=0.1)"
RESERVED = ("and", "or", "not", "true", "false", "approx", "is_unknown", "abs", "norm", SESSION)
"""Words of the condition grammar; they cannot be used as names."""

NUMBER_PATTERN = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
"""A number without sign, in conditions and in expressions of programs."""

NAME_PATTERN = r"[A-Za-z_][A-Za-z0-9_]*"
_STEP = rf"{NAME_PATTERN}(?:\[(?:0|[1-9][0-9]*)\])*"
VARIABLE_PATTERN = rf"{_STEP}(?:\.{_STEP})*"
"""A state variable: dotted identifiers with an optional index anywhere, e.g. `arm.position[3]`."""

TYPE_PATTERN = rf"{NAME_PATTERN}(?:\.{NAME_PATTERN})*"
REFERENCE_PATTERN = rf"{NAME_PATTERN}(?:@[1-9][0-9]{{0,8}})?"
"""A kept program by its name, or by name and version: trace_edge, trace_edge@2."""
SIGNAL_PATTERN = rf"{NAME_PATTERN}(?:\.{NAME_PATTERN})?"

_NAME = re.compile(NAME_PATTERN)
_TYPE_NAME = re.compile(TYPE_PATTERN)
_SIGNAL_REFERENCE = re.compile(SIGNAL_PATTERN)
_VARIABLE = re.compile(VARIABLE_PATTERN)


def _check(
    what: str, name: object, pattern: re.Pattern[str], expected: str, capacity: str = "MAX_DOTTED_NAME_LENGTH"
) -> None:
    if not isinstance(name, str):
        raise DefinitionError(f"{what} is not a text", expected=expected, got=repr(name))
    limit = getattr(capacities, capacity)
    if len(name) > limit:
        raise CapacityError(
            f"{what} is too long: {name[:40] + '…'!r}",
            expected=f"at most {limit} characters ({capacity})",
            got=str(len(name)),
        )
    if not pattern.fullmatch(name):
        raise DefinitionError(f"{what} is not valid", expected=expected, got=repr(name))
    if name in RESERVED:
        raise DefinitionError(f"{what} is a word of the condition grammar", expected="any other name", got=repr(name))


def hint_on(variable: str) -> str:
    """What to do about a state variable that does not exist; empty: nothing in particular."""
    return _UNWRITTEN if variable.startswith(f"{SESSION}.") else ""


def check_name(what: str, name: object) -> None:
    """Check an identifier, e.g. an action's id. `what` names the item: "id of an action".

    Raises:
        DefinitionError, CapacityError: it is not an identifier, or too long.
    """
    _check(what, name, _NAME, "letters, digits and underscores, not beginning with a digit", "MAX_NAME_LENGTH")


def check_type_name(what: str, name: object) -> None:
    """Check the name of an action type: identifiers joined by dots.

    Raises:
        DefinitionError, CapacityError: it is not valid, or too long.
    """
    _check(what, name, _TYPE_NAME, "a name, or names joined by dots")


def check_signal_reference(what: str, name: object) -> None:
    """Check the name of a signal: `signal` (of the reaction's owner) or `action.signal`.

    Raises:
        DefinitionError, CapacityError: it is neither, or too long.
    """
    _check(what, name, _SIGNAL_REFERENCE, "'signal' (of the owner) or 'action.signal'")


def check_variable(what: str, name: object) -> None:
    """Check the name of a state variable, e.g. `arm.position[3]`.

    Raises:
        DefinitionError, CapacityError: it is not valid, or too long.
    """
    _check(what, name, _VARIABLE, "a state variable such as 'arm.position[3]' or 'move_up.is_done'")


def names_of(what: str, given: Any) -> tuple[Any, ...]:
    """Convert a name or a list of names to a list; the names themselves are not checked.

    Raises:
        DefinitionError: the value is neither.
    """
    if isinstance(given, str):
        return (given,)
    if isinstance(given, Iterable):
        return tuple(given)
    raise DefinitionError(what, expected="a name, or a list of names", got=repr(given))


def each_once(what: str, names: list[str]) -> None:
    """Check that all names differ.

    Raises:
        DefinitionError: a name occurs twice.
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DefinitionError(f"{what} {name!r} is given twice", expected="each once", got=repr(names))
        seen.add(name)

ROS2_CONTROL_DRIVER = "ros2_control_driver"
"""The executable that hosts a component of ros2_control (the folder of this name)."""
