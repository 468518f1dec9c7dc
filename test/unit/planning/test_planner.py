"""The whole planner on its smallest task, twice; cancelled; refused."""

import threading
from pathlib import Path

import pytest

pytest.importorskip("mujoco", reason="the extra `planning` is not installed")
pytest.importorskip("piqp", reason="the extra `planning` is not installed")

from robot_rt_control.model.pose import Pose  # noqa: E402
from robot_rt_control.planning.planner import Settings, plan, task_digest  # noqa: E402
from robot_rt_control.planning.task import PairGroup, Task  # noqa: E402

CONFIG = Path(__file__).parents[3] / "config"


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


def test_a_slider_is_pushed_to_its_place_without_virtual_forces_and_twice_by_the_same_bits(tmp_path):
    for name, threads in (("a", 1), ("b", 2)):
        result = plan(slide(), Settings(threads=threads))
        assert result.success, result.message
        assert result.plan is not None and result.error is not None
        assert result.error.normalized <= 0.02
        assert result.plan.body_position[-1, 0] == pytest.approx(0.33, abs=0.004)
        assert (abs(result.plan.inputs) <= 20.0 + 1e-6).all()
        result.plan.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_cancelled_at_once_there_is_no_plan():
    cancel = threading.Event()
    cancel.set()
    result = plan(slide(), cancel=cancel)
    assert (result.success, result.message, result.plan) == (False, "cancelled", None)


def test_cancelled_later_the_best_one_so_far_is_returned():
    cancel, seen = threading.Event(), []

    def watch(progress):
        seen.append(progress)
        if len(seen) == 3:
            cancel.set()

    result = plan(slide(), progress=watch, cancel=cancel)
    assert result.message.startswith("cancelled; ") and len(seen) == 3


def test_the_digest_is_that_of_what_the_task_says():
    assert task_digest(slide()) == task_digest(slide())
    assert task_digest(slide()) != task_digest(slide(time=2.0))
