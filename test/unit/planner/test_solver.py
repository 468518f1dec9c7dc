"""A job from its task to its plan file, by the planner itself, in this process."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from robot_rt_control.drawing.shape import Shape
from robot_rt_control.planner.job import Described, Job, Report
from robot_rt_control.planner.solver import solve
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError

from .solvers import a_plan

CONFIG = Path(__file__).resolve().parents[3] / "config"
SLIDER = f"""
workcell: {CONFIG / "pusher.yaml"}
body: slider
target: {{by: [$distance, 0, 0]}}
parts: {{pusher: {{control: velocity}}}}
pairs:
  - {{robot: pusher.tip, faces: [back]}}
horizon: {{time: 2.0, steps: 20}}
parameters:
  distance: {{unit: m, default: 0.2}}
"""
MEASURED = {"pusher.position[0]": 0.01}
"""Of the joint; the pose of the slider follows."""


class Recorder:
    """In place of the node."""

    def __init__(self, values: Mapping[str, float] | None = None) -> None:
        self.cancelled = threading.Event()
        self.values = values or {}
        self.reports: list[Report] = []
        self.pictures: list[Sequence[Shape]] = []

    def describe(self, described: Described) -> None:
        self.described = described

    def report(self, report: Report) -> None:
        self.reports.append(report)

    def draw(self, shapes: Sequence[Shape]) -> None:
        self.pictures.append(shapes)

    def measure(self, prefixes: Sequence[str]) -> Mapping[str, float]:
        return {name: value for name, value in self.values.items() if name.startswith(tuple(prefixes))}


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(task=SLIDER, workcell=CONFIG / "pusher.yaml", plan_file=tmp_path / "one.plan", threads=2)


def test_a_task_becomes_a_plan_file(job: Job) -> None:
    link = Recorder()
    finished = solve(replace(job, parameters={"distance": (0.1, "m")}), link)
    assert finished.success and finished.message == "" and link.described.pose == ""
    plan = Plan.load(job.plan_file)
    assert plan.header["target"][0][0] == pytest.approx(0.23) and plan.header["normalized_error"] <= 0.02
    assert plan.header["verification"]["mujoco"]["repeated"]
    first, *told, last = link.reports
    assert (first.phase, last.phase) == ("reading", "verifying")
    assert {report.phase for report in told} <= {"penalty", "physical", "verifying"}
    assert all(report.start for report in told)
    assert all(report.cost < math.inf for report in told if report.iteration)
    assert last.best_position_error == plan.header["position_error"] and last.progress == 1.0
    assert {shape.namespace for shape in link.pictures[0]} == {"contact_target", "contact_faces"}
    names = {"contact_target", "contact_faces", "contact_path"}
    assert names <= {shape.namespace for shape in link.pictures[-1]}


def test_V13_the_best_plan_is_kept_while_planning_goes_on(job: Job) -> None:
    """So it is there if planning is killed; here it is cancelled then, and not verified."""
    kept = []

    class Watching(Recorder):
        def report(self, report: Report) -> None:
            super().report(report)
            if math.isfinite(report.best_position_error):
                kept.append(Plan.load(job.plan_file).header["position_error"] == report.best_position_error)
                self.cancelled.set()

    link = Watching()
    solve(replace(job, parameters={"distance": (0.9, "m")}), link)
    assert kept and all(kept)
    assert "verification" not in Plan.load(job.plan_file).header and link.reports[-1].phase != "verifying"


def test_all_mistakes_are_found_and_nothing_is_computed(job: Job) -> None:
    link = Recorder()
    wrong = SLIDER.replace("body: slider", "body: slidr").replace("pusher.tip", "pusher.tipp")
    with pytest.raises(ProgramError) as caught:
        solve(replace(job, task=wrong), link)
    assert [mistake.line for mistake in caught.value.mistakes] == [3, 7]
    assert not link.pictures and not job.plan_file.exists()


def test_a_wrong_unit_is_refused(job: Job) -> None:
    with pytest.raises(DefinitionError, match="^parameter 'distance': wrong unit; expected 'm'; got 'mm'"):
        solve(replace(job, parameters={"distance": (100.0, "mm")}), Recorder())


def test_V4_measured_without_a_sensor_is_refused_by_name(job: Job) -> None:
    with pytest.raises(DefinitionError, match="the part that measures where the body is; expected .*; got none"):
        solve(replace(job, from_measured=True), Recorder(MEASURED))


def test_measured_in_another_workcell_is_refused(job: Job) -> None:
    with pytest.raises(DefinitionError, match="running workcell, 'push_cell'; got one for 'pusher_cell'"):
        solve(replace(job, from_measured=True, workcell=CONFIG / "push.yaml"), Recorder(MEASURED))


def test_a_damaged_previous_plan_is_refused(job: Job, tmp_path: Path) -> None:
    (tmp_path / "old.plan").write_bytes(b"no plan")
    with pytest.raises(DefinitionError, match="expected a plan file; got a damaged one"):
        solve(replace(job, previous_plan=str(tmp_path / "old.plan")), Recorder())


def test_a_previous_plan_is_one_more_start(job: Job) -> None:
    job = replace(job, task=job.task + "slow: false\n")  # a slow line is not improved, and reports no steps
    solve(job, Recorder())
    link = Recorder()
    again = replace(job, previous_plan=str(job.plan_file), plan_file=job.plan_file.with_name("two.plan"))
    assert solve(again, link).success
    assert "previous plan" in {report.start for report in link.reports}


def test_a_previous_plan_of_other_joints_is_refused(job: Job, tmp_path: Path) -> None:
    other = a_plan()
    other.header["joints"] = ["arm.elbow"]
    other.save(tmp_path / "other.plan")
    with pytest.raises(DefinitionError, match="other.plan: joints; expected pusher.slide; got arm.elbow"):
        solve(replace(job, previous_plan=str(tmp_path / "other.plan")), Recorder())
