"""Planned, then played by another engine, and aimed by what that measured: with an engine that is made up."""

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.optimise.settings import Settings
from robot_rt_control.planning.solve import verified
from robot_rt_control.planning.solve.planner import Result
from robot_rt_control.planning.task import PairGroup, Task

TASK = Task(
    workcell=Path(__file__).parents[4] / "config" / "pusher.yaml",
    body="slider",
    target=Pose(position=(0.23, 0.0, 0.05)),
    pairs=(PairGroup(robot="pusher.tip", faces=("back",)),),
    time=3.0,
    steps=30,
)


class Engine:
    """In which the body ends `far` [m] beyond where the planner's engine says, and `aside` [m] to the left.

    `other`: how far it ends beyond in one more engine; `finer`: with half the step. `blow` [N s].
    """

    def __init__(self, far, cancel=None, aside=0.0, other=None, blow=0.0, finer=0.0, other_blow=0.0):
        self.far, self.aside, self.cancel, self.plans = far, aside, cancel, []
        self.blow, self.finer, self.other_blow = blow, finer, other_blow
        self.other, self.others = other, () if other is None else ("another",)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def play(self, plan, workcell, *, speeds=(1.0,), simulator="", finer=False, check):
        assert workcell == TASK.workcell and simulator in ("", *self.others)
        if not simulator and not finer:
            self.plans.append(plan)
        if self.cancel is not None:
            self.cancel.set()
        check()
        far = self.finer if finer else self.other if simulator else self.far
        position = plan.body_position[-1] + np.array([far, self.aside, 0.0])
        error = plan.error_of(position, plan.body_rotation[-1])
        name = (simulator or "made up") + finer * " with half the step"
        row = {"engine": name, "rests": True, "position": position.tolist()}
        row["blow"] = self.other_blow if simulator else self.blow
        row["error_to_target"] = error.position
        return [{**row, "speed": speed, "orientation_error": error.orientation} for speed in speeds]


def solve(engine, task=TASK, settings=Settings(threads=1), **options):  # noqa: B008  it is frozen
    return verified.solve(task, settings, player=lambda: engine, **options)


def test_V30_what_the_other_engine_measured_corrects_the_aim_once():
    engine = Engine(0.004)
    told: list[verified.Played] = []
    begun: list[Result] = []
    found = solve(engine, played=told.append, planned=begun.append)
    assert found.success, found.message
    first, second = engine.plans
    assert second.body_position[-1, 0] == pytest.approx(first.body_position[-1, 0] - 0.004, abs=0.001)
    assert [its.aimed for its in told] == [False, True] and len(begun) == 2
    assert found.plan.header["target"] == first.header["target"] and found.plan.header["task"] == first.header["task"]
    assert found.plan.header["verification"]["replays"][0]["error_to_target"] < 0.0015
    assert found.plan.header["verification"]["mujoco"]["position_error"] < 0.001, "of what it aims at"


@pytest.mark.parametrize(("far", "plans"), [(0.003, 2), (0.0, 1)])
def test_V30_a_straight_push_is_aimed_along_its_way_alone(far, plans):
    """To the side it would take one more push, at another face."""
    engine = Engine(far, aside=0.0015)
    task = replace(TASK, pairs=(PairGroup(robot="pusher.tip", faces=("back", "right", "left")),))
    found = solve(engine, task)
    assert found.success, found.message
    assert [its.header["start"] for its in engine.plans] == ["line pusher.tip slider.back"] * plans
    assert engine.plans[-1].body_position[-1, 0] == pytest.approx(0.23 - far, abs=0.001)


def test_V28_every_other_engine_has_to_agree():
    found = solve(Engine(0.0, other=0.05))
    assert not found.success and "in another at speed 1 the body ends 49.8 mm" in found.message
    assert "made up" not in found.message
    assert solve(Engine(0.0, other=0.0003)).success


def test_V30_it_is_aimed_by_what_the_engines_measured_on_average():
    engine = Engine(0.004, other=0.002)
    found = solve(engine)
    assert found.success, found.message
    first, second = engine.plans
    assert second.body_position[-1, 0] == pytest.approx(first.body_position[-1, 0] - 0.003, abs=0.001)
    rows = found.plan.header["verification"]
    assert [its["engine"] for its in (*rows["replays"], *rows["others"])] == ["made up", "another"]


def test_V28_far_from_what_was_planned_it_is_planned_and_not_verified():
    engine = Engine(0.05)
    found = solve(engine)
    starts = [str(its.header["start"]) for its in engine.plans]
    assert len(starts) == 2, "nothing to be aimed better, and one more without slow lines"
    assert starts[0].startswith("line ") and not starts[1].startswith("line ")
    assert not found.success and found.plan.header["success"]
    error = found.plan.header["verification"]["replays"][0]["error_to_target"]
    assert error == pytest.approx(0.05, abs=0.002)
    assert f"in made up at speed 1 the body ends {1e3 * error:.1f} mm" in found.message


def test_V36_a_push_that_strikes_is_not_verified_unless_that_is_asked_for(monkeypatch):
    """1 kg, friction 0.3: 0.2 N s for 0.2 m/s, and 0.059 N s for friction."""
    planned = verified.plan(TASK, Settings(threads=1))
    monkeypatch.setattr(verified, "plan", lambda *_, **__: planned)  # what is verified is always the same
    assert solve(Engine(0.0, blow=0.25)).success
    found = solve(Engine(0.0, blow=0.27))
    assert not found.success and found.plan.header["success"]
    assert "the robot strikes the body with 0.270 N s within 10 ms; 0.259 N s are accepted" in found.message
    assert solve(Engine(0.0, blow=0.27), settings=Settings(threads=1, accept_strike=0.3)).success


def test_V36_where_a_body_ends_after_a_blow_has_to_hold_with_half_the_step_as_well(monkeypatch):
    planned = verified.plan(TASK, Settings(threads=1))
    monkeypatch.setattr(verified, "plan", lambda *_, **__: planned)  # what is verified is always the same
    asked = Settings(threads=1, slow=False)
    assert solve(Engine(0.0, blow=0.27), settings=asked).success
    found = solve(Engine(0.0, blow=0.27, finer=0.01), settings=asked)
    assert not found.success and "in made up with half the step at speed 1" in found.message
    assert "strikes" not in found.message
    assert solve(Engine(0.0, blow=0.25, finer=0.01), settings=asked).success, "no blow: it is not asked"
    found = solve(Engine(0.0, other=0.0, other_blow=0.27, finer=0.01))  # slow, and hard in one engine
    assert not found.success and "in another with half the step at speed 1" in found.message


def test_V13_a_cancel_breaks_a_verification_off():
    cancel = threading.Event()
    found = solve(Engine(0.0, cancel), cancel=cancel)
    assert not found.success and found.message == "cancelled: planned, not verified" and found.plan is not None
