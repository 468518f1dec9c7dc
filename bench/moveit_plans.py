"""Time-optimal plans at full speed, as MoveIt's parametrizations make them: none is refused, no limit exceeded.

Plans of random paths, sampled at 0.1 s, with the workcell's own limits at scaling 1.0:

- ruckig: from rest to rest with a limited jerk, by Ruckig;
- toppra: along cubic splines, by TOPP-RA; left out if `toppra` is not installed;
- blended: along straight lines with blends, by TOPP-RA likewise: MoveIt's default parametrization has such paths;
- totg: by MoveIt's own code, if `--totg` names a program built from it. Its arguments are the sampling time [s] and the
  path tolerance; it reads the number of plans and of each the numbers of joints and waypoints, the velocity and
  acceleration limits and the waypoints, as text; and writes of each the number of points and of each point time,
  positions, velocities and accelerations, as doubles.

Each plan becomes a goal with positions, velocities and accelerations, in some cases without accelerations, or positions
alone, and goes through the checks of a trajectory controller from rest. What comes out is looked at at random times.

python bench/moveit_plans.py [--count N] [--kinds ruckig toppra blended totg] [--totg PROGRAM] [--jerk]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module, util
from pathlib import Path
from typing import Any

import numpy as np

from robot_rt_control.controllers.trajectory.check import check_goal
from robot_rt_control.controllers.trajectory.goal import Goal, Point
from robot_rt_control.controllers.trajectory.options import Options
from robot_rt_control.controllers.trajectory.splice import Present, splice
from robot_rt_control.model.workcell.part_facts import PartFacts
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.motion_group.limits import PlanLimits, part_limits
from robot_rt_control.motion_group.path import blended_path
from robot_rt_control.motion_group.trajectory import curve_through, find_excess
from robot_rt_control.vocabulary.defaults import ACCELERATION_TIME_S
from robot_rt_control.vocabulary.errors import RobotControlError

CONFIG = Path(__file__).resolve().parents[1] / "config"
SAMPLING_S, BLEND = 0.1, 0.1
"""As MoveIt's default."""
RANDOM_TIMES = 2000
TOLERANCE = 1e-6
"""Relative."""

Plan = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Times (n,) and positions, velocities, accelerations (n, dof)."""


@dataclass(kw_only=True)
class Found:
    """What came of the plans of one kind for one arm."""

    plans: int = 0
    slowed: int = 0
    refused: list[str] = field(default_factory=list)
    exceeded: int = 0
    left_out: int = 0
    """Their own path leaves the range."""
    stretch: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    """To check and prepare."""


def arms() -> dict[str, PlanLimits]:
    """Three arms of this package, and a fourth with the velocities of a large six-jointed one."""
    found = {}
    for name in ("arm7", "iiwa", "panda"):
        part = load_workcell(CONFIG / f"{name}.yaml", "mock").part("arm")
        found[name] = part_limits(PartFacts(part))
    velocity = np.radians([120.0, 120.0, 180.0, 180.0, 180.0, 180.0])
    acceleration = velocity / ACCELERATION_TIME_S
    found["six"] = PlanLimits(
        names=tuple(f"joint_{j + 1}" for j in range(6)),
        lower=np.full(6, -2.0 * np.pi),
        upper=np.full(6, 2.0 * np.pi),
        velocity=velocity,
        acceleration=acceleration,
        jerk=10.0 * acceleration,
    )
    return found


def waypoints(random: np.random.Generator, limits: PlanLimits) -> np.ndarray:
    """(m, dof), of which half are near each other, and half are many on the same lines, as planners give them."""
    lower, upper = np.maximum(limits.lower, -6.0), np.minimum(limits.upper, 6.0)
    lower, upper = lower + 0.05 * (upper - lower), upper - 0.05 * (upper - lower)
    m, dof = int(random.integers(2, 7)), len(lower)
    points = random.uniform(lower, upper, (m, dof))
    if random.random() < 0.5:
        steps = np.concatenate([np.zeros((1, dof)), random.normal(0.0, 0.3, (m - 1, dof))])
        points = np.clip(points[0] + np.cumsum(steps, axis=0), lower, upper)
    if random.random() < 0.5:
        s = np.linspace(0.0, m - 1.0, (m - 1) * int(random.integers(2, 10)) + 1)
        points = np.column_stack([np.interp(s, np.arange(m), points[:, j]) for j in range(dof)])
    return points


def sampled(duration: float, states: Callable[[np.ndarray], Sequence[np.ndarray]]) -> Plan:
    """At each sampling time, and at the end, at rest."""
    times = np.minimum(np.arange(int(np.ceil(duration / SAMPLING_S)) + 1) * SAMPLING_S, duration)
    times = times[np.concatenate([[True], np.diff(times) > 1e-9])]
    q, v, a = states(times)
    v = np.array(v)
    v[-1] = 0.0
    return times, q, v, a


def by_ruckig(paths: Sequence[np.ndarray], limits: PlanLimits) -> Iterator[Plan | None]:
    """From the first waypoint to the last one."""
    import ruckig

    for path in paths:
        dof = path.shape[1]
        given = ruckig.InputParameter(dof)
        given.current_position, given.target_position = path[0].tolist(), path[-1].tolist()
        given.max_velocity, given.max_acceleration = limits.velocity.tolist(), limits.acceleration.tolist()
        given.max_jerk = limits.jerk.tolist()
        found = ruckig.Trajectory(dof)
        if ruckig.Ruckig(dof).calculate(given, found) < 0:
            yield None
            continue

        def states(times: np.ndarray, found: Any = found) -> list[np.ndarray]:
            rows = [found.at_time(float(t)) for t in times]
            return [np.array([row[k] for row in rows]) for k in range(3)]

        yield sampled(found.duration, states)


def by_toppra(path: Any, limits: PlanLimits) -> Plan | None:
    """Along a path of `toppra`."""
    toppra = import_module("toppra")
    toppra.setup_logging("CRITICAL")
    ranges = [np.stack([-most, most], axis=1) for most in (limits.velocity, limits.acceleration)]
    constraint, algorithm = import_module("toppra.constraint"), import_module("toppra.algorithm")
    constraints = [constraint.JointVelocityConstraint(ranges[0]), constraint.JointAccelerationConstraint(ranges[1])]
    made = algorithm.TOPPRA(constraints, path, parametrizer="ParametrizeConstAccel").compute_trajectory()
    if made is None:
        return None
    return sampled(made.duration, lambda times: [made(times, order) for order in range(3)])


def by_splines(paths: Sequence[np.ndarray], limits: PlanLimits) -> Iterator[Plan | None]:
    """Cubic splines through the waypoints."""
    for path in paths:
        few = path[:: max(1, (len(path) - 1) // 4)]
        yield by_toppra(import_module("toppra").SplineInterpolator(np.linspace(0.0, 1.0, len(few)), few), limits)


def by_blends(paths: Sequence[np.ndarray], limits: PlanLimits) -> Iterator[Plan | None]:
    """Straight lines with blends."""
    interpolator = import_module("toppra.interpolator")

    class Blended(interpolator.AbstractGeometricPath):  # type: ignore[name-defined]  # known at run time alone
        """A path that `toppra` can ask."""

        def __init__(self, curve: Any) -> None:
            self.curve = curve

        @property
        def dof(self) -> int:
            return int(self.curve.c.shape[2])

        @property
        def path_interval(self) -> np.ndarray:
            return np.array([self.curve.x[0], self.curve.x[-1]])

        def __call__(self, at: Any, order: int = 0) -> np.ndarray:
            found: np.ndarray = self.curve(at, order)
            return found

    for path in paths:
        made = blended_path(path, BLEND)
        yield None if made is None else by_toppra(Blended(made.curve), limits)


def by_program(program: str, paths: Sequence[np.ndarray], limits: PlanLimits) -> Iterator[Plan | None]:
    """By a program of MoveIt's code."""
    lines = [str(len(paths))]
    for path in paths:
        numbers = [*limits.velocity, *limits.acceleration, *path.ravel()]
        lines.append(f"{path.shape[1]} {len(path)} {' '.join(repr(float(x)) for x in numbers)}")
    command = [program, str(SAMPLING_S), str(BLEND)]
    found = np.frombuffer(subprocess.run(command, input="\n".join(lines).encode(), capture_output=True).stdout)
    at, dof = 0, len(limits.names)
    for _ in paths:
        n, width = int(found[at]), 1 + 3 * dof
        rows = found[at + 1 : at + 1 + n * width].reshape(n, width)
        at += 1 + n * width
        if n < 2:
            yield None
            continue
        kept = np.concatenate([[True], np.diff(rows[:, 0]) > 1e-9])
        times, q, v, a = (x.copy() for x in np.split(rows[kept], [1, 1 + dof, 1 + 2 * dof], axis=1))
        v[-1] = 0.0
        yield times[:, 0], q, v, a


def follow(plan: Plan, limits: PlanLimits, random: np.random.Generator, found: Found, *, jerk: bool) -> None:
    """Let a plan pass the checks of a controller; `jerk`: whether the limit of jerk is to be kept (`keep_jerk`)."""
    limits = replace(limits, keeps_jerk=jerk)
    times, q, v, a = plan
    few = random.choice(3, p=[0.7, 0.15, 0.15])
    rates = [(v, a), (v, None), (None, None)][few]
    if _leaves(curve_through(times, q, *rates), limits):
        found.left_out += 1
        return
    goal = Goal(
        joints=limits.names,
        points=tuple(
            Point(
                time=float(times[k]),
                positions=tuple(q[k]),
                velocities=() if rates[0] is None else tuple(v[k]),
                accelerations=() if rates[1] is None else tuple(a[k]),
            )
            for k in range(len(times))
        ),
    )
    rest = np.zeros(len(limits.names))
    found.plans += 1
    begun = time.process_time()
    try:
        check_goal(goal, limits, Options(), 0.0)
        motion = splice(
            goal, Present(state=(q[0], rest, rest)), limits, [False] * len(rest), start_in=0.0, start_tolerance=0.02,
            least_rate=Options().constraints.least_rate,
        )  # fmt: skip
    except RobotControlError as error:
        found.refused.append(str(error))
        return
    found.seconds.append(time.process_time() - begun)
    found.slowed += bool(motion.slowings)
    found.stretch.append(motion.reached_at / float(times[-1]))
    at = random.uniform(0.0, motion.track.duration, RANDOM_TIMES)
    kept = (limits.velocity, limits.acceleration, limits.jerk)[: 3 if jerk else 2]
    ratios = [np.abs(motion.track.curve(at, k + 1)) / most for k, most in enumerate(kept)]
    found.exceeded += bool(max(float(r.max()) for r in ratios) > 1.0 + TOLERANCE)


def _leaves(curve: Any, limits: PlanLimits) -> bool:
    """Whether a curve leaves the range of a joint."""
    free = np.full(len(limits.names), np.inf)
    only = PlanLimits(names=limits.names, lower=limits.lower, upper=limits.upper, velocity=free, acceleration=free,
                      jerk=free)  # fmt: skip
    return find_excess(curve, only) is not None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10000, help="plans in all")
    parser.add_argument("--kinds", nargs="+", default=[], choices=["ruckig", "toppra", "blended", "totg"])
    parser.add_argument("--totg", default="", metavar="PROGRAM")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jerk", action="store_true", help="keep the limit of jerk, too")
    arguments = parser.parse_args()
    has_toppra = util.find_spec("toppra") is not None
    kinds = arguments.kinds or [
        "ruckig", *(["toppra", "blended"] if has_toppra else []), *(["totg"] if arguments.totg else [])
    ]  # fmt: skip
    makers: dict[str, Callable[[Sequence[np.ndarray], PlanLimits], Iterator[Plan | None]]] = {
        "ruckig": by_ruckig,
        "toppra": by_splines,
        "blended": by_blends,
        "totg": lambda paths, limits: by_program(arguments.totg, paths, limits),
    }
    random = np.random.default_rng(arguments.seed)
    robots = arms()
    each = -(-arguments.count // (len(kinds) * len(robots)))
    print("kind      arm    plans  slowed  refused  exceeded  stretch: median  p99    max   prepared [ms]: median p99")
    total = Found()
    for kind in kinds:
        for name, limits in robots.items():
            found = Found()
            paths = [waypoints(random, limits) for _ in range(each)]
            for plan in makers[kind](paths, limits):
                if plan is not None:
                    follow(plan, limits, random, found, jerk=arguments.jerk)
            _show(f"{kind:9} {name:5}", found)
            for item in ("plans", "slowed", "refused", "exceeded", "left_out", "stretch", "seconds"):
                setattr(total, item, getattr(total, item) + getattr(found, item))
    _show("all            ", total)
    for text in total.refused[:5]:
        print("refused:", text)
    return 1 if total.refused or total.exceeded else 0


def _show(what: str, found: Found) -> None:
    stretch, ms = found.stretch or [np.nan], 1e3 * np.array(found.seconds or [np.nan])
    print(
        f"{what} {found.plans:6} {found.slowed:7} {len(found.refused):8} {found.exceeded:9}"
        f"          {np.median(stretch):7.4f} {np.percentile(stretch, 99):6.3f} {max(stretch):6.3f}"
        f"   {np.median(ms):21.1f} {np.percentile(ms, 99):5.1f}   (left out: {found.left_out})",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
