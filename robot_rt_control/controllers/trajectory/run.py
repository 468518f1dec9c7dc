"""A goal that is followed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from robot_rt_control.client import Followed
from robot_rt_control.controllers.trajectory.goal import Goal, Outcome
from robot_rt_control.controllers.trajectory.splice import Motion
from robot_rt_control.controllers.trajectory.tolerances import Tolerances


@dataclass(eq=False, kw_only=True)
class Run:
    """A goal that is followed."""

    id: str
    goal: Goal
    motion: Motion
    tolerances: Tolerances
    done: Callable[[Outcome], None]
    tick: int = 0
    """In which its motion begins."""
    is_decided: bool = False
    is_cancelled: bool = False
    is_stopping: bool = False
    is_finished: bool = False
    """The part has stood at its end for some ticks."""
    followed: Followed = field(init=False)
    """Its action."""

    def decide(self, outcome: Outcome) -> None:
        """Report the outcome, once."""
        if not self.is_decided:
            self.is_decided = True
            self.done(outcome)

    def progress(self, elapsed: float) -> tuple[int, float, float]:
        """At a time [s] on the motion: the number of the goal's point that is to be reached next (0 before its start),
        the goal's time there [s], and by how much it was slowed until then [s]."""
        if math.isnan(elapsed):
            return 0, 0.0, 0.0
        motion = self.motion
        passed = int(np.searchsorted(motion.point_times, elapsed, side="right")) + motion.skipped
        goal_time = motion.goal_time(elapsed)
        late = motion.time_of(goal_time) - float(motion.times[0]) - (goal_time - float(motion.goal_times[0]))
        return min(passed, len(self.goal.points)), goal_time, late
