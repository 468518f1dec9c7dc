"""Log lines for what goes wrong in an executor: part faults, protective stops, foreign drivers, a lost control server,
a loop that stood still."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from robot_rt_control.memory.stops import Stop
from robot_rt_control.realtime.executor.executor import PartStatus
from robot_rt_control.realtime.executor.health import Reading, driver_name, driver_trouble, foreign_clock

STOOD_S = 1.0
"""A loop that stood still for less is not worth a line: its deadline misses are counted."""
_QUIET_S = 1.0
"""After a line about a part, the next one about it comes at the earliest after this time."""
_FILE_S = 1.0
"""How long the line about a fault waits for the log of the last ticks, which is written after some more ticks."""


@dataclass
class _Known:
    """What was reported of a part."""

    fault: str = ""
    file: str = ""
    quiet_until: float = 0.0
    seen_at: float | None = None
    """When the fault to be reported was first seen."""


class TroubleLog:
    """Compares each reading with the last one. One thread.

    Args:
        error: takes lines.
        warning: takes lines.
        info: takes lines.
    """

    def __init__(
        self,
        *,
        error: Callable[[str], object],
        warning: Callable[[str], object],
        info: Callable[[str], object],
    ) -> None:
        self._error, self._warning, self._info = error, warning, info
        self._last: Reading | None = None
        self._still_s = 0.0
        self._parts: dict[str, _Known] = {}
        self._drivers: dict[str, str] = {}
        """Foreign driver → the trouble that was reported."""
        self._stops: dict[int, Stop] = {}
        """Number → protective stop that was reported, and whose release was not."""
        self._newest_stop = 0

    def look(self, now: Reading) -> None:
        """Say what has changed."""
        last, self._last = self._last, now
        self._look_at_server(now, last)
        if foreign_clock(now) and (last is None or not foreign_clock(last)):
            self._error(foreign_clock(now))
        if last is not None:
            self._look_at_loop(now, last)
        for part in now.parts:
            self._look_at_part(part, now.time_s)
        self._look_at_drivers({driver_name(driver): driver_trouble(driver) for driver in now.drivers})
        self._look_at_stops({stop.number: stop for stop in now.stops})

    def _look_at_drivers(self, troubles: dict[str, str]) -> None:
        for name, trouble in troubles.items():
            if trouble and trouble != self._drivers.get(name, ""):
                self._error(f"{name}: {trouble}")
            elif not trouble and self._drivers.get(name, ""):
                self._info(f"{name}: all is well again")
        self._drivers = troubles

    def _look_at_stops(self, present: dict[int, Stop]) -> None:
        for number, stop in present.items():
            if number > self._newest_stop:
                self._warning(f"protective stop: {stop.words}")
                self._stops[number] = stop
        self._newest_stop = max([self._newest_stop, *present])
        for number, stop in list(self._stops.items()):
            now = present.get(number)
            if now is None or not now.latched:
                self._info(f"protective stop released: {(now or stop).release_words}")
                del self._stops[number]

    def _look_at_loop(self, now: Reading, last: Reading) -> None:
        if not now.pace:
            return
        passed, went = now.time_s - last.time_s, (now.tick - last.tick) * now.period_s / now.pace
        if now.tick == last.tick:
            if self._still_s < STOOD_S <= self._still_s + passed:
                self._error(f"the loop stands still at tick {now.tick}")
            self._still_s += passed
            return
        # What the whole process stood still for passed between these two readings.
        stood, self._still_s = self._still_s + max(0.0, passed - went), 0.0
        if stood >= STOOD_S:
            self._warning(f"the loop stood still for {stood:.1f} s")

    def _look_at_server(self, now: Reading, last: Reading | None) -> None:
        epoch, was_attached = (0, False) if last is None else (last.server_epoch, last.server_attached)
        came = now.server_epoch != epoch
        if was_attached and (came or not now.server_attached):
            if now.server_released:
                self._info("the control server has detached: its sessions have ended")
            else:
                self._error("the control server is lost: its sessions have ended; their parts are brought to safety")
        if now.server_attached and (came or not was_attached):
            self._info("a control server is attached" + (" again" if epoch else ""))

    def _look_at_part(self, part: PartStatus, time_s: float) -> None:
        known = self._parts.setdefault(part.name, _Known())
        if time_s < known.quiet_until:
            return
        if not part.fault:
            if known.fault:
                self._info(f"part {part.name!r} is no longer faulted: it is {part.operational_state}")
                self._parts[part.name] = _Known(quiet_until=time_s + _QUIET_S)
            else:
                known.seen_at = None
            return
        if part.fault == known.fault and part.fault_file == known.file:
            return
        known.seen_at = time_s if known.seen_at is None else known.seen_at
        if not part.fault_file and time_s - known.seen_at < _FILE_S:
            return
        log = f"; the last ticks: {part.fault_file}" if part.fault_file else ""
        self._error(f"part {part.name!r} is faulted: {part.fault}{log}")
        self._parts[part.name] = _Known(fault=part.fault, file=part.fault_file, quiet_until=time_s + _QUIET_S)
