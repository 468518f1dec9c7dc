"""Plays planning for the tests of the process around it: what it does is the job's task."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np

from robot_rt_control.planner.job import Described, Finished, Job, Link, Report
from robot_rt_control.planner.planning_process import save_whole
from robot_rt_control.planning.plan.plan import FORMAT, Plan
from robot_rt_control.vocabulary.errors import DefinitionError, raise_all

VERIFIED = {
    "replays": [
        {"engine": "other", "speed": 1.0, "rests": True, "error_to_target": 0.001, "normalized_error": 0.005,
         "orientation_error": 0.0, "peak": 12.5, "impulse": 0.5},
    ],
    "perturbed": [],
    "speeds": [1.0],
}  # fmt: skip
"""As another engine confirms it."""


def a_plan(error: float = 0.01) -> Plan:
    """One joint, two control steps, one pair."""
    header = {
        "format": FORMAT,
        "workcell": 7,
        "task": "0",
        "body": "slider",
        "joints": ["pusher.slide"],
        "velocity_driven": [False],
        "pairs": ["pusher.tip slider.back"],
        "time": 1.0,
        "steps": 2,
        "success": True,
        "position_error": error,
        "normalized_error": error / 0.2,
        "orientation_error": 0.002,
        "target": [[0.33, 0.0, 0.05], [0.0, 0.0, 0.0, 1.0]],
        "convergence": [{"stiffness_average": 0.2, "stiffness_greatest": 0.7}],
        "versions": {},
        "verification": VERIFIED,
    }
    body = np.array([[0.13, 0, 0.05], [0.2, 0, 0.05], [0.33, 0, 0.05]])
    return Plan(
        header=header,
        position=np.array([[0.0], [0.1], [0.2]]),
        velocity=np.array([[0.0], [0.2], [0.0]]),
        inputs=np.array([[3.0], [-1.0]]),
        body_position=body,
        body_rotation=np.tile(np.eye(3), (3, 1, 1)),
        distance=np.array([[0.05], [0.0], [0.0]]),
        stiffness=np.array([[4.0], [0.0]]),
        virtual_force=np.array([[2.0], [0.0]]),
        virtual_distance=np.array([[0.05], [0.0], [0.0]]),
    )


def solve(job: Job, link: Link) -> Finished:
    """The task's words, one after the other."""
    link.report(Report(phase="reading"))
    link.describe(Described(pose="camera"))
    for word in job.task.split():
        if word == "best":
            save_whole(a_plan(), job.plan_file)
            link.report(Report(phase="physical", best_position_error=0.01))
        elif word == "mistakes":
            mistakes = [DefinitionError(f"task.yaml:{line}: key {line}", expected="another") for line in (3, 5)]
            for line, mistake in zip((3, 5), mistakes, strict=True):
                mistake.line = line
            raise_all(mistakes)
        elif word == "bug":
            raise ZeroDivisionError("a bug")
        elif word == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        elif word == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        elif word == "half":
            (job.plan_file.parent / f"{job.plan_file.name}.part").write_bytes(b"half a plan")
        elif word == "child":
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
            link.report(Report(phase=f"child {child.pid}"))
        elif word == "hang":
            while True:
                time.sleep(300.0)
        elif word == "wait":
            link.cancelled.wait(300.0)
            return Finished(success=False, message="cancelled")
        elif word == "nice":
            link.report(Report(phase=f"nice {os.getpriority(os.PRIO_PROCESS, 0)} {os.sched_getscheduler(0)}"))
        elif word == "measure":
            values = link.measure(["arm."])
            link.report(Report(phase=f"measured {sorted(values.items())}"))
    return Finished(success=True, message="")
