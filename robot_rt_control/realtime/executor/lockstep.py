"""Driving the tick in simulated time: paced to the wall clock, as fast as possible, or by request."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from robot_rt_control.memory.atomics import address_of
from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.layout import channel_dtype, offset_of, world_dtype
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.executor.devices import Devices
from robot_rt_control.realtime.executor.loop_records import lockstep_dtype
from robot_rt_control.realtime.executor.loops import LOCKSTEP, loops, loops_with_gil
from robot_rt_control.realtime.executor.pacing import FactorMeter, Pacer
from robot_rt_control.realtime.executor.session_recorder import SessionRecorder
from robot_rt_control.realtime.executor.set_points import SetPoints

_LOOP_CLOCK, _TICK = offset_of(world_dtype, "loop_clock"), offset_of(world_dtype, "tick")
_WRITTEN = (offset_of(channel_dtype, "events", "head"), offset_of(channel_dtype, "samples_out"))
_BATCH_S = 0.005
"""Simulated time that passes between two pauses, at a factor of 1 ..."""
_MOST = 4.0
"""... and at most this many times as much: callers of `serve` get their turn between two batches."""
_GUEST_POLL_S = 0.0002


class Lockstep:
    """Runs ticks one after the other; simulator and loop wait for each other.

    On a machine that is too slow for the factor, simulated time runs more slowly: no tick is left out, none is late.

    Args:
        factor: simulated seconds in a second; 0: as fast as possible; negative: only by `step`.
        before_tick: called before each batch of ticks, by the thread that runs them, under the lock.
        recorder: is shown the ticks before the ring is too short for them.
    """

    def __init__(
        self,
        world: World,
        channel: Channel,
        devices: Devices,
        *,
        period_ns: int,
        factor: float,
        before_tick: Callable[[], object],
        recorder: SessionRecorder | None = None,
    ) -> None:
        self._world, self._channel, self._devices = world, channel, devices
        self._period_ns, self._factor, self._before_tick = period_ns, factor, before_tick
        # By address, since a record takes microseconds for a field, and a batch may be one tick.
        self._clock = ctypes.c_int64.from_address(world.address + _LOOP_CLOCK)
        self._tick = ctypes.c_int64.from_address(world.address + _TICK)
        self._counts = [ctypes.c_int64.from_address(channel.address + offset) for offset in _WRITTEN]
        self._record = self._lockstep_record()
        loop = loops_with_gil() if devices.hosts else loops()
        self._run_ticks: Callable[[int, int], int] = partial(loop, LOCKSTEP, address_of(self._record))
        self._set_points = SetPoints(world, channel)
        self._recorder = recorder
        self._lock = threading.Lock()
        self._guests = 0
        self._counting = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.meter = FactorMeter(max(factor, 0.0))

    def _lockstep_record(self) -> np.record:
        x: np.record = np.zeros(1, lockstep_dtype)[0]
        x.world, x.channel, x.period_ns = self._world.address, self._channel.address, self._period_ns
        x.n_devices = len(self._devices.hosts)
        for i, host in enumerate(self._devices.hosts.values()):
            x.images[i], x.drivers[i] = host.addresses
        return x

    @property
    def time_ns(self) -> int:
        """Simulated time: that of the last tick."""
        return self._tick.value * self._period_ns

    def start(self) -> None:
        """Let time go by itself, unless it is gated by `step`."""
        if self._factor >= 0:
            self._stop.clear()
            self._thread = threading.Thread(target=self._run, name="lockstep", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Let time stand still."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def serve(self, function: Callable[[], object]) -> None:
        """Call a function while no tick runs."""
        with self._counting:
            self._guests += 1
        try:
            with self._lock:
                function()
        finally:
            with self._counting:
                self._guests -= 1

    def step(self, ticks: int) -> int:
        """Run `ticks` ticks. Returns the last one's number. Raises HardwareError: a simulator failed."""
        last = 0

        def run() -> None:
            nonlocal last
            self._ticks(ticks)
            last = self._tick.value

        self.serve(run)
        return last

    def watch(self, look: Callable[[], object]) -> None:
        """Have a function called after each tick, before simulators take its commands. It slows the loop down.

        Args:
            look: called by the thread that runs the ticks; it may read the world's memory.
        """
        run = self._run_ticks

        def watched(ticks: int, silent: int) -> int:
            new = 0
            for _ in range(ticks):
                new |= run(1, silent)
                look()
            return new

        self._run_ticks = watched

    def _ticks(self, ticks: int) -> None:
        self._before_tick()
        self._clock.value = time.pthread_getcpuclockid(threading.get_ident())
        head = self._written()
        while ticks > 0:
            n = self._set_points.wait(ticks)
            if self._recorder is not None:
                n = self._recorder.ticks_at_once(n)
            if self._devices.hosts:
                self._devices.run(n, partial(self._run_ticks, 1))
            else:
                self._run_ticks(n, 0)
            ticks -= n
            if self._recorder is not None:
                self._recorder.drain()
        if self._written() != head:
            self._channel.ring_events()

    def _written(self) -> int:
        """Counts what the loop has written for the server: events, and samples of stream outputs."""
        return sum(count.value for count in self._counts)

    def _run(self) -> None:
        """Batches of ticks: paced to the wall clock, or without pause."""
        batch = max(1, round(_BATCH_S * 1e9 / self._period_ns * min(self._factor or _MOST, _MOST)))
        simulated_s = batch * self._period_ns * 1e-9
        pacer = Pacer(self._factor) if self._factor > 0 else None
        while not self._stop.is_set():
            with self._lock:
                self._ticks(batch)
            pause = 0.0 if pacer is None else pacer.pause(simulated_s)
            if pause > 0.0:
                self._stop.wait(pause)
            else:
                time.sleep(0)  # other threads of Python get their turn
            while self._guests and not self._stop.is_set():
                time.sleep(_GUEST_POLL_S)  # a lock alone would not let them in: it is free for an instant only
