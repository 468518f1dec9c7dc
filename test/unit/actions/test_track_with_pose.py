"""Feedback of a body's pose: bounds, ages, the model between measurements, refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from robot_rt_control.actions.track_with_pose import TrackWithPose
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakeArm, FakePart
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

BENT = (0.0, 0.3, 0.0, -1.6, 0.0, 1.2, 0.0)
POSE = ("x", "y", "z", "qx", "qy", "qz", "qw")
STEPS, STEP = 10, 0.1
MOST, SPEED, ACCELERATION = 0.02, 0.1, 1.0
LEAD = np.zeros((STEPS + 1, 2, 7))
LEAD[:, 0, 1], LEAD[:, 1, 0] = 1.0, np.linspace(1.0, 1.4, STEPS + 1)


def made(**changed: Any) -> dict[str, Any]:
    """One second, in which joint 1 moves by 0.1 rad; the tool follows the body along y, critically damped."""
    gain = np.zeros((STEPS, 2, 7))
    gain[:, 0, 0] = gain[:, 1, 1] = 100.0
    gain[:, 0, 2] = gain[:, 1, 3] = 20.0
    gain[:, 1, 5] = -100.0
    end = np.array(BENT)
    end[1] += 0.1
    values: dict[str, Any] = {
        "times": [0.0, 1.0], "positions": [*BENT, *end], "velocities": [0.0] * 14, "step": STEP,
        "body": np.zeros((STEPS + 1, 3)).ravel().tolist(), "gains": gain.ravel().tolist(),
        "model": [0.0] * (STEPS * 21), "lead": LEAD.ravel().tolist(),
        "most": MOST, "speed": SPEED, "acceleration": ACCELERATION,
    }  # fmt: skip
    return {**values, **changed}


class Followed:
    """The action on a bent arm, with a camera that sees the body at once unless told otherwise."""

    def __init__(self, **changed: Any) -> None:
        self.arm = FakeArm(position=BENT)
        self.camera = FakePart(name="pose", kind=PartKind.SENSOR, inputs=POSE)
        self.h = ActionHarness(
            TrackWithPose, parts={"part": self.arm, "pose": self.camera}, parameters=made(**changed), compiled=True
        )
        self.see()
        self.h.start()

    def see(self, x: float = 0.0, y: float = 0.0, yaw: float = 0.0, age: float = 0.0, length: float = 1.0) -> None:
        """`length`: of the quaternion."""
        self.camera.live.inputs[:7] = x, y, 0.04, 0.0, 0.0, length * math.sin(yaw / 2), length * math.cos(yaw / 2)
        self.camera.live.input_age[:7] = age

    def steps(self, ticks: int) -> list[np.ndarray]:
        found = []
        for _ in range(ticks):
            assert self.h.step() == 0
            found.append(np.array(self.h.state.aside))
        return found

    @property
    def commanded(self) -> np.ndarray:
        return np.array(self.h.part("part").commanded_position[:7])


def ticks(h: ActionHarness, seconds: float) -> int:
    return round(seconds / float(h.params.period))


def test_the_tool_is_led_to_the_body_and_joints_follow_by_the_table() -> None:
    its = Followed()
    its.see(y=0.01)
    its.steps(ticks(its.h, 2.0))
    assert its.h.state.aside[1] == pytest.approx(0.01, abs=1e-4) and its.h.state.aside[0] == 0.0
    assert its.h.state.is_done == 1.0
    wanted = np.array(BENT) + 0.1 * np.eye(7)[1] + 1.4 * its.h.state.aside[1] * np.eye(7)[0]
    np.testing.assert_allclose(its.commanded, wanted, atol=1e-9)


def test_a_body_where_it_is_planned_changes_nothing() -> None:
    its = Followed()
    its.steps(ticks(its.h, 2.0))
    assert (np.array(its.h.state.aside) == 0.0).all()
    np.testing.assert_allclose(its.commanded, np.array(BENT) + 0.1 * np.eye(7)[1], atol=1e-12)


def test_the_displacement_and_the_joints_keep_their_bounds_however_the_pose_jumps() -> None:
    its = Followed()
    dt, part, random = float(its.h.params.period), its.h.part("part"), np.random.default_rng(3)
    before, speed = np.zeros(2), np.zeros(2)
    for i in range(ticks(its.h, 1.5)):
        if i % 50 == 0:
            its.see(y=random.choice([-0.09, 0.09]))
        now = its.steps(1)[0]
        assert (np.abs(now) <= MOST + 4.0 * ACCELERATION * dt**2).all()
        moved = (now - before) / dt
        assert (np.abs(moved) <= SPEED + 1e-9).all()
        assert (np.abs(moved - speed) / dt <= ACCELERATION * (1.0 + 1e-6) + 1e-6).all()
        assert (np.abs(part.commanded_velocity[:7]) <= part.velocity_limit[:7]).all()
        assert (np.abs(part.commanded_acceleration[:7]) <= part.acceleration_limit[:7]).all()
        before, speed = now, moved
    assert np.abs(before).max() > 0.5 * MOST  # it was led


@pytest.mark.parametrize(
    "seen",
    [
        {"age": 0.21},
        {"y": math.nan},
        {"age": math.nan},
        {"y": 0.11},
        {"yaw": 0.7},
        {"age": math.inf},
        {"length": 0.0},
        {"length": 2.0},
    ],
)
def test_an_old_unknown_or_far_pose_leads_nothing_and_the_next_good_one_does(seen: dict[str, float]) -> None:
    its = Followed()
    its.see(y=0.01)
    its.steps(ticks(its.h, 0.1))
    its.see(**seen)
    its.steps(ticks(its.h, 0.2))
    stood = np.array(its.h.state.aside)
    its.steps(ticks(its.h, 0.1))
    assert its.h.state.uses_pose == 0.0 and (np.array(its.h.state.aside) == stood).all() and stood[1] > 0.0
    its.see(y=0.01)
    its.steps(ticks(its.h, 0.3))
    assert its.h.state.uses_pose == 1.0 and its.h.state.aside[1] > stood[1]


def test_a_measurement_is_compared_with_the_plan_at_its_time() -> None:
    body = np.zeros((STEPS + 1, 3))
    body[:, 1] = np.linspace(0.0, 0.5, STEPS + 1)  # 0.5 m/s
    its = Followed(body=body.ravel().tolist())
    period = float(its.h.params.period)
    for i in range(1, 600):
        age = 0.1 if i % 40 == 0 else float(its.camera.live.input_age[0]) + period
        if i % 40 == 0:  # what was seen 0.1 s ago
            its.see(y=0.5 * (i * period - 0.1), age=age)
        else:
            its.camera.live.input_age[:7] = age
        its.steps(1)
    assert abs(float(its.h.state.measured[1])) < 0.6 * period and np.abs(its.h.state.aside).max() < 1e-3


def test_between_measurements_the_model_moves_the_body_on() -> None:
    model = np.zeros((STEPS, 3, 7))
    model[:, 1, 3] = 1.0  # the body moves with the tool
    its = Followed(model=model.ravel().tolist())
    period = float(its.h.params.period)
    its.see(y=0.01)
    its.steps(1)
    for i in range(1, ticks(its.h, 0.15)):
        its.camera.live.input_age[:7] = i * period
        its.steps(1)
    moved = float(its.h.state.aside[1])
    assert moved > 1e-3
    assert float(its.h.state.deviation[1]) == pytest.approx(0.01 + moved, abs=2e-4)


def test_a_model_that_runs_away_while_there_is_no_pose_does_not_move_the_tool() -> None:
    model = np.zeros((STEPS, 3, 7))
    model[:, 1, 5] = 2000.0  # [1/s]
    its = Followed(model=model.ravel().tolist())
    period = float(its.h.params.period)
    its.see(y=0.01)
    its.steps(1)
    for i in range(1, ticks(its.h, 0.9)):
        its.camera.live.input_age[:7] = i * period
        its.steps(1)
    its.see(y=0.01, age=5 * period)
    its.steps(1)
    assert its.h.state.uses_pose == 1.0 and np.isfinite(its.commanded).all() and np.isfinite(its.h.state.aside).all()


def test_a_model_of_huge_numbers_leads_nothing() -> None:
    model = np.zeros((STEPS, 3, 7))
    model[:, 1, 5] = model[:, 1, 4] = 1e300
    model[:, 0, 5] = -1e300
    its = Followed(model=model.ravel().tolist())
    its.see(y=0.01)
    its.steps(ticks(its.h, 0.5))
    assert np.isfinite(its.commanded).all() and np.abs(its.h.state.aside).max() < MOST


@pytest.mark.parametrize("flip", range(1, 61, 3))
def test_the_joints_keep_their_limits_in_a_stop_while_the_pose_jumps(flip: int) -> None:
    """A trajectory that leaves no more room: of joint 1, which the displacement moves as well."""
    far = np.array(BENT)
    far[1] += 0.88
    gain = np.zeros((STEPS, 2, 7))
    gain[:, 0, 4] = -1000.0
    its = Followed(positions=[*BENT, *far], acceleration=4.5, speed=0.15, most=0.03, gains=gain.ravel().tolist())
    part = its.h.part("part")
    its.steps(445)
    its.see(x=0.09)
    its.steps(5)
    its.h.signal("stop")
    for tick in range(600):
        if tick == flip:
            its.see(x=-0.09)
        its.steps(1)
        assert (np.abs(part.commanded_acceleration[:7]) <= part.acceleration_limit[:7] * (1.0 + 1e-6)).all(), tick
    assert its.h.state.is_stopped == 1.0


def test_a_stop_comes_to_rest_on_the_way_and_speed_0_stands() -> None:
    its = Followed()
    its.see(y=0.01)
    its.steps(ticks(its.h, 0.3))
    its.h.speed = 0.0
    its.steps(5)
    stood = its.commanded
    its.steps(100)
    np.testing.assert_array_equal(its.commanded, stood)
    its.h.speed = 1.0
    its.h.signal("stop")
    its.steps(ticks(its.h, 0.5))
    assert its.h.state.is_stopped == 1.0 and its.h.state.is_done == 0.0
    stood = its.commanded
    its.steps(50)
    np.testing.assert_array_equal(its.commanded, stood)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"speed": 5.0}, "limit of velocity"),
        ({"acceleration": 50.0}, "limit of acceleration"),
        ({"gains": [0.0] * 139}, "number of gains; expected 140 numbers; got 139"),
        ({"gains": [math.nan] * 140}, "finite"),
        ({"body": [0.0] * 32}, "number of body"),
        ({"longest_age": 10.0}, "longest_age"),
        ({"times": [0.0, 0.0]}, "times"),
        ({"times": [0.0, 0.1], "step": 0.01}, "limit"),
        ({"times": [0.0, 0.9]}, "tables that end with the trajectory, at 0.9 s; got 1 s"),
        ({"lead": np.resize([1e308, -1e308], LEAD.size).tolist()}, "limit"),
    ],
)
def test_what_does_not_fit_is_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        Followed(**changed)


def test_the_sensor_must_give_a_pose() -> None:
    camera = FakePart(name="pose", kind=PartKind.SENSOR, inputs=("x",))
    with pytest.raises(DefinitionError, match="seven values"):
        TrackWithPose.create({"part": FakeArm(position=BENT), "pose": camera})
