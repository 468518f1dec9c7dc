"""`python -m robot_rt_control.testing.plan_player`: plays plans for a planner, which started this process.

It gets a plan's file, a workcell and speeds, and answers with what each replay found (plan_replay.py). It
loads what it needs at once, while its planner is still planning.
"""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import replace
from typing import Any

from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.processes.call import answer
from robot_rt_control.testing.plan_replay import replay
from robot_rt_control.vocabulary.errors import RobotControlError


def played(job: dict[str, Any]) -> list[dict[str, Any]]:
    """What each replay of a job found: `plan` and `workcell`, files, `speeds`, `simulator` (empty: the default one),
    and `finer`, whether with half of the simulation's step.

    Raises:
        RobotControlError: it could not be played, or did not come to its end.
    """
    try:
        plan = Plan.load(job["plan"])
        workcell = load_workcell(job["workcell"], "simulator", simulator=job["simulator"])
        if job["finer"]:
            workcell = finer(workcell)
        rows = [replay(plan, workcell, speed=speed).summary() for speed in job["speeds"]]
        return [row | {"engine": f"{row['engine']} with half the step"} for row in rows] if job["finer"] else rows
    except TimeoutError as error:
        raise RobotControlError(str(error)) from None


def finer(workcell: Workcell) -> Workcell:
    """The workcell, simulated with half of its step; the same workcell for a plan."""
    devices = []
    for device in workcell.devices:
        config = device.config
        if "world" in config:
            world = config["world"]
            config = {**config, "world": {**world, "timestep": 0.5 * (world.get("timestep") or workcell.period)}}
        devices.append(replace(device, config=config))
    return replace(workcell, devices=tuple(devices))


def main() -> None:
    """Answer jobs until the planner hangs up."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # a terminal's Ctrl-C reaches it as well: the planner decides
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for output in (1, 2):
        os.dup2(nowhere, output)  # what PyBullet writes about links without mass; failures are in the answers
    with contextlib.suppress(OSError):
        answer(played)
    os._exit(0)  # nothing is to be written; a simulator's threads need not end


if __name__ == "__main__":
    main()
