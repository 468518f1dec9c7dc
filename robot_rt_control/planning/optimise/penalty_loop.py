"""The penalty loop: solves the task again and again, with a virtual stiffness that costs more and more.

The penalty ω rises while the pose constraint holds and k is left; where the constraint breaks, ω falls by half of the
last change (the first time: by half of ω). An iterate is accepted if its pose holds and its average k is not above that
of the last accepted one; the next iteration starts from the last accepted one.

Source: the document's figures 2A to 2C, claims 5, 6, 11.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.planning.optimise.cost import PoseError

Array = NDArray[np.float64]
_Trajectory = TypeVar("_Trajectory")


@dataclass(frozen=True, kw_only=True)
class PenaltySettings:
    """How the penalty changes, and when the loop ends."""

    first: float = 0.1
    """ω"""
    schedule: Literal["additive", "geometric"] = "geometric"
    """How ω rises: by `step`, or times `factor`."""
    step: float = 1.5
    """Of `additive`."""
    factor: float = 3.0
    """Of `geometric`."""
    iterations: int = 10
    """At most."""
    position: float = 0.3
    """Pose constraint: position error per distance of the task."""
    orientation: float = 1.0
    """[rad] pose constraint."""
    stiffness: float = 0.1
    """Greatest scaled k that counts as none."""

    def holds(self, error: PoseError) -> bool:
        """Whether the pose constraint holds."""
        return error.normalized <= self.position and error.orientation <= self.orientation


class Penalty:
    """ω, and how it changes."""

    def __init__(self, settings: PenaltySettings) -> None:
        self._settings = settings
        self.value = settings.first
        self._change: float | None = None

    def rise(self) -> None:
        """The pose constraint holds, and k is left."""
        settings = self._settings
        change = settings.step if settings.schedule == "additive" else (settings.factor - 1.0) * self.value
        self.value += change
        self._change = change

    def fall(self) -> None:
        """The pose constraint is broken."""
        self._change = (self.value if self._change is None else self._change) / 2.0
        self.value -= self._change


@dataclass(frozen=True, kw_only=True)
class Iterate:
    """One iteration of the loop, for progress and reports."""

    iteration: int
    penalty: float
    """ω it was solved with."""
    error: PoseError
    average: float
    """Average of the scaled k."""
    greatest: float
    holds: bool
    accepted: bool


@dataclass(frozen=True, kw_only=True)
class Outcome(Generic[_Trajectory]):
    accepted: _Trajectory | None
    """The last accepted one."""
    iterates: tuple[Iterate, ...]


def run(
    solve: Callable[[float, _Trajectory], _Trajectory],
    error: Callable[[_Trajectory], PoseError],
    stiffness: Callable[[_Trajectory], Array],
    start: _Trajectory,
    settings: PenaltySettings,
    *,
    process: Callable[[_Trajectory], _Trajectory] = lambda t: t,
    progress: Callable[[Iterate], None] = lambda _: None,
    done: Callable[[_Trajectory], bool] = lambda _: False,
) -> Outcome[_Trajectory]:
    """The loop.

    Args:
        solve: the optimal trajectory for an ω, near a start.
        error: of a trajectory's final pose.
        stiffness: (N, pairs) scaled k of a trajectory.
        start: of the first iteration.
        process: post-processing of an accepted trajectory that has k left; its result counts if its pose holds.
        progress: called after each iteration.
        done: asked with each accepted trajectory; true ends the loop early.
    """
    penalty = Penalty(settings)
    accepted: _Trajectory | None = None
    least = np.inf
    iterates: list[Iterate] = []
    for i in range(settings.iterations):
        found = solve(penalty.value, accepted or start)
        k, pose = stiffness(found), error(found)
        average, greatest = float(np.mean(k)), float(np.max(k, initial=0.0))
        holds = settings.holds(pose)
        accept = holds and average <= least
        iterates.append(
            Iterate(
                iteration=i, penalty=penalty.value, error=pose, average=average, greatest=greatest, holds=holds,
                accepted=accept,
            )
        )  # fmt: skip
        progress(iterates[-1])
        if accept:
            accepted, least = found, average
            if greatest > settings.stiffness:
                processed = process(found)
                if settings.holds(error(processed)):
                    accepted = processed
            if done(accepted):
                break
        if holds and greatest <= settings.stiffness:
            break
        if holds:
            penalty.rise()
        else:
            penalty.fall()
    return Outcome(accepted=accepted, iterates=tuple(iterates))
