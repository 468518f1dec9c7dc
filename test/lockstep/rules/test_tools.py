"""Rules Z1 to Z11 of docs/semantics/tools.md: tools that are changed while the loop runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.model.kinematics.chain import Chain, load_chain, tool_pose
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.planner.execution import run_plan
from robot_rt_control.planning.plan.plan import FORMAT, Plan
from robot_rt_control.recording.tick_reader import TickFile
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import CommandRefused, DefinitionError

CONFIG = Path(__file__).parents[3] / "config"
SENSORS = {"none": (0.0, 0.0), "gripper": (1.0, 0.0), "driver": (0.0, 1.0)}
"""Tool → what gripper_on and driver_on read while it is in the coupling."""


@pytest.fixture(scope="module")
def tool_cell() -> Workcell:
    return load_workcell(CONFIG / "tool_change.yaml")


@pytest.fixture(scope="module")
def chain(tool_cell: Workcell) -> Chain:
    """From base to flange, without a tool."""
    return load_chain(CONFIG / "robots" / "arm7.urdf", "base", "flange")


@pytest.fixture
def cell(tool_cell: Workcell) -> Iterator[LockstepCell]:
    """With the gripper on, and enabled."""
    with LockstepCell(tool_cell, gated=False) as made:
        couple(made, "gripper")
        made.server.set_motion(["arm"], "enable")
        made.step(3)
        made.events.clear()
        yield made


def couple(cell: LockstepCell, tool: str) -> None:
    """Put a tool into the coupling: the sensors say so from the next tick on."""
    for name, value in zip(("gripper_on", "driver_on"), SENSORS[tool], strict=True):
        cell.set_sensor(f"coupling/{name}", value)
    cell.step()


def on(cell: LockstepCell) -> str:
    arm = cell.workcell.part("arm")
    return arm.tool_name(float(cell.part("arm").tool_number))


def expected_pose(cell: LockstepCell, chain: Chain, tool: str) -> np.ndarray:
    """p_WT (3,) by another way than the loop's: the flange's pose, then the file's pose of the tool."""
    described = next(t for t in cell.workcell.part("arm").tools if t.name == tool)
    return (tool_pose(chain, cell.part("arm").position[:7]) @ described.pose.matrix)[:3, 3]


def weight_of(chain: Chain, q: np.ndarray, mass: float, center: tuple[float, ...]) -> np.ndarray:
    """(7,) [Nm] that holds a mass at `center` in the flange: the gradient of its potential energy."""
    p = np.array([*center, 1.0])

    def energy(x: np.ndarray) -> float:
        return 9.81 * mass * float((tool_pose(chain, x) @ p)[2])

    h = 1e-6 * np.eye(7)
    return np.array([(energy(q + d) - energy(q - d)) / 2e-6 for d in h])


def commands(cell: LockstepCell) -> np.ndarray:
    arm = cell.part("arm")
    fields = ("commanded_position", "commanded_velocity", "commanded_acceleration", "commanded_effort")
    return np.concatenate([arm[field][:7] for field in fields])


def _file(tmp_path: Path, arm: str) -> Path:
    text = (CONFIG / "tool_change.yaml").read_text().replace("robots/arm7.urdf", str(CONFIG / "robots/arm7.urdf"))
    head, _, rest = text.partition("    tools:  # what")
    _, _, rest = rest.partition("    start_tool: gripper\n")
    path = tmp_path / "cell.yaml"
    path.write_text(head + arm + rest)
    return path


# --- Z1: the workcell file ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arm", "line", "text"),
    [
        ("    tool: {}\n    tools: {a: {}}\n", 16, "either tool, or tools"),
        ("    tools: {a: {}}\n    start_tool: b\n", 17, "did you mean 'a'?|one of"),
        ("    start_tool: a\n", 16, "tools, of which it is one"),
        ("    tools: {a: {mass: -1}}\n", 16, "mass"),
        ("    tools: {a: {center_of_mass: [0, 0, 1]}}\n", 16, "a tool with a mass"),
        ("    tools: {a: {mass: 1, inertia: [1, 0, 0, 1, 0]}}\n", 16, "six numbers"),
        ("    tools: {a: {mass: 1, inertia: [1, 0, 0, -1, 0, 1]}}\n", 16, "principal moments"),
        ("    tools: {a: {limits: {velocity: 9}}}\n", 16, "at most 2, the limit of the part"),
        ("    tools: {a: {sensor: coupling.grip_on}}\n", 16, "coupling.gripper_on"),
        ("    tools: {a: {sensor: 'wrist.force.z == 1'}}\n", 16, "approx|float"),
        ("    tools: {" + ", ".join(f"t{i}: {{}}" for i in range(9)) + "}\n", 16, "MAX_PART_TOOLS"),
    ],
)
def test_Z1_a_mistake_in_the_file_is_refused_with_its_line(tmp_path: Path, arm: str, line: int, text: str) -> None:
    with pytest.raises(DefinitionError, match=text) as caught:
        load_workcell(_file(tmp_path, arm))
    assert f"cell.yaml:{line}" in str(caught.value)


def test_Z1_one_tool_as_before_is_never_changed(tmp_path: Path) -> None:
    arm = load_workcell(_file(tmp_path, "    tool: {position: [0, 0, 0.1]}\n")).part("arm")
    assert arm.tools == () and arm.tool.position == (0.0, 0.0, 0.1)
    assert math.isnan(arm.record.tool_number)


def test_Z1_the_first_one_is_on_if_none_is_named(tmp_path: Path) -> None:
    arm = load_workcell(_file(tmp_path, "    tools: {a: {pose: {position: [0, 0, 0.3]}}, b: {}}\n")).part("arm")
    assert arm.tool_name(float(arm.record.tool_number)) == "a" and arm.tool.position == (0.0, 0.0, 0.3)


# --- Z2, Z3: the change -------------------------------------------------------------------------


def test_Z2_all_that_follows_from_the_tool_changes_in_the_tick(cell: LockstepCell, chain: Chain) -> None:
    session, arm = cell.session("arm"), cell.part("arm")
    session.add(reactions=[Reaction("arm.tool == 2 and arm.tool.z < 0.35", event="lower")])
    q = arm.position[:7].copy()
    assert arm.tool_position == pytest.approx(expected_pose(cell, chain, "gripper"), abs=1e-12)
    before, effort = commands(cell), arm.external_effort[:7].copy()
    couple(cell, "driver")
    tick = session.change_tool("arm", "driver")
    assert on(cell) == "driver" and session.value("arm.tool") == 2.0 and session.value("arm.tool_confirmed") == 1.0
    assert arm.tool_position == pytest.approx(expected_pose(cell, chain, "driver"), abs=1e-12)
    change = weight_of(chain, q, 2.5, (0.02, 0.0, 0.11)) - weight_of(chain, q, 0.9, (0.0, 0.0, 0.05))
    assert np.abs(change).max() > 1.0
    assert arm.external_effort[:7] - effort == pytest.approx(-change, abs=1e-6)
    assert (commands(cell) == before).all()
    (changed,) = cell.kinds("tool_changed")
    assert (changed.tick, changed.part, changed.reason, changed.values) == (tick, "arm", "driver", (2.0,))
    assert [e.tick for e in cell.kinds("reaction_fired")] == [tick]
    cell.step(500)
    assert (commands(cell) == before).all() and cell.part("arm").operational_state == 1.0


@settings(max_examples=8, deadline=None)
@given(
    changes=st.lists(
        st.tuples(st.sampled_from(sorted(SENSORS)), st.sampled_from(sorted(SENSORS)), st.integers(1, 40)),
        min_size=1,
        max_size=12,
    )
)
def test_Z2_random_changes_never_move_the_arm(
    tool_cell: Workcell, chain: Chain, changes: list[tuple[str, str, int]]
) -> None:
    """Whatever is in the coupling, and whatever is asked for: what is on is what both agree on last."""
    with LockstepCell(tool_cell, gated=False) as cell:
        couple(cell, "gripper")
        cell.server.set_motion(["arm"], "enable")
        session, believed, before = cell.session("arm"), "gripper", commands(cell)
        for there, wanted, ticks in changes:
            couple(cell, there)
            try:
                session.change_tool("arm", wanted)
                assert there == wanted
                believed = wanted
            except CommandRefused as error:
                assert there != wanted and "another tool is on" in str(error)
            cell.step(ticks)
            assert on(cell) == believed
            assert cell.part("arm").tool_confirmed == float(there == believed)
            assert cell.part("arm").tool_position == pytest.approx(expected_pose(cell, chain, believed), abs=1e-12)
            assert (commands(cell) == before).all()


def test_Z3_a_moving_arm_keeps_its_tool(cell: LockstepCell) -> None:
    session = cell.session("arm")
    session.add(Action("up", "velocity_move", linear=[0.0, 0.0, 0.05]))
    session.start("up")
    cell.step(300)
    couple(cell, "none")
    with pytest.raises(CommandRefused, match="an action commands the part"):
        session.change_tool("arm", "none")
    session.stop("up")
    with pytest.raises(CommandRefused, match="the part is not at rest"):
        session.change_tool("arm", "none")
    assert on(cell) == "gripper" and not cell.kinds("tool_changed")
    cell.step(500)
    session.change_tool("arm", "none")
    assert on(cell) == "none"


def test_Z3_a_disabled_or_stopped_arm_may_change_it(cell: LockstepCell, chain: Chain) -> None:
    session = cell.session("arm")
    cell.server.protective_stop(True, source="door")
    couple(cell, "driver")
    session.change_tool("arm", "driver")
    cell.server.set_motion(["arm"], "disable")
    couple(cell, "none")
    session.change_tool("arm", "none")
    assert cell.part("arm").tool_position == pytest.approx(expected_pose(cell, chain, "none"), abs=1e-12)
    cell.server.protective_stop(False)
    cell.server.set_motion(["arm"], "enable")
    assert cell.part("arm").operational_state == 1.0


def test_Z3_only_the_session_that_holds_the_arm(cell: LockstepCell) -> None:
    holder, other = cell.session("arm"), cell.session("coupling")
    with pytest.raises(DefinitionError, match="does not hold"):
        other.change_tool("arm", "gripper")
    with pytest.raises(DefinitionError, match="a part that lists tools"):
        other.change_tool("coupling", "gripper")
    with pytest.raises(DefinitionError, match="gripper"):
        holder.change_tool("arm", "griper")


# --- Z4, Z5: sensors ----------------------------------------------------------------------------


def test_Z4_the_wrong_tool_is_refused(cell: LockstepCell) -> None:
    session = cell.session("arm")
    with pytest.raises(CommandRefused, match="another tool is on") as caught:
        session.change_tool("arm", "driver")
    assert caught.value.expected == "coupling.driver_on" and "'gripper'" in caught.value.got
    cell.set_sensor("coupling/driver_on", 1.0)  # both: neither fits
    cell.step()
    assert cell.part("arm").tool_fits[:3].tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(CommandRefused, match="another tool is on"):
        session.change_tool("arm", "driver")
    cell.set_sensor("coupling/driver_on", math.nan)
    cell.set_sensor("coupling/gripper_on", 0.0)
    cell.step()
    with pytest.raises(CommandRefused, match="is unknown"):
        session.change_tool("arm", "driver")
    assert on(cell) == "gripper" and session.value("arm.tool_confirmed") == 0.0


def test_Z4_without_a_sensor_of_its_own_the_others_tell(tmp_path: Path) -> None:
    file = _file(tmp_path, "    tools: {bare: {}, gripper: {sensor: coupling.gripper_on}, pen: {}}\n")
    with LockstepCell(file, gated=False) as cell:
        session = cell.session("arm")
        assert cell.part("arm").tool_fits[:3].tolist() == [1.0, 0.0, 1.0]
        session.change_tool("arm", "pen")
        couple(cell, "gripper")
        assert cell.part("arm").tool_fits[:3].tolist() == [0.0, 1.0, 0.0]
        cell.set_sensor("coupling/gripper_on", math.nan)
        cell.step()
        assert np.isnan(cell.part("arm").tool_fits[:3]).all()
        with pytest.raises(CommandRefused, match="is unknown"):
            session.change_tool("arm", "bare")


def test_Z5_an_arm_with_the_wrong_tool_is_not_enabled(tool_cell: Workcell) -> None:
    with LockstepCell(tool_cell, gated=False) as cell:  # its sensors say that none is on
        assert cell.part("arm").operational_state == 0.0 and cell.part("coupling").operational_state == 1.0
        with pytest.raises(CommandRefused, match="should be 'gripper', but the sensors say that another") as caught:
            cell.server.set_motion(["arm"], "enable")
        assert caught.value.expected == "coupling.gripper_on"
        assert "should be 'gripper'" in cell.server.set_motion([], "enable")
        assert cell.part("arm").operational_state == 0.0
        cell.session("arm").change_tool("arm", "none")  # what is on is told, and then it is right
        cell.server.set_motion(["arm"], "enable")
        assert cell.part("arm").operational_state == 1.0


def test_Z5_a_new_executor_begins_with_the_tool_of_the_start(cell: LockstepCell, tool_cell: Workcell) -> None:
    couple(cell, "driver")
    cell.session("arm").change_tool("arm", "driver")
    cell.close()
    with LockstepCell(tool_cell) as anew:
        assert on(anew) == "gripper"


def test_Z5_an_enabled_arm_goes_on_when_its_sensor_changes(cell: LockstepCell) -> None:
    session = cell.session("arm")
    session.add(reactions=[Reaction("not arm.tool_confirmed", event="lost")])
    couple(cell, "none")
    cell.step(3)
    assert cell.part("arm").operational_state == 1.0
    assert [e.event for e in cell.kinds("reaction_fired")] == ["lost"]
    cell.server.set_motion(["arm"], "disable")
    with pytest.raises(CommandRefused, match="should be 'gripper'"):
        cell.server.set_motion(["arm"], "enable")


# --- Z6 to Z9: actions --------------------------------------------------------------------------


def test_Z6_an_action_brings_the_arm_to_rest_and_changes_the_tool(cell: LockstepCell) -> None:
    session = cell.session("arm")
    done = Reaction("change.is_done", start="back", event="changed")
    session.add(
        Action("up", "velocity_move", linear=[0.0, 0.0, 0.05]),
        Action("change", "change_tool", tool="driver", reactions=[done]),
        Action("back", "hold"),
    )
    with pytest.raises(CommandRefused, match="do not confirm the tool"):
        session.start("change")
    assert on(cell) == "gripper"
    session.start("up")
    cell.step(300)
    couple(cell, "driver")
    session.start("change")
    speed, last, jerk = [], cell.part("arm").commanded_acceleration[:7].copy(), 0.0
    for _ in range(1000):
        cell.step()
        arm = cell.part("arm")
        jerk = max(jerk, float(np.abs(arm.commanded_acceleration[:7] - last).max()))
        last = arm.commanded_acceleration[:7].copy()
        speed.append((on(cell), float(np.abs(arm.commanded_velocity[:7]).max())))
        if cell.active("arm") == "back":
            break
    assert all(v > 0.0 for tool, v in speed[:5] if tool == "gripper") and speed[0][0] == "gripper"
    assert {v for tool, v in speed if tool == "driver"} == {0.0}
    assert jerk * 1000 < 300.0, "an acceleration jumped"
    assert [e.event for e in cell.kinds("reaction_fired")] == ["changed"]
    assert len(cell.kinds("tool_changed")) == 1


def test_Z6_it_waits_for_the_sensor_if_asked_to(cell: LockstepCell) -> None:
    session = cell.session("arm")
    session.add(Action("change", "change_tool", tool="none", wait=True, time_limit=0.2))
    session.start("change")
    cell.step(50)
    assert session.value("change.is_waiting") == 1.0 and on(cell) == "gripper"
    couple(cell, "none")
    cell.step(3)
    assert session.value("change.is_done") == 1.0 and on(cell) == "none"
    couple(cell, "gripper")
    session.add(Action("never", "change_tool", tool="driver", wait=True, time_limit=0.1))
    session.start("never")
    cell.step(150)
    assert on(cell) == "none" and cell.active("arm") != "never"


def test_Z6_no_such_tool(cell: LockstepCell) -> None:
    session = cell.session("arm")
    with pytest.raises(DefinitionError, match="gripper"):
        session.add(Action("change", "change_tool", tool="griper"))


def test_Z7_a_goal_of_the_tool_is_for_one_tool(cell: LockstepCell, chain: Chain) -> None:
    session, goal = cell.session("arm"), [0.4, 0.1, 0.5]
    session.add(
        Action("now", "move_joint", tool_position=goal),
        Action("later", "move_joint", tool_position=goal, tool="driver"),
        Action("joints", "move_joint", position=cell.part("arm").position[:7].tolist()),
    )
    with pytest.raises(CommandRefused, match="prepared for another tool"):
        session.start("later")
    couple(cell, "driver")
    session.change_tool("arm", "driver")
    with pytest.raises(CommandRefused, match="prepared for another tool"):
        session.start("now")
    session.start("joints")
    cell.step()
    session.start("later")
    cell.step_until(lambda: session.value("later.is_settled") == 1.0)
    assert cell.part("arm").tool_position == pytest.approx(goal, abs=2e-3)
    session.set("now", tool_position=goal)  # now it is for the driver
    session.start("now")
    cell.step(5)
    assert cell.active("arm") == "now"


def test_Z8_a_zero_is_void_when_the_tool_changes(cell: LockstepCell) -> None:
    session = cell.session("arm", "wrist")
    for axis in ("force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z"):
        cell.set_sensor(f"wrist/{axis}", 0.0)
    cell.set_sensor("wrist/force.z", -9.0)
    session.add(Action("watch", "watch_tool", parts={"sensor": "wrist", "arm": "arm"}, samples=5))
    session.start("watch")
    cell.step(10)
    assert session.value("watch.push") == pytest.approx(0.0)
    couple(cell, "driver")
    cell.set_sensor("wrist/force.z", -25.0)
    session.change_tool("arm", "driver")
    cell.step(20)
    assert session.value("watch.is_ready") == 0.0 and math.isnan(session.value("watch.push"))
    session.signal("watch", "zero")
    cell.step(10)
    assert session.value("watch.is_ready") == 1.0 and session.value("watch.push") == pytest.approx(0.0)
    assert cell.part("wrist").wrench[2] == -25.0


def test_Z9_the_arm_is_slower_with_a_heavy_tool(cell: LockstepCell) -> None:
    session, arm = cell.session("arm"), cell.part("arm")
    q = arm.position[:7].copy()
    there = (q + 0.8).tolist()
    session.add(
        Action("there", "move_joint", position=[there[0], *q[1:]]),
        Action("back", "move_joint", position=q.tolist()),
    )

    def fastest(action: str) -> float:
        session.start(action)
        top = 0.0
        while session.value(f"{action}.is_done") != 1.0:
            cell.step()
            top = max(top, float(np.abs(arm.commanded_velocity[:7]).max()))
        return top

    assert fastest("there") > 1.0
    fastest("back")
    session.stop()
    cell.step(100)
    couple(cell, "driver")
    session.change_tool("arm", "driver")
    assert arm.velocity_limit[0] == 0.8
    assert 0.7 < fastest("there") <= 0.8 + 1e-9


# --- Z10: what is seen --------------------------------------------------------------------------


def test_Z10_the_status_names_the_tool(cell: LockstepCell) -> None:
    status = {part.name: part.tool for part in cell.executor.part_status()}
    assert status == {"arm": "gripper", "wrist": "", "coupling": ""}
    couple(cell, "driver")
    cell.session("arm").change_tool("arm", "driver")
    assert {part.tool for part in cell.executor.part_status()} == {"driver", ""}


def test_Z10_the_description_has_the_frame_of_the_tool_that_is_on(tool_cell: Workcell) -> None:
    first, other = tool_cell.robot_description(), tool_cell.robot_description({"arm": "driver"})
    assert first == tool_cell.robot_description({"arm": "gripper"})
    assert 'xyz="0.0 0.0 0.12"' in first
    assert 'xyz="0.05 0.0 0.22"' in other and 'xyz="0.0 0.0 0.12"' not in other


def test_Z10_recordings_show_the_tool_that_is_on(tool_cell: Workcell, tmp_path: Path) -> None:
    path, end = tmp_path / "a.mcap", tmp_path / "end.mcap"
    with LockstepCell(tool_cell, gated=False, record=path) as cell:
        couple(cell, "gripper")
        cell.step(50)
        couple(cell, "driver")
        cell.session("arm").change_tool("arm", "driver")
        changed = cell.tick
        cell.step(50)
        cell.executor.save_last_ticks().rename(end)
    numbers = TickFile(path).arrays()["arm.tool"]
    assert set(numbers[:-60]) | {numbers[0]} == {1.0} and numbers[-50:].tolist() == [2.0] * 50
    for file in (path, end):
        with file.open("rb") as stream:
            reader = make_reader(stream, decoder_factories=[DecoderFactory()])
            found = [(c.topic, m.log_time, d) for _, c, m, d in reader.iter_decoded_messages()]
        told = [(time, d.data) for topic, time, d in found if topic == "/robot_description"]
        assert [text for _, text in told] == [tool_cell.robot_description({"arm": t}) for t in ("gripper", "driver")]
        poses = [
            (time, tuple(getattr(t.transform.translation, axis) for axis in "xyz"))
            for topic, time, d in found
            for t in (d.transforms if topic == "/tf_static" else ())
            if t.child_frame_id == tool_cell.frame_names()["arm"]
        ]
        assert poses == [(told[0][0], (0.0, 0.0, 0.12)), (told[1][0], (0.05, 0.0, 0.22))]
        assert 0 <= told[1][0] - changed * 1_000_000 <= 20_000_000


# --- Z11: plans ---------------------------------------------------------------------------------


def test_Z11_a_plan_is_run_with_its_own_tool_only(tool_cell: Workcell) -> None:
    arm = tool_cell.part("arm")
    here = np.tile(arm.start_position, (4, 1))
    header = {
        **{"format": FORMAT, "workcell": tool_cell.digest, "steps": 3, "time": 0.3, "pairs": [], "body": "box"},
        **{"joints": [f"arm.{name}" for name in arm.joint_names], "velocity_driven": [True] * arm.dof},
        **{"limits": {"acceleration": [1.0] * arm.dof}, "tools": {"arm": "gripper"}},
        "verification": {"speeds": [1.0]}, "success": True, "target": [[0.1, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
    }
    none = {name: np.zeros((3, 0)) for name in ("stiffness", "virtual_force")}
    ends = {name: np.zeros((4, 0)) for name in ("distance", "virtual_distance")}
    plan = Plan(
        header=header,
        position=here,
        velocity=np.zeros_like(here),
        inputs=np.zeros((3, arm.dof)),
        body_position=np.zeros((4, 3)),
        body_rotation=np.tile(np.eye(3), (4, 1, 1)),
        feedback=None,
        **none,
        **ends,
    )
    with LockstepClient(tool_cell) as client:
        couple(client.cell, "driver")
        with client.session("arm") as session:
            session.change_tool("arm", "driver")
        client.enable("arm")
        with pytest.raises(DefinitionError, match="the tool of part 'arm'; expected 'gripper'.* got 'driver'"):
            run_plan(client, plan, tool_cell, unverified=True)
        assert not client.cell.kinds("action_started")[1:], "only its default action has started"
        couple(client.cell, "gripper")
        with client.session("arm") as session:
            session.change_tool("arm", "gripper")
        assert run_plan(client, plan, tool_cell, unverified=True).tick > 0


def test_Z11_a_plan_has_the_limits_of_the_tool_that_its_task_names(tool_cell: Workcell) -> None:
    slower = tool_cell.with_tools({"arm": "driver"})
    assert slower.digest == tool_cell.digest
    assert slower.part("arm").record.velocity_limit[0] == 0.8 and tool_cell.part("arm").record.velocity_limit[0] == 2.0
    with pytest.raises(DefinitionError, match="driver"):
        tool_cell.with_tools({"arm": "drivr"})
