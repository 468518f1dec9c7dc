"""`python -m robot_rt_control.testing.plan_player`: plays plans for a planner, which started this process.

It gets a plan's file, a workcell and speeds, and answers with what each replay found (plan_replay.py). It
loads what it needs at once, while its planner is still planning.
"""

from __future__ import annotations

import contextlib
import os
import signal
from typing import Any

from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.processes.call import answer
from robot_rt_control.testing.plan_replay import replay
from robot_rt_control.vocabulary.errors import RobotControlError


def played(job: dict[str, Any]) -> list[dict[str, Any]]:
    """What each replay of a job found: `plan` and `workcell`, files, `speeds`, and `simulator`; empty: the default one.

    Raises:
        RobotControlError: it could not be played, or did not come to its end.
    """
    try:
        plan = Plan.load(job["plan"])
        workcell = load_workcell(job["workcell"], "simulator", simulator=job["simulator"])
        return [replay(plan, workcell, speed=speed).summary() for speed in job["speeds"]]
    except TimeoutError as error:
        raise RobotControlError(str(error)) from None


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
