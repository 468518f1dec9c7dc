"""The law of simulated joint drives, in every engine.

Position and velocity drives are constraints of the engine that reach their goal in one step, with the joint's effort
limit as their greatest effort. A position drive takes away the fraction k of the error in each step; so that it does
not lag a moving command, its velocity goal is (1 - k) times the command's change: then the joint is where the command
was for it to be, in the step after the command. As a real drive does, it limits the joint's speed: if commands went on
while the simulation stood still, or stopped dead, the joint catches up without a blow. A joint that mimics another one
has a drive of its own, with that one's goals and effort limit, and a gear between them keeps it there: both drives at
their limits would leave two fingers free to move together.
"""

from __future__ import annotations

from math import dist
from operator import gt, sub

from robot_rt_control.hardware.info import HardwarePart

_CATCH_UP = 1.1
"""A position drive moves its goal, and the joint, at most this many times as fast as the system limit."""


def clamped(value: float, most: float) -> float:
    """At most that much, in both directions."""
    return min(max(value, -most), most)


def reaches(part: HardwarePart, period: float) -> list[float]:
    """[rad or m] how far each joint of a part gets in a period [s]."""
    return [_CATCH_UP * velocity * period for velocity in part.limits.velocity]


def position_step(
    command: list[float], last: list[float], measured: list[float], reach: list[float]
) -> tuple[list[float], list[float], list[float]]:
    """One period of position drives; plain lists, which are faster than arrays of few joints.

    Args:
        command: position of each joint, all in [rad or m].
        last: what the command was limited to in the last period.
        measured: where the joints are.
        reach: as of `reaches`.

    Returns:
        what the command is limited to, its change, and the goal. The joint's next speed per period is
        k (goal - measured) + (1 - k) change: both parts keep the limit.
    """
    least = min(reach, default=0.0)
    changes = list(map(sub, command, last))
    # First by one look at all joints: if together they change by less than the least reach, so does each one.
    if not dist(command, last) < least and any(map(gt, map(abs, changes), reach)):
        changes = list(map(clamped, changes, reach))
        command = [before + change for before, change in zip(last, changes, strict=True)]
    if dist(command, measured) < least:
        return command, changes, command
    errors = list(map(sub, command, measured))
    if not any(map(gt, map(abs, errors), reach)):
        return command, changes, command
    goal = [q + clamped(error, most) for q, error, most in zip(measured, errors, reach, strict=True)]
    return command, changes, goal
