"""The driver process of a device with a Python plugin: `python -m robot_rt_control.hardware.driver --help`.

It owns the device's shared-memory image and runs the plugin at the device's period. It outlives executors: without
commands it brings the device to rest by itself, and then follows the next executor that attaches.
"""

from __future__ import annotations

import argparse
import gc
import logging
import math
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, TimeoutError
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from robot_rt_control.hardware.device_host import DeviceHost
from robot_rt_control.hardware.from_workcell import hardware_info, python_device
from robot_rt_control.hardware.plugin import HardwareInfo, HardwarePlugin
from robot_rt_control.hardware.urgency import raise_urgency
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.enums import DriverMode
from robot_rt_control.vocabulary.errors import DefinitionError, HardwareError, RobotControlError, unknown

_log = logging.getLogger(__name__)

Result = TypeVar("Result")

_REST_TIMEOUT_S = 2.0
_KEPT_STARTS = 2000
_STALL_PERIODS = 4
"""A device that got nothing for longer has stood meanwhile."""
_SWITCH_S = 1e-4
"""[s] of the interpreter's switch interval if a device paces the loop: other threads of this process give the
interpreter back within it (Python's default is 5 ms)."""
_FREE = 0.6
"""Fraction of the period for which such a driver sleeps before it reads: a maker's library may keep the interpreter
while it waits for the next state, and the other threads need it too."""


class Driver:
    """Runs a plugin against the wall clock.

    Args:
        plugin: its name, or a fresh object.
        info: the device.
        image_name: name of the shared-memory segment to which executors attach.
        silence_periods: periods without a command after which the executor counts as dead.

    Raises:
        HardwareError: there is no such plugin, or it refused its parameters.
        ChannelError: another living driver owns the image.
    """

    def __init__(
        self,
        plugin: str | HardwarePlugin,
        info: HardwareInfo,
        *,
        image_name: str,
        silence_periods: int = defaults.EXECUTOR_SILENCE_TICKS,
    ) -> None:
        self.info = info
        self.host = DeviceHost(plugin, info, image_name=image_name, silence_periods=silence_periods)
        self.cycles = 0
        self.overruns = 0
        """Cycles that ended after the next one should have begun."""
        self.starts: deque[int] = deque(maxlen=_KEPT_STARTS)
        """Starts of the last cycles, on the monotonic clock [ns]."""
        self._stop = False
        self._written_at = time.monotonic()
        self._calls: deque[tuple[Callable[[], Any], Future[Any]]] = deque()

    def start(self) -> None:
        """Open the device and publish its first state; `run` must follow at once. Raises: HardwareError."""
        # Exclude existing objects from garbage collection; scanning them would delay a cycle by 50 ms.
        gc.collect()
        gc.freeze()
        if self.host.plugin.paces:
            sys.setswitchinterval(_SWITCH_S)
        self.host.activate()

    def stop(self) -> None:
        """End `run` after its present cycle. May be called from a signal handler or another thread."""
        self._stop = True

    def call(self, function: Callable[[], Result], timeout_s: float = 1.0) -> Result:
        """Call a function in the cycle's thread, between two cycles: only that thread may access the plugin.

        Raises:
            HardwareError: the driver does not cycle.
            Exception: whatever the function raises.
        """
        future: Future[Result] = Future()
        self._calls.append((function, future))
        try:
            return future.result(timeout_s)
        except TimeoutError:
            if future.cancel():
                raise HardwareError(
                    f"hardware {self.info.name!r} took no call for {timeout_s:g} s", hint="Is its driver running?"
                ) from None
            return future.result()  # it is being called right now

    def _serve_calls(self) -> None:
        while self._calls:
            function, future = self._calls.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(function())
            except Exception as error:  # raised again in the thread that waits
                future.set_exception(error)

    def cycle(self) -> None:
        """One period's work: read, publish, take the command, write. Raises: HardwareError, when the device fails."""
        time_s, period_s = self.cycles * self.info.period_s, self.info.period_s
        self.starts.append(time.monotonic_ns())
        self.host.cycle_read(time_s, period_s)
        if time.monotonic() - self._written_at > _STALL_PERIODS * period_s:
            self.host.note_stall()
        self.host.cycle_write(time_s, period_s)
        self._written_at = time.monotonic()
        self.cycles += 1
        if self.host.failure is not None:
            self.host.cycle_read(time_s, period_s)  # publish the error: the executor need not wait for its age limit
            raise self.host.failure

    def run(self, max_cycles: int | None = None) -> None:
        """Cycle until `stop`, or `max_cycles` times; then bring the device to rest.

        Raises:
            HardwareError: the device failed.
        """
        last = None if max_cycles is None else self.cycles + max_cycles
        deadline = time.monotonic()
        while not self._stop and (last is None or self.cycles < last):
            deadline = self._cycle_at(deadline)
        self.host.end_following()
        given_up = time.monotonic() + _REST_TIMEOUT_S
        while True:
            deadline = self._cycle_at(deadline)
            if self.host.mode == DriverMode.HOLDING:
                self.host.cycle_read(self.cycles * self.info.period_s, self.info.period_s)  # the last state reports it
                return
            if time.monotonic() > given_up:
                _log.warning("hardware %r: not at rest after %g s, ending anyway", self.info.name, _REST_TIMEOUT_S)
                return

    def _cycle_at(self, deadline: float) -> float:
        """Sleep until the deadline, run a cycle, return the next deadline."""
        if self.host.plugin.paces:
            return self._paced_cycle(deadline)
        wait = deadline - time.monotonic()
        if wait > 0.0:
            time.sleep(wait)
        self.cycle()
        if self._calls:
            self._serve_calls()
        deadline += self.info.period_s
        late = time.monotonic() - deadline
        if late > 0.0:
            self.overruns += 1
            # Lost cycles are skipped: if they were made up, the device would reach the last command and stop abruptly.
            deadline += math.ceil(late / self.info.period_s) * self.info.period_s
        return deadline

    def _paced_cycle(self, free_until: float) -> float:
        """Sleep for a while, run a cycle when the device's next state comes; return until when to sleep next."""
        wait = free_until - time.monotonic()
        if wait > 0.0:
            time.sleep(wait)
        self.cycle()
        self.overruns = self.host.plugin.missed
        if self._calls:
            self._serve_calls()
        return self.host.read_at + _FREE * self.info.period_s

    def close(self) -> None:
        """Release the device and remove the image; may be repeated. Raises: HardwareError."""
        self.host.shutdown()


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m robot_rt_control.hardware.driver",
        description="Run one device of a workcell in a process of its own. Ends cleanly on SIGTERM and SIGINT: the "
        "device is brought to rest and its shared memory removed.",
    )
    parser.add_argument("workcell", type=Path, help="the workcell's YAML file")
    parser.add_argument("device", help="name of the device in the workcell")
    parser.add_argument("--image", required=True, metavar="NAME", help="shared-memory segment (below /dev/shm) to own")
    parser.add_argument(
        "--hardware", metavar="PLUGIN", help="plugin to use instead of the workcell's: simulator, mock, or module:Class"
    )
    parser.add_argument(
        "--silence",
        type=int,
        default=defaults.EXECUTOR_SILENCE_TICKS,
        metavar="PERIODS",
        help="periods without a command after which the device is brought to rest (default: %(default)s)",
    )
    parser.add_argument("--cycles", type=int, metavar="N", help="end after N periods (default: run until a signal)")
    return parser.parse_args(arguments)


def _device_info(workcell_file: Path, device_name: str, hardware: str | None) -> tuple[str, HardwareInfo]:
    workcell = load_workcell(workcell_file, hardware)
    for device in workcell.devices:
        if device.name == device_name:
            return python_device(device).plugin, hardware_info(workcell, device)
    names = [device.name for device in workcell.devices]
    raise DefinitionError(
        f"workcell {workcell.name!r}: device {device_name!r}", expected=unknown("device", device_name, names)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line of the driver process; 0: ended on request, 1: refused or failed, with the reason on stderr."""
    given = _arguments(arguments)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s", stream=sys.stderr)
    driver: Driver | None = None
    if warning := raise_urgency():
        _log.warning(warning)
    try:
        plugin, info = _device_info(given.workcell, given.device, given.hardware)
        driver = Driver(plugin, info, image_name=given.image, silence_periods=given.silence)

        def end(_signal: int, _frame: FrameType | None) -> None:
            assert driver is not None
            driver.stop()

        signal.signal(signal.SIGTERM, end)
        signal.signal(signal.SIGINT, end)
        driver.start()
        _log.info("hardware %r: running at %g s, image %r", info.name, info.period_s, given.image)
        driver.run(given.cycles)
        _log.info("hardware %r: %d cycles, %d overruns", info.name, driver.cycles, driver.overruns)
        return 0
    except RobotControlError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    finally:
        if driver is not None:
            driver.close()


if __name__ == "__main__":
    sys.exit(main())
