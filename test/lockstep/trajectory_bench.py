"""A trajectory controller without ROS, on a mock part in lockstep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robot_rt_control.client import Event
from robot_rt_control.controllers.trajectory.follower import Follower
from robot_rt_control.controllers.trajectory.goal import Goal, JointTolerance, Outcome, Point
from robot_rt_control.controllers.trajectory.options import read_options
from robot_rt_control.testing.lockstep_client import LockstepClient

JOINTS = ("a", "b", "c")
VELOCITY, ACCELERATION = 1.5, 6.0
PERIOD = 0.001
HERE = (0.3, -0.2, 0.1)


def workcell_file(folder: Path, *, time_constant: float = 0.0, jerk: float = 0.0) -> Path:
    """A part of three joints, of which the last one is continuous, on a mock that lags by a time constant [s]; with a
    system limit of jerk if one is given."""
    joint = {"position_lower": -2.0, "position_upper": 2.0, "velocity": VELOCITY, "type": "revolute"}
    arm = {
        "kind": "base",
        "device": "mock",
        "joints": [
            {"name": "a", **joint}, {"name": "b", **joint}, {"name": "c", "type": "continuous", "velocity": VELOCITY},
        ],
        "limits": {"acceleration": ACCELERATION},
        **({"system_limits": {"jerk": jerk}} if jerk else {}),
    }  # fmt: skip
    path = folder / f"trajectories_{time_constant:g}_{jerk:g}.yaml"
    devices = {"mock": {"plugin": "mock", "mock": {"time_constant": time_constant}}}
    path.write_text(
        yaml.safe_dump({"name": "trajectories", "period": PERIOD, "parts": {"arm": arm}, "devices": devices})
    )
    return path


class TrajectoryBench:
    """Follows goals, and keeps the commanded positions of all ticks."""

    def __init__(
        self,
        folder: Path,
        *,
        time_constant: float = 0.0,
        jerk: float = 0.0,
        record: Path | None = None,
        **options: Any,
    ) -> None:
        self.client = LockstepClient(workcell_file(folder, time_constant=time_constant, jerk=jerk), record=record)
        self.cell = self.client.cell
        part = self.cell.workcell.part("arm")
        self.follower = Follower("arm_controller", part, self.client, read_options("test", options, part), lambda: None)
        self.follower.prepare()
        self.rows: list[np.ndarray] = []
        self.ticks: list[int] = []
        self.outcomes: list[Outcome] = []
        self.cell.after_tick.append(self._keep)
        self._events: list[Event] = []
        self.client.add_listener(self._events.append)

    def _keep(self) -> None:
        self.rows.append(self.cell.part("arm").commanded_position[:3].copy())
        self.ticks.append(self.cell.tick)

    @property
    def q(self) -> np.ndarray:
        """(ticks, 3) commanded positions [rad]."""
        return np.array(self.rows)

    @property
    def ros_time(self) -> float:
        """[s] on the ROS clock, of the last tick."""
        if not self._events:
            self.client.watch().close()
        event = self._events[-1]
        return event.time + (self.cell.tick - event.tick) * PERIOD

    def follow(self, goal: Goal, now: float = 0.0) -> list[Outcome]:
        """The list in which its outcome will be."""
        outcome: list[Outcome] = []
        self.follower.follow(goal, outcome.append, now)
        return outcome

    def run(self, seconds: float, at_once: int = 1) -> None:
        """Let time pass. The controller looks at events after each tick, or after more of them `at_once`."""
        for _ in range(round(seconds / PERIOD / at_once)):
            self.client.step(at_once)
            self.follower.process()

    def until(self, outcome: list[Outcome], at_most: float = 20.0, at_once: int = 1) -> Outcome:
        """Let time pass until there is an outcome."""
        for _ in range(round(at_most / PERIOD / at_once)):
            if outcome:
                return outcome[0]
            self.run(at_once * PERIOD, at_once)
        raise AssertionError("no outcome")

    def until_free(self, at_most: float = 5.0) -> None:
        """Let time pass until the controller's session has ended."""
        for _ in range(round(at_most / PERIOD)):
            if not self.client.sessions():
                return
            self.run(PERIOD)
        raise AssertionError("the session did not end")

    def assert_limits_kept(self) -> None:
        """Velocity and acceleration of all ticks are within the system limits, and nothing is faulted."""
        v, a = (np.diff(self.q, n, axis=0) / PERIOD**n for n in (1, 2))
        assert np.abs(v).max(initial=0.0) <= 1.05 * VELOCITY + 1e-9
        assert np.abs(a).max(initial=0.0) <= 1.2 * ACCELERATION + 1e-5
        assert self.cell.part("arm").operational_state == 1


def point(time: float, q: Sequence[float], v: Sequence[float] = (), a: Sequence[float] = ()) -> Point:
    return Point(time=time, positions=tuple(q), velocities=tuple(v), accelerations=tuple(a))


def goal(*points: Point, joints: Sequence[str] = JOINTS, **fields: Any) -> Goal:
    return Goal(joints=tuple(joints), points=points, **fields)


def tolerance(joint: str, **values: float) -> tuple[JointTolerance, ...]:
    return (JointTolerance(joint=joint, **values),)


def many_points(n: int = 60) -> Goal:
    """From HERE on: one that needs several places of the command ring."""
    s = np.linspace(0.0, 1.0, n)[1:]
    ways = np.array(HERE) + 0.3 * (10 * s**3 - 15 * s**4 + 6 * s**5)[:, None]
    return goal(*(point(1.5 * time, way) for time, way in zip(s, ways, strict=True)))
