"""V33 to V35: a push that is led by the body's pose, through the real tick loop on PyBullet."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_rt_control.client import Reaction
from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.optimise.settings import Settings
from robot_rt_control.planning.plan.feedback import NAMES
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.planning.solve.planner import plan as solve
from robot_rt_control.planning.solve.verified import led
from robot_rt_control.planning.task import PairGroup, Task
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.testing.plan_replay import replay, simulation

pytestmark = pytest.mark.timeout(600)  # with an empty cache, the loop is compiled first
CONFIG = Path(__file__).parents[3] / "config"
PUSH = CONFIG / "push.yaml"
TASK = Task(
    workcell=PUSH,
    body="box",
    target=Pose(position=(0.7, 0.0, 0.04)),
    pairs=(PairGroup(robot="arm.peg", faces=("back", "front", "left", "right")),),
    time=1.5,
    steps=30,
    at_most=6.0,
)
OFF = Pose(position=(0.6, 0.008, 0.04), orientation=(0.0, 0.0, math.sin(-0.02), math.cos(-0.02)))
"""8 mm aside, and turned by 0.04 rad."""


@pytest.fixture(scope="module")
def push() -> Plan:
    """A box, slowly by 10 cm, with feedback."""
    settings = Settings(threads=1)
    result = solve(TASK, settings)
    assert result.success and result.plan is not None, result.message
    found = led(result.plan, TASK, settings)
    assert found.feedback is not None
    return found


def test_V33_a_body_that_is_off_is_led_back_and_one_that_is_not_is_pushed_as_planned(push: Plan) -> None:
    alone, with_pose = replay(push, PUSH, body=OFF), replay(push, PUSH, body=OFF, pose="camera")
    assert alone.error_to_target > 0.005
    assert with_pose.error_to_target < 0.5 * alone.error_to_target and with_pose.orientation_error < 0.05
    there = replay(push, PUSH, pose="camera")
    assert there.error_to_target < 0.003 and there.orientation_error < 0.01


def test_V33_feedback_has_the_same_bits_each_time(push: Plan) -> None:
    again = led(push, TASK, Settings(threads=2))
    assert push.feedback is not None and again.feedback is not None
    for name in NAMES:
        np.testing.assert_array_equal(getattr(again.feedback, name), getattr(push.feedback, name))


def test_V33_a_plan_by_efforts_has_none() -> None:
    slide = Task(
        workcell=CONFIG / "pusher.yaml", body="slider", target=Pose(position=(0.23, 0.0, 0.05)),
        pairs=(PairGroup(robot="pusher.tip", faces=("back",)),), time=1.0, steps=20, controls={"pusher": "effort"},
    )  # fmt: skip
    result = solve(slide, Settings(threads=1))
    assert result.plan is not None
    assert led(result.plan, slide, Settings(threads=1)).feedback is None


class Sensor:
    """In place of the simulated one: it says something else of what that has measured."""

    def __init__(self, sensor: Any, values: np.ndarray, change: Callable[[np.ndarray], None]) -> None:
        self._sensor, self._values, self._change = sensor, values, change

    def read(self) -> None:
        self._sensor.read()
        self._change(self._values)


def seeing(change: Callable[[np.ndarray], None]) -> Callable[[Any], None]:
    """A change of the simulated world: of what its camera gives, seven values and their ages."""

    def prepare(plugin: Any) -> None:  # of PyBullet
        sensors = plugin._sensors
        sensors[:] = [Sensor(sensors[0], plugin._states["camera"], change)]

    return prepare


def old(values: np.ndarray) -> None:
    values[7:] = 0.25


def far(values: np.ndarray) -> None:
    values[1] += 0.15


@pytest.mark.parametrize("change", [old, far])
def test_V34_a_pose_that_is_old_or_far_from_the_plan_leads_nothing(
    push: Plan, change: Callable[[np.ndarray], None]
) -> None:
    alone = replay(push, PUSH, body=OFF)
    with_pose = replay(push, PUSH, body=OFF, pose="camera", prepare=seeing(change))
    assert with_pose.error_to_target == pytest.approx(alone.error_to_target, abs=1e-6)


def test_V34_a_slow_and_late_camera_leads_it_back_as_well(push: Plan) -> None:
    ticks, kept = 0, np.zeros((2, 7))

    def slow(values: np.ndarray) -> None:
        nonlocal ticks
        if ticks % 50 == 0:  # 20 Hz; one comes when the next one is taken
            kept[0], kept[1] = kept[1] if ticks else values[:7], values[:7]
        values[:7], values[7:] = kept[0], 0.05 + 0.001 * (ticks % 50)
        ticks += 1

    alone = replay(push, PUSH, body=OFF)
    with_pose = replay(push, PUSH, body=OFF, pose="camera", prepare=seeing(slow))
    assert with_pose.error_to_target < 0.6 * alone.error_to_target


def test_V35_all_limits_are_kept_whatever_the_pose_says(push: Plan) -> None:
    with LockstepClient(PUSH) as client, client.session("arm") as session:

        def jump(values: np.ndarray) -> None:
            values[:2] += (0.04, 0.06) if client.cell.tick // 300 % 2 else (-0.04, -0.06)

        seeing(jump)(simulation(client))
        session.add(*push.actions("push", "camera"))
        session.add(reactions=[Reaction("push.is_done", event="done")])
        arm, limits = client.cell.part("arm"), push.header["limits"]
        aside, beyond = [0.0], [0.0]

        def look() -> None:
            for name in ("velocity", "acceleration"):
                limit = np.array(limits[name])
                beyond.append(float(np.max(np.abs(arm[f"commanded_{name}"][:7]) / limit)))
            values = client.backend.state_values(["push.aside["], session.id)
            aside.append(max(map(abs, values.values()), default=0.0))

        client.cell.after_tick.append(look)
        session.start("push")
        session.wait_for("done", timeout_s=60.0)
        client.cell.after_tick.remove(look)
        assert not client.cell.kinds("part_faulted", "action_failed", "limit_reached", "command_limited")
    assert push.feedback is not None
    assert max(beyond) <= 1.0 + 1e-6
    assert 0.01 < max(aside) <= float(push.feedback.bounds[0]) + 1e-5
