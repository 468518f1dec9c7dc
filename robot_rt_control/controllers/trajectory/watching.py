"""What is watched in each tick while a goal is followed: reactions that decide its outcome, and what their events
mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robot_rt_control.client import Reaction
from robot_rt_control.controllers.trajectory.goal import Code
from robot_rt_control.controllers.trajectory.splice import Motion
from robot_rt_control.controllers.trajectory.tolerances import Tolerances

REACHED, FINISHED = "reached", "finished"
SLOWED = "slowed"
_MOST_SLOWED = 3
"""Places at which an event reports a slowing."""
_PATH, _GOAL = "path", "goal"
_AT_END = 1e-9
"""[rad or m] A command that is nearer to the last point is there."""


def watch(
    action: str, part: str, motion: Motion, tolerances: Tolerances, *, goal_counts: bool, rest: float
) -> list[Reaction]:
    """The reactions of the action that follows a goal.

    A path tolerance is watched until the last point, goal tolerances from then on. A violation stops the action on
    its path, in the same tick. Where the goal is slowed, an event `slowed` reports it, by its reaction's name.

    Of goals that come to rest at their last point and are not slowed, conditions name no time or position: so they are
    the same for all with the same tolerances, and the loop keeps them.

    Args:
        action: its id.
        goal_counts: whether goal tolerances are watched.
        rest: [s] after the end, until nothing is left of the motion in what the part's next action continues from.
    """
    end = motion.track.q[-1]
    stands = not (motion.is_long or motion.moves_on)
    over = "is_done" if stands else f"elapsed >= {motion.reached_at!r}"
    finished = f"time_at_end >= {rest!r}"
    if motion.is_long:
        finished = f"is_done and elapsed >= {motion.track.duration + rest!r}"
    reactions = []
    arrived = [over, f"end_distance <= {_AT_END!r}"] if stands and goal_counts else [over]
    for j in range(len(end)):
        q, v = f"{part}.position[{j}]", f"{part}.velocity[{j}]"
        commanded, commanded_v = f"{part}.commanded_position[{j}]", f"{part}.commanded_velocity[{j}]"
        watched = {"position": (q, commanded), "velocity": (v, commanded_v)}
        for quantity, tolerance in (
            ("position", tolerances.path_position[j]), ("velocity", tolerances.path_velocity[j])
        ):  # fmt: skip
            actual, wanted = watched[quantity]
            if tolerance > 0.0:
                reactions.append(
                    Reaction(
                        f"not ({over}) and not is_stopping and abs({actual} - {wanted}) > {float(tolerance)!r}",
                        event=f"{_PATH}_{quantity}_{j}",
                        capture=[actual, wanted],
                        fire_once=True,
                        stop=motion.is_long,
                        signal="" if motion.is_long else f"{action}.stop",
                    )
                )
        if not goal_counts:
            continue
        if not motion.moves_on:  # it comes to rest there
            watched = {"position": (q, commanded if stands else repr(float(end[j]))), "velocity": (v, "0.0")}
        for quantity, tolerance in (
            ("position", tolerances.goal_position[j]), ("velocity", tolerances.goal_velocity[j])
        ):  # fmt: skip
            actual, wanted = watched[quantity]
            if tolerance <= 0.0 or (quantity == "velocity" and motion.moves_on):
                continue
            difference = f"abs({actual} - {wanted})" if wanted != "0.0" else f"abs({actual})"
            arrived.append(f"{difference} <= {float(tolerance)!r}")
            if tolerances.goal_time > 0.0:
                late = f"elapsed > {motion.reached_at + tolerances.goal_time!r}"
                if stands:
                    late = f"time_at_end > {float(tolerances.goal_time)!r}"
                reactions.append(
                    Reaction(
                        f"{late} and {difference} > {float(tolerance)!r}",
                        event=f"{_GOAL}_{quantity}_{j}",
                        capture=[actual],
                        fire_once=True,
                    )
                )
    slowed = [
        Reaction(
            f"elapsed >= {motion.time_of(s.begin)!r}",
            name=f"to_{_word(s.rate, 3)}_between_{_word(s.begin)}_and_{_word(s.end)}_s",
            event=SLOWED,
            fire_once=True,
        )
        for s in motion.slowings[:_MOST_SLOWED]
    ]
    return [
        Reaction(" and ".join(arrived), event=REACHED, fire_once=True),
        *reactions,
        *slowed,
        Reaction(finished, event=FINISHED, fire_once=True),
        *([] if motion.is_long else [Reaction("is_stopped", stop=True)]),
    ]


def violation(
    event: str, values: Mapping[str, float], joints: Sequence[str], motion: Motion, tolerances: Tolerances
) -> tuple[Code, str] | None:
    """What the event of a reaction means for the goal; None: no violation.

    Args:
        event: its name.
        values: that it captured.
        joints: of the part, in its order.
    """
    which, _, rest = event.partition("_")
    if which not in (_PATH, _GOAL):
        return None
    quantity, _, number = rest.partition("_")
    j = int(number)
    found = list(values.values())
    if which == _PATH:
        tolerance = getattr(tolerances, f"path_{quantity}")[j]
        return Code.PATH_TOLERANCE_VIOLATED, (
            f"path tolerance violated: {quantity} of joint {joints[j]!r} is {_number(abs(found[0] - found[1]))} "
            f"from the commanded one ({_number(found[0])}, commanded {_number(found[1])}); "
            f"expected at most {tolerance:g}"
        )
    tolerance = getattr(tolerances, f"goal_{quantity}")[j]
    wanted = float(motion.track.q[-1][j]) if quantity == "position" else 0.0
    return Code.GOAL_TOLERANCE_VIOLATED, (
        f"goal tolerance violated: {tolerances.goal_time:g} s after the last point, {quantity} of joint {joints[j]!r} "
        f"is {_number(found[0])}; expected {_number(wanted)} within {tolerance:g}"
    )


def _word(value: float, digits: int = 2) -> str:
    """A number as a part of a name."""
    return f"{value:.{digits}f}".replace(".", "_").replace("-", "minus_")


def _number(value: float) -> str:
    return "unknown" if np.isnan(value) else f"{value:.5f}"
