"""Errors on their way from one process to another, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError, RobotControlError, error_class

Fields = Mapping[str, Any]
"""Fields of one mistake: error (its class), what, expected, got, hint, line."""


def described(error: RobotControlError) -> dict[str, str]:
    """The arguments of its class."""
    return {"what": error.what, "expected": error.expected, "got": error.got, "hint": error.hint}


def fields_of(error: RobotControlError) -> list[Fields]:
    """The fields of each mistake: several of a ProgramError, else one."""
    mistakes: Sequence[RobotControlError] = error.mistakes if isinstance(error, ProgramError) else (error,)
    return [
        {
            "error": next(c.__name__ for c in type(one).__mro__ if error_class(c.__name__) is c),
            **described(one),
            "line": one.line if isinstance(one, DefinitionError) else 0,
        }
        for one in mistakes
    ]


def error_of(mistakes: Sequence[Fields]) -> RobotControlError:
    """The exception that `fields_of` took apart."""
    errors = [_error(**fields) for fields in mistakes]
    return errors[0] if len(errors) == 1 else ProgramError(e for e in errors if isinstance(e, DefinitionError))


def _error(*, error: str, line: int, **fields: str) -> RobotControlError:
    kind = error_class(error)
    found = (DefinitionError if issubclass(kind, ProgramError) else kind)(**fields)
    if isinstance(found, DefinitionError):
        found.line = line
    return found
