"""V17 on the simulated iiwa: track_trajectory by efforts and velocities, through the whole tick at 1 kHz.

The wrist's last joint has an inertia of 0.001 kg m² and 0.5 Nms/rad of damping in its bearing, which the arm's masses
do not tell: given efforts may contain it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from robot_rt_control.client.actions import Action, Strategy
from robot_rt_control.client.session import Session
from robot_rt_control.model.kinematics.inverse_dynamics import dynamics_scratch_dtype, inverse_dynamics
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import DefinitionError

IIWA = Path(__file__).parents[3] / "config" / "iiwa.yaml"
T = np.linspace(0.0, 1.5, 61)
WAY = np.array([0.5, -0.2, 0.4, 0.2, 0.6, 0.3, -1.0])
BEARINGS = 0.5  # [Nms/rad] of the URDF
EFFORT: dict[str, Any] = {"mode": "effort", "gravity": True}


@pytest.fixture
def cell() -> Iterator[LockstepCell]:
    with LockstepCell(IIWA, hardware="simulator") as made:
        made.step(20)
        yield made


def path(cell: LockstepCell, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, velocities, accelerations (n, 7) of a quintic from the start."""
    s = np.clip(t / T[-1], 0.0, 1.0)[:, None]
    start = np.array(cell.workcell.parts[0].start_position)
    return (
        start + WAY * (10 * s**3 - 15 * s**4 + 6 * s**5),
        WAY * (30 * s**2 - 60 * s**3 + 30 * s**4) / T[-1],
        WAY * (60 * s - 180 * s**2 + 120 * s**3) / T[-1] ** 2,
    )


def points(cell: LockstepCell) -> dict[str, Any]:
    q, v, a = (list(x.ravel()) for x in path(cell, T))
    return {"times": list(T), "positions": q, "velocities": v, "accelerations": a}


def needed(cell: LockstepCell) -> list[float]:
    """Efforts at the points, without those against gravity."""
    chain, scratch = cell.part("arm").chain, np.zeros(1, dynamics_scratch_dtype)[0]
    rows = []
    for q, v, a in zip(*path(cell, T), strict=True):
        tau = np.zeros(16)
        inverse_dynamics(chain, q, v, a, 0.0, tau, scratch)
        rows.append(tau[:7] + BEARINGS * v)
    return [float(x) for row in rows for x in row]


def begin(cell: LockstepCell, **parameters: Any) -> Session:
    session = cell.session("arm")
    session.add(Action("a", "track_trajectory", parts="arm", **points(cell), **parameters))
    session.start("a")
    return session


def follow(cell: LockstepCell, ticks: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ticks, (n, 7) each: |measured - path|, measured velocities, commanded efforts."""
    arm = cell.part("arm")
    rows = []
    for _ in range(ticks):
        cell.step()
        rows.append([np.array(x[:7]) for x in (arm.position, arm.velocity, arm.commanded_effort)])
    q, v, e = np.array(rows).transpose(1, 0, 2)
    return np.abs(q - path(cell, 0.001 * np.arange(ticks))[0]), v, e


def no_fault(cell: LockstepCell) -> bool:
    return not cell.kinds("action_failed", "part_faulted")


def test_V17_efforts_of_the_arms_masses_follow_and_the_wrist_is_stable(cell: LockstepCell) -> None:
    exerted = np.array(cell.part("arm").effort[:7])
    session = begin(cell, **EFFORT)
    error, v, effort = follow(cell, 2300)
    assert (error.max(axis=0) < [0.002, 0.001, 0.002, 0.001, 0.015, 0.01, 0.2]).all(), "the bearings brake the wrist"
    assert error[-1].max() < 1e-3 and np.abs(np.diff(v[-300:], axis=0)).max() < 1e-3
    assert session.value("a.is_settled") == 1.0 and no_fault(cell)
    assert abs(exerted[1]) > 10.0, "the arm's weight"
    assert np.abs(effort[0] - exerted).max() < 0.5 and np.abs(np.diff(effort, axis=0)).max() < 0.1, "no jump"


def test_V17_given_efforts_follow_closely(cell: LockstepCell) -> None:
    session = begin(cell, **EFFORT, efforts=needed(cell))
    error, v, _ = follow(cell, 2300)
    assert error.max() < 0.002 and error[:, :6].max() < 0.0005
    assert error[-1].max() < 1e-4 and np.abs(v[-300:]).max() < 1e-3
    assert session.value("a.is_settled") == 1.0 and no_fault(cell)


def test_V17_constant_gains_shake_the_wrist_that_the_default_keeps_quiet(cell: LockstepCell) -> None:
    begin(cell, **EFFORT, stiffness=[100.0] * 7, damping=[20.0] * 7)
    _, v, _ = follow(cell, 2300)
    assert np.abs(v[-300:, 6]).max() > 0.1


@pytest.mark.parametrize("mode", ["velocity", "effort"])
def test_V17_a_slower_speed_and_a_standstill_keep_the_path(cell: LockstepCell, mode: str) -> None:
    session = begin(cell, **({**EFFORT, "correction": 100.0} if mode == "effort" else {"mode": mode}))
    arm = cell.part("arm")
    worst = 0.0
    # The standstill: the speed comes down in 150 ticks (L24), then the wrist creeps on against its bearing, halved
    # every 50 ticks.
    for speed, ticks in ((1.0, 500), (0.3, 500), (0.0, 400), (1.0, 1500)):
        cell.server.set_speed(speed)
        for _ in range(ticks):
            at = session.value("a.elapsed") if session.value("a.elapsed") is not None else 0.0
            cell.step()
            worst = max(worst, np.abs(arm.position[:6] - path(cell, np.array([at]))[0][0, :6]).max())
        if speed == 0.0:
            assert np.abs(arm.velocity[:7]).max() < 1e-2
    assert worst < 0.01 and session.value("a.is_settled") == 1.0 and no_fault(cell)


def test_V17_a_stop_and_a_cancel_bring_the_arm_to_rest(cell: LockstepCell) -> None:
    session = cell.session("arm")
    session.add(Action("a", "track_trajectory", parts="arm", **points(cell), **EFFORT, correction=100.0))
    session.start("a")
    cell.step(600)
    session.signal("a", "stop")
    cell.step(700)
    arm = cell.part("arm")
    way = (np.array(arm.position[:7]) - path(cell, np.zeros(1))[0][0]) / WAY
    assert session.value("a.is_stopped") == 1.0 and np.ptp(way) < 0.01 and 0.2 < way[0] < 0.9
    assert np.abs(arm.velocity[:7]).max() < 1e-3
    session.stop("a")
    held = np.array(arm.position[:7])
    cell.step(500)
    assert np.abs(arm.position[:7] - held).max() < 1e-3 and no_fault(cell)


def test_V17_taken_over_in_motion_and_handed_over_in_motion_without_a_jump(cell: LockstepCell) -> None:
    session = cell.session("arm")
    session.add(
        Action("p", "track_trajectory", parts="arm", **points(cell)),
        Action("e", "track_trajectory", parts="arm", **points(cell), **EFFORT, start_tolerance=0.02),
        Action("b", "move_joint", parts="arm", position=list(path(cell, np.zeros(1))[0][0])),
    )
    arm, v = cell.part("arm"), []

    def run(ticks: int) -> None:
        for _ in range(ticks):
            cell.step()
            v.append(np.array(arm.velocity[:7]))

    session.start("p")
    run(150)
    session.start("e")
    run(700)
    assert np.abs(arm.velocity[:7]).max() > 0.3, "it moves"
    session.start("b")
    run(3000)
    assert np.abs(np.diff(np.array(v), axis=0)[:, :6]).max() < 0.02
    assert np.abs(arm.position[:7] - path(cell, np.zeros(1))[0][0]).max() < 1e-3 and no_fault(cell)


def test_V17_efforts_that_make_a_joint_too_fast_do_not_fault_it(cell: LockstepCell) -> None:
    push = np.zeros((60, 7))
    push[:, 0] = 40.0
    begin(cell, **EFFORT, correction=0.0, efforts=list(push.ravel()))
    arm = cell.part("arm")
    cell.step(1400)
    assert no_fault(cell) and 0.5 < arm.velocity[0] < 1.48 * 1.05 + 0.1, "the loop reduces them, as all efforts (L8)"


def test_V17_a_base_with_a_lag_is_led_by_velocities(tmp_path: Path) -> None:
    text = IIWA.with_name("mobile_base.yaml").read_text()
    text = text.replace("time_constant: 0.0", "time_constant: 0.03").replace("robots/", f"{IIWA.parent}/robots/")
    (tmp_path / "base.yaml").write_text(text)
    way = np.array([0.5, -0.3, 0.4])
    with LockstepCell(tmp_path / "base.yaml") as cell:
        session = cell.session("base")
        given: dict[str, Any] = {"times": [0.0, 2.0], "positions": [0.0] * 3 + list(way), "mode": "velocity"}
        session.add(Action("a", "track_trajectory", parts="base", **given))
        session.start("a")
        base, worst = cell.part("base"), 0.0
        for _ in range(3000):
            cell.step()
            worst = max(worst, session.value("a.tracking_error") or 0.0)
        assert worst < 0.02 and session.value("a.is_settled") == 1.0
        np.testing.assert_allclose(base.position[:3], way, atol=1e-4)


@pytest.mark.parametrize("mode", ["velocity", "effort"])
def test_V17_a_whole_tick_allocates_nothing(mode: str) -> None:
    _nrt_python.memsys_enable_stats()
    with LockstepCell(IIWA) as cell:
        begin(cell, mode=mode)
        cell.step(2)
        counts = []
        for ticks in (10, 1000):
            before = rtsys.get_allocation_stats()
            cell.executor.step(ticks)
            after = rtsys.get_allocation_stats()
            counts.append((after.alloc - before.alloc, after.mi_alloc - before.mi_alloc))
        assert counts[0] == counts[1] and cell.active("arm") == "a" and no_fault(cell)


def test_V17_a_plan_of_efforts_is_replayed_by_them() -> None:
    """The pusher, 1 kg, 4 cm forward without touching the slider."""
    t, one = 0.05 * np.arange(9)[:, None], np.ones((4, 1))
    v = np.where(t <= 0.2, t, 0.4 - t)
    nothing = np.zeros((9, 0))
    plan = Plan(
        header={"joints": ["pusher.slide"], "velocity_driven": [False], "time": 0.4, "steps": 8},
        position=np.where(t <= 0.2, 0.5 * t**2, 0.04 - 0.5 * v**2),
        velocity=v,
        inputs=np.concatenate([one, -one]),
        body_position=np.zeros((9, 3)),
        body_rotation=np.zeros((9, 3, 3)),
        distance=nothing,
        stiffness=nothing[1:],
        virtual_force=nothing[1:],
        virtual_distance=nothing,
    )
    with LockstepCell(IIWA.with_name("pusher.yaml"), hardware="simulator") as cell:
        cell.step(20)
        session, part = cell.session("pusher"), cell.part("pusher")
        session.add(*plan.actions("a"))
        session.start("a")
        for k in range(8):
            cell.step(50)
            assert part.position[0] == pytest.approx(plan.position[k + 1, 0], abs=2e-4)
            assert part.commanded_effort[0] == pytest.approx(plan.inputs[k, 0], abs=0.1)
        cell.step(200)
        assert session.value("a.is_settled") == 1.0 and no_fault(cell)


def test_V17_mistakes_are_refused_with_their_texts(cell: LockstepCell) -> None:
    session = cell.session("arm")
    high = needed(cell)
    high[7 * 30 + 6] = 41.0
    with pytest.raises(DefinitionError, match=r"effort of joint 'lbr_iiwa_joint_7' at 0.750 s is above its limit"):
        session.add(Action("a", "track_trajectory", parts="arm", **points(cell), **EFFORT, efforts=high))
    with pytest.raises(DefinitionError, match="number of efforts; expected 61 points of 7 joints"):
        session.add(Action("a", "track_trajectory", parts="arm", **points(cell), **EFFORT, efforts=high[:-1]))
    law = Strategy("go", "track_trajectory", times=[0, 1], positions=[0, 0.1], mode="velocity")
    with pytest.raises(DefinitionError, match="mode of a law; expected position; got velocity"):
        session.add(Action("a", "hold", parts="arm", strategies={"joint[0]": [law]}))


def test_V17_hardware_without_efforts_is_named(tmp_path: Path) -> None:
    text = IIWA.read_text().replace("    kind: arm\n", "    kind: arm\n    command_modes: [position]\n", 1)
    (tmp_path / "iiwa.yaml").write_text(text)
    with LockstepCell(tmp_path / "iiwa.yaml") as cell:
        session = cell.session("arm")
        with pytest.raises(DefinitionError, match="its hardware does not take the mode; expected position; got effort"):
            session.add(Action("a", "track_trajectory", parts="arm", **points(cell), **EFFORT))
