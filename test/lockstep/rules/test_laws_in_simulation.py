"""Rules F7 to F10 and F12 of docs/semantics in simulation: with gravity, with forces from outside, between walls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from library.bench_run import run
from library.corner_bench import corner

from robot_rt_control.client.actions import Action, Strategy
from robot_rt_control.client.session import Session
from robot_rt_control.model.workcell.simulators import SIMULATORS
from robot_rt_control.testing.lockstep_cell import LockstepCell

IIWA = Path(__file__).parents[3] / "config" / "iiwa.yaml"
LATER = "elapsed > 0.2 and elapsed < 1.2"


@pytest.fixture(params=SIMULATORS)
def cell(request: pytest.FixtureRequest) -> Iterator[LockstepCell]:
    with LockstepCell(IIWA, hardware=request.param) as made:
        made.step(20)
        yield made


def govern(cell: LockstepCell, strategies: dict[str, list[Strategy]], type: str = "hold") -> Session:
    session = cell.session("arm", "wrist")
    watch = Action("watch", "watch_tool", parts={"sensor": "wrist", "arm": "arm"})
    session.add(watch, Action("a", type, parts="arm", strategies=strategies))
    session.start("watch")
    cell.step_until(lambda: cell.value(session.id, "watch.is_ready") == 1.0)
    session.start("a")
    return session


def _pybullet_force(cell: LockstepCell) -> Callable[[np.ndarray, np.ndarray], None]:
    """A force [N] at a point [m] of the last link for the next tick, in world axes."""
    import pybullet

    plugin: Any = cell.executor.devices.hosts["sim"].plugin
    assert plugin.world.substeps == 1
    robot = plugin.world.robot("arm", "arm")
    link = robot.link("lbr_iiwa_link_7", "arm")

    def apply(force: np.ndarray, at: np.ndarray) -> None:
        pybullet.applyExternalForce(
            robot.body, link, force.tolist(), at.tolist(), pybullet.WORLD_FRAME, plugin.world.client
        )

    return apply


def _mujoco_force(cell: LockstepCell) -> Callable[[np.ndarray, np.ndarray], None]:
    plugin: Any = cell.executor.devices.hosts["sim"].plugin
    data, body = plugin.world.data, plugin.world.model.body("arm.lbr_iiwa_link_7").id

    def apply(force: np.ndarray, at: np.ndarray) -> None:
        data.xfrc_applied[body] = [*force, *np.cross(at - data.xipos[body], force)]

    return apply


def push(cell: LockstepCell, force: tuple[float, float, float], ticks: int, see: Callable[[], float]) -> np.ndarray:
    """Push at the tool's frame with a force [N], world axes. Returns what is seen after each tick."""
    apply = _pybullet_force(cell) if cell.workcell.hardware == "pybullet" else _mujoco_force(cell)
    seen = []
    for _ in range(ticks):
        apply(np.array(force), cell.part("arm").tool_position.copy())
        cell.step()
        seen.append(see())
    return np.array(seen)


def test_F10_torque_on_one_joint_while_the_others_hold_and_back_without_a_jump(cell: LockstepCell) -> None:
    arm = cell.part("arm")
    held = np.array(arm.position[:6])
    pull = Strategy("pull", "torque", when=LATER, effort=0.5, gravity=True)
    govern(cell, {"joint[6]": [pull, Strategy("hold", "hold")]})
    q, v, effort, others = [], [], [], []
    for _ in range(2000):
        cell.step()
        q.append(float(arm.position[6]))
        v.append(float(arm.velocity[6]))
        effort.append(float(arm.commanded_effort[6]))
        others.append(np.abs(arm.position[:6] - held).max())
    assert max(others) < 1e-3, "joints 1 to 6 hold"
    assert effort[1000] == pytest.approx(0.5, abs=0.01) and q[1190] - q[190] > 0.5
    assert np.abs(np.diff(effort[:1100])).max() <= 2.0 * 40.0 * 1e-3 * 1.001, "at most its rate: no jump"
    back = slice(1150, 2000)
    assert np.abs(np.diff(v[back])).max() <= arm.acceleration_limit[6] * 1e-3 * 1.5, "no jump of velocity"
    assert abs(v[-1]) < 1e-3 and np.ptp(q[-300:]) < 1e-4, "it holds"
    assert not cell.kinds("action_failed", "part_faulted")


def test_F9_a_joint_that_carries_the_arm_does_not_drop_when_efforts_take_over(cell: LockstepCell) -> None:
    arm = cell.part("arm")
    before = float(arm.position[1])
    carry = Strategy("carry", "torque", when=LATER, effort=0.0, gravity=True)
    govern(cell, {"joint[1]": [carry, Strategy("hold", "hold")]})
    cell.step(195)
    carried = float(arm.effort[1])
    assert abs(carried) > 10.0, "the arm's weight"
    trace = np.array([(arm.position[1], arm.commanded_effort[1]) for _ in range(900) if cell.step() or True])
    commanded = trace[trace[:, 1] != 0.0, 1]
    assert len(commanded) > 850 and commanded[0] == pytest.approx(carried, abs=1.0)
    assert np.abs(np.diff(commanded)).max() < 1.0
    assert np.abs(trace[:, 0] - before).max() < 0.02


def test_F7_impedance_of_a_joint_gives_way_by_the_force_over_the_stiffness(cell: LockstepCell) -> None:
    arm = cell.part("arm")
    spring = Strategy("spring", "impedance", stiffness=100.0, damping=20.0, gravity=True)
    govern(cell, {"joint[0]": [spring]})
    cell.step(300)
    start = float(arm.position[0])
    lever = float(arm.tool_position[0])
    angles = push(cell, (0.0, 10.0, 0.0), 2500, lambda: float(arm.position[0]) - start)
    assert angles[-1] == pytest.approx(10.0 * lever * np.cos(angles[-1]) / 100.0, rel=0.03)
    assert angles.max() < 1.05 * angles[-1]
    assert np.abs(arm.position[1:7] - arm.commanded_position[1:7]).max() < 1e-3
    assert push(cell, (0.0, 0.0, 0.0), 2500, lambda: float(arm.position[0]) - start)[-1] == pytest.approx(0.0, abs=1e-3)


def test_F7_impedance_on_z_beside_velocity_on_x_and_y(cell: LockstepCell) -> None:
    arm = cell.part("arm")
    give_way = Strategy("spring", "admittance", stiffness=400.0, damping=200.0, inputs={"force": "watch.push_z"})
    along_x, along_y = Strategy("go", "velocity", velocity=0.03), Strategy("go", "velocity", velocity=-0.02)
    govern(cell, {"x": [along_x], "y": [along_y], "z": [give_way]}, "govern_tool")
    cell.step(500)
    start = np.array(arm.tool_position)
    push(cell, (0.0, 0.0, -8.0), 2500, lambda: 0.0)
    moved = arm.tool_position - start
    assert moved[2] == pytest.approx(-8.0 / 400.0, rel=0.05), "F / k"
    assert moved[:2] == pytest.approx([0.075, -0.05], rel=0.01), "the others go on"


@pytest.mark.parametrize(("friction", "stiffness"), [(0.2, 1e4), (0.8, 5e4)])
def test_F12_both_forces_of_a_corner_are_held_whatever_the_friction_of_the_other_wall(
    friction: float, stiffness: float, tmp_path: Path
) -> None:
    file = corner(tmp_path, (0.02, 0.03), friction=friction, stiffness=stiffness)
    pushes: list[tuple[float, float]] = []

    def feel(cell: LockstepCell) -> None:
        (session,) = (s.id for s in cell.server.sessions())
        pushes.append((cell.value(session, "watch.push_x"), cell.value(session, "watch.push_y")))

    outcome = run("move_to_corner", workcell=file, each_tick=feel, settle=1.5)
    assert outcome.exit == "in_corner"
    assert np.array(pushes[-1400:-10]) == pytest.approx(5.0, rel=0.05)
    assert outcome.peak < 40.0
