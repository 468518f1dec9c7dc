"""Rules K1 to K4 of docs/semantics/action_types.md: the contract of an action type."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loaded_types import MOVING, PAIR, POSITION, Together, appear

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot, StateVariable
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

ROOT = Path(__file__).parents[3]


class Diary(ActionType):
    """Write down what is called, and when: one digit for each call."""

    name = "diary"
    slots = (Slot(name="part", kinds=MOVING),)
    parameters = (Parameter(name="level", default=0.0),)
    state_variables = (
        StateVariable(name="entered"),
        StateVariable(name="at_control"),
        StateVariable(name="count"),
        StateVariable(name="prepared"),
    )
    Params = {"level": float, "prepared": float}
    State = {"order": (float, 8)}
    called = 0

    @classmethod
    def create(cls, parts):
        cls.called = 10 * cls.called + 1
        return cls(parts)

    def __init__(self, parts):
        super().__init__(parts)
        self.called = 10 * self.called + 2

    def prepare_parameters(self, values, params):
        self.called = 10 * self.called + 3
        super().prepare_parameters(values, params)
        params.prepared = self.called

    @staticmethod
    def on_enter(state, params, part):
        state.entered = 1.0

    @staticmethod
    def sense(state, params, part):
        state.count = 10.0 * state.entered + 2.0

    @staticmethod
    def set_parameters(state, params, part):
        state.count = 10.0 * state.count + 3.0

    @staticmethod
    def control(state, params, part):
        state.at_control = 10.0 * state.count + 4.0
        state.prepared = params.prepared


def test_K1_the_methods_are_called_in_their_order(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", Diary))
    session.start("a")
    cell.step()
    assert session.value("a.prepared") == 123.0, "create, constructor, prepare_parameters"
    assert session.value("a.at_control") == 1234.0, "on_enter, sense, set_parameters, control"
    cell.step()
    assert session.value("a.at_control") == 1234.0 and session.value("a.entered") == 1.0, "on_enter once"
    session.set("a", level=2.0)
    cell.step()
    assert session.value("a.prepared") == 1233.0, "neither create nor the constructor again"


class Slow(ActionType):
    """Prepare for as long as the test likes."""

    name = "slow"
    slots = (Slot(name="part", kinds=MOVING),)
    parameters = (
        Parameter(name="bad", type="bool", default=False),
        Parameter(name="folder", type="text", default=""),
    )
    example = {"bad": True}  # the builder, which measures it, need not wait

    def prepare_parameters(self, values, params):
        if values["bad"]:
            raise ZeroDivisionError("nobody divides here")
        Path(values["folder"], "preparing").touch()
        appear(Path(values["folder"], "go_on"))

    @staticmethod
    def control(state, params, part):
        part.command_mode = POSITION


def test_K2_a_long_preparation_stops_neither_the_loop_nor_other_requests(cell: LockstepCell, tmp_path: Path) -> None:
    session, other = cell.session("left"), cell.session("right")
    cell.server.load_action_types(Slow)
    defining = threading.Thread(target=lambda: session.add(Action("a", "slow", folder=str(tmp_path))))
    defining.start()
    try:
        appear(tmp_path / "preparing")
        other.add(Action("b", "probe", speed=0.1))
        other.start("b")
        before = cell.tick
        cell.step(50)
        assert cell.tick == before + 50 and other.value("b.controls") == 50.0
    finally:
        (tmp_path / "go_on").touch()
        defining.join(60.0)
    session.start("a")
    cell.step()
    assert cell.active("left") == "a"

    setting = threading.Thread(target=lambda: session.set("a", bad=False))
    setting.start()
    try:
        appear(tmp_path / "preparing")
        other.set("b", speed=-0.1)
        cell.step(10)
    finally:
        (tmp_path / "go_on").touch()
        setting.join(60.0)
    cell.step()
    assert cell.active("left") == "a" and other.value("b.controls") == 62.0


def test_K2_an_exception_refuses_the_request_with_the_users_line(cell: LockstepCell) -> None:
    session = cell.session("left")
    (line,) = [i for i, t in enumerate(Path(__file__).read_text().splitlines(), 1) if t.strip().startswith("raise Zer")]
    with pytest.raises(DefinitionError) as refused:
        session.add(Action("good", "probe"), Action("a", Slow, bad=True))
    assert "prepare_parameters of action type 'slow' failed with ZeroDivisionError: nobody" in str(refused.value)
    assert f"{__file__}:{line}" in str(refused.value)
    session.add(Action("good", "probe"))


class Reach(ActionType):
    """Move the tool to a place beside its present one."""

    name = "reach"
    slots = (Slot(name="arm", kinds=(PartKind.ARM,)),)
    parameters = (Parameter(name="offset", length=3, unit="m"), Parameter(name="tell", type="bool", default=False))
    Params = {"goal": (float, 16)}
    found: dict[str, Any]

    @classmethod
    def create(cls, parts):
        arm = parts["arm"]
        eyes = [p for p in arm.workcell.values() if p.kind == PartKind.RANGEFINDER]
        if not arm.has_kinematics:
            raise DefinitionError("needs an arm with a tool")
        made = cls(parts)
        made.found = {
            "eyes": [e.name for e in eyes],
            "unit": eyes[0].state_variables["rangefinder.distance"] if eyes else "",
            "position": list(arm.commanded_position),
            "speed": list(arm.limits("velocity_limit")),
            "joints": [arm.dof, arm.joint_names[0], arm.joint_units[0]],
            "modes": list(arm.command_modes),
        }
        return made

    def prepare_parameters(self, values, params):
        if values["tell"]:
            raise DefinitionError(json.dumps(self.found))
        arm = self.parts["arm"]
        p_WT, q_WT = arm.forward()
        q = arm.inverse_kinematics(p_WT + values["offset"], q_WT)
        params.goal[: len(q)] = q

    @staticmethod
    def control(state, params, arm):
        arm.command_mode = POSITION
        for j in range(arm.dof):
            step = 0.1 * arm.velocity_limit[j] * arm.dt
            away = params.goal[j] - arm.commanded_position[j]
            arm.position_command[j] = arm.commanded_position[j] + min(max(away, -step), step)


def test_K3_a_type_sees_joints_limits_kinematics_and_the_rest_of_the_workcell() -> None:
    with LockstepCell(ROOT / "config" / "arm7.yaml") as cell:
        session = cell.session("arm")
        before = np.array(cell.part("arm").tool_position)
        session.add(Action("reach", Reach, offset=[0.0, 0.05, -0.05]))
        part = cell.part("arm")
        with pytest.raises(DefinitionError) as told:
            session.add(Action("tell", Reach, offset=[0.0, 0.0, 0.0], tell=True))
        found = json.loads(told.value.what.removeprefix("action 'tell': "))
        assert found["eyes"] == ["rangefinder"] and found["unit"] == "m"
        assert np.array_equal(found["position"], part.commanded_position[:7])
        assert np.array_equal(found["speed"], part.velocity_limit[:7])
        assert found["joints"] == [7, cell.workcell.part("arm").joint_names[0], "rad"]
        assert CommandMode.POSITION in found["modes"]
        session.start("reach")
        cell.step(4000)
        np.testing.assert_allclose(cell.part("arm").tool_position - before, [0.0, 0.05, -0.05], atol=1e-4)
        with pytest.raises(DefinitionError, match="action 'far': part 'arm': inverse kinematics: no joint pos"):
            session.add(Action("far", Reach, offset=[0.0, 0.0, 9.0]))


def test_K4_an_action_commands_all_of_its_parts_in_the_same_tick(cell: LockstepCell) -> None:
    session, other = cell.session("left", "tool"), cell.session("right")
    cell.set_sensor("rangefinder/distance", 0.5)
    other.add(Action("watch", "watch", parts={"part": "right", "eye": "rangefinder"}))
    session.add(Action("both", Together, parts=PAIR, speed=0.05))
    session.start("both"), other.start("watch")
    tick = cell.step()
    assert {e.part for e in cell.kinds("action_started", tick=tick)} == {"left, tool", "right"}
    assert cell.active("left") == cell.active("tool") == "both"
    cell.step(100)
    assert cell.part("left").commanded_velocity[0] == pytest.approx(0.05)
    assert cell.part("tool").commanded_velocity[0] == pytest.approx(-0.05)
    assert session.value("both.gap") == cell.part("tool").position[0] - cell.part("left").position[0]
    assert session.value("both.distance") == 0.5 and other.value("watch.at_control") == 0.5, "both may read it"


def test_K4_when_it_fails_all_of_its_parts_take_their_safety_action(cell: LockstepCell) -> None:
    session, other = cell.session("left", "tool"), cell.session("right")
    cell.set_sensor("rangefinder/distance", 0.5)
    session.add(Action("both", Together, parts=PAIR))
    other.add(Action("b", "probe", speed=0.1))
    session.start("both"), other.start("b")
    cell.step(20)
    cell.set_sensor("rangefinder/distance", 0.05)
    tick = cell.step()
    assert [(e.tick, e.reason) for e in cell.kinds("action_failed")] == [(tick, "status 3 of the action's own code")]
    assert cell.active("left") == cell.active("tool") == "safety"
    assert cell.active("right") == "b" and other.ended is None
    assert session.ended is not None and "'both' failed" in session.ended


def test_K4_when_a_part_is_taken_the_others_take_their_default_action(cell: LockstepCell) -> None:
    session = cell.session("left", "tool")
    cell.set_sensor("rangefinder/distance", 0.5)
    near = Reaction("rangefinder.distance < 0.3", start="alone")
    session.add(
        Action("both", Together, parts=PAIR, reactions=[near]), Action("alone", "probe", parts="tool", speed=0.01)
    )
    session.start("both")
    cell.step(20)
    cell.set_sensor("rangefinder/distance", 0.2)
    cell.step()
    assert cell.active("tool") == "alone" and cell.active("left") == "default"
