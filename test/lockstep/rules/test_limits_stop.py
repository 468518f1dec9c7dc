"""Rules L11 and L12 of docs/semantics/limits.md: the protective stop."""

from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.session import Session
from robot_rt_control.recording.fault_log import load_fault_log
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import CommandRefused

DT = 1e-3
MOVING = ("left", "right", "tool")


def moving(cell: LockstepCell, *, reactions: tuple[Reaction, ...] = ()) -> Session:
    session = cell.session("left", "right")
    session.add(
        Action("a", "probe", parts="left", speed=0.3),
        Action("b", "probe", parts="right", speed=-0.2),
        Action("c", "probe", parts="right"),
        reactions=reactions,
    )
    session.start("a", "b")
    cell.step(200)
    return session


def reasons(cell: LockstepCell, kind: str) -> list[str]:
    return [e.reason for e in cell.kinds(kind)]


def test_L11_a_protective_stop_ends_all_actions_and_brakes_and_holds_every_part(cell: LockstepCell) -> None:
    session = moving(cell)
    speeds = {name: cell.part(name).commanded_velocity.copy() for name in MOVING}
    tick = cell.server.protective_stop(True, "the door is open")
    assert cell.step() == tick
    (event,) = cell.kinds("protective_stop")
    assert (event.tick, event.reason, event.session) == (tick, "the door is open", "")
    assert load_fault_log(event.file).about["tick"] == tick
    ended = {e.previous_action: (e.tick, e.reason) for e in cell.kinds("action_stopped") if e.tick == tick}
    assert ended == dict.fromkeys(("a", "b", "tool_default_action"), (tick, "a protective stop"))
    for name in MOVING:
        assert cell.active(name) == "none"
        limits = cell.workcell.part(name).system_limits
        now = cell.part(name).commanded_velocity
        np.testing.assert_allclose(
            now, np.sign(speeds[name]) * np.maximum(np.abs(speeds[name]) - limits.acceleration * DT, 0.0), atol=1e-12
        )
    cell.step(200)
    held = {name: cell.part(name).position.copy() for name in MOVING}
    cell.step(100)
    for name in MOVING:
        assert (cell.part(name).position == held[name]).all() and cell.part(name).at_rest == 1.0
        assert cell.written(name), "it is held, not let go"
    assert session.ended is None and not cell.kinds("part_faulted")


def test_L11_a_second_stop_changes_nothing(cell: LockstepCell) -> None:
    moving(cell)
    cell.server.protective_stop(True)
    cell.server.protective_stop(True)
    cell.step(3)
    assert len(cell.kinds("protective_stop")) == 1
    assert cell.view.protective_stop and cell.view.value(cell.server.variables["protective_stop"].offset) == 1.0


def test_L12_nothing_starts_until_it_is_released_and_releasing_starts_nothing(cell: LockstepCell) -> None:
    near = Reaction("rangefinder.distance < 0.5", start="c", name="near")
    session = moving(cell, reactions=(near,))
    cell.server.protective_stop(True)
    cell.step()
    session.start("a")
    session.start("b", at_tick=cell.tick + 5)
    cell.set_sensor("rangefinder/distance", 0.2)
    cell.step(10)
    assert reasons(cell, "command_refused") == ["a protective stop holds all parts"] * 2
    assert reasons(cell, "switch_dropped") == ["a protective stop holds all parts"]
    session.close()
    other = cell.session("left")
    other.add(Action("d", "probe", speed=0.1))
    cell.step(5)
    # not even a fault that is cleared, or motion that is enabled
    cell.server.set_motion(["left"], "disable")
    cell.step()
    cell.server.set_motion(["left"], "enable")
    cell.step(5)
    assert [cell.active(name) for name in MOVING] == ["none"] * 3
    tick = cell.server.protective_stop(False)
    cell.step(50)
    assert [e.tick for e in cell.kinds("protective_stop_released")] == [tick]
    assert [cell.active(name) for name in MOVING] == ["none"] * 3, "releasing starts nothing"
    other.resume()
    other.start("d")
    cell.step()
    assert cell.active("left") == "d"


def test_L12_a_refused_start_says_what_to_do(workcell: object, cell: LockstepCell) -> None:
    session = moving(cell)
    cell.server.protective_stop(True)
    cell.step()
    cell.executor.channel.memory.gated = False  # so that the server waits for the answer
    cell.server.core.connection.at().link.gated = False
    with pytest.raises(CommandRefused) as refused:
        session.start("a")
    assert str(refused.value) == (
        "start of 'a' was refused: a protective stop holds all parts. "
        "Release it first: the service protective_stop with stop: false, or Client.release()"
    )


def test_L12_a_condition_can_read_it(cell: LockstepCell) -> None:
    session = moving(cell, reactions=(Reaction("protective_stop", event="stopped"),))
    cell.server.protective_stop(True)
    cell.step(2)
    assert [e.tick for e in cell.fired("stopped")] == [cell.tick - 1] and session.ended is None


def test_L12_the_executor_stops_without_a_control_server(cell: LockstepCell) -> None:
    moving(cell)
    cell.server.detach("it is gone")
    cell.step(20)
    assert cell.executor.world.memory.parts_runtime[0].active_action >= 0, "on its safety action"
    tick = cell.executor.protective_stop(True, "by hand")
    cell.executor.step(1)
    world = cell.executor.world.memory
    assert (world.protective_stop, int(world.tick)) == (1.0, tick)
    assert [int(world.parts_runtime[p].active_action) for p in range(3)] == [-1] * 3
    cell.executor.protective_stop(False)
    cell.executor.step(1)
    assert world.protective_stop == 0.0
