"""A control server and an executor with mock hardware in one process and one thread: ticks come when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from robot_rt_control.model.workcell import Workcell, load_workcell
from robot_rt_control.program.definitions import ActionDefinition, ParameterValue, ReactionDefinition
from robot_rt_control.realtime.executor import Executor, ExecutorOptions
from robot_rt_control.server.action_types import ActionTypes
from robot_rt_control.server.builder.process import Builder
from robot_rt_control.server.control_server import ControlServer
from robot_rt_control.server.events import ServerEvent

WORKCELL = Path(__file__).parent / "workcell.yaml"


class Bench:
    """Executor, server and the events that came."""

    def __init__(self, workcell: Workcell, types: ActionTypes, *, gated: bool) -> None:
        self.now = 100.0
        self.events: list[ServerEvent] = []
        self.types = types
        self.executor = Executor(
            workcell,
            ExecutorOptions(clock="lockstep", simulation_speed=-1.0),
            channel_name=None,
            image_name=lambda device: device,
        )
        self.executor.configure(lambda _: None)
        self.executor.activate()
        # Not gated: whoever waits for an answer lets the loop tick.
        self.executor.channel.memory.gated = gated
        self.server = self.new_server()

    def new_server(self) -> ControlServer:
        """A server attached to the executor."""
        server = ControlServer(self.executor.workcell, self.types, clock=lambda: self.now)
        server.add_listener(self.events.append)
        server.attach(self.executor.channel, while_waiting=self.while_waiting)
        return server

    def while_waiting(self) -> None:
        if not self.executor.channel.memory.gated:
            self.executor.step(1)

    def step(self, ticks: int = 1) -> None:
        """Let the loop tick, and the server hand out what happened."""
        self.executor.step(ticks)
        self.server.poll()

    def kinds(self, *wanted: str) -> list[ServerEvent]:
        return [e for e in self.events if e.kind in wanted]

    def fired(self, event: str) -> list[ServerEvent]:
        return [e for e in self.events if e.kind == "reaction_fired" and e.event == event]

    def active(self, part: str) -> str:
        """What commands a part: an action's id, default, safety, or none."""
        view = self.server.snapshot()
        assert view is not None
        identity = view.active_action(self.server.parts[part].index)
        name = self.server.action_name(identity)
        if name or not identity:
            return name or "none"
        attachment = self.server._attachment
        assert attachment is not None
        role = attachment.directory.action_id(identity)
        return role.removeprefix(f"{part}_").removesuffix("_action")

    def value(self, session: str, name: str) -> float:
        """A state variable of an action, as the last snapshot shows it."""
        action, _, variable = name.partition(".")
        view = self.server.snapshot()
        assert view is not None
        return view.action_value(self.server.contents(self.server.session(session)).actions[action], variable)


def wait(id: str, part: str = "arm", *reactions: ReactionDefinition, **values: float | str) -> ActionDefinition:
    """An action of type wait."""
    return ActionDefinition(
        id=id,
        type="wait",
        parts=(part,),
        parameters=tuple(ParameterValue(name=n, value=v) for n, v in values.items()),
        reactions=reactions,
    )


@pytest.fixture(scope="session")
def workcell() -> Workcell:
    return load_workcell(WORKCELL)


@pytest.fixture(scope="session")
def types(workcell: Workcell) -> Iterator[ActionTypes]:
    specs = [f"{t.path or t.module}:{t.class_name}" for t in workcell.action_types]
    with Builder() as builder:
        yield ActionTypes.build(specs, builder, lambda _: None, builtin=())


@pytest.fixture
def bench(workcell: Workcell, types: ActionTypes) -> Iterator[Bench]:
    made = Bench(workcell, types, gated=False)
    yield made
    made.server.detach("the test ends")
    made.executor.deactivate()
    made.executor.cleanup()


@pytest.fixture
def gated(workcell: Workcell, types: ActionTypes) -> Iterator[Bench]:
    made = Bench(workcell, types, gated=True)
    yield made
    made.server.detach("the test ends")
    made.executor.deactivate()
    made.executor.cleanup()
