"""The system's clock jumps by hours, forwards and backwards, while all goes on that has to do with time.

The machine's clock is not touched. What reads it in this process, `time.time`, `time.time_ns` and the clocks of ROS
nodes, is given another one, which jumps; files are as old as by that one.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from control_msgs.msg import JointJog

from bench.attack.attack import Attack
from robot_rt_control.client.actions import Action
from robot_rt_control.client.event import Event
from robot_rt_control.controllers.jogs.controller import JogController
from robot_rt_control.controllers.trajectory.follower import Follower
from robot_rt_control.controllers.trajectory.goal import Code, Goal, Outcome, Point
from robot_rt_control.controllers.trajectory.options import read_options
from robot_rt_control.definitions.streams import gap_choices
from robot_rt_control.model.workcell.workcell_schema import Recordings
from robot_rt_control.recording.tick_reader import TickFile
from robot_rt_control.ros.conversions import time_message
from robot_rt_control.ros.tick_time import TickTime
from robot_rt_control.testing import cell_backend
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import RobotControlError
from robot_rt_control.vocabulary.event_kinds import Kind

_JUMPS, _STEPS = 8, 40
"""Jumps of a round, and steps before and after each, at most."""
_TICKS, _DT = 10, 1e-3
"""[ticks] of a step, [s]"""
_LEASE_S = 1.0
_DELAY_S = 0.12
"""W25: no sample waits longer, beyond the delay that was asked for; with a step's time."""
_MOTION_S, _LATE_TICKS = 1.0, 30
"""Of a trajectory; and how far from its time it may be found at its end, at rest."""
_STAMP_S, _STAMPED_WITHIN_S = 0.15, 0.0101
"""After a jump events get the new time within this time, and then to so much: smaller jumps are slewed."""
_REST_S = 5.0


class _Wall:
    """The system's clock of this attack: simulated time from a date on, and its jumps."""

    def __init__(self, random: Random) -> None:
        self._random, self._ahead_ns = random, 1_700_000_000 * 10**9
        self.tick: Callable[[], int] = lambda: 0
        self.jumped, self._jump_at = 0, -1
        """Ticks: of the last jump, and of the next one."""

        self.system_ns = time.time_ns
        """The one that files have."""

    def ns(self) -> int:
        return self.loop_ns() + self._ahead_ns

    def loop_ns(self) -> int:
        return round(self.tick() * _DT * 1e9)

    def jump(self, least: float = 1e-3, most: float = 3e4) -> None:
        """By seconds between these, up to hours.

        Args:
            least: more than a source pauses. If its clock goes back by less, its samples seem to take longer: W22.
        """
        by = self._random.choice((-1, 1)) * 10.0 ** self._random.uniform(math.log10(least), math.log10(most))
        self._ahead_ns += round(by * 1e9)
        self.jumped = self.tick()

    def jump_within(self, ticks: int) -> None:
        """In one of the next ticks, while the requester of something waits."""
        self._jump_at = self.tick() + self._random.randint(1, ticks)

    def after_tick(self) -> None:
        if self.tick() == self._jump_at:
            self.jump(1.0)


class _Client(LockstepClient):
    node: Any = None  # what controllers use of one


class _Cell:
    """Arms that follow trajectories, jogs and samples with stamps, and starts at ticks."""

    def __init__(self, random: Random, client: _Client, wall: _Wall) -> None:
        self.random, self.client, self.wall, self.cell = random, client, wall, client.cell
        self.cell.after_tick.append(wall.after_tick)
        self.sent, self._events, self._wrong = 0, list[Event](), list[str]()
        client.add_listener(self._take)
        arm0, arm1 = (self.cell.workcell.part(name) for name in ("arm0", "arm1"))
        self.follower = Follower("goals", arm0, client, read_options("attack", {}, arm0), lambda: None)
        self.refused: list[str] = []
        logger = SimpleNamespace(warning=lambda text, **_: self.refused.append(text))
        clock = SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=wall.ns()))
        client.node = SimpleNamespace(get_logger=lambda: logger, get_clock=lambda: clock)
        self.jogs = JogController("jogs", arm1, client, {"idle_time": 0.5})
        self.jogs.activate()
        self.session = self.cell.session("arm2", "arm3", lease_s=_LEASE_S)
        self._delay = random.choice((0.0, -1.0, 0.02))
        kind = random.choice(("follow_joint_stream", "follow_joint_velocity_stream"))
        gap = random.choice(gap_choices(own_function=False))
        stream = Action("s", kind, parts="arm2", goal_gap=gap, goal_delay=self._delay)
        moves = (Action(f"m{i}", "move_joint", parts="arm3", position=[q] * 3) for i, q in enumerate((0.5, -0.5)))
        self.session.add(stream, *moves)
        self.session.start("s")
        self._stream = self.session.stream("s", "goal")

    def _take(self, event: Event) -> None:
        since, last = self.cell.tick - self.wall.jumped, self._events[-1] if self._events else event
        off = abs(event.time - self.wall.ns() * 1e-9 + (self.cell.tick - event.tick) * _DT)
        if since * _DT >= _STAMP_S and off > _STAMPED_WITHIN_S:
            self._wrong.append(f"the stamp of {event} is {off:.3f} s wrong")
        if event.tick < last.tick or event.sequence < last.sequence:
            self._wrong.append(f"{event} came after {last}")
        self._events.append(event)

    def jog(self) -> JointJog:
        """Made now."""
        towards = -0.2 if self.cell.part("arm1").position[0] > 0.0 else 0.2
        jog = JointJog(joint_names=["j0"], velocities=[towards])
        jog.header.stamp = time_message(self.wall.ns())
        return jog

    def take(self, jog: JointJog) -> None:
        self.jogs._on_joints(jog)
        self.work()
        self.sent += 1

    def work(self) -> None:
        """What the controllers' threads do."""
        assert self.jogs._jogger is not None
        self.jogs._jogger.process()
        self.follower.process()

    def go(self, steps: int) -> None:
        """Send messages of now, renew the lease, and let time pass."""
        for k in range(steps):
            self._stream.write([0.1] * 3, time=self.wall.ns() * 1e-9)
            self.take(self.jog())
            self.session.renew()
            self.sent += 2
            self.cell.step(_TICKS)
            assert self.session.ended is None, f"a session whose lease was renewed ended: {self.session.ended}"
            if k >= 10:  # before, this thread may have waited, and nothing was sent
                timed_out, latency = (self.session.value(f"s.goal_{what}") for what in ("timed_out", "latency"))
                assert timed_out == 0.0, "a stream timed out that is written every 10 ms"
                assert latency <= max(self._delay, 0.0) + _DELAY_S, f"a sample waited for {latency:.3f} s"
                assert self.cell.part("arm1").commanded_velocity[0] != 0.0, "jogs that are not old do not move the arm"
        assert not self.refused, f"a jog that is not old was refused: {self.refused}"
        assert not self._wrong, self._wrong
        refused = [e.reason for e in self.cell.kinds(Kind.STREAM_REFUSED)]
        assert not refused, f"samples of a source whose clock jumps were refused: {refused}"

    def start_at_a_tick(self) -> None:
        """The clock jumps while the start waits for its tick."""
        at, action = self.cell.tick + self.random.randint(50, 400), self.random.choice(("m0", "m1"))
        self.wall.jump_within(40)
        self.session.start(action, at_tick=at)
        found = [e.tick for e in self._events if e.kind == Kind.ACTION_STARTED and e.current_action == action]
        assert found[-1:] == [at], f"a start at tick {at} came at {found[-1:]}"

    def _goal(self, duration: float, start: float | None = None) -> Goal:
        q = 0.3 if self.cell.part("arm0").position[0] < 0.0 else -0.3
        return Goal(joints=("j0", "j1", "j2"), points=(Point(time=duration, positions=(q,) * 3),), start=start)

    def follow_a_goal(self) -> None:
        """The clock jumps shortly before a goal with a start comes, while it waits, or while it is followed."""
        when = self.random.choice(("before", "waiting", "after"))
        if self.random.random() < 0.5:  # it is still followed, and its session stays
            self.follower.follow(self._goal(2.0 * _MOTION_S), lambda _: None, self.wall.ns() * 1e-9)
            self.go(20)
        if when == "before":
            self.wall.jump(1.0, self.random.choice((5.0, 3e4)))
        ahead = self.random.uniform(0.2, 0.4)
        goal = self._goal(_MOTION_S, self.wall.ns() * 1e-9 + ahead)
        tick = self.cell.tick + round((ahead + _MOTION_S) / _DT)
        outcomes: list[Outcome] = []
        if when == "waiting":
            self.wall.jump_within(40)
        told = self._events[-1].tick if self._events else 0
        try:
            self.follower.follow(goal, outcomes.append, self.wall.ns() * 1e-9)
        except RobotControlError as error:
            assert "the loop has another clock" in str(error), f"a goal was refused: {error}"
            assert when != "after" or told <= self.wall.jumped, f"a goal was refused, and no clock was set: {error}"
            return
        if when == "after":
            self.wall.jump()
        self.go(round(1.5 * _MOTION_S / _DT / _TICKS))
        assert [o.code for o in outcomes] == [Code.SUCCESSFUL], f"a goal of a jumping clock ({when}): {outcomes}"
        late = outcomes[0].tick - tick
        assert abs(late) <= _LATE_TICKS, f"a goal of a jumping clock ({when}) ended {late} ticks late"

    def jog_of_before(self) -> None:
        """A jog that was made before a jump, and comes after it: too old, or as if it were made now."""
        made = self.jog()
        self.wall.jump()
        age = self.wall.ns() * 1e-9 - made.header.stamp.sec - made.header.stamp.nanosec * 1e-9
        self.take(made)
        self.cell.step()  # in one tick, two samples would have the same time
        assert bool(self.refused) == (age > self.jogs._read.incoming_command_timeout), f"{age:.3f} s: {self.refused}"
        self.refused.clear()

    def end(self) -> None:
        """Nobody sends any more: all comes to rest, and is released in its time."""
        renewed, lost = self.cell.tick, 0
        for _ in range(round(_REST_S / _DT / _TICKS)):
            if self.random.random() < 0.05:
                self.wall.jump()
            self.work()
            self.cell.step(_TICKS)
            lost = lost or (self.cell.tick if self.session.ended else 0)
        kept = (lost - renewed) * _DT
        assert abs(kept - _LEASE_S) <= 2 * _TICKS * _DT, f"a lease of {_LEASE_S:g} s ended after {kept:.3f} s"
        assert not self.client.sessions(), f"sessions of jogs and goals were kept: {self.client.sessions()}"
        for part in self.cell.workcell.parts:
            moving = self.cell.part(part.name).commanded_velocity[: part.dof]
            assert not moving.any(), f"nobody sends anything any more, and {part.name!r} moves: {moving}"


def _jumps(at: _Cell, folder: Path) -> int:
    object.__setattr__(at.cell.workcell, "recordings", Recordings(files=1, gigabytes=1.0))
    finished: dict[Path, int] = {}
    for _ in range(_JUMPS):
        for file, ended in finished.items():  # older or newer than the next one by what the clock said
            if file.exists():
                os.utime(file, ns=(at.wall.system_ns() + ended - at.wall.ns(),) * 2)
        path, first = at.cell.executor.record(True, folder), at.cell.tick + 1
        assert path is not None
        at.go(at.random.randint(20, _STEPS))
        at.random.choice((at.start_at_a_tick, at.follow_a_goal, at.jog_of_before, at.wall.jump))()
        at.go(_STEPS)
        assert at.cell.executor.record(False) == path and path.exists(), "what was recorded gave way to older files"
        ticks = TickFile(path).arrays()["tick"].tolist()
        assert ticks == list(range(first, at.cell.tick + 1)), "a recording lacks ticks"
        finished[path] = at.wall.ns()
        at.wall.jump()
    at.end()
    return at.sent


def _round(random: Random, folder: Path) -> int:
    from arms_cell import arms_file

    wall, shown = _Wall(random), cell_backend.event_of
    with pytest.MonkeyPatch.context() as patch, _Client(arms_file(folder, 4)) as client:
        wall.tick = lambda: client.cell.tick
        patch.setattr(cell_backend.CellBackend, "simulated", False)  # as a workcell on the wall clock
        patch.setattr(time, "time_ns", wall.ns)
        patch.setattr(time, "time", lambda: wall.ns() * 1e-9)
        stamps = TickTime(wall.ns, wall.loop_ns)  # as the nodes stamp them
        patch.setattr(cell_backend, "event_of", lambda e: replace(shown(e), time=stamps.of(e.time_ns) * 1e-9))
        return _jumps(_Cell(random, client, wall), folder / "recordings")


ATTACK = Attack(
    name="clocks",
    promise="a system clock that jumps by hours breaks no limit, ends or keeps no session, delays and loses nothing",
    round=_round,
    unit="messages",
)
