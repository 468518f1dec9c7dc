"""A whole tick allocates nothing, whichever built-in action is active, and whatever happens in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from robot_rt_control.actions.track_with_pose import TrackWithPose
from robot_rt_control.client import Action, MotionCommand, MotionGroup, Reaction, Strategy
from robot_rt_control.testing.lockstep_cell import LockstepCell

CONFIG = Path(__file__).parents[3] / "config"
GOAL = [0.2, 0.4, 0.1, -1.4, 0.0, 1.0, 0.2]
ACTIONS: dict[str, dict[str, Any]] = {
    "stop": {},
    "hold": {},
    "move_joint": {"position": GOAL},
    "velocity_move": {"linear": [0.0, 0.0, -0.02]},
    "track_trajectory": {"times": [0.0, 2.0, 4.0], "positions": GOAL * 3},
    "sine_wave": {"amplitude": 0.05, "frequency": 1.0},
}
IO_ACTIONS: dict[str, dict[str, Any]] = {
    "set_output": {"outputs": "output_0 output_3", "values": 1, "duration": 0.05},
    "wait_for_input": {"input": "input_2", "value": 1, "timeout": 0.05},
}
BENCH_ACTIONS: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "move_linear": ({"arm": "arm"}, {"offset": [0.0, 0.0, -0.05]}),
    "move_gripper": ({"gripper": "gripper"}, {"opening": 0.5}),
    "grasp": ({"gripper": "gripper"}, {"effort": 5.0}),
    "watch_tool": ({"sensor": "wrist", "arm": "arm"}, {"samples": 1}),
    "watch_distance": ({"sensor": "below"}, {"samples": 1}),
}
"""Action → the parts in its slots on the bench, and its parameters."""
STREAM_ACTIONS: dict[str, list[float]] = {
    "follow_joint_stream": GOAL,
    "follow_pose_stream": [0.4, 0.1, 0.7, 0.0, 1.0, 0.0, 0.0],
    "follow_joint_velocity_stream": [0.05, 0.0, 0.05, 0.0, 0.05, 0.0, 0.05],
    "follow_joint_effort_stream": [0.1, 0.0, -0.1, 0.0, 0.1, 0.0, 0.1],
    "follow_twist_stream": [0.01, 0.0, -0.02, 0.0, 0.0, 0.05],
}
"""Action → a sample of its stream input `goal`."""
BASE_ACTION = "follow_base_twist_stream"
LAWS: dict[str, tuple[str, dict[str, Any]]] = {
    "velocity": ("joint[2]", {"velocity": 0.05}),
    "distance": ("joint[2]", {"distance": 0.3, "velocity": 0.05, "inputs": {"distance": "arm.position[3]"}}),
    "force": ("joint[2]", {"force": 1.0, "inputs": {"force": "arm.effort[2]"}}),
    "stop_at": ("joint[2]", {"direction": "forward"}),
    "position": ("joint[2]", {"position": 0.1}),
    "torque": ("joint[2]", {"effort": 0.5, "gravity": True}),
    "impedance": ("joint[2]", {"stiffness": 10.0, "damping": 5.0, "gravity": True}),
    "admittance": ("joint[2]", {"stiffness": 10.0, "damping": 5.0, "inputs": {"force": "arm.effort[2]"}}),
    "govern_tool": ("z", {"velocity": -0.02}),
    "govern_path": ("s", {"velocity": 0.02}),
}
"""Law → the degree of freedom that it governs, and its parameters; govern_… → those of `velocity`."""
GOVERNING: dict[str, dict[str, Any]] = {
    "govern_tool": {},
    "govern_path": {"points": [0.0, 0.0, 0.0, 0.5, 0.0, 0.1], "frame": "entry"},
}
"""Action types with degrees of freedom of their own, and their parameters; other laws govern joints of `hold`."""


@pytest.fixture
def cell() -> Iterator[LockstepCell]:
    with LockstepCell(CONFIG / "iiwa.yaml") as made:
        yield made


def allocations(cell: LockstepCell, ticks: int) -> tuple[int, int]:
    before = rtsys.get_allocation_stats()
    cell.executor.step(ticks)
    after = rtsys.get_allocation_stats()
    return after.alloc - before.alloc, after.mi_alloc - before.mi_alloc


def test_the_counter_counts() -> None:
    @numba.njit
    def allocate() -> float:
        return np.zeros(3).sum()

    allocate()
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats().alloc
    allocate()
    assert rtsys.get_allocation_stats().alloc > before


def test_every_built_in_action_is_here(cell: LockstepCell) -> None:
    here = {*ACTIONS, *IO_ACTIONS, *BENCH_ACTIONS, *STREAM_ACTIONS, *LAWS, BASE_ACTION, TrackWithPose.name}
    assert {*here, "motion_group", "change_tool"} == {t.name for t in cell.types.all()}


@pytest.mark.parametrize("action", ACTIONS)
def test_a_tick_with_the_action_active_allocates_nothing(cell: LockstepCell, action: str) -> None:
    _nrt_python.memsys_enable_stats()
    session = cell.session("arm")
    session.add(Action("first", "move_joint", position=GOAL), Action("a", action, **ACTIONS[action]))
    session.start("first")
    if action == "track_trajectory":
        cell.step(3000)  # it begins at the trajectory's start
    else:
        cell.step(100)  # it takes over a moving arm
    session.start("a")
    cell.step(2)
    assert cell.active("arm") == "a"
    assert allocations(cell, 10) == allocations(cell, 1000)
    assert cell.active("arm") == "a" and not cell.kinds("action_failed")


def test_a_change_of_tool_allocates_nothing() -> None:
    _nrt_python.memsys_enable_stats()
    with LockstepCell(CONFIG / "tool_change.yaml", gated=False) as cell:
        session = cell.session("arm")
        session.change_tool("arm", "none")  # as its sensors say
        cell.server.set_motion(["arm"], "enable")
        session.add(Action("a", "change_tool", tool="driver", wait=True))
        session.start("a")
        idle = allocations(cell, 10)
        cell.set_sensor("coupling/driver_on", 1.0)
        assert allocations(cell, 1000) == idle
        assert session.value("a.is_done") == 1.0 and cell.active("arm") == "a"


@pytest.mark.long
@pytest.mark.parametrize("profile", ["realtime", "async"])
def test_a_tick_with_a_motion_group_allocates_nothing(cell: LockstepCell, profile: str) -> None:
    _nrt_python.memsys_enable_stats()
    session = cell.session("arm")
    there, back = MotionCommand(part="arm", position=GOAL), MotionCommand(part="arm", position=[0.0] * 7)
    session.add(MotionGroup("a", there, back, profile=profile))
    session.start("a")
    cell.step(2)
    assert cell.active("arm") == "a" and 0.0 < session.value("a.remaining_time") < 60.0
    assert allocations(cell, 10) == allocations(cell, 1000)
    assert cell.active("arm") == "a" and not cell.kinds("action_failed")


@pytest.mark.parametrize("law", LAWS)
def test_a_tick_with_strategies_that_take_turns_allocates_nothing(cell: LockstepCell, law: str) -> None:
    _nrt_python.memsys_enable_stats()
    axis, given = LAWS[law]
    turns = [
        Strategy("now_and_then", "velocity" if law in GOVERNING else law, when=f"{axis}.ticks > 20", **given),
        Strategy("else", "velocity", velocity=0.01),
    ]
    session = cell.session("arm")
    governing = law if law in GOVERNING else "hold"
    session.add(Action("a", governing, strategies={axis: turns}, **GOVERNING.get(law, {})))
    session.start("a")
    cell.step(30)
    changes = len(cell.kinds("strategy_changed"))
    assert allocations(cell, 10) == allocations(cell, 1000)
    cell.step(30)
    assert len(cell.kinds("strategy_changed")) > changes + 50
    assert cell.active("arm") == "a" and not cell.kinds("action_failed")


@pytest.mark.parametrize("action", IO_ACTIONS)
def test_a_tick_with_an_action_on_an_io_part_allocates_nothing(action: str) -> None:
    _nrt_python.memsys_enable_stats()
    with LockstepCell(CONFIG / "arm7.yaml") as cell:
        session = cell.session("io")
        session.add(Action("a", action, **IO_ACTIONS[action]))
        session.start("a")
        cell.step(2)
        assert cell.active("io") == "a"
        assert allocations(cell, 10) == allocations(cell, 1000)
        assert cell.active("io") == "a" and not cell.kinds("action_failed")


@pytest.mark.parametrize("action", BENCH_ACTIONS)
def test_a_tick_with_an_action_of_the_bench_allocates_nothing(action: str) -> None:
    _nrt_python.memsys_enable_stats()
    parts, parameters = BENCH_ACTIONS[action]
    moved = next(iter(parts.values()))
    with LockstepCell(CONFIG / "bench.yaml") as cell:
        session = cell.session(moved)
        session.add(Action("a", action, parts=parts, **parameters))
        session.start("a")
        cell.step(2)
        assert cell.active(moved) == "a"
        assert allocations(cell, 10) == allocations(cell, 1000)
        assert cell.active(moved) == "a" and not cell.kinds("action_failed")


@pytest.mark.parametrize("action", STREAM_ACTIONS)
@pytest.mark.parametrize("gap", ["hold", "cubic", "extrapolate"])
def test_a_tick_that_follows_a_stream_allocates_nothing(cell: LockstepCell, action: str, gap: str) -> None:
    _nrt_python.memsys_enable_stats()
    session = cell.session("arm")
    session.add(Action("a", action, goal_gap=gap))
    session.start("a")
    cell.step(2)
    stream = session.stream("a", "goal")
    first, *others = STREAM_ACTIONS[action]
    for k in range(200):
        stream.write([first + 1e-3 * (k % 7), *others], tick=cell.tick + 20 + 5 * k)
    cell.step(20)
    assert allocations(cell, 10) == allocations(cell, 900)
    assert cell.active("arm") == "a" and not cell.kinds("action_failed")
    assert session.value("a.is_following") == 1.0


def test_a_tick_that_drives_a_base_allocates_nothing() -> None:
    _nrt_python.memsys_enable_stats()
    with LockstepCell(CONFIG / "mobile_base.yaml") as cell:
        session = cell.session("base")
        session.add(Action("a", BASE_ACTION, goal_timeout=9.0))
        session.start("a")
        session.stream("a", "goal").write([0.5, 0.1, 0.4])
        cell.step(2)
        assert session.value("a.is_following") == 1.0
        assert allocations(cell, 10) == allocations(cell, 1000)
        assert cell.active("base") == "a" and not cell.kinds("action_failed")


def test_a_tick_that_a_pose_leads_allocates_nothing() -> None:
    _nrt_python.memsys_enable_stats()
    with LockstepCell(CONFIG / "push.yaml", hardware="mock") as cell:
        session = cell.session("arm")
        q = [float(each) for each in cell.part("arm")["commanded_position"][:7]]
        parameters = {**TrackWithPose.example, "times": [0.0, 2.0], "positions": q * 2}
        session.add(Action("a", TrackWithPose.name, parts={"part": "arm", "pose": "camera"}, **parameters))
        for name in ("x", "y", "z", "qx", "qy", "qz", "qw"):
            cell.set_sensor(f"camera/{name}", float(name == "qw"))
        session.start("a")
        cell.step(2)
        assert cell.active("arm") == "a" and session.value("a.uses_pose") == 1.0
        assert allocations(cell, 10) == allocations(cell, 900)
        assert cell.active("arm") == "a" and not cell.kinds("action_failed")
        assert abs(session.value("a.aside[1]")) > 1e-4


def test_ticks_with_switches_commands_events_and_faults_allocate_nothing(cell: LockstepCell) -> None:
    _nrt_python.memsys_enable_stats()
    session = cell.session("arm")
    again = Reaction("elapsed > 0.002", start="b", event="switch", capture=["elapsed", "arm.tool.z"])
    session.add(
        Action("a", "velocity_move", linear=[0, 0, -0.02], reactions=[again]),
        Action("b", "velocity_move", linear=[0, 0, 0.02], reactions=[Reaction("elapsed > 0.002", start="a")]),
        reactions=[Reaction("wrist.force.z > 1 or is_unknown(rangefinder.distance)", stop=True)],
    )
    session.start("a")
    cell.step(10)
    quiet = allocations(cell, 10)
    assert allocations(cell, 1000) == quiet
    fired = len(cell.fired("switch"))
    cell.server.poll()
    assert len(cell.fired("switch")) > fired + 100
    # commands, new parameters, the end of a session, motion off and on
    for i in range(20):
        session.set("b", linear=[0, 0, 0.001 * i])
        session.start("a", at_tick=cell.tick + 3)
        cell.server.set_motion([], "disable")
        cell.server.set_motion([], "enable")
    session.close()
    assert allocations(cell, 10) == quiet
    cell.server.poll()
    assert session.ended and len(cell.kinds("part_enabled")) >= 20
