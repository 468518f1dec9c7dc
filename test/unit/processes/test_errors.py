"""Errors between processes."""

from robot_rt_control.processes.errors import error_of, fields_of
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError, RobotControlError, SessionError


def test_errors_come_back_as_they_were() -> None:
    one, other = DefinitionError("key a", expected="b", got="c", hint="d"), DefinitionError("key e")
    one.line, other.line = 3, 5
    back = error_of(fields_of(ProgramError([one, other])))
    assert isinstance(back, ProgramError) and str(back) == "key a; expected b; got c. d\nkey e"
    assert [mistake.line for mistake in back.mistakes] == [3, 5]
    for error in (SessionError("gone"), RobotControlError("failed", hint="look")):
        again = error_of(fields_of(error))
        assert type(again) is type(error) and str(again) == str(error)
