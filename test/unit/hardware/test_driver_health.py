"""What a driver process reports on /diagnostics, without DDS."""

from __future__ import annotations

import pytest

from robot_rt_control.hardware.driver_health import Cycles, driver_health
from robot_rt_control.vocabulary.enums import DriverMode
from robot_rt_control.vocabulary.health import Level


@pytest.mark.parametrize(
    ("now", "before", "level", "message"),
    [
        ((1000, 0), (0, 0), Level.OK, "following"),
        ((2000, 3), (1000, 0), Level.WARN, "following; 3 of the last 1000 cycles were late"),
        ((2000, 100), (1000, 0), Level.ERROR, "following; 100 of the last 1000 cycles were late"),
        ((434_482, 407_768), (433_482, 406_838), Level.ERROR, "following; 930 of the last 1000 cycles were late"),
        (
            (434_482, 407_768),
            (433_482, 407_768),
            Level.WARN,
            "following; 407768 of 434482 cycles were late since the start",
        ),
        ((434_482, 12), (433_482, 12), Level.OK, "following"),
    ],
)
def test_late_cycles_are_not_ok(now: tuple[int, int], before: tuple[int, int], level: Level, message: str) -> None:
    made = [Cycles(cycles=c, overruns=o) for c, o in (now, before)]
    health = driver_health("sim", DriverMode.FOLLOWING, *made)
    assert (health.what, health.hardware, health.level, health.message) == ("device sim", "sim", level, message)
    assert health.values == {"cycles": str(now[0]), "overruns": str(now[1]), "mode": "following"}


def test_the_period_is_that_of_the_cycles_since_the_last_report() -> None:
    before = Cycles(cycles=3, overruns=0)
    now = Cycles(cycles=6, overruns=0, starts_ns=(0, 1, 2_000_000, 3_000_000, 4_000_000, 7_000_000))
    values = driver_health("sim", DriverMode.FOLLOWING, now, before).values
    assert values["period mean [s]"] == "0.001667" and values["period maximum [s]"] == "0.003"
    assert values["period deviation [s]"] == "0.0009428"


def test_late_commands_of_a_device_that_paces_the_loop_are_a_warning():
    before, now = Cycles(cycles=0, overruns=0, late_commands=2), Cycles(cycles=1000, overruns=0, late_commands=5)
    health = driver_health("robot", DriverMode.FOLLOWING, now, before)
    assert health.level == Level.WARN and health.values["late_commands"] == "5"
    assert health.message == "following; 3 commands came too late for their state"
