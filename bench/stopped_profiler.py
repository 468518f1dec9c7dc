"""A motion group on the wall clock whose profilers are stopped in mid-motion: queue, starvation, and the loop's
lateness."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bench.cells import arms_cell, builtin_types, motions
from bench.wakeup_lateness import CPU, PRIORITY, Lateness
from robot_rt_control.realtime.executor.executor import Executor, ExecutorOptions
from robot_rt_control.server.control_server import ControlServer
from robot_rt_control.server.events.events import ServerEvent

PERIOD_S = 0.001
DURATION_S = 8.0
"""[s] of a motion: longer than what the queue holds."""
_BEFORE_S = 1.0
_SAMPLE_S = 0.005
_PATIENCE_S = 60.0
_REST_S = 0.1
"""[s] from an arrival to the next start: a group from outside begins at rest."""
_ARMS = 2
_PROFILER = b"robot_rt_control.server.profiler"


@dataclass
class Stopped:
    """What was seen while the profilers were stopped for this long, in all turns."""

    lateness: Lateness = field(default_factory=Lateness)
    least: int = 1 << 62
    """Set points in the queue, at least."""
    most: int = 0
    starved: int = 0
    """Turns in which the group reported that it starved."""
    longer_s: float = 0.0
    """[s] by which a motion took longer, at most."""


def profilers() -> list[int]:
    """The profilers among the children of this process, in which the control server runs."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    for thread in Path("/proc/self/task").iterdir():  # each thread has children of its own
        children += (thread / "children").read_text().split()
    return [int(pid) for pid in sorted(set(children)) if _PROFILER in Path(f"/proc/{pid}/cmdline").read_bytes()]


class ProfiledLoop:
    """The wall-clock loop, its server, and two groups that move arms there and back, from what profilers compute."""

    def __init__(self) -> None:
        self.executor = Executor(
            arms_cell(_ARMS, period=PERIOD_S),
            ExecutorOptions(priority=PRIORITY, cpu=CPU, native_silence_s=3600.0, python_silence_s=3600.0),
            channel_name=f"bench_groups_{os.getpid()}",
            image_name=lambda device: device,
        )
        self.executor.configure(lambda _: None)
        self.executor.activate()
        self._events: list[ServerEvent] = []
        self._server = ControlServer(self.executor.workcell, builtin_types())
        self._server.add_listener(self._events.append)
        self._server.attach(self.executor.channel)
        self._session = self._server.open_session("bench", [f"arm_{i}" for i in range(_ARMS)], 0.0)
        groups = motions(_ARMS, profile="async", duration=DURATION_S)
        self._server.define(self._session.id, groups)
        self._turns = 0
        self._names = [group.id for group in groups]

    def turn(self, seen: Stopped, stopped_s: float) -> None:
        """One motion; the profilers are stopped for this long [s] in its middle. Returns when it has arrived."""
        queue = self._turns % 2
        header = self.executor.channel.memory.motion_queues[queue]
        timing = self.executor.channel.memory.timing
        self._turns += 1
        self._events.clear()
        before, first = timing.lateness.copy(), int(header["tail"])
        timing.max_lateness_ns = 0
        self._server.start(self._session.id, [self._names[queue]])
        begin = time.monotonic()
        self._watch(header, seen, _BEFORE_S)
        for pid in profilers() if stopped_s > 0.0 else ():
            os.kill(pid, signal.SIGSTOP)
        try:
            self._watch(header, seen, stopped_s)
        finally:
            for pid in profilers():
                os.kill(pid, signal.SIGCONT)
        while not any(e.kind == "reaction_fired" for e in self._events):
            self._server.poll()
            time.sleep(_SAMPLE_S)
            if time.monotonic() - begin > _PATIENCE_S:
                raise RuntimeError(f"the group did not arrive; events: {self._events[-3:]}")
        seen.lateness.add(timing.lateness - before, int(timing.max_lateness_ns))
        seen.starved += any(e.kind == "motion_starved" for e in self._events)
        seen.longer_s = max(seen.longer_s, time.monotonic() - begin - DURATION_S)
        time.sleep(_REST_S)
        if int(header["tail"]) - first < DURATION_S / PERIOD_S:
            raise RuntimeError(f"group {self._names[queue]!r} took no set points from queue {queue}")

    def _watch(self, header: np.record, seen: Stopped, seconds: float) -> None:
        """Take events and look at the queue for some time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._server.poll()
            head, tail = int(header["head"]), int(header["tail"])
            seen.least, seen.most = min(seen.least, head - tail), max(seen.most, head - tail)
            time.sleep(_SAMPLE_S)

    def close(self) -> None:
        self._server.detach("the measurement is over")
        self.executor.deactivate()
        self.executor.cleanup()


@contextmanager
def profiled_loop() -> Iterator[ProfiledLoop]:
    """It ends with the context."""
    loop = ProfiledLoop()
    try:
        yield loop
    finally:
        loop.close()


def stopped_profilers(rounds: int, stops: tuple[float, ...]) -> dict[float, Stopped]:
    """Turns without a stop (0) and with each, in rounds: what else the machine does is to meet all alike."""
    seen = {stopped_s: Stopped() for stopped_s in (0.0, *stops)}
    with profiled_loop() as loop:
        loop.turn(Stopped(), 0.0)  # the profilers' processes come up
        for _ in range(rounds):
            for stopped_s, its in seen.items():
                loop.turn(its, stopped_s)
    return seen
