"""Random goals, valid or not, one after the other: each rightly accepted or refused, no part ever faulted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
from scipy.interpolate import CubicSpline
from trajectory_bench import JOINTS, TrajectoryBench, goal, point

from robot_rt_control.controllers.trajectory.goal import Code, Goal, GoalRefused, Outcome, Point
from robot_rt_control.vocabulary.capacities import MAX_TRAJECTORY_POINTS

_LONG = 0.1
"""Share of the goals that have more points than the loop holds."""
_SPOILED = ("joint", "twice", "missing", "times", "size", "nan", "range", "end", "empty", "late")
_SLOWED = "velocity", "fast"
"""Valid, and so fast that it must be slowed."""


class RandomGoals:
    """Goals for one part. An assertion fails if one is wrongly accepted or refused, a limit is broken, or the part is
    faulted."""

    def __init__(self, folder: Path) -> None:
        self.bench = TrajectoryBench(folder, time_constant=0.01)

    def run(self, random: Random, count: int) -> tuple[int, int]:
        """Send goals at random times. Returns how many were accepted and refused."""
        bench, accepted, refused = self.bench, 0, 0
        outcomes: list[Outcome] = []
        for i in range(count):
            now = bench.ros_time
            made, spoiled = self._goal(random, now)
            try:
                outcomes = bench.follow(made, now)
                accepted += 1
                assert spoiled is None or spoiled in _SLOWED, f"goal {i}: {spoiled} was accepted: {made}"
            except GoalRefused as error:
                refused += 1
                # The way of a valid goal may lead out of the range between its points.
                is_valid = spoiled is None or spoiled in _SLOWED
                assert not is_valid or "the position of joint" in str(error), f"goal {i}: {error}: {made}"
                assert error.code != Code.SUCCESSFUL and len(str(error)) > 20
            if random.random() < 0.1:
                bench.follower.cancel()
            bench.run(random.choice((0.0, 0.02, 0.2, 0.5)), 20)
            if random.random() < 0.2 and accepted:
                bench.until(outcomes, 60.0, at_once=20)
            bench.assert_limits_kept()
            del bench.rows[:-3], bench.ticks[:-3]
        bench.follower.close("the end")
        bench.assert_limits_kept()
        return accepted, refused

    def _goal(self, random: Random, now: float) -> tuple[Goal, str | None]:
        """A goal, and what is wrong with it."""
        n, kind = random.randint(1, 5), random.randint(0, 2)
        times = np.cumsum([random.uniform(0.8, 1.5) for _ in range(n)])
        q = np.array(self.bench.cell.part("arm").commanded_position[:3])
        points = []
        for k, t in enumerate(times):
            q = np.clip(q + [random.uniform(-0.25, 0.25) for _ in JOINTS], -1.8, 1.8)
            v = [0.0 if k == n - 1 else random.uniform(-0.1, 0.1) for _ in JOINTS]
            rates = [v, [0.0] * 3][:kind]
            points.append(point(float(t), q.tolist(), *rates))
        if random.random() < _LONG:
            points = _many(points, random.randint(MAX_TRAJECTORY_POINTS, 1200), kind)
        joints = random.sample(JOINTS, 3)
        order = [JOINTS.index(name) for name in joints]
        points = [_reordered(p, order) for p in points]
        start = random.choice((None, None, None, now + random.uniform(0.0, 0.5), now - random.uniform(0.0, 0.3)))
        made = goal(*points, joints=joints, start=start)
        if random.random() < 0.5:
            return made, None
        spoiled = random.choice((*_SPOILED, *_SLOWED))
        if spoiled == "velocity" and not 1 < len(points) <= 5:
            spoiled = "fast"  # to rest at each of many points takes minutes; at the last one there must be rest
        return _spoil(made, spoiled, random, now), spoiled


def _many(points: list[Point], n: int, kind: int) -> list[Point]:
    """Many points on a smooth curve through few."""
    first, last = points[0].time - 0.5, points[-1].time
    times = [first, *(p.time for p in points)]
    curve = CubicSpline(times, [points[0].positions, *(p.positions for p in points)], bc_type="clamped")
    dense = np.linspace(first, last, n)
    rates = [curve(dense, order) for order in range(1, kind + 1)]
    if kind:
        rates[0][-1] = 0.0
    return [point(t, q, *r) for t, q, *r in zip(dense, curve(dense), *rates, strict=True)]


def _reordered(p: Point, order: list[int]) -> Point:
    return Point(
        time=p.time,
        positions=tuple(p.positions[j] for j in order),
        velocities=tuple(p.velocities[j] for j in order) if p.velocities else (),
        accelerations=tuple(p.accelerations[j] for j in order) if p.accelerations else (),
    )


def _spoil(made: Goal, how: str, random: Random, now: float) -> Goal:
    points = list(made.points)
    k = random.randrange(len(points))
    p, j = points[k], random.randrange(3)
    positions = list(p.positions)
    if how == "joint":
        return replace(made, joints=("elbow", *made.joints[1:]))
    if how == "twice":
        return replace(made, joints=(made.joints[0], made.joints[0], made.joints[2]))
    if how == "missing":
        return replace(made, joints=made.joints[:2])
    if how == "empty":
        return replace(made, points=())
    if how == "late":
        return replace(made, start=now - points[-1].time - 0.5)
    if how == "times":
        points.append(replace(points[-1], time=points[-1].time - random.choice((0.0, 0.3))))
    elif how == "size":
        points[k] = replace(p, positions=p.positions[:2])
    elif how == "nan":
        positions[j] = random.choice((float("nan"), float("inf")))
        points[k] = replace(p, positions=tuple(positions))
    elif how == "range":
        positions[made.joints.index("a")] = 2.1
        points[k] = replace(p, positions=tuple(positions))
    elif how == "velocity":
        points = [replace(x, velocities=(0.0, 0.0, 0.0)) for x in points]
        points[0] = replace(points[0], velocities=(0.0, 1.6, 0.0))
    elif how == "end":
        points = [replace(x, velocities=(0.0, 0.0, 0.1), accelerations=()) for x in points]
    elif how == "fast":
        last = points[-1]
        far = tuple(-q if abs(q) > 0.5 else 1.4 for q in last.positions)
        points.append(replace(last, time=last.time + 0.1, positions=far))
    return replace(made, points=tuple(points))
