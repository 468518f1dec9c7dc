"""A control server and an executor with mock hardware, and small action types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from robot_rt_control.definitions.definitions import ActionDefinition, ParameterValue, ReactionDefinition
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.server.types.action_types import ActionTypes
from robot_rt_control.testing.server_bench import ServerBench
from robot_rt_control.testing.shared_builder import shared_builder


def make_wait(id: str, part: str = "arm", *reactions: ReactionDefinition, **values: float | str) -> ActionDefinition:
    """An action of type wait."""
    return ActionDefinition(
        id=id,
        type="wait",
        parts=(part,),
        parameters=tuple(ParameterValue(name=n, value=v) for n, v in values.items()),
        reactions=reactions,
    )


@pytest.fixture(scope="session")
def wait() -> Callable[..., ActionDefinition]:
    return make_wait


@pytest.fixture(scope="session")
def workcell() -> Workcell:
    return load_workcell(Path(__file__).parent / "workcell.yaml")


@pytest.fixture(scope="session")
def types(workcell: Workcell) -> ActionTypes:
    specs = [t.text for t in workcell.action_types]
    return ActionTypes.build(specs, shared_builder(), lambda _: None, builtin=())


@pytest.fixture
def bench(workcell: Workcell, types: ActionTypes) -> Iterator[ServerBench]:
    with ServerBench(workcell, types) as made:
        yield made


@pytest.fixture
def gated(workcell: Workcell, types: ActionTypes) -> Iterator[ServerBench]:
    with ServerBench(workcell, types, gated=True) as made:
        yield made
