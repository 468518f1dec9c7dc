"""Planning from a task file."""

import threading

import pytest

from robot_rt_control import planning
from robot_rt_control.planning.files import from_file
from robot_rt_control.planning.solve import verified
from robot_rt_control.planning.task import Start
from robot_rt_control.vocabulary.errors import DefinitionError

MEASURED = """\
workcell: pusher
body: slider
target: {by: [$distance, 0, 0]}
pairs: [{robot: pusher.tip, faces: back}]
horizon: {time: 1, steps: 20}
start: {from: measured}
parameters: {distance: {unit: m, default: 0.2}}
"""


@pytest.fixture
def planned(monkeypatch):
    calls = []
    monkeypatch.setattr(verified, "solve", lambda task, settings, **options: calls.append((task, settings, options)))
    monkeypatch.setattr(from_file, "require_engines", lambda: None)
    return calls


def test_a_file_parameters_and_settings(planned):
    progress, cancel = print, threading.Event()
    planning.plan_file(
        "push_box", distance=0.3, settings={"penalty.schedule": "additive"}, progress=progress, cancel=cancel
    )
    [(task, settings, options)] = planned
    assert task.target.position == pytest.approx((0.9, 0, 0.04)) and settings.penalty.schedule == "additive"
    assert options == {"progress": progress, "cancel": cancel}


def test_V4_a_measured_start_has_to_be_given(planned):
    with pytest.raises(DefinitionError, match="task 'task': start; expected where the robot and the body are"):
        planning.plan_file(MEASURED)
    planning.plan_file(MEASURED, start=Start(joints={"pusher": (0.1,)}))
    assert planned[0][0].start.joints == {"pusher": (0.1,)}


def test_names_are_imported_when_they_are_used():
    assert planning.Plan.__module__ == "robot_rt_control.planning.plan.plan"
    with pytest.raises(AttributeError, match="no attribute 'plann'"):
        _ = planning.plann
