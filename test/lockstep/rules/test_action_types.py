"""Rules K1 to K16 of docs/semantics.md: action types."""

from __future__ import annotations

import bdb
import dataclasses
import json
import math
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot, StateVariable
from robot_rt_control.model.workcell import Workcell, load_workcell
from robot_rt_control.realtime.executor.executor import Executor, ExecutorOptions
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.testing.shared_builder import shared_builder
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import CompileError, DefinitionError

POSITION = int(CommandMode.POSITION)
MOVING = (PartKind.ARM, PartKind.BASE, PartKind.GRIPPER)
ROOT = Path(__file__).parents[3]

DRIFT = '''
from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot, StateVariable
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
import helper

POSITION = int(CommandMode.POSITION)


class {class_name}(ActionType):
    """Move the first joint at a constant speed."""

    name = "{name}"
    slots = (Slot(name="part", kinds=(PartKind.BASE, PartKind.GRIPPER)),)
    parameters = (Parameter(name="factor", default=1.0),)
    state_variables = (StateVariable(name="speed"),)

    def prepare_parameters(self, values, params):
        params.factor = values["factor"] * helper.SCALE

    @staticmethod
    def control(state, params, part):
        state.speed = params.factor * {speed}
        part.command_mode = POSITION
        for j in range(part.dof):
            part.position_command[j] = part.commanded_position[j]
        part.position_command[0] += state.speed * part.dt
'''


class Drift:
    """Writes the file of an action type, and a module that it imports."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "drift.py"
        self.helper = folder / "helper.py"
        self.helper.write_text("SCALE = 1.0\n")

    def write(self, speed: float, *, name: str = "drift", class_name: str = "Drift", more: str = "") -> str:
        self.path.write_text(DRIFT.format(speed=speed, name=name, class_name=class_name) + more)
        return str(self.path)


@pytest.fixture
def drift(tmp_path: Path) -> Drift:
    return Drift(tmp_path)


# --- K1 to K4: the contract ----------------------------------------------------------------------


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


def appear(file: Path) -> None:
    """Wait until a file is there, and remove it."""
    end = time.monotonic() + 60.0
    while not file.exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    file.unlink()


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


class Together(ActionType):
    """Move two parts at opposite speeds, and watch a rangefinder."""

    name = "together"
    slots = (
        Slot(name="one", kinds=MOVING),
        Slot(name="two", kinds=MOVING),
        Slot(name="eye", kinds=(PartKind.RANGEFINDER,), moves=False),
    )
    parameters = (Parameter(name="speed", default=0.1), Parameter(name="nearest", default=0.1))
    state_variables = (StateVariable(name="gap"), StateVariable(name="distance"))

    @staticmethod
    def sense(state, params, one, two, eye):
        state.gap = two.position[0] - one.position[0]
        state.distance = eye.distance
        return 3 if eye.distance < params.nearest else 0

    @staticmethod
    def control(state, params, one, two, eye):
        one.command_mode = POSITION
        two.command_mode = POSITION
        one.position_command[0] = one.commanded_position[0] + params.speed * one.dt
        two.position_command[0] = two.commanded_position[0] - params.speed * two.dt


PAIR = {"one": "left", "two": "tool", "eye": "rangefinder"}


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


# --- K5 to K8: coming and going ------------------------------------------------------------------


def moving(cell: LockstepCell) -> None:
    """One part that moves while types come and go."""
    session = cell.session("right", name="mover")
    session.add(Action("move", "probe", speed=0.2))
    session.start("move")
    cell.step(300)
    cell.events.clear()


def steady(cell: LockstepCell, before: float, ticks: int) -> bool:
    """Whether the moving part has gone on at its speed."""
    return cell.part("right").commanded_position[0] == pytest.approx(before + 0.2 * 0.001 * ticks, abs=1e-9)


def test_K5_types_are_loaded_while_a_part_moves(cell: LockstepCell, drift: Drift) -> None:
    moving(cell)
    before = cell.part("right").commanded_position[0]
    session = cell.session("left")
    with pytest.raises(DefinitionError, match="unknown action type"):
        session.add(Action("a", "drift"))
    more = DRIFT.format(speed=2.0, name="faster", class_name="Faster").partition("import helper")[2]
    assert cell.server.load_action_types(drift.write(0.1, more=more)) == ("drift", "faster"), "all that it defines"
    cell.step(10)
    session.add(Action("a", "drift"))
    session.start("a")
    cell.step(90)
    assert session.value("a.speed") == 0.1
    assert steady(cell, before, 100) and not cell.kinds("action_stopped", "part_faulted", part="right")
    info = cell.server.types.get("drift", "")
    assert info.origin == str(drift.path) and info.declared.description == "Move the first joint at a constant speed."


def test_K5_all_of_a_file_or_nothing(cell: LockstepCell, drift: Drift) -> None:
    bad = DRIFT.format(speed="len([1.0])", name="bad", class_name="Bad").partition("import helper")[2]
    with pytest.raises(CompileError, match=r"drift\.py:\d+: builds a list"):
        cell.server.load_action_types(drift.write(0.1, more=bad))
    names = {t.name for t in cell.server.types.all()}
    assert not names & {"drift", "bad"}


def test_K5_from_a_module_a_class_and_an_entry_point(
    cell: LockstepCell, drift: Drift, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = drift.path.parent
    drift.write(0.3)
    (folder / "drifting").mkdir()
    (folder / "drifting" / "__init__.py").write_text("")
    drift.path.rename(folder / "drifting" / "slowly.py")
    metadata = folder / "drifting-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: drifting\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[robot_rt_control.action_types]\ndrifts = drifting.slowly\n")
    monkeypatch.syspath_prepend(str(folder))
    assert cell.server.load_action_types("drifts") == ("drift",)
    assert cell.server.types.get("drift", "").origin == "entry point drifts (drifting.slowly)"
    assert cell.server.load_action_types("drifting.slowly:Drift") == ("drift",), "the same code again"
    assert cell.server.load_action_types(Together) == ("together",)
    with pytest.raises(CompileError, match="source of action types 'drfits'; expected .*did you mean 'drifts'"):
        cell.server.load_action_types("drfits")
    with pytest.raises(CompileError, match="expected an absolute path"):
        cell.server.load_action_types("drift.py")


def test_K6_who_has_an_action_keeps_its_code(cell: LockstepCell, drift: Drift) -> None:
    moving(cell)
    before = cell.part("right").commanded_position[0]
    session = cell.session("left", "tool")
    cell.server.load_action_types(drift.write(0.1))
    session.add(Action("old", "drift", parts="left"))
    session.start("old")
    cell.step(50)
    drift.helper.write_text("SCALE = 10.0\n")
    drift.write(-0.01)
    with pytest.raises(DefinitionError, match="two action types have the name 'drift'.*ask for the present one"):
        cell.server.load_action_types(str(drift.path))
    assert cell.server.load_action_types(str(drift.path), replace=True) == ("drift",)
    session.add(Action("new", "drift", parts="tool"))
    session.start("new")
    cell.step(50)
    assert session.value("old.speed") == 0.1, "its code"
    assert session.value("new.speed") == -0.1, "the new code, and the new module that it imports"
    session.set("old", factor=2.0)
    cell.step()
    assert session.value("old.speed") == 0.2, "also the code that prepares its parameters"
    assert steady(cell, before, 101)
    keys = [k for k in cell.server.types.keys if k]
    session.remove("old")
    cell.step()
    cell.server.load_action_types(drift.write(0.05), replace=True)
    assert len([k for k in cell.server.types.keys if k]) == len(keys), "what nobody uses has gone"
    cell.step()
    assert session.value("new.speed") == -0.1


def test_K6_the_same_code_again_changes_nothing(cell: LockstepCell, drift: Drift) -> None:
    cell.server.load_action_types(drift.write(0.1))
    first = cell.server.types.get("drift", "")
    assert cell.server.load_action_types(str(drift.path)) == ("drift",)
    assert cell.server.types.get("drift", "") is first


def test_K6_built_in_types_are_never_replaced(cell: LockstepCell, drift: Drift) -> None:
    with pytest.raises(DefinitionError, match="action type 'hold' is built in; expected another name"):
        cell.server.load_action_types(drift.write(0.1, name="hold"), replace=True)


def test_K7_a_type_is_unloaded_once_nobody_needs_it(cell: LockstepCell, drift: Drift) -> None:
    session = cell.session("left")
    cell.server.load_action_types(drift.write(0.1))
    session.add(Action("a", "drift"))
    for names, text in (
        (
            ["drift"],
            "action type 'drift' cannot be unloaded; expected a type that no action has; got that of action 'a'",
        ),
        (["hold"], "action type 'hold' cannot be unloaded; expected a type that was loaded; got one that is built in"),
        (["probe", "fragile"], "'fragile' cannot be unloaded; .* got the default or safety action of 'tool'"),
        (["probe", "drfit"], "unknown action type; .*did you mean 'drift'"),
    ):
        with pytest.raises(DefinitionError, match=text):
            cell.server.unload_action_types(names)
    assert {"drift", "probe"} <= {t.name for t in cell.server.types.all()}, "all or none"
    session.remove("a")
    cell.step()
    cell.server.unload_action_types(["drift", "probe"])
    with pytest.raises(DefinitionError, match="unknown action type"):
        session.add(Action("b", "drift"))
    cell.server.load_action_types(drift.write(0.2))
    session.add(Action("c", "drift"))
    session.start("c")
    cell.step()
    assert session.value("c.speed") == 0.2


def test_K7_actions_of_an_ended_session_hold_their_type_until_they_have_gone(cell: LockstepCell, drift: Drift) -> None:
    session = cell.session("left")
    cell.server.load_action_types(drift.write(0.1))
    session.add(Action("a", "drift"))
    session.start("a")
    cell.step()
    session.close()
    cell.step()
    cell.session("right").add(Action("b", "probe"))  # the change that takes the ended session out
    cell.server.unload_action_types(["drift"])
    cell.step(10)
    assert cell.active("left") == "safety"


def test_K8_the_text_of_a_file_is_refused_unless_the_workcell_allows_it(
    cell: LockstepCell, drift: Drift, tmp_path: Path
) -> None:
    text = Path(drift.write(0.1)).read_text().replace("import helper", "class helper:\n    SCALE = 1.0")
    with pytest.raises(DefinitionError) as refused:
        cell.server.load_action_types(code=text)
    assert "code from a client is not accepted; expected the name of a file" in str(refused.value)
    assert "`allow_code_upload: true` in the workcell file" in str(refused.value)
    file = tmp_path / "open.yaml"
    file.write_text((Path(__file__).parent / "workcell.yaml").read_text() + "\nallow_code_upload: true\n")
    for helper in ("rule_types.py",):
        os.symlink(Path(__file__).parent / helper, tmp_path / helper)
    with LockstepCell(load_workcell(file)) as open_cell:
        assert open_cell.server.load_action_types(code=text) == ("drift",)
        session = open_cell.session("left")
        session.add(Action("a", "drift"))
        session.start("a")
        open_cell.step()
        assert session.value("a.speed") == 0.1
        with pytest.raises(DefinitionError, match="either `source` or `code`; got both"):
            open_cell.server.load_action_types("x.py", code=text)
        with pytest.raises(CompileError, match=r"upload_[0-9a-f]+\.py:\d+: prints; Make it a state variable"):
            open_cell.server.load_action_types(code=text.replace("part.command_mode = POSITION", "print(1)"))
        assert math.isfinite(open_cell.part("left").commanded_position[0])


def test_K8_files_are_loaded_from_the_workcells_folders_only(cell: LockstepCell, drift: Drift, tmp_path: Path) -> None:
    source = drift.write(0.1)
    with pytest.raises(DefinitionError) as refused:
        cell.server.load_action_types(source, stranger=True)
    assert str(refused.value).startswith(
        f"action types of {source!r} may not be loaded; expected a module or an entry point; "
        "got a file, and the workcell names no folder for them. The owner of the workcell may allow it: "
        f"`action_type_folders: [{Path(source).parent}]` in the workcell file"
    )
    inside = tmp_path / "cell" / "types"
    inside.mkdir(parents=True)
    os.symlink(source, inside / "link.py")
    (inside / "broken.py").write_text("raise RuntimeError('it was imported')")
    file = tmp_path / "cell" / "open.yaml"
    file.write_text((Path(__file__).parent / "workcell.yaml").read_text() + "\naction_type_folders: [types]\n")
    os.symlink(Path(__file__).parent / "rule_types.py", tmp_path / "cell" / "rule_types.py")
    assert load_workcell(file).action_type_folders == (inside,)
    with LockstepCell(load_workcell(file)) as open_cell:
        load = open_cell.server.load_action_types
        for outside in (source, f"{source}:Drift", str(inside / "link.py"), str(inside / ".." / "rule_types.py")):
            with pytest.raises(DefinitionError, match=f"expected a file below {inside}; got a file elsewhere"):
                load(outside, stranger=True)
        with pytest.raises(CompileError, match=r"broken\.py:1: importing failed with RuntimeError: it was imported"):
            load(str(inside / "broken.py"), stranger=True)


# --- K9, K10: what real-time code may do ---------------------------------------------------------


def test_K9_all_violations_are_told_at_once_with_line_and_hint(cell: LockstepCell, drift: Drift) -> None:
    # One of each kind; test/unit/server/builder/test_syntax_check.py has them all.
    lines = {
        "x = [1.0]": "builds a list; ",
        "y = part.position + 0.1 * part.dt": "computes with the whole array part.position, which makes a new array; ",
        "print(state.speed)": "prints; ",
        "raise ValueError": "raises an exception; ",
        "helper.LOCK.acquire()": "may wait (.acquire()); ",
        "params.factor = 2.0": "writes params.factor, which an action may only read; ",
        "part.velocity[0] = 1.0": "writes part.velocity[0], which an action may only read; ",
        "while state.speed > 0.0: state.speed *= 0.5": "loops without a bound that can be seen; ",
    }
    drift.helper.write_text("import threading\nSCALE = 1.0\nLOCK = threading.Lock()\n")
    path = Path(drift.write(0.1))
    path.write_text(path.read_text() + "".join(f"        {line}\n" for line in lines))
    with pytest.raises(CompileError) as refused:
        cell.server.load_action_types(str(path))
    first = len(path.read_text().splitlines()) - len(lines) + 1
    told = str(refused.value).splitlines()
    assert len(told) == len(lines)
    for number, (text, operation) in enumerate(zip(told, lines.values(), strict=True), first):
        assert text.startswith(f"{path}:{number}: {operation}")
        assert len(text.partition("; ")[2]) > 10, "a hint"


class Sums(ActionType):
    """Arithmetic at its edges."""

    name = "sums"
    slots = (Slot(name="part", kinds=MOVING),)
    parameters = (
        Parameter(name="zero", default=0.0),
        Parameter(name="none", type="int", default=0),
        Parameter(name="huge", type="int", default=2**52),
        Parameter(name="index", type="int", default=0),
        Parameter(name="command", type="bool", default=False),
    )
    state_variables = tuple(
        StateVariable(name=n) for n in ("quotient", "undefined", "whole", "rest", "root", "wrapped", "last")
    )
    State = {"table": (float, 4), "count": int}

    @staticmethod
    def control(state, params, part):
        state.quotient = 1.0 / params.zero
        state.undefined = params.zero / params.zero
        state.whole = 7 // params.none
        state.rest = 7 % params.none
        state.root = math.sqrt(params.zero - 1.0)
        state.count = params.huge * 4096
        state.wrapped = state.count
        state.table[params.index] = 1.0
        state.last = 1.0
        if params.command:
            part.command_mode = POSITION
            part.position_command[0] = state.undefined


def test_K10_arithmetic_never_raises(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", Sums))
    session.start("a")
    cell.step()
    values = {n: session.value(f"a.{n}") for n in ("quotient", "undefined", "whole", "rest", "root", "wrapped")}
    assert values["quotient"] == math.inf and math.isnan(values["undefined"]) and math.isnan(values["root"])
    assert (values["whole"], values["rest"]) == (0.0, 0.0)
    assert values["wrapped"] == 0.0, "2^64"


def test_K10_an_index_out_of_range_is_the_actions_failure_in_that_tick(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", Sums))
    session.start("a")
    cell.step(3)
    session.set("a", index=4)
    tick = cell.step()
    assert [(e.tick, e.reason) for e in cell.kinds("action_failed")] == [(tick, "index out of range")]
    assert cell.active("left") == "safety"


def test_K10_what_is_not_finite_does_not_leave(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", Sums, command=True))
    session.start("a")
    cell.step()
    assert [e.reason for e in cell.kinds("part_faulted")] == ["the action wrote a command that is not finite (x)"]
    assert all(math.isfinite(v) for v in cell.written("left").values())


# --- K11, K12: time ------------------------------------------------------------------------------


class Busy(ActionType):
    """Compute for as long as one asks for, with a budget of 50 µs."""

    name = "busy"
    slots = (Slot(name="part", kinds=MOVING),)
    parameters = (Parameter(name="rounds", type="int", default=1),)
    state_variables = (StateVariable(name="ticks"), StateVariable(name="x"))
    time_budget = 50e-6

    @staticmethod
    def control(state, params, part):
        state.ticks += 1.0
        for i in range(1_000_000):
            if i >= params.rounds:
                break
            state.x = math.sin(state.x + i)


class TooBusy(Busy):
    """Shows what it takes."""

    name = "too_busy"
    example = {"rounds": 100_000}


class Rounds(ActionType):
    """A loop whose end is a parameter: measured at its maximum."""

    name = "rounds"
    slots = (Slot(name="part", kinds=MOVING),)
    parameters = (Parameter(name="n", type="int", default=1, minimum=0, maximum=100),)
    state_variables = (StateVariable(name="x"),)
    time_budget = 50e-6

    @staticmethod
    def control(state, params, part):
        for _ in range(params.n):
            state.x += 1.0


class TooManyRounds(Rounds):
    """Its default takes no time, its maximum does."""

    name = "too_many_rounds"
    parameters = (Parameter(name="n", type="int", default=1, minimum=0, maximum=100_000),)

    @staticmethod
    def control(state, params, part):
        for i in range(params.n):
            state.x = math.sin(state.x + i)


class AnyRounds(Rounds):
    """Nothing says when its loop ends."""

    name = "any_rounds"
    parameters = (Parameter(name="n", type="int", default=1),)

    @staticmethod
    def control(state, params, part):
        for _ in range(params.n):
            state.x += 1.0


class Endless(ActionType):
    """Ends, but not while a request waits."""

    name = "endless"
    slots = (Slot(name="part", kinds=MOVING),)
    state_variables = (StateVariable(name="x"),)

    @staticmethod
    def control(state, params, part):
        for i in range(10_000_000):
            state.x = math.sin(math.sin(math.sin(state.x + i)))


def test_K11_the_longest_tick_is_measured_and_held_against_the_budget(cell: LockstepCell) -> None:
    cell.load(Busy)
    busy, hold = cell.types.get("busy", ""), cell.types.get("hold", "")
    assert 0.0 < busy.compute_time < busy.time_budget == 50e-6
    assert 0.0 < hold.compute_time < hold.time_budget == pytest.approx(0.2 * cell.workcell.period)
    assert math.isfinite(cell.types.get("velocity_move", "").compute_time)
    with pytest.raises(CompileError) as refused:
        cell.load(TooBusy)
    assert "one tick of action type 'too_busy' takes up to " in str(refused.value)
    assert "more than its time budget of 50.0 µs. Do less in its real-time methods" in str(refused.value)


def test_K11_code_that_does_not_end_is_refused(cell: LockstepCell) -> None:
    with pytest.raises(CompileError, match="its real-time methods did not end within 5 s. Look for a loop that"):
        cell.load(Endless)
    cell.load(Busy)


def test_K11_a_loop_s_end_is_a_constant_or_a_parameter_with_a_maximum(cell: LockstepCell) -> None:
    with pytest.raises(CompileError) as refused:
        cell.load(AnyRounds)
    assert "loops over range(params.n), whose greatest number of rounds is not known; Declare a `maximum`" in str(
        refused.value
    )
    assert f"{__file__}:" in str(refused.value)


def test_K11_a_loop_is_measured_at_the_maximum_of_its_parameter(cell: LockstepCell) -> None:
    with pytest.raises(CompileError, match="one tick of action type 'too_many_rounds' takes up to .* more than its"):
        cell.load(TooManyRounds)
    cell.load(Rounds)
    session = cell.session("left")
    session.add(Action("a", Rounds))
    with pytest.raises(DefinitionError) as refused:
        session.set("a", n=101)
    assert (refused.value.expected, refused.value.got) == ("0 to 100", "101.0")
    session.start("a")
    with pytest.raises(DefinitionError, match="parameter 'n': out of range"):
        session.set("a", n=9_000_000_000_000_000)
    cell.step(2)
    assert session.value("a.x") == 2.0


def test_K12_an_action_above_its_budget_is_reported_once_a_second(cell: LockstepCell) -> None:
    cell.executor.world.memory.watching = 1  # as in the wall-clock loop
    session = cell.session("left")
    session.add(Action("a", Busy))
    session.start("a")
    cell.step(5)
    assert not cell.kinds("budget_exceeded", current_action="a")
    session.set("a", rounds=20_000)
    first = cell.step()
    cell.step(1050)
    told = cell.kinds("budget_exceeded", current_action="a")
    assert [e.tick for e in told] == [first, first + 1000]
    assert (told[0].session, told[0].current_action, told[0].part) == (session.id, "a", "left")
    assert told[0].names == ("compute_time", "time_budget")
    assert told[0].values[0] > told[0].values[1] == pytest.approx(50e-6)
    assert told[0].reason.endswith("µs in this tick, more than its time budget of 50 µs")
    assert cell.active("left") == "a", "warned"


def test_K12_it_fails_after_three_ticks_in_a_row_where_the_workcell_says_so(workcell: Workcell) -> None:
    with LockstepCell(dataclasses.replace(workcell, budget_policy="fail")) as cell:
        cell.executor.world.memory.watching = 1
        session, other = cell.session("left"), cell.session("right")
        session.add(Action("a", Busy))
        other.add(Action("b", "probe", speed=0.1))
        session.start("a")
        other.start("b")
        cell.step(5)
        for _ in range(3):
            session.set("a", rounds=20_000)
            cell.step(2)
            session.set("a", rounds=1)
            cell.step(1)
        assert cell.active("left") == "a", "never three in a row"
        session.set("a", rounds=20_000)
        tick = cell.step(5)
        reason = "its code took longer than its time budget in several ticks in a row"
        assert [(e.tick, e.reason) for e in cell.kinds("action_failed")] == [(tick - 2, reason)]
        assert cell.active("left") == "safety" and session.ended is not None
        assert cell.active("right") == "b" and other.ended is None


def test_K12_nothing_is_watched_in_lockstep_but_with_every_other_clock(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", Busy, rounds=20_000))
    session.start("a")
    cell.step(10)
    assert not cell.kinds("budget_exceeded") and cell.executor.world.memory.actions_runtime["busy_ns"].max() == 0
    realtime = Executor(
        cell.workcell, ExecutorOptions(clock="realtime"), channel_name=None, image_name=lambda device: device
    )
    assert realtime.world.memory.watching == 1


# --- K13, K14: where the code runs ---------------------------------------------------------------


def test_K13_the_builder_has_ordinary_priority_and_gives_way_to_what_wakes_up(cell: LockstepCell, drift: Drift) -> None:
    cell.load(drift.write(0.1))
    pid = shared_builder().pid
    assert pid is not None and pid != os.getpid()
    assert os.getpriority(os.PRIO_PROCESS, pid) == os.getpriority(os.PRIO_PROCESS, 0), "a user waits for it"
    assert os.sched_getscheduler(pid) == os.SCHED_BATCH


def test_K13_the_loop_ticks_while_a_build_takes_long_hangs_or_crashes(cell: LockstepCell, drift: Drift) -> None:
    moving(cell)
    before = cell.part("right").commanded_position[0]
    mark, go_on = drift.path.with_suffix(".mark"), drift.path.with_suffix(".go")
    waiting = f"import os, time\nopen({str(mark)!r}, 'w').close()\n"
    waiting += f"while not os.path.exists({str(go_on)!r}):\n    time.sleep(0.01)\n"
    slow = Path(drift.write(0.1))
    slow.write_text(waiting + slow.read_text())
    loading = threading.Thread(target=lambda: cell.load(str(slow)))
    loading.start()
    try:
        while not mark.exists():
            assert loading.is_alive()
        cell.step(500)
        assert steady(cell, before, 500)
        session = cell.session("left")
        session.add(Action("a", "probe"))
        session.start("a")
        cell.step()
        assert cell.active("left") == "a", "definitions are served meanwhile, too"
    finally:
        go_on.touch()
        loading.join(60.0)
    assert "drift" in {t.name for t in cell.types.all()}
    crashing = drift.path.with_name("crashing.py")
    crashing.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    with pytest.raises(CompileError, match="ended by signal SIGSEGV"):
        cell.load(str(crashing))
    cell.step(10)
    assert steady(cell, before, 511)


def record_of(cell: LockstepCell, wanted: int) -> list[tuple[float, ...]]:
    """What an action does, tick by tick, while its parameters and sensors change."""
    session = cell.session("left", "tool")
    cell.set_sensor("rangefinder/distance", 0.5)
    session.add(
        Action("both", Together, parts=PAIR, speed=0.05, reactions=[Reaction("gap < 0.012", start="alone")]),
        Action("alone", Busy, parts="tool", rounds=7),
    )
    session.start("both")
    seen = []
    for k in range(wanted):
        if k == 20:
            session.set("both", speed=0.08)
        cell.set_sensor("rangefinder/distance", 0.5 - 0.001 * k)
        cell.step()
        parts = [cell.part(p).commanded_position[0] for p in ("left", "tool")]
        seen.append((*parts, session.value("both.gap"), session.value("alone.x")))
    return seen


def test_K14_interpreted_and_compiled_do_the_same(workcell: Workcell) -> None:
    with LockstepCell(workcell, interpreted=True) as python, LockstepCell(workcell) as native:
        one, other = record_of(python, 300), record_of(native, 300)
        np.testing.assert_array_equal(one, other)
        assert python.active("tool") == native.active("tool") == "alone"


def test_K14_an_index_out_of_range_fails_alike_and_other_exceptions_reach_the_test(workcell: Workcell) -> None:
    with LockstepCell(workcell, interpreted=True) as cell:
        session = cell.session("left")
        session.add(Action("a", Wrong, how=1))
        session.start("a")
        tick = cell.step()
        assert [(e.tick, e.reason) for e in cell.kinds("action_failed")] == [(tick, "index out of range")]
        session = cell.session("left")
        session.add(Action("b", Wrong, how=2))
        session.start("b")
        with pytest.raises(ValueError, match="nothing of that kind"):
            cell.step()


class Wrong(ActionType):
    """Would be refused by the builder."""

    name = "wrong"
    slots = (Slot(name="part", kinds=MOVING),)
    parameters = (Parameter(name="how", type="int", default=0),)
    State = {"table": (float, 4)}

    @staticmethod
    def control(state, params, part):
        if params.how == 1:
            state.table[4] = 1.0
        if params.how == 2:
            raise ValueError("nothing of that kind")


class Stopper(bdb.Bdb):
    """A debugger that notes, at its breakpoints, what it sees."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, float]] = []

    def user_line(self, frame: Any) -> None:
        if self.break_here(frame):
            self.seen.append((frame.f_code.co_name, float(frame.f_locals["state"].ticks)))
        self.set_continue()


@pytest.mark.parametrize("where", ["cell", "harness"])
def test_K14_a_debugger_stops_inside_control(workcell: Workcell, where: str) -> None:
    debugger = Stopper()
    lines = Path(__file__).read_text().splitlines()
    line = 1 + lines.index("            state.x = math.sin(state.x + i)")
    assert debugger.set_break(__file__, line) is None
    if where == "cell":
        with LockstepCell(workcell, interpreted=True) as cell:
            session = cell.session("left")
            session.add(Action("a", Busy))
            session.start("a")
            debugger.runcall(cell.step, 3)
    else:
        harness = ActionHarness(Busy)
        harness.start()
        debugger.runcall(harness.step, 3)
    assert debugger.seen == [("control", 1.0), ("control", 2.0), ("control", 3.0)]


# --- K16: apart ----------------------------------------------------------------------------------


PIDS = """
import os


def note(what):
    with open(__file__ + ".pids", "a") as file:
        file.write(f"{what} {os.getpid()}\\n")


note("import")
"""
NOTING = '''
    @classmethod
    def create(cls, parts):
        note("create")
        return cls(parts)

    def prepare_parameters(self, values, params):
        note("prepare")
        params.factor = values["factor"]
        if values["factor"] == 2.0:
            os._exit(3)
        while values["factor"] == 3.0:
            pass
'''


def test_K16_code_of_users_never_runs_in_the_servers_process(cell: LockstepCell, drift: Drift) -> None:
    path = Path(drift.write(0.1))
    text = path.read_text().partition("    def prepare_parameters")[0] + NOTING
    text += "    @staticmethod\n" + path.read_text().partition("    @staticmethod\n")[2]
    path.write_text(text.replace("import helper", PIDS))
    cell.server.load_action_types(str(path))
    pids = path.with_name("drift.py.pids")
    mine, other = cell.session("left"), cell.session("right")
    pids.unlink()
    mine.add(Action("a", "drift"))
    mine.start("a")
    cell.step()
    notes = [line.split() for line in pids.read_text().splitlines()]
    assert [what for what, _ in notes] == ["create", "prepare"], "the file is imported once, when it is loaded"
    assert notes[0][1] == notes[1][1] != str(os.getpid())
    assert not [m for m in sys.modules.values() if getattr(m, "__file__", None) == str(path)]

    other.add(Action("b", "drift"))
    with pytest.raises(DefinitionError, match="prepare_parameters of action type 'drift' ended its process; got exit"):
        mine.set("a", factor=2.0)
    with pytest.raises(DefinitionError, match="action 'a': the process that prepares it has ended. It keeps"):
        mine.set("a", factor=1.0)
    cell.step()
    assert mine.value("a.speed") == 0.1, "the loop has its code and its parameters"
    mine.add(Action("c", "drift"))
    other.set("b", factor=1.0)

    refused: list[str] = []

    def hang() -> None:
        try:
            mine.set("c", factor=3.0)
        except DefinitionError as error:
            refused.append(str(error))

    setting = threading.Thread(target=hang)
    pids.unlink()
    setting.start()
    appear(pids)
    other.set("b", factor=1.5)
    mine.close()
    setting.join(60.0)
    (told,) = refused
    assert told.startswith(
        "action 'c': prepare_parameters of action type 'drift' had not returned when its session ended; "
        f"got it was still running at {path}:"
    )
    other.set("b", factor=1.0)
