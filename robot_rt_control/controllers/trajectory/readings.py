"""What the loop reports of a part that follows trajectories, and of its own clock."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from robot_rt_control.client import Client, Session
from robot_rt_control.client.event import Event
from robot_rt_control.controllers.trajectory.goal import GoalRefused
from robot_rt_control.controllers.trajectory.run import Run
from robot_rt_control.controllers.trajectory.track import State
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.vocabulary.errors import RobotControlError

_SAME_CLOCK_S, _SAME_SIMULATED_S = 0.5, 5.0
"""[s] A larger difference is no delay. Simulated time may run fast while a message is on its way."""
_SAME = 1e-9
"""[s] Times that differ by less are equal."""
_QUANTITIES = ("position", "velocity", "commanded_position", "commanded_velocity", "commanded_acceleration")


@dataclass(frozen=True, eq=False, kw_only=True)
class Sample:
    """What the part does, from one tick; each (dof,), NaN: unknown."""

    position: np.ndarray
    velocity: np.ndarray
    commanded_position: np.ndarray
    commanded_velocity: np.ndarray
    commanded_acceleration: np.ndarray
    speed: float
    """Speed override."""
    elapsed: float
    """[s] on the motion; NaN: there is none."""


class Readings:
    """Asks for the state of a part. Its methods may be called from any thread; they wait for the workcell.

    Args:
        part: that moves.
        client: of the workcell.
    """

    def __init__(self, part: PartDescription, client: Client) -> None:
        self._part, self._client = part, client
        self._period = float(part.record.dt)
        self._clock: tuple[int, float] | None = None
        """A tick, and its time on the ROS clock [s]."""

    def take(self, event: Event) -> None:
        """Learn the loop's clock from an event; returns at once."""
        if event.time > 0.0:
            self._clock = event.tick, event.time

    def sample(self, run: Run | None, session: Session | None) -> Sample:
        """What the part does now, also without a session."""
        names = [f"{self._part.name}.{quantity}[" for quantity in _QUANTITIES]
        asked = [*names, "speed", *([f"{run.id}.elapsed"] if run is not None else [])]
        if session is not None and session.ended is None:
            values = session.values(asked)
        else:
            values = self._client.backend.state_values(asked, "")
        joints = range(self._part.dof)
        arrays = {
            quantity: np.array([values[f"{self._part.name}.{quantity}[{j}]"] for j in joints])
            for quantity in _QUANTITIES
        }
        elapsed = math.nan if run is None else values.get(f"{run.id}.elapsed", math.nan)
        return Sample(**arrays, speed=values["speed"], elapsed=elapsed)

    def present(self, run: Run | None, session: Session) -> dict[str, float]:
        """State variables: the commanded position and velocity, those of the goal's action, `time` and `speed`."""
        asked = [f"{self._part.name}.commanded_position[", f"{self._part.name}.commanded_velocity[", "time", "speed"]
        return session.values([*asked, *([f"{run.id}."] if run is not None else [])])

    def state_at(self, time: float, run: Run, session: Session) -> State:
        """The state of a motion at a time [s] on the ROS clock, if the speed override stays as it is.

        Raises:
            RobotControlError: the motion is before its start then, or over.
        """
        values = self.present(run, session)
        speed, elapsed = values["speed"], values.get(f"{run.id}.elapsed", math.nan)
        tick = round(values["time"] / self._period)
        if math.isnan(elapsed):  # it begins later, one step in its first tick
            tick, elapsed = run.tick, speed * self._period
        now, track = self.time_of(tick), run.motion.track
        at = elapsed + (time - now) * speed
        if not -_SAME <= at <= track.duration + _SAME:
            left, done = (t / speed if speed > 0.0 else math.inf for t in (track.duration - elapsed, elapsed))
            raise RobotControlError(
                "the trajectory is not followed at this time",
                expected=f"{now - done:.3f} to {now + left:.3f} s",
                got=f"{time:.3f} s",
            )
        q, v, a = track.at(max(at, 0.0))
        return q, v * speed, a * speed**2

    def check_clock(self, ahead: float, session: Session) -> None:
        """A start is on the ROS clock of the controller's node: the loop must have the same one, by its last event.

        Args:
            ahead: [s] of the node's clock to that of the client's time-outs.

        Raises:
            GoalRefused: it has another one.
        """
        backend = self._client.backend
        before = backend.now() + ahead
        loop = self.time_of(round(self.present(None, session)["time"] / self._period))
        now, bound = backend.now() + ahead, _SAME_SIMULATED_S if backend.simulated else _SAME_CLOCK_S
        if not before - bound <= loop <= now + bound:
            raise GoalRefused(
                "header.stamp: the loop has another clock",
                expected=f"{loop:.3f} s",
                got=f"{now:.3f} s",
                hint="Was a clock set a moment ago? Set use_sim_time for the controller's node as for the workcell, "
                "or let the stamp be 0",
            )

    def time_of(self, tick: int) -> float:
        """[s] on the ROS clock. Raises GoalRefused: the clock is not known yet."""
        if self._clock is None:
            raise GoalRefused("header.stamp", expected="0, until the loop's clock is known", got="a time")
        return self._clock[1] + (tick - self._clock[0]) * self._period
