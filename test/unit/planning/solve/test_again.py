"""V20: planning again from what is measured."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.optimise.settings import Settings
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.planning.solve import again
from robot_rt_control.planning.task import PairGroup, Task

CONFIG = Path(__file__).parents[4] / "config"
START = (0.0, 0.9093, 0.0, -1.9313, 0.0, 0.3010, 0.0)
TASK = Task(
    workcell=CONFIG / "push.yaml",
    body="box",
    target=Pose(position=(0.7, 0.0, 0.04)),
    pairs=(PairGroup(robot="arm.peg", faces=("back", "front", "left", "right")),),
    time=1.5,
    steps=30,
)


def last(end=0.7):
    """A plan from 0.6 m; what is read of it."""
    body = np.array([[0.6, 0.0, 0.04], [end, 0.0, 0.04]])
    header = {"target": [[0.7, 0.0, 0.04], [0.0, 0.0, 0.0, 1.0]], "steps": 1, "time": 1.5}
    others = (
        "position", "velocity", "inputs", "body_rotation", "distance", "stiffness", "virtual_force", "virtual_distance",
    )  # fmt: skip
    arrays: dict[str, Any] = dict.fromkeys(others, np.zeros((1, 0)))
    return Plan(header=header, body_position=body, **arrays)


@pytest.fixture
def asked(monkeypatch):
    """What is planned: task and settings."""
    calls = []
    monkeypatch.setattr(again, "plan", lambda task, settings, **_: calls.append((task, settings)))

    def plan_again(at, **options):
        again.plan_again(TASK, last(), joints={"arm": START}, body=Pose(position=at), **options)
        return calls[-1]

    return plan_again


def test_V20_a_way_around_the_body_gets_its_time(asked):
    back, _ = asked((0.73, 0.0, 0.04))
    assert back.time > 3.0 and back.control_step == pytest.approx(TASK.control_step)
    forward, _ = asked((0.67, 0.0, 0.04))
    assert forward.time < 2.5


def test_V20_it_aims_short_by_what_the_last_push_went_too_far(asked):
    task, settings = asked((0.704, 0.0, 0.04))
    assert task.target.position == pytest.approx((0.703, 0.0, 0.04)), "at most three quarters of the way are left out"
    # Of 1 cm, at least, the error that is accepted: half of the millimetre to go.
    assert settings.accept_position * 0.01 == pytest.approx(0.0005)
    task, _ = asked((0.71, 0.0, 0.04))
    assert task.target.position == pytest.approx((0.703, 0.0, 0.04)), "3 mm at most"
    task, _ = asked((0.69, 0.0, 0.04))
    assert task.target.position == pytest.approx((0.703, 0.0, 0.04)), "and farther, if it fell short"


@pytest.mark.parametrize("at", [(0.73, 0.0, 0.04), (0.65, 0.0, 0.04), (0.702, 0.02, 0.04)])
def test_V20_a_body_that_something_else_moved_says_nothing_about_the_push(asked, at):
    task, settings = asked(at)
    assert task.target == TASK.target
    left = np.linalg.norm(np.array(at) - (0.7, 0.0, 0.04))
    assert settings.accept_position * left == pytest.approx(Settings().accept_position * 0.1), "nor makes it stricter"


def test_V20_stopped_on_its_way_it_aims_at_the_target_and_asks_for_the_same_error(asked):
    task, settings = asked((0.65, 0.0, 0.04), elapsed=0.75)
    assert task.target == TASK.target
    assert settings.accept_position * 0.05 == pytest.approx(Settings().accept_position * 0.1)
