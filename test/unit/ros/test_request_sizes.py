import array
from typing import Any

import pytest

from robot_rt_control import msg, srv
from robot_rt_control.ros.request_sizes import check_sizes
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import CapacityError


def refusal(request: Any) -> str:
    with pytest.raises(CapacityError) as error:
        check_sizes("the request", request)
    return str(error.value)


def test_what_is_usual_passes():
    starts = ", ".join("b" * 64 for _ in range(8))
    reaction = msg.Reaction(condition="x > 1 and " * 300 + "true", start=starts, capture=["a"] * 8)
    actions = [msg.ActionDefinition(id="a" * 128, type="t", parts=["slot=part"], reactions=[reaction])] * 1000
    check_sizes("the request", srv.DefineActions.Request(session="s1", actions=actions))
    check_sizes("the request", srv.UploadProgram.Request(program="x" * capacities.MAX_PROGRAM_BYTES))
    check_sizes("the request", srv.SetActionParameters.Request(parameters=[msg.ParameterValue(values=[0.0] * 100_000)]))


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        (
            srv.OpenSession.Request(name="n" * 1_000_000),
            f"the request: name is too long: '{'n' * 40}…'; expected at most 128 characters; got 1000000",
        ),
        (
            srv.DefineActions.Request(actions=[msg.ActionDefinition(), msg.ActionDefinition(id="i" * 300)]),
            f"the request: actions[1]: id is too long: '{'i' * 40}…'; expected at most 128 characters; got 300",
        ),
        (
            srv.DefineActions.Request(actions=[msg.ActionDefinition(reactions=[msg.Reaction(condition="(" * 5000)])]),
            f"the request: actions[0]: reactions[0]: condition is too long: '{'(' * 40}…'; "
            "expected at most 4096 characters; got 5000",
        ),
        (
            srv.UploadProgram.Request(program="[" * (capacities.MAX_PROGRAM_BYTES + 1)),
            f"the request: program is too long: '{'[' * 40}…'; expected at most 1048576 characters; got 1048577",
        ),
        (
            srv.StartActions.Request(actions=["a"] * 20_000),
            "the request: actions: too many; expected at most 16384 (MAX_REACTIONS); got 20000",
        ),
    ],
)
def test_each_text_and_list_has_a_bound_that_is_named(request_, text):
    assert refusal(request_) == text


class Unread(array.array):
    """Numbers that nothing may look at one by one."""

    def __iter__(self):
        raise AssertionError("they are looked at one by one")

    def __getitem__(self, index):
        raise AssertionError("they are looked at one by one")


def test_numbers_are_not_looked_at_one_by_one():
    value = msg.ParameterValue(name="path")
    value._values = Unread("d", [0.0] * 2000)  # the setter would copy them
    assert isinstance(value.values, Unread)
    with pytest.raises(AssertionError):
        list(value.values)
    check_sizes("the request", srv.SetActionParameters.Request(parameters=[value]))
