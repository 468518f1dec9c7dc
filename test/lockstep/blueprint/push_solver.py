"""Plays planning for the tests of `push_to`: what it does depends on how long the push may take, [s]."""

from __future__ import annotations

import numpy as np

from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.planner.job import Finished, Job, Link, Report
from robot_rt_control.planner.planning_process import save_whole
from robot_rt_control.planning.files.task_file import read_task
from robot_rt_control.planning.plan.plan import FORMAT, Plan

VERIFIED, UNVERIFIED, ELSEWHERE, NOTHING, ENDLESS = 6.0, 7.0, 8.0, 9.0, 10.0
"""[s]"""


def solve(job: Job, link: Link) -> Finished:
    """The pusher goes 2 cm, wherever the slider shall go."""
    link.report(Report(phase="physical"))
    task = read_task(job.task).task
    if task.at_most == NOTHING:
        return Finished(success=False, message="not solved: 50 % of the way are left")
    if task.at_most == ENDLESS:
        link.cancelled.wait()
        return Finished(success=False, message="cancelled")
    assert task.start.body is not None
    begin = np.array(task.start.body.position)
    begin[0] += 0.05 * (task.at_most == ELSEWHERE)
    row = {
        "engine": "other",
        "speed": 1.0,
        "rests": True,
        "error_to_target": 0.0,
        "orientation_error": 0.0,
        "peak": 3.0,
    }
    plan = Plan(
        header={
            "format": FORMAT, "workcell": load_workcell(job.workcell).digest, "task": "0", "body": "slider",
            "joints": ["pusher.slide"], "velocity_driven": [True], "pairs": ["pusher.tip slider.back"], "time": 1.0,
            "steps": 2, "success": True, "position_error": 0.0, "normalized_error": 0.0, "orientation_error": 0.0,
            "target": [list(task.target.position), list(task.target.orientation)], "convergence": [], "versions": {},
            "verification": {"replays": [row], "perturbed": [], "speeds": [1.0]},
        },
        position=np.array([[0.0], [0.01], [0.02]]),
        velocity=np.array([[0.0], [0.02], [0.0]]),
        inputs=np.array([[0.2], [-0.2]]),
        body_position=np.array([begin, begin, task.target.position]),
        body_rotation=np.tile(np.eye(3), (3, 1, 1)),
        distance=np.zeros((3, 1)),
        stiffness=np.zeros((2, 1)),
        virtual_force=np.zeros((2, 1)),
        virtual_distance=np.zeros((3, 1)),
    )  # fmt: skip
    save_whole(plan, job.plan_file)
    if task.at_most == UNVERIFIED:
        return Finished(success=False, message="in another engine the body ends 9.0 mm away")
    return Finished(success=True, message="")
