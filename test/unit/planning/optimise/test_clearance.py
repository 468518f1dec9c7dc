"""What the robot touches and must not: elbow, wrist and tool beside the pairs of the task."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.optimise.clearance import MARGIN, Clearance, Touch
from robot_rt_control.planning.optimise.problem import Problem
from robot_rt_control.planning.optimise.scvx import TrustRegion
from robot_rt_control.planning.optimise.settings import Settings
from robot_rt_control.planning.scene.scene import build_scene
from robot_rt_control.planning.solve.planner import plan
from robot_rt_control.planning.task import PairGroup, Task

CONFIG = Path(__file__).parents[4] / "config"
LOW = np.array([0.0, 0.94, 0.0, -1.9313, 0.0, 0.3010, 0.0])
"""The peg is in the ground, by less than 1 cm."""


@pytest.fixture(scope="module")
def problem():
    task = Task(
        workcell=CONFIG / "push.yaml",
        body="box",
        target=Pose(position=(0.7, 0.0, 0.04)),
        pairs=(PairGroup(robot="arm.peg", faces=("back",)),),
        time=1.0,
        steps=20,
    )
    return Problem(task, Settings(threads=1), build_scene(task))


def names(clearance):
    model = clearance.model
    pairs = zip(clearance.links, clearance.things, strict=True)
    return {(model.geom(a).name.partition("/")[0], model.geom(b).name) for a, b in pairs}


def at(problem, *positions):
    """(looks, nq) the start with other joints."""
    found = np.repeat(problem.scene.qpos[None], len(positions), axis=0)
    found[:, problem.scene.actuated.q] = positions
    return found


def test_V26_all_links_are_looked_at_but_for_pairs_and_what_cannot_move(problem):
    found = names(problem.clearance)
    assert ("arm.lbr_iiwa_link_5", "box") in found and ("arm.peg", "floor") in found
    assert ("arm.peg", "box") not in found, "a pair of the task"
    assert ("arm.lbr_iiwa_link_0", "floor") not in found, "the base stands on it"
    assert ("arm.lbr_iiwa_link_0", "box") in found
    assert problem.scene.unchecked == () and problem.clearance.ignored == ()


def test_V26_links_of_no_pair_touch_nothing_in_the_planners_physics(problem):
    model = problem.scene.model
    pairs = set(model.pair_geom1) | set(model.pair_geom2)
    others = {int(g) for g in problem.scene.links} - {pair.geom for pair in problem.scene.pairs}
    assert len(others) == 8 and not others & pairs
    assert (model.geom_contype[list(others)] == 0).all()


def test_V26_what_is_commanded_into_the_ground_is_found_with_its_depth_and_time(problem):
    dynamics = problem.dynamics(1)
    still = dynamics.roll_out(np.zeros((4, dynamics.inputs)))
    dynamics.close()
    assert problem.touch(still) is None
    commands = still.commands.copy()
    commands[2, :7] = LOW  # only commanded: the simulated servo is soft
    touch = problem.touch(replace(still, commands=commands))
    assert touch is not None and (touch.link, touch.thing) == ("arm.peg", "floor")
    assert 0.0 < touch.depth < 0.01 and touch.time == pytest.approx(0.1, abs=0.03)
    assert str(touch).startswith("arm.peg is ") and "deep in floor at 0." in str(touch)
    assert not problem.good(replace(still, commands=commands))


def test_V26_a_geometry_of_a_pair_that_cuts_through_the_body_is_found(problem):
    """Through a corner, contacts that are soft let it pass by centimetres."""
    dynamics = problem.dynamics(1)
    still = dynamics.roll_out(np.zeros((4, dynamics.inputs)))
    dynamics.close()
    assert still.gap.min() > 0.0 and problem.touch(still) is None
    found = problem.touch(replace(still, gap=np.array([0.02, -0.004, -0.022, 0.01])))
    assert (found.link, found.thing, found.depth) == ("arm.peg", "box", 0.022)
    assert found.time == pytest.approx(0.1) and not problem.good(replace(still, gap=np.full(4, -0.022)))
    assert problem.touch(replace(still, gap=np.array([0.02, -0.004, -0.004, 0.01]))) is None, "a contact gives way"


def test_V26_the_depth_of_a_pair_is_that_of_all_time_steps():
    """A ball strikes the slider with 1 m/s: deepest within an interval, not at its ends."""
    task = Task(
        workcell=CONFIG / "pusher.yaml",
        body="slider",
        target=Pose(position=(0.33, 0.0, 0.05)),
        pairs=(PairGroup(robot="pusher.tip", faces=("back",)),),
        time=1.0,
        steps=10,
    )
    dynamics = Problem(task, Settings(threads=1), build_scene(task)).dynamics(1)
    inputs = np.zeros((10, dynamics.inputs))
    inputs[:5, 0] = 1.0
    found = dynamics.roll_out(inputs)
    ends = min(dynamics._gap(knot) for knot in found.knots)
    dynamics.close()
    assert found.gap is not None and found.gap.shape == (20,) and found.gap.min() < min(ends, 0.0) - 1e-5


def test_V26_a_link_that_stands_on_something_at_the_start_is_not_looked_at(problem):
    standing = Clearance(replace(problem.scene, qpos=at(problem, LOW)[0]))
    assert standing.ignored == (("arm.peg", "floor"),)
    assert ("arm.peg", "floor") not in names(standing) and ("arm.lbr_iiwa_link_7", "floor") in names(standing)


def test_the_derivatives_are_those_of_differences(problem):
    down = LOW + np.array([0.1, 0.0, 0.2, 0.0, 0.1, 0.0, 0.0])  # tilted: upright, the next point is on a whole edge
    inside = at(problem, down)[0]
    b = problem.scene.body_q
    inside[b : b + 3] = 0.45, 0.0, 0.2  # the wrist is in the box
    ((_, first, _), *_) = found = problem.clearance.rates(inside[None])
    assert len(found) >= 2 and first > 0.0
    missing = problem.clearance.missing(inside[None])[0]
    for k in range(10):
        moved = inside.copy()
        moved[problem.scene.actuated.q[k] if k < 7 else b + k - 7] += 1e-6
        rate = (problem.clearance.missing(moved[None])[0] - missing) / 1e-6
        assert sum(its[k] for _, _, its in found) == pytest.approx(rate.sum(), abs=0.5)  # [1 / cm], of up to 100


def test_a_distance_counts_only_where_less_than_wanted_is_left(problem):
    high = LOW.copy()
    high[1] -= 0.1
    lacks = problem.clearance.missing(at(problem, high, LOW))
    assert (lacks[0] == 0.0).all() and lacks[1].max() > 0.5
    assert (problem.clearance.free <= MARGIN).all()


@pytest.mark.long
def test_V26_a_plan_that_touches_something_is_no_success_and_says_what(monkeypatch):
    touch = Touch(link="pusher.elbow", thing="table", depth=0.012, time=0.35)
    monkeypatch.setattr(Problem, "touch", lambda *_: touch)
    task = Task(
        workcell=CONFIG / "pusher.yaml",
        body="slider",
        target=Pose(position=(0.23, 0.0, 0.05)),
        pairs=(PairGroup(robot="pusher.tip", faces=("back",)),),
        time=1.0,
        steps=10,
    )
    found = plan(task, Settings(threads=1, virtual_forces=False, region=TrustRegion(iterations=1), shooting=None))
    assert not found.success and found.plan is not None and not found.plan.header["success"]
    assert "pusher.elbow is 12.0 mm deep in table at 0.35 s" in found.message
