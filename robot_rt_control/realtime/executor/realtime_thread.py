"""The real-time thread: a Python thread that enters the compiled wall-clock loop once and leaves it at the end."""

from __future__ import annotations

import threading
import time

import numpy as np

from robot_rt_control.memory.atomics import address_of, store_release
from robot_rt_control.memory.channel import Channel
from robot_rt_control.realtime.executor.loop_records import LOOKED_OFFSET, STOP_OFFSET, loop_dtype
from robot_rt_control.realtime.executor.loops import WALLCLOCK, loops
from robot_rt_control.realtime.executor.schedule import Schedule
from robot_rt_control.realtime.executor.scheduling import Scheduling, make_realtime
from robot_rt_control.vocabulary.errors import RobotControlError


class RealtimeThread:
    """Runs `run_wallclock` until `stop`.

    Args:
        world: record of `layout.world_dtype`.
        priority, cpu, lock: see `scheduling.make_realtime`.
        native_silence_s, python_silence_s: silence of the server's heartbeats after which it is lost.
        starved_silence_s: the same for a server that gets no processor time, as `tell_server` says; 0: as for others.
        driving_device: index of the device whose cycle drives the loop; None: the wall clock does.
        device_timeout_s: how much later than expected its state may come before the loop ticks by itself.
    """

    def __init__(
        self,
        world: np.record,
        channel: Channel,
        *,
        period_ns: int,
        priority: int,
        cpu: int,
        lock: bool,
        native_silence_s: float,
        python_silence_s: float,
        starved_silence_s: float = 0.0,
        driving_device: int | None = None,
        device_timeout_s: float = 0.0,
    ) -> None:
        self._world, self._channel = world, channel
        self._options = {"priority": priority, "cpu": cpu, "lock": lock}
        self._loop: np.record = np.zeros(1, loop_dtype)[0]
        self._loop.period_ns = period_ns
        self._loop.native_silence_ns = int(native_silence_s * 1e9)
        self._loop.python_silence_ns = int(python_silence_s * 1e9)
        self._loop.starved_silence_ns = int(starved_silence_s * 1e9)
        self._loop.driving_device = 0 if driving_device is None else driving_device + 1
        self._loop.device_timeout_ns = int(device_timeout_s * 1e9)
        self._loops = loops()  # compiled here, if need be, not by the thread
        self._thread = threading.Thread(target=self._run, name="realtime", daemon=True)
        self._started = threading.Event()
        self._error: BaseException | None = None
        self.scheduling: Scheduling = Scheduling(description="not started", warnings=())

    def start(self) -> None:
        """Start ticking; returns when the thread runs.

        Raises:
            RobotControlError: the thread did not come up.
        """
        self._thread.start()
        if not self._started.wait(10.0) or self._error is not None:
            raise RobotControlError("the real-time thread did not start", got=repr(self._error))

    def _run(self) -> None:
        try:
            self.scheduling = make_realtime(**self._options)  # type: ignore[arg-type]  # names and types are ours
            self._world.loop_clock = time.pthread_getcpuclockid(threading.get_ident())
            self._started.set()
            self._loops(WALLCLOCK, address_of(self._world), self._channel.address, address_of(self._loop))
        except BaseException as error:
            self._error = error
            self._started.set()
            raise

    def tell_server(self, looked_s: float, *, native_starved: bool, python_starved: bool) -> None:
        """Let the loop know what was seen of a silent server. From any one thread.

        Args:
            looked_s: when it was seen, on the loop's clock.
            native_starved, python_starved: this heartbeat is silent because the server gets no processor time.
        """
        self._loop.native_starved, self._loop.python_starved = native_starved, python_starved
        store_release(address_of(self._loop) + LOOKED_OFFSET, int(looked_s * 1e9))

    @property
    def schedule(self) -> Schedule | None:
        """When its ticks are due; None: it has not begun, or a device drives it."""
        loop = self._loop
        if int(loop.driving_device) or not int(loop.first_deadline_ns):
            return None
        return Schedule(
            period_ns=int(loop.period_ns),
            first_tick=int(loop.first_tick),
            first_misses=int(loop.first_misses),
            first_deadline_ns=int(loop.first_deadline_ns),
        )

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> None:
        """End the loop after the tick that runs now."""
        store_release(address_of(self._loop) + STOP_OFFSET, 1)
        if self._thread.is_alive():
            self._thread.join(5.0)
