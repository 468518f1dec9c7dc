"""From a goal to the motion that follows it, from what the part does now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_rt_control.controllers.trajectory.goal import Goal, GoalRefused
from robot_rt_control.controllers.trajectory.track import BLEND_TIME, State, Track, standing, stopping, through
from robot_rt_control.motion_group.limits import JointLimits
from robot_rt_control.motion_group.trajectory import find_excess
from robot_rt_control.vocabulary.capacities import MAX_TRAJECTORY_POINTS

_SAME = 1e-9
"""[s]"""


@dataclass(frozen=True, eq=False, kw_only=True)
class Motion:
    """What the part is to do for a goal, from the tick of the start on."""

    track: Track
    reached_at: float
    """[s] at which the goal's last point is reached; later the part comes to rest, if it still moves there."""
    first: int
    """Index of the track's point that is the first one of the goal that is still reached."""
    skipped: int
    """Points of the goal that were in the past."""

    @property
    def is_long(self) -> bool:
        """Whether its set points come from outside the loop (motion_group)."""
        return len(self.track.times) > MAX_TRAJECTORY_POINTS

    @property
    def moves_on(self) -> bool:
        """Whether it still moves at the goal's last point."""
        return self.reached_at < self.track.duration - _SAME


@dataclass(frozen=True, eq=False, kw_only=True)
class Present:
    """What the part does in the tick of the start."""

    state: State
    track: Track | None = None
    """That it follows; None: it stands."""
    elapsed: float = 0.0
    """[s] on this track."""


def splice(
    goal: Goal,
    present: Present,
    limits: JointLimits,
    continuous: Sequence[bool],
    *,
    start_in: float,
    start_tolerance: float,
) -> Motion:
    """The motion that goes on as at present until the goal's start, and then through those of its points that are not
    past.

    Joints that the goal leaves out come to rest. Continuous joints take the shorter way to the first point.

    Args:
        goal: checked by `check_goal`.
        continuous: (dof,) whether a joint has no end.
        start_in: [s] from the tick of the start to the goal's own start; negative: it is past.
        start_tolerance: [rad or m] for a first point that is due at the start.

    Raises:
        GoalRefused: the motion would exceed a limit, or jump.
    """
    head: Track | None = None
    state = present.state
    if start_in > _SAME:
        if present.track is None:
            head = standing(state[0], start_in)
        else:
            head = present.track.cut(present.elapsed, present.elapsed + start_in)
            state = present.track.at(present.elapsed + start_in)
    past = max(-start_in, 0.0)
    skipped = sum(point.time < past - _SAME for point in goal.points)
    if skipped == len(goal.points):
        raise GoalRefused("the trajectory", expected="a point that is not in the past", got="none")
    due = goal.points[skipped].time - past <= _SAME
    times = np.array([point.time for point in goal.points[skipped:]]) - past
    q, v, a = _arrays(goal, skipped, limits.names, state, continuous, lead=max(times[0], 0.0))
    if due:
        times[0] = 0.0
        _check_near(limits.names, state[0], q[0], start_tolerance)
        # A single point is reached already: what is left of a difference vanishes.
        tail = standing(q[0], BLEND_TIME) if len(times) == 1 else through(times, q, v, a, state[1])
    else:
        times, q = np.concatenate([[0.0], times]), np.concatenate([state[0][None], q])
        v = None if v is None else np.concatenate([state[1][None], v])
        a = None if a is None else np.concatenate([state[2][None], a])
        tail = through(times, q, v, a, state[1])
    tail = tail.led_from(state[0], state[1])
    end = tail.duration
    if tail.v[-1].any():
        tail = tail.then(stopping((tail.q[-1], tail.v[-1], tail.a[1, -1]), limits.acceleration))
    track = tail if head is None else head.then(tail)
    ahead = 0.0 if head is None else head.duration
    made = Motion(
        track=track,
        reached_at=ahead + end,
        first=int(np.searchsorted(track.times, ahead + times[0 if due else 1] - _SAME)),
        skipped=skipped,
    )
    _check(made, limits, goal)
    return made


def _arrays(
    goal: Goal, skipped: int, names: Sequence[str], state: State, continuous: Sequence[bool], *, lead: float
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Positions, velocities, accelerations (n, dof) of the points that are left, in the part's order of joints."""
    points = goal.points[skipped:]
    order = [names.index(name) for name in goal.joints]
    q = np.tile(state[0] + state[1] * lead / 2.0, (len(points), 1))
    q[:, order] = [point.positions for point in points]
    for j in order:
        if continuous[j]:
            q[:, j] += 2.0 * np.pi * np.round((state[0][j] - q[0, j]) / (2.0 * np.pi))
    rates: list[np.ndarray | None] = []
    for given in ([p.velocities for p in points], [p.accelerations for p in points]):
        rate = np.zeros_like(q)
        if given[0]:
            rate[:, order] = given
        rates.append(rate if given[0] else None)
    return q, rates[0], rates[1]


def _check_near(names: Sequence[str], q: np.ndarray, first: np.ndarray, tolerance: float) -> None:
    j = int(np.argmax(np.abs(q - first)))
    if abs(q[j] - first[j]) > tolerance:
        raise GoalRefused(
            f"position of joint {names[j]!r} at the first point, which is due at the start",
            expected=f"within {tolerance:g} of its commanded position, {q[j]:.4f}",
            got=f"{first[j]:.4f}",
            hint="Plan from the present position, or give the first point a later time",
        )


def _check(motion: Motion, limits: JointLimits, goal: Goal) -> None:
    """Sample the motion densely.

    Raises:
        GoalRefused: it exceeds a limit; it names joint, the points between which, time, limit and value.
    """
    excess = find_excess(motion.track.curve, limits)
    if excess is None:
        return
    times = motion.track.times
    to_goal = goal.points[motion.skipped].time - float(times[motion.first])  # from the motion's time to the goal's
    middle = float(times[excess.segment : excess.segment + 2].mean())
    passed = sum(point.time <= middle + to_goal for point in goal.points)
    where = f"between its points {passed} and {passed + 1}"
    if excess.segment < motion.first:
        where = "on the way to its first point"
    elif middle > motion.reached_at:
        where = "after its last point"
    error = replace(excess, time=excess.time + to_goal).error("the trajectory")
    raise GoalRefused(f"{error.what}, {where}", expected=error.expected, got=error.got, hint=error.hint)
