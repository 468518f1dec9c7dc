"""Goals of FollowJointTrajectory, valid or not, at any time."""

from __future__ import annotations

from pathlib import Path
from random import Random

from bench.attack.attack import Attack

_GOALS = 60


def _round(random: Random, folder: Path) -> int:
    from random_goals import RandomGoals

    RandomGoals(folder).run(random, _GOALS)
    return _GOALS


ATTACK = Attack(
    name="trajectories",
    promise="each goal is rightly accepted or refused, and none breaks a limit or faults a part",
    round=_round,
    unit="goals",
)
