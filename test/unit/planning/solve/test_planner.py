"""The whole planner on its smallest task, twice; cancelled; refused."""

import re
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.optimise.penalty_loop import PenaltySettings
from robot_rt_control.planning.scene.scene import build_scene
from robot_rt_control.planning.solve import planner
from robot_rt_control.planning.solve.planner import Progress, Settings, plan, task_digest
from robot_rt_control.planning.task import PairGroup, Task
from robot_rt_control.vocabulary.errors import DefinitionError

CONFIG = Path(__file__).parents[4] / "config"


def slide(**changes):
    """20 cm in 1 s, in 20 steps."""
    values = {
        "workcell": CONFIG / "pusher.yaml",
        "body": "slider",
        "target": Pose(position=(0.33, 0.0, 0.05)),
        "pairs": (PairGroup(robot="pusher.tip", faces=("back",)),),
        "controls": {"pusher": "effort"},
        "time": 1.0,
        "steps": 20,
    }
    return Task(**{**values, **changes})


def push(way, **changes):
    """A box before the arm."""
    values = {
        "workcell": CONFIG / "push.yaml",
        "body": "box",
        "target": Pose(position=(0.6 + way[0], way[1], 0.04)),
        "pairs": (PairGroup(robot="arm.peg", faces=("back", "front", "left", "right")),),
        "time": 1.0,
        "steps": 20,
    }
    return Task(**{**values, **changes})


def check(task, settings=None):
    result = plan(task, settings or Settings())
    assert result.success, result.message
    assert result.plan is not None and result.error is not None
    assert result.error.normalized <= 0.02 and result.error.orientation <= 0.05
    return result


@pytest.mark.parametrize("search", ["rounds", "single"])
def test_V10_a_slider_is_pushed_to_its_place_without_virtual_forces_and_twice_by_the_same_bits(tmp_path, search):
    """V10, V11, V12: a result without virtual forces; the same bits on any number of cores."""
    for name, threads in (("a", 1), ("b", 2)):
        result = check(slide(), Settings(threads=threads, search=search))
        assert result.plan.body_position[-1, 0] == pytest.approx(0.33, abs=0.004)
        assert (abs(result.plan.inputs) <= 20.0 + 1e-6).all()
        result.plan.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_V6_a_slider_in_one_control_step():
    """The same defaults; application A."""
    check(slide(steps=1, at_rest=False))


def test_V26_links_that_cannot_be_looked_at_are_named_with_the_result(monkeypatch):
    monkeypatch.setattr(planner, "build_scene", lambda task: replace(build_scene(task), unchecked=("arm.cover",)))
    result = check(slide(steps=1, at_rest=False))
    assert result.message.startswith("whether arm.cover would touch anything is not known")


def test_V6_a_box_is_pushed_5_cm():
    """The same defaults; application B."""
    result = check(push((0.05, 0.0)))
    assert result.start.startswith("guide arm.peg box.back"), "in haste"


@pytest.mark.long
def test_V31_a_duration_that_is_left_open_is_chosen_so_that_a_straight_push_is_slow():
    """5 cm, and 10 cm to the side from before the box: each a line, and slow enough for friction to brake the box."""
    found = check(push((0.05, 0.0), at_most=6.0))
    assert found.start == "line arm.peg box.back" and found.plan.header["convergence"] == []
    time, steps = found.plan.header["time"], found.plan.header["steps"]
    assert 1.0 < time <= 6.0 and steps == round(20 * time)
    speed = np.diff(found.plan.body_position[:, 0]) / 0.05
    assert np.diff(speed).min() / 0.05 > -0.6 * 0.3 * 9.81, "braked by less than friction could"
    fixed = plan(push((0.05, 0.0)), Settings(slow=False))
    assert fixed.plan is not None
    assert not any(start.startswith("line") for start in fixed.starts) and fixed.plan.header["time"] == 1.0


def test_V31_a_duration_is_at_least_the_horizon_and_at_most_what_the_task_allows():
    task = push((0.05, 0.0), at_most=1.52)
    assert task.lasting(0.3) is task and task.lasting(1.21).steps == 25 and task.lasting(9.0).steps == 30
    assert task.lasting(1.21).control_step == pytest.approx(0.05) and push((0.05, 0.0)).lasting(9.0).time == 1.0
    assert task_digest(task) != task_digest(push((0.05, 0.0)))
    with pytest.raises(DefinitionError, match="at_most; expected at least the horizon of 1 s; got 0.5"):
        push((0.05, 0.0), at_most=0.5)


def test_without_virtual_forces_a_task_that_no_guide_fits_is_not_solved():
    result = plan(slide(steps=1), Settings(virtual_forces=False))
    assert not result.success and result.plan is None
    assert result.message.startswith("nothing to start from")


def test_the_only_start_that_is_wanted_and_that_there_is_not_gives_no_plan():
    result = plan(slide(), only="line pusher.tip slider.left")
    assert not result.success and result.plan is None
    assert result.message == "this task has no start 'line pusher.tip slider.left'"


@pytest.mark.long
@pytest.mark.parametrize(
    ("way", "time"),
    [((0.2, 0), 1.5), ((0.3, 0), 1.5), ((0, 0.1), 2.0), ((0, -0.1), 2.0), ((0.1, 0.1), 2.5), ((0.1, -0.1), 2.5)],
)
def test_V6_a_box_is_pushed_far_sideways_and_diagonally_from_before_it(way, time):
    """The same defaults for all."""
    check(push(way, time=time, steps=round(time / 0.05)))


@pytest.mark.long
def test_V6_a_box_is_pushed_by_efforts():
    """The same defaults."""
    check(push((0.05, 0.0), controls={"arm": "effort"}))


@pytest.mark.long
def test_V8_virtual_forces_alone_find_the_contact():
    """The document's algorithm, without a guide."""
    result = check(push((0.1, 0.0), time=1.5, steps=30), Settings(search="single"))
    assert result.start == "virtual forces" and result.iterates


def test_V13_cancelled_at_once_there_is_no_plan():
    cancel = threading.Event()
    cancel.set()
    result = plan(slide(), cancel=cancel)
    assert (result.success, result.message, result.plan) == (False, "cancelled", None)


@pytest.mark.parametrize("threads", [1, 2])
def test_V13_cancelled_later_the_best_one_so_far_is_returned(threads):
    cancel, seen = threading.Event(), []

    def watch(progress):
        seen.append(progress)
        cancel.set()

    result = plan(slide(), Settings(threads=threads), progress=watch, cancel=cancel)
    assert result.message.startswith("cancelled")
    assert result.plan is not None and result.error is not None
    assert len(seen) == 1 or threads > 1


def test_V13_after_its_time_it_ends_with_what_it_has():
    result = plan(slide(), time_limit=0.0)
    assert (result.success, result.message) == (False, "stopped after 0 s")


def test_what_progress_raises_ends_the_planning():
    def broken(progress):
        raise ValueError("the listener broke")

    for threads in (1, 2):
        with pytest.raises(ValueError, match="the listener broke"):
            plan(slide(), Settings(threads=threads), progress=broken)


def test_progress_tells_how_far_it_is():
    seen: list[Progress] = []
    plan(slide(), Settings(search="single", threads=1), progress=seen.append)
    assert {progress.phase for progress in seen} == {"penalty", "physical"}
    shares, elapsed = [progress.share for progress in seen], [progress.elapsed for progress in seen]
    assert shares == sorted(shares) and shares[0] >= 0.0 and shares[-1] <= 1.0
    assert elapsed == sorted(elapsed)
    assert seen[-1].best is not None and seen[-1].start == "virtual forces"


def test_V20_a_previous_plan_is_one_more_start():
    """Where it fits, it is the first start, and its result is good at once."""
    settings = Settings(threads=1, search="single")
    previous = check(slide(), settings).plan
    # Too little for the algorithm itself: one iterate that is not accepted.
    alone = replace(settings, penalty=PenaltySettings(iterations=1, position=0.0))
    result = plan(slide(), alone, start_from=previous)
    assert result.start == "previous plan"
    assert result.success and result.starts == ("previous plan", "virtual forces")


def test_V10_a_failure_names_the_pair_the_time_and_the_distance():
    """Too far for the time."""
    settings = Settings(search="single", penalty=PenaltySettings(iterations=1, position=1.0), shooting=None)
    result = plan(slide(target=Pose(position=(1.13, 0.0, 0.05)), time=0.2, steps=4), settings)
    assert not result.success
    assert re.search(r"[\d.]+ % of the way and [\d.]+ rad are left; ", result.message), result.message
    assert "pusher.tip slider.back" in result.message and "horizon" in result.message
    assert re.search(r"(k [\d.]+ at [\d.]+ s on|nearest at [\d.]+ s)", result.message), result.message


def test_the_digest_is_that_of_what_the_task_says():
    assert task_digest(slide()) == task_digest(slide())
    assert task_digest(slide()) != task_digest(slide(time=2.0))
