"""A goal that is followed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

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
    faults: list[str] = field(default_factory=list)

    def decide(self, outcome: Outcome) -> None:
        """Report the outcome, once."""
        if not self.is_decided:
            self.is_decided = True
            self.done(outcome)

    def index(self, elapsed: float) -> int:
        """Number of the goal's point that is to be reached next, at a time [s] on the motion; 0 before its start."""
        if math.isnan(elapsed):
            return 0
        passed = int(np.searchsorted(self.motion.track.times, elapsed, side="right")) - self.motion.first
        return min(max(passed, 0) + self.motion.skipped, len(self.goal.points))
