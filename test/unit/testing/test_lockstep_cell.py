"""The lockstep cell: what a user's own tests rest on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.definitions.action_type import ActionType, Slot, StateVariable
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError, HardwareError, SessionError

_FILE = Path(__file__).parents[3] / "config" / "arm7.yaml"


class Counter(ActionType):
    """Holds still and counts: an action type of the user's own."""

    name = "counter"
    slots = (Slot(name="arm", kinds=(PartKind.ARM,)),)
    state_variables = (StateVariable(name="count", type="int"),)

    @staticmethod
    def sense(state, params, arm):
        state.count += 1.0


@pytest.fixture
def cell() -> Iterator[LockstepCell]:
    with LockstepCell(_FILE, action_types=[Counter]) as made:
        yield made


def up_and_down(cell: LockstepCell):
    session = cell.session("arm", name="test")
    near = Reaction("rangefinder.distance < 0.3", start="up", event="near", capture=["rangefinder.distance"])
    session.add(
        Action("down", "velocity_move", linear=[0, 0, -0.1], reactions=[near]),
        Action("up", "velocity_move", linear=[0, 0, 0.1]),
    )
    return session


def test_the_example_of_the_documentation(cell: LockstepCell) -> None:
    session = up_and_down(cell)
    session.start("down")
    cell.set_sensor("rangefinder/distance", 0.5)
    cell.step(100)
    assert cell.active("arm") == "down"
    cell.set_sensor("rangefinder/distance", 0.2)
    tick = cell.step()
    assert cell.active("arm") == "up"
    assert [(e.tick, e.values) for e in cell.fired("near")] == [(tick, (0.2,))]
    (fired,) = cell.kinds("reaction_fired", event="near", session=session.id)
    assert [(e.name, e.tick, e.sequence) for e in session.events[-3:-2]] == [("near", fired.tick, fired.sequence)]
    assert session.value("up.elapsed") == 0.001 and math.isnan(session.value("down.elapsed"))


def test_a_sensor_can_follow_the_robot(cell: LockstepCell) -> None:
    arm = cell.part("arm")
    height = float(arm.tool_position[2])
    cell.drive_sensor("rangefinder/distance", lambda: float(arm.tool_position[2]) - height + 0.31)
    up_and_down(cell).start("down")
    ticks = cell.step_until(lambda: bool(cell.fired("near")))
    assert 100 < ticks < 400
    assert cell.fired("near")[0].values[0] == pytest.approx(0.3, abs=2e-4)
    with pytest.raises(TimeoutError, match="the condition did not hold within 3 ticks"):
        cell.step_until(lambda: False, at_most=3)


def test_what_left_for_the_hardware_can_be_seen(cell: LockstepCell) -> None:
    before = cell.written("arm")
    assert len(before) == 21 and before["arm/joint_2/position"] == pytest.approx(0.5236)
    session = cell.session("arm")
    session.add(Action("go", "velocity_move", velocity=[0.001] * 7))
    session.start("go")
    cell.step(500)
    assert cell.written("arm")["arm/joint_2/position"] > before["arm/joint_2/position"]
    cell.server.set_motion(["arm"], "disable")
    cell.step(100)
    assert cell.written("arm") == {} and cell.written("rangefinder") == {}


def test_an_action_type_of_ones_own(cell: LockstepCell) -> None:
    session = cell.session("arm", "gripper")
    session.add(
        Action("c", "counter", parts={"arm": "arm"}, reactions=[Reaction("count == 3", call=lambda event: None)])
    )
    session.start("c", at_tick=cell.tick + 5)
    cell.step(10)
    assert session.value("c.count") == 6.0
    assert [e.name for e in session.events if e.kind == "reaction_fired"] == ["callback_1"]


def test_programs_parameters_signals_and_removal(cell: LockstepCell) -> None:
    session = cell.session("arm")
    program = "actions:\n  go: {type: velocity_move, parts: arm, parameters: {velocity: [0, 0, 0, 0, 0, 0, 0.1]}}\n"
    assert session.upload(program) == ["go"]
    session.start("go")
    cell.step(3)
    session.stop()
    session.set("go", velocity=([0, 0, 0, 0, 0, 0, 0.2], "rad/s"))
    cell.step()
    assert cell.active("arm") == "default"
    session.remove("go")
    with pytest.raises(DefinitionError, match="unknown action"):
        session.signal("go", "nothing")


def test_sessions_end(cell: LockstepCell) -> None:
    session = cell.session("arm", lease_s=2.0)
    assert not session.ended and session.parts == ("arm",)
    cell.now += 1.5
    session.renew()
    cell.now += 1.5
    cell.step()
    assert not session.ended
    session.close()
    assert str(session.ended) == "closed by the application"
    with pytest.raises(SessionError, match="has ended"):
        session.renew()


def test_wrong_names_are_refused_with_the_right_ones(cell: LockstepCell) -> None:
    with pytest.raises(
        HardwareError, match="workcell 'arm7_cell': state interface 'rangefinder/distanse'.*did you mean"
    ):
        cell.set_sensor("rangefinder/distanse", 1.0)
    with pytest.raises(HardwareError, match="device 'sim'; expected a known device beside the loop, but there is none"):
        cell.silence("sim")
    with pytest.raises(DefinitionError):
        cell.part("amr")


def test_no_event_is_lost_in_a_long_step(cell: LockstepCell) -> None:
    session = cell.session("arm")
    session.add(
        Action("a", "counter", reactions=[Reaction("count > 1", start="b", event="on")]),
        Action("b", "counter", reactions=[Reaction("count > 1", start="a", event="on")]),
    )
    session.start("a")
    cell.step(5001)
    fired = cell.fired("on")
    assert len(fired) == 5000
    assert [e.tick for e in fired] == list(range(fired[0].tick, fired[0].tick + 5000))
    assert cell.executor.world.memory.events_lost == 0
