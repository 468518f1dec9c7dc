"""From a goal to the motion that follows it, from what the part does now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_rt_control.controllers.trajectory.goal import Code, Goal, GoalRefused
from robot_rt_control.controllers.trajectory.track import BLEND_TIME, State, Track, standing, stopping, through
from robot_rt_control.motion_group.limits import PlanLimits
from robot_rt_control.motion_group.retiming import Slowing, describe, too_slow
from robot_rt_control.motion_group.trajectory import Excess, find_excess
from robot_rt_control.vocabulary.capacities import MAX_TRAJECTORY_POINTS

_SAME = 1e-9
"""[s]"""
_RESTS = 1e-6
"""[rad/s or m/s] A slower joint rests."""
_HALVINGS = 5
"""To find how much later the points of a goal must come, if the part moves too fast at its start."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Motion:
    """What the part is to do for a goal, from the tick of the start on."""

    track: Track
    reached_at: float
    """[s] at which the goal's last point is reached; later the part comes to rest, if it still moves there."""
    point_times: np.ndarray
    """[s] at which those of the goal's points are reached that are not past."""
    skipped: int
    """Points of the goal that were in the past."""
    times: np.ndarray
    """[s] of the motion, and what the goal's time is then [s]."""
    goal_times: np.ndarray
    slowings: tuple[Slowing, ...] = ()
    """Where the goal is slowed, in its time."""

    @property
    def is_long(self) -> bool:
        """Whether its set points come from outside the loop (motion_group)."""
        return len(self.track.times) > MAX_TRAJECTORY_POINTS

    @property
    def moves_on(self) -> bool:
        """Whether it still moves at the goal's last point."""
        return self.reached_at < self.track.duration - _SAME

    @property
    def slowed(self) -> str:
        """Where and how much it is slowed; empty: nowhere."""
        if not self.slowings:
            return ""
        takes = [float(times[-1] - times[0]) for times in (self.times, self.goal_times)]
        return f"{describe(self.slowings)}: it takes {takes[0]:.2f} instead of {takes[1]:.2f} s"

    def goal_time(self, elapsed: float) -> float:
        """[s] of the goal at a time [s] of the motion."""
        return float(np.interp(elapsed, self.times, self.goal_times))

    def time_of(self, goal_time: float) -> float:
        """[s] of the motion at a time [s] of the goal."""
        return float(np.interp(goal_time, self.goal_times, self.times))


@dataclass(frozen=True, eq=False, kw_only=True)
class Present:
    """What the part does in the tick of the start."""

    state: State
    track: Track | None = None
    """That it follows; None: it stands."""
    elapsed: float = 0.0
    """[s] on this track."""
    is_remembered: bool = False
    """Nobody has asked where it stands: the loop finds out."""


def splice(
    goal: Goal,
    present: Present,
    limits: PlanLimits,
    continuous: Sequence[bool],
    *,
    start_in: float,
    start_tolerance: float,
    least_rate: float = 1.0,
) -> Motion:
    """The motion that goes on as at present until the goal's start, and then through those of its points that are not
    past.

    Joints that the goal leaves out come to rest. Continuous joints take the shorter way to the first point. What
    exceeds a limit of velocity or acceleration is slowed on its path. If the limit of jerk is to be kept, the motion
    has no step of the acceleration, and is slowed for the jerk as well; a motion that goes on from another one keeps it
    only if that can be found.

    Args:
        goal: checked by `check_goal`.
        continuous: (dof,) whether a joint has no end.
        start_in: [s] from the tick of the start to the goal's own start; negative: it is past.
        start_tolerance: [rad or m] for a first point that is due at the start.
        least_rate: lowest fraction of the planned speed; 1: nothing is slowed.

    Raises:
        GoalRefused: the motion would exceed a limit, however slow, or jump.
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
        raise GoalRefused.because(  # its last point passed while it was prepared
            Code.OLD_HEADER_TIMESTAMP, "the trajectory", expected="a point that is not in the past", got="none"
        )
    given = _Given(goal, limits, continuous, state, past, skipped, start_tolerance)
    if limits.keeps_jerk:
        try:
            return _motion(given, head, least_rate)
        except GoalRefused:
            if not (given.moves or any(goal.points[-1].velocities)):
                raise
        given = replace(given, limits=replace(limits, keeps_jerk=False))
    return _motion(given, head, least_rate)


def _motion(given: _Given, head: Track | None, least_rate: float) -> Motion:
    """From what it is given to the motion, after what is done until then."""
    limits, past, skipped = given.limits, given.past, given.skipped

    def motion(tail: Track, planned: np.ndarray, slowings: tuple[Slowing, ...] = ()) -> Motion:
        end = tail.duration
        if tail.v[-1].any():
            tail = tail.then(stopping((tail.q[-1], tail.v[-1], tail.a[1, -1]), limits.acceleration))
        ahead = 0.0 if head is None else head.duration
        times, goal_times = ahead + tail.times[: len(planned)], past + planned
        return Motion(
            track=tail if head is None else head.then(tail),
            reached_at=ahead + end,
            point_times=np.interp([point.time for point in given.goal.points[skipped:]], goal_times, times),
            skipped=skipped,
            times=times,
            goal_times=goal_times,
            slowings=slowings,
        )

    tail = given.tail(1.0)
    made = motion(tail, tail.times)
    excess = find_excess(made.track.curve, limits)
    if excess is None:
        return made
    refusal = _refusal(made, excess)
    if least_rate >= 1.0 or excess.quantity == "position":
        raise refusal
    room = None if made.is_long else MAX_TRAJECTORY_POINTS - (len(made.track.times) - len(tail.times))
    slowed = _slowed(given, limits, room, least_rate)
    if slowed is None:
        raise refusal
    made = motion(*slowed)
    if min(s.rate for s in made.slowings) < least_rate:
        error = too_slow("the trajectory", made.slowings, least_rate)
        raise GoalRefused(error.what, expected=f"{error.expected} (slowest)", got=error.got, hint=error.hint)
    excess = find_excess(made.track.curve, limits)
    if excess is not None:
        raise _refusal(made, excess)
    return made


@dataclass(frozen=True, eq=False)
class _Given:
    """A goal, and the state from which it is followed."""

    goal: Goal
    limits: PlanLimits
    continuous: Sequence[bool]
    state: State
    past: float
    skipped: int
    start_tolerance: float

    @property
    def moves(self) -> bool:
        """Whether the part moves at the start."""
        return bool(np.abs(self.state[1]).max(initial=0.0) > _RESTS)

    def tail(self, slowness: float) -> Track:
        """The motion from the state through the points, all of them later by a factor, to the last one.

        Raises:
            GoalRefused: a first point that is due at the start is too far.
        """
        state = self.state
        times = np.array([point.time for point in self.goal.points[self.skipped :]]) - self.past
        due = times[0] <= _SAME
        times *= slowness
        q, v, a = _arrays(
            self.goal, self.skipped, self.limits.names, state, self.continuous, lead=max(times[0], 0.0)
        )  # fmt: skip
        v, a = v if v is None else v / slowness, a if a is None else a / slowness**2
        begin = state[2] if self.limits.keeps_jerk else None
        if due:
            times[0] = 0.0
            _check_near(self.limits.names, state[0], q[0], self.start_tolerance)
            # A single point is reached already: what is left of a difference vanishes.
            tail = standing(q[0], BLEND_TIME) if len(times) == 1 else through(times, q, v, a, state[1], begin)
        else:
            times, q = np.concatenate([[0.0], times]), np.concatenate([state[0][None], q])
            v = None if v is None else np.concatenate([state[1][None], v])
            a = None if a is None else np.concatenate([state[2][None], a])
            tail = through(times, q, v, a, state[1], begin)
        return tail.led_from(state[0], state[1])


def _slowed(
    given: _Given, limits: PlanLimits, room: int | None, least_rate: float
) -> tuple[Track, np.ndarray, tuple[Slowing, ...]] | None:
    """The least slow motion within the limits that is found, the goal's times at its points, and what is slowed.

    A part that moves at the start keeps its velocity. If that is too fast for the way to the first points, these come
    later.
    """
    moves = given.moves

    def at(slowness: float) -> tuple[Track, np.ndarray, tuple[Slowing, ...]] | None:
        track = given.tail(slowness)
        planned, rate = track.times, 1.0
        if moves and len(track.times) == 2:  # a stream of such ones has no time for more
            if find_excess(track.curve, limits) is not None:
                return None
        else:
            found = track.slowed(limits, keeps_start=moves, most_points=room)
            if found is None:
                return None
            track, made = found
            planned, rate = made.planned, made.slowest
            if slowness == 1.0:
                return track, planned, made.slowings
        planned = planned / slowness
        return track, planned, (Slowing(rate=rate / slowness, begin=0.0, end=float(planned[-1])),)

    low, high = 1.0, 1.0
    made = at(high)
    while made is None and moves and high < 1.0 / least_rate:
        low, high = high, 2.0 * high
        made = at(high)
    for _ in range(_HALVINGS if made is not None and high > 1.0 else 0):
        middle = (low + high) / 2.0
        found = at(middle)
        low, high, made = (middle, high, made) if found is None else (low, middle, found)
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


def _refusal(motion: Motion, excess: Excess) -> GoalRefused:
    """The refusal of a motion that exceeds a limit; it names joint, the points between which, time, limit and value."""
    times = motion.track.times
    middle = float(times[excess.segment : excess.segment + 2].mean())
    passed = int((motion.point_times <= middle).sum()) + motion.skipped
    where = f"between its points {passed} and {passed + 1}"
    if middle < motion.point_times[0]:
        where = "on the way to its first point"
    elif middle > motion.reached_at:
        where = "after its last point"
    to_goal = float(motion.goal_times[0] - motion.times[0])
    error = replace(excess, time=excess.time + to_goal).error("the trajectory")
    return GoalRefused(f"{error.what}, {where}", expected=error.expected, got=error.got, hint=error.hint)
