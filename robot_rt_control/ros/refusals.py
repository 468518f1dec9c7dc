"""Carries errors in answers: one msg/Refusal for each mistake, and the same exception at the client."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from typing import Any

from robot_rt_control import msg
from robot_rt_control.vocabulary.errors import (
    ConditionError,
    DefinitionError,
    InternalError,
    Overtaken,
    ProgramError,
    RobotControlError,
    SessionEnded,
    error_class,
)


def refuse(answer: Any, error: RobotControlError) -> Any:
    """Fill a service's or an action's answer with an error. Returns the answer."""
    answer.success, answer.message = False, str(error)
    if hasattr(answer, "refusals"):  # services of std_srvs have the text alone
        answer.refusals = refusal_messages(error)
    if isinstance(error, Overtaken) and hasattr(answer, "overtaken"):
        answer.overtaken = error.text
    return answer


def answer_to(what: str, do: Callable[[], object], answer: Any, log: Callable[[str], object]) -> Any:
    """Handle a request. Every exception becomes an answer, so that none ends the node.

    Args:
        what: name of the request, for the message of an internal error.
        do: the handler. It may fill the answer's own fields; a text that it returns is the answer's remark.
        log: takes the traceback of an internal error.
    """
    try:
        remark = do()
    except RobotControlError as error:
        return refuse(answer, error)
    except BaseException as error:  # also SystemExit: every request is answered
        log(f"{what} failed unexpectedly:\n{traceback.format_exc()}")
        return refuse(answer, InternalError.of(what, error))
    answer.success, answer.message = True, remark if isinstance(remark, str) else ""
    return answer


def refusal_messages(error: RobotControlError) -> list[Any]:
    """msg/Refusal of each mistake: several of a ProgramError, else one."""
    mistakes: Sequence[RobotControlError] = error.mistakes if isinstance(error, ProgramError) else (error,)
    return [_message(mistake) for mistake in mistakes]


def _message(error: RobotControlError) -> Any:
    public = next(c.__name__ for c in type(error).__mro__ if error_class(c.__name__) is c)
    message = msg.Refusal(
        error=public, what=error.what, expected=error.expected, got=error.got, hint=error.hint
    )
    if isinstance(error, DefinitionError):
        message.line = error.line
    if isinstance(error, ConditionError):
        message.text, message.position = error.text, error.position
    if isinstance(error, SessionEnded):
        message.text = error.reason
    return message


def error_of(answer: Any) -> RobotControlError:
    """The exception in a refusing answer, with the class and fields of the original."""
    errors = errors_of(answer)
    if not errors:  # of a foreign node, or of a service of std_srvs
        return RobotControlError(answer.message)
    if len(errors) == 1:
        if isinstance(errors[0], Overtaken):
            errors[0].text = getattr(answer, "overtaken", "")
        return errors[0]
    return ProgramError(e for e in errors if isinstance(e, DefinitionError))


def errors_of(answer: Any) -> list[RobotControlError]:
    """All mistakes in an answer, one by one."""
    return [_error(message) for message in getattr(answer, "refusals", ())]


def _error(message: Any) -> RobotControlError:
    kind: Any = error_class(message.error)
    fields = {"expected": message.expected, "got": message.got, "hint": message.hint}
    if issubclass(kind, ProgramError):  # with a single mistake
        kind = DefinitionError
    if issubclass(kind, ConditionError):
        fields |= {"text": message.text, "position": message.position}
    if issubclass(kind, SessionEnded):
        fields["reason"] = message.text
    error: RobotControlError = kind(message.what, **fields)
    if isinstance(error, DefinitionError):
        error.line = int(message.line)
    return error
