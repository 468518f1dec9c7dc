"""Errors in answers: they come out as they went in."""

from __future__ import annotations

import pytest

from robot_rt_control import srv
from robot_rt_control.ros.refusals import answer_to, error_of, refuse
from robot_rt_control.vocabulary.errors import (
    CapacityError,
    ChannelError,
    CommandRefused,
    CompileError,
    ConditionError,
    DefinitionError,
    HardwareError,
    InternalError,
    Overtaken,
    ProgramError,
    RobotControlError,
    SessionEnded,
    SessionError,
)

_FIELDS = {"expected": "this", "got": "that", "hint": "Do it right"}


class _Silent(ChannelError):
    """Known to the server alone."""


def _with_line(error: DefinitionError, line: int) -> DefinitionError:
    error.line = line
    return error


ERRORS = [
    *(
        kind("what failed", **_FIELDS)
        for kind in (
            RobotControlError,
            DefinitionError,
            CapacityError,
            SessionError,
            CompileError,
            ChannelError,
            HardwareError,
            CommandRefused,
            InternalError,
        )
    ),
    DefinitionError("what alone"),
    _with_line(DefinitionError("program.yaml:12: a mistake", got="x"), 12),
    _with_line(ConditionError("condition, column 5", text="x < \ny", position=4, expected="a number"), 3),
    ConditionError("of an expression, without its text"),
    SessionEnded.of("s28", "sleeper", "its lease has run out", "/tmp/log.mcap"),
    ProgramError([_with_line(DefinitionError("a", got="b"), 2), ConditionError("c", text="d <", position=3)]),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: f"{type(error).__name__} {error.what[:12]}")
def test_an_error_comes_out_as_it_went_in(error: RobotControlError) -> None:
    answer = refuse(srv.StartActions.Response(), error)
    assert not answer.success and answer.message == str(error)
    found = error_of(answer)
    assert type(found) is type(error) and str(found) == str(error)
    for name in ("what", "expected", "got", "hint", "line", "text", "position", "reason"):
        assert getattr(found, name, None) == getattr(error, name, None), name
    if isinstance(error, ProgramError) and isinstance(found, ProgramError):
        assert [(type(m), str(m), m.line) for m in found.mistakes] == [
            (type(m), str(m), m.line) for m in error.mistakes
        ]


def test_the_text_that_has_overtaken_another_one_comes_along() -> None:
    error = Overtaken("saved by somebody else", version=2, text="name: theirs", got="one made from version 1")
    answer = refuse(srv.SaveSkill.Response(), error)
    assert answer.overtaken == "name: theirs"
    found = error_of(answer)
    assert isinstance(found, Overtaken) and (found.text, found.got) == (error.text, error.got)
    other = error_of(refuse(srv.StartActions.Response(), error))
    assert isinstance(other, Overtaken) and other.text == ""


def test_a_class_that_only_the_server_knows_comes_out_as_the_nearest_known_one() -> None:
    found = error_of(refuse(srv.StartActions.Response(), _Silent("the executor did not answer")))
    assert type(found) is ChannelError and str(found) == "the executor did not answer"


def test_an_answer_without_refusals_still_says_why() -> None:
    found = error_of(srv.StartActions.Response(success=False, message="not like this"))
    assert type(found) is RobotControlError and str(found) == "not like this"


def test_what_nobody_expected_is_an_internal_error_and_logged() -> None:
    log: list[str] = []

    def fail() -> None:
        raise ZeroDivisionError("division by zero")

    answer = answer_to("start_actions", fail, srv.StartActions.Response(), log.append)
    found = error_of(answer)
    text = "internal error in start_actions: ZeroDivisionError: division by zero. The log has the details"
    assert type(found) is InternalError and str(found) == text
    assert log[0].startswith("start_actions failed unexpectedly:\nTraceback")


def test_a_remark_is_the_message_of_a_success() -> None:
    answer = answer_to("start_actions", lambda: "queued", srv.StartActions.Response(), print)
    assert answer.success and answer.message == "queued" and not answer.refusals
    assert answer_to("step", lambda: None, srv.Step.Response(), print).message == ""
