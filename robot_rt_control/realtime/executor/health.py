"""How well loop, parts and the link to the control server do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robot_rt_control.memory.stops import Stop
from robot_rt_control.realtime.executor.devices import ForeignDriver
from robot_rt_control.realtime.executor.executor import PartStatus
from robot_rt_control.realtime.executor.tick_periods import LOOP
from robot_rt_control.vocabulary.enums import ImageError
from robot_rt_control.vocabulary.health import Health, Level


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What is seen of an executor at one moment."""

    time_s: float
    """On the monotonic clock."""
    tick: int
    period_s: float
    clock: str
    pace: float
    """Seconds of ticks expected in a second of the wall clock; 0: ticks come by request only."""
    lateness_p99_s: float
    """Since the start; NaN: nothing was measured."""
    misses: int
    shortfall: str
    """A warning that simulated time falls behind; empty: it does not."""
    server_epoch: int
    """Counts control servers that attached; 0: none yet."""
    server_attached: bool
    server_released: bool
    """The last server detached by itself."""
    server_starved: str
    """A warning that the attached server gets no processor time; empty: it does."""
    starved_silences: int
    """How often that was so for longer than a server that hangs is waited for."""
    starved_longest_s: float
    clock_publishers: int
    """On the topic of the clock; 0: the executor publishes none."""
    parts: Sequence[PartStatus]
    stops: Sequence[Stop] = ()
    """Protective stops that are latched, or were released lately."""
    drivers: Sequence[ForeignDriver] = ()


def foreign_clock(now: Reading) -> str:
    """What is wrong with the topic of the clock; empty: nothing."""
    if now.clock_publishers < 2:
        return ""
    return f"{now.clock_publishers} nodes publish /clock: simulated time jumps; see own_topics"


def executor_health(
    now: Reading, before: Reading | None, periods: Mapping[str, Mapping[str, str]] | None = None
) -> list[Health]:
    """Health of the loop, the control server's link, each part and each foreign driver.

    Args:
        before: the reading of the last report; None: this is the first one.
        periods: of the ticks since then, from `tick_periods`.
    """
    periods = periods or {}
    parts = [_part(part, periods.get(part.name, {})) for part in now.parts]
    known = {} if before is None else {driver.device: driver for driver in before.drivers}
    drivers = [_driver(driver, known.get(driver.device)) for driver in now.drivers]
    return [_loop(now, before, periods.get(LOOP, {})), _server(now), _stops(now), *parts, *drivers]


def driver_name(driver: ForeignDriver) -> str:
    """The name of a foreign driver in diagnostics and log lines."""
    return f"hardware_driver_{driver.device}"


def driver_trouble(driver: ForeignDriver) -> str:
    """What is wrong with a foreign driver; empty: nothing."""
    error = driver.error.name.lower() if driver.error != ImageError.NONE else ""
    told = f"{error}: {driver.reason}" if error and driver.reason else error
    if not driver.alive:
        return "its process is dead" + (f"; it reported {told}" if told else "")
    if driver.age_ticks > driver.max_age_ticks:
        return "silent: its process runs and publishes no states"
    return told


def _driver(now: ForeignDriver, before: ForeignDriver | None) -> Health:
    trouble = driver_trouble(now)
    level, message = Level.ERROR if trouble else Level.OK, trouble or now.mode.name.lower()
    # A successor begins to count anew.
    same = before is not None and before.cycles <= now.cycles and before.late_cycles <= now.late_cycles
    if not trouble and before is not None and same:
        cycles, late = now.cycles - before.cycles, now.late_cycles - before.late_cycles
        unanswered = now.unanswered_cycles - before.unanswered_cycles
        if late > 0 or unanswered > 0:
            level = Level.WARN
            message += f"; of the last {cycles} cycles {late} were late, and {unanswered} had no answer in time"
    values = {
        "cycles": str(now.cycles),
        "late cycles": str(now.late_cycles),
        "cycles without an answer in time": str(now.unanswered_cycles),
        "mode": now.mode.name.lower(),
    }
    return Health(what=driver_name(now), hardware=now.device, level=level, message=message, values=values)


def _stops(now: Reading) -> Health:
    latched = [stop for stop in now.stops if stop.latched]
    return Health(
        what="protective stop",
        level=Level.WARN if latched else Level.OK,
        message="; ".join(stop.words for stop in latched) or "none",
        values={stop.source: f"since tick {stop.tick}" for stop in latched},
    )


def _loop(now: Reading, before: Reading | None, periods: Mapping[str, str]) -> Health:
    missed = 0 if before is None else now.misses - before.misses
    level, message = Level.OK, f"ticks every {now.period_s * 1e3:g} ms ({now.clock})"
    if before is not None and now.pace and now.tick == before.tick:
        level, message = Level.ERROR, f"stands still at tick {now.tick}"
    elif foreign_clock(now):
        level, message = Level.ERROR, foreign_clock(now)
    elif missed > 0:
        level, message = Level.WARN, f"{missed} deadlines missed since the last report"
    elif now.shortfall:
        level, message = Level.WARN, now.shortfall
    values = {
        "clock": now.clock,
        "period [s]": f"{now.period_s:g}",
        "tick": str(now.tick),
        "lateness p99 [s]": f"{now.lateness_p99_s:.3g}",
        "deadline misses": str(now.misses),
        **periods,
    }
    return Health(what="loop", level=level, message=message, values=values)


def _server(now: Reading) -> Health:
    what = "control server"
    if now.server_attached:
        level = Level.WARN if now.server_starved else Level.OK
        values = {
            "silences without processor time": str(now.starved_silences),
            "longest one [s]": f"{now.starved_longest_s:.2f}",
        }
        return Health(what=what, level=level, message=now.server_starved or "attached", values=values)
    if now.server_epoch == 0:
        return Health(what=what, level=Level.WARN, message="none has attached yet")
    if now.server_released:
        return Health(what=what, level=Level.WARN, message="detached")
    return Health(what=what, level=Level.ERROR, message="lost")


def _part(part: PartStatus, periods: Mapping[str, str]) -> Health:
    level = {"enabled": Level.OK, "disabled": Level.WARN}.get(part.operational_state, Level.ERROR)
    values = {"active action": part.active_action, "session": part.session, "fault log": part.fault_file}
    values["tool"] = part.tool
    values["not monitored"] = "; ".join(part.unmonitored)
    return Health(
        what=f"part {part.name}",
        hardware=part.name,
        level=level,
        message=part.operational_state + (f": {part.fault}" if part.fault else ""),
        values={key: value for key, value in values.items() if value} | {**part.drives, **periods},
    )
