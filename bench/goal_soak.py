"""Goals of FollowJointTrajectory for long, on the wall clock, beside busy loops: are any lost?

    ./run prove --goal-soak [--minutes 10] [--busy 2] [--seed 1] [--output FOLDER]

The workcell is `arm7` on mock hardware at 1 kHz. One goal follows the other: some are cancelled, some are replaced by
the next one, the others are followed to their end. A goal is lost if it ends otherwise than it should, or not at all.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.report import Options  # noqa: E402  (needs the path)
from bench.running import running_workcell  # noqa: E402
from bench.soak import busy_loops  # noqa: E402
from robot_rt_control.client import Client, Event  # noqa: E402
from robot_rt_control.client.inbox import CLOSED  # noqa: E402
from robot_rt_control.vocabulary.errors import NoAnswer  # noqa: E402
from robot_rt_control.vocabulary.event_kinds import Kind  # noqa: E402

if TYPE_CHECKING:
    from control_msgs.action import FollowJointTrajectory

_PATIENCE_S = 60.0
"""For each answer: a busy machine is slow, and loses nothing."""
_ACTION = "arm_controller/follow_joint_trajectory"
_POINTS = 20
_WAY_RAD = 0.4
_LONGEST_S = 2.0
_TELL_S = 30.0
_SHOWN_LINES = 15
_ORDERLY = (CLOSED, "closed by its client")


class GoalSoak:
    """What was seen so far.

    Attributes:
        counts: how goals ended → how many; what is in `lost` is lost.
        seconds: what was waited for → [s] each.
        ends: how sessions ended that were not closed, and lost servers → how often.
    """

    def __init__(self, client: Client, random: Random) -> None:
        from control_msgs.action import FollowJointTrajectory

        from robot_rt_control.ros.goal_client import GoalClient

        self._client, self._random = client, random
        self.counts: Counter[str] = Counter()
        self.lost: list[str] = []
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.ends: Counter[str] = Counter()
        self._arm = next(part for part in client.parts() if part.name == "arm")
        self._home = np.array([client.value(f"arm.{joint}.position") for joint in self._arm.joint_names])
        self._sender = GoalClient(client.node, FollowJointTrajectory, _ACTION)
        if not self._sender.wait_for_server(_PATIENCE_S):
            raise TimeoutError(f"{_ACTION} is not offered within {_PATIENCE_S:g} s")
        client.add_listener(self._watch)
        self._replaced: Any = None

    def _watch(self, event: Event) -> None:
        if event.kind == Kind.SERVER_LOST:
            self.ends["the control server was lost"] += 1
        elif event.kind == Kind.SESSION_ENDED and event.reason not in _ORDERLY:
            self.ends[event.reason] += 1

    def goal(self) -> None:
        """Send one, and let it end."""
        try:
            request = self._some()
        except NoAnswer as error:
            self._lose(str(error))
            return
        begun = time.monotonic()
        sent = self._sender.send_goal_async(request)
        if not self._await(sent, "no answer to a goal"):
            self._replaced = None
            return
        handle = sent.result()
        self.seconds["the goal is accepted"].append(time.monotonic() - begun)
        if not handle.accepted:
            self._lose("rejected: the log says why")
            return
        if self._replaced is not None:
            self._end(self._replaced, "replaced")
            self._replaced = None
        result = handle.get_result_async()
        way = self._random.choice(("followed", "followed", "cancelled", "replaced"))
        if way == "followed":
            self._end(result, way)
            return
        time.sleep(self._random.uniform(0.0, 0.5))
        if way == "cancelled":
            begun = time.monotonic()
            handle.cancel_goal_async()
            if self._end(result, way):
                self.seconds["a cancelled arm stands"].append(time.monotonic() - begun)
        else:
            self._replaced = result

    def finish(self) -> None:
        """Wait for the last one."""
        if self._replaced is not None:
            self._end(self._replaced, "followed")

    def _some(self) -> FollowJointTrajectory.Goal:
        from builtin_interfaces.msg import Duration
        from control_msgs.action import FollowJointTrajectory
        from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

        way = self._home + [self._random.uniform(-_WAY_RAD, _WAY_RAD) for _ in self._home]
        duration = self._random.uniform(0.5, _LONGEST_S)
        points = []
        begin = np.array([self._client.value(f"arm.{joint}.position") for joint in self._arm.joint_names])
        for k in range(1, _POINTS + 1):
            s = (1.0 - math.cos(math.pi * k / _POINTS)) / 2.0
            sec, rest = divmod(round(duration * k / _POINTS * 1e9), 10**9)
            points.append(
                JointTrajectoryPoint(
                    positions=(begin + s * (way - begin)).tolist(), time_from_start=Duration(sec=sec, nanosec=rest)
                )
            )
        return FollowJointTrajectory.Goal(
            trajectory=JointTrajectory(joint_names=list(self._arm.joint_names), points=points)
        )

    def _end(self, result: Any, way: str) -> bool:
        """Wait until a goal has ended, which should be in this way."""
        from action_msgs.msg import GoalStatus

        if not self._await(result, f"no result of a goal that was {way}"):
            return False
        found = result.result()
        ends = {"followed": GoalStatus.STATUS_SUCCEEDED, "cancelled": GoalStatus.STATUS_CANCELED}
        # One that is cancelled or replaced may have been reached just before.
        allowed = {ends.get(way, GoalStatus.STATUS_ABORTED), GoalStatus.STATUS_SUCCEEDED}
        text = found.result.error_string
        if found.status not in allowed or (way == "replaced" and found.status == GoalStatus.STATUS_ABORTED
                                           and not text.startswith("preempted")):  # fmt: skip
            self._lose(f"{way}, but status {found.status}: {text}")
            return False
        self.counts[way if found.status != GoalStatus.STATUS_SUCCEEDED else "followed"] += 1
        return True

    def _await(self, future: Any, otherwise: str) -> bool:
        deadline = time.monotonic() + _PATIENCE_S
        while not future.done():
            if time.monotonic() > deadline:
                self._lose(f"{otherwise} within {_PATIENCE_S:g} s")
                return False
            time.sleep(0.001)
        return True

    def _lose(self, why: str) -> None:
        self.counts["lost"] += 1
        self.lost.append(why)

    def report(self, console: Console) -> bool:
        """Print what was seen. Was nothing lost?"""
        for why in self.lost:
            console.print(f"[red]lost[/red]: {why}", highlight=False)
        for reason, count in self.ends.most_common():
            console.print(f"{count} sessions ended otherwise than by the controller: {reason}", markup=False)
        table = Table("until", "number", "median [s]", "p99", "max")
        for what, seconds in self.seconds.items():
            figures = (*np.percentile(seconds, [50, 99]), max(seconds))
            table.add_row(what, str(len(seconds)), *(f"{x:.3f}" for x in figures))
        console.print(table)
        console.print(", ".join(f"{count} {way}" for way, count in self.counts.most_common()))
        return not self.lost and not self.ends


def main(argv: Sequence[str] | None = None) -> int:
    about = __doc__.splitlines()[0] if __doc__ else ""
    parser = argparse.ArgumentParser(prog="./run prove --goal-soak", description=about)
    parser.add_argument("--minutes", type=float, default=10.0, help="(default: %(default)s)")
    parser.add_argument("--busy", type=int, default=2, help="busy loops beside it (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the goals (default: %(default)s)")
    parser.add_argument("--output", type=Path, help="folder for the workcell's log (default: one that is removed)")
    given = parser.parse_args(argv)
    console = Console() if sys.stdout.isatty() else Console(width=140)
    loads: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        log = given.output or Path(folder)
        options = Options(quick=False, output=log, console=console)
        with running_workcell(options, "goal_soak", controllers="true") as client, busy_loops(given.busy):
            soak = GoalSoak(client, Random(given.seed))
            now = time.monotonic()
            end, told = now + 60.0 * given.minutes, now
            tell: Callable[[], None] = lambda: console.print(  # noqa: E731
                f"{sum(soak.counts.values())} goals, {len(soak.lost)} lost, load {loads[-1]:.1f}", highlight=False
            )
            while time.monotonic() < end:
                soak.goal()
                if time.monotonic() > told + _TELL_S:
                    told = time.monotonic()
                    loads.append(os.getloadavg()[0])
                    tell()
            soak.finish()
        held = soak.report(console)
        if loads:
            console.print(f"load {min(loads):.1f} to {max(loads):.1f}")
        if not held:
            lines = (log / "goal_soak_workcell.log").read_text(errors="replace").splitlines()[-_SHOWN_LINES:]
            console.print("\n".join(["the end of the workcell's log:", *lines]), markup=False)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
