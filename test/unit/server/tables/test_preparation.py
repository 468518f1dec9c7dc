"""What an author's code raises becomes a refusal, whatever it is."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from robot_rt_control.server.tables.preparation import run_user_code
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError

TYPE: Any = SimpleNamespace(name="leaving", action_type=SimpleNamespace)


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(("call", "name"), [(lambda: sys.exit(3), "SystemExit"), (interrupt, "KeyboardInterrupt")])
def test_what_would_end_python_refuses_the_request_and_is_logged(call, name, caplog):
    TYPE.action_type = DefinitionError
    with pytest.raises(DefinitionError) as error:
        run_user_code("action 'a'", TYPE, "create", call)
    assert str(error.value).startswith(f"action 'a': create of action type 'leaving' failed with {name}")
    assert "got the exception at " in str(error.value) and "test_preparation.py:" in str(error.value)
    assert caplog.messages == [f"create of action type 'leaving' raised {name}"]


def test_its_own_refusals_keep_their_kind_and_are_not_logged(caplog):
    def refuse() -> None:
        raise CapacityError("too many points", expected="at most 3", got="4")

    with pytest.raises(CapacityError, match="^action 'a': too many points; expected at most 3; got 4$"):
        run_user_code("action 'a'", TYPE, "create", refuse)
    assert caplog.messages == []
