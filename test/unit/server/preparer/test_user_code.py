"""What an author's code raises becomes a refusal, whatever it is."""

import sys

import pytest

from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.server.preparer.user_code import run_user_code
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError


class Leaving(ActionType):
    name = "leaving"


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(("call", "name"), [(lambda: sys.exit(3), "SystemExit"), (interrupt, "KeyboardInterrupt")])
def test_what_would_end_python_refuses_the_request_and_is_logged(call, name, caplog):
    with pytest.raises(DefinitionError) as error:
        run_user_code("action 'a'", Leaving, "create", call)
    assert str(error.value).startswith(f"action 'a': create of action type 'leaving' failed with {name}")
    assert "got the exception at " in str(error.value) and "test_user_code.py:" in str(error.value)
    assert caplog.messages == [f"create of action type 'leaving' raised {name}"]


def test_its_own_refusals_keep_their_kind_and_are_not_logged(caplog):
    def refuse() -> None:
        raise CapacityError("too many points", expected="at most 3", got="4")

    with pytest.raises(CapacityError, match="^action 'a': too many points; expected at most 3; got 4$"):
        run_user_code("action 'a'", Leaving, "create", refuse)
    assert caplog.messages == []
