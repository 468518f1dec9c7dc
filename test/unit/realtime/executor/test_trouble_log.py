"""Log lines for what goes wrong in an executor."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from robot_rt_control.memory.stops import Stop
from robot_rt_control.realtime.executor.devices import ForeignDriver
from robot_rt_control.realtime.executor.health import Reading
from robot_rt_control.realtime.executor.trouble_log import TroubleLog
from robot_rt_control.vocabulary.enums import DriverMode, ImageError


class Lines:
    """A log whose lines are kept."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.log = TroubleLog(
            error=lambda line: self.lines.append(f"ERROR {line}"),
            warning=lambda line: self.lines.append(f"WARN {line}"),
            info=lambda line: self.lines.append(f"INFO {line}"),
        )

    def see(self, *readings: Reading) -> list[str]:
        for each in readings:
            self.log.look(each)
        new, self.lines = self.lines, []
        return new


@pytest.fixture
def log(reading: Any) -> Lines:
    made = Lines()
    assert made.see(reading(server_attached=False, server_epoch=0)) == []
    assert made.see(reading(0.2, 200)) == ["INFO a control server is attached"]
    return made


def test_nothing_wrong_is_no_line(log: Lines, reading: Any) -> None:
    assert log.see(*(reading(0.2 * i, 200 * i) for i in range(2, 50))) == []


def test_a_process_that_stood_still(log: Lines, reading: Any) -> None:
    assert log.see(reading(4.4, 400)) == ["WARN the loop stood still for 4.0 s"]
    assert log.see(reading(4.6, 600)) == []


def test_a_second_clock_is_told_once_while_it_is_there(log: Lines, reading: Any) -> None:
    second = [reading(0.2 * i, 200 * i, clock_publishers=2) for i in range(2, 5)]
    expected = ["ERROR 2 nodes publish /clock: simulated time jumps; see own_topics"]
    assert log.see(*second) == expected
    assert log.see(reading(1.0, 1000, clock_publishers=1)) == []
    assert log.see(reading(1.2, 1200, clock_publishers=2)) == expected


def test_a_loop_that_stands_still_while_others_look(log: Lines, reading: Any) -> None:
    seen = log.see(*(reading(0.2 + 0.2 * i, 200) for i in range(1, 11)))
    assert seen == ["ERROR the loop stands still at tick 200"]
    assert log.see(reading(2.4, 400)) == ["WARN the loop stood still for 2.0 s"]


def test_late_looks_and_some_lost_ticks_are_not_a_loop_that_stood_still(log: Lines, reading: Any) -> None:
    assert log.see(reading(5.2, 5100), reading(5.4, 5101), reading(5.6, 5401)) == []


def test_ticks_by_request_and_slow_simulated_time_do_not_stand_still(reading: Any) -> None:
    log = Lines()
    first = {"pace": 0.0, "server_attached": False, "server_epoch": 0}
    assert log.see(reading(0.0, 5, **first), reading(60.0, 5, **first)) == []
    log, slow = Lines(), {"pace": 0.1, "server_attached": False, "server_epoch": 0}
    assert log.see(reading(0.0, 0, **slow), reading(5.0, 500, **slow)) == []


def test_protective_stops_and_their_releases(log: Lines, reading: Any) -> None:
    door = Stop(source="door", reason="open", who="Ann", number=1, tick=5, time_ns=0, needs_secret=False)
    again = replace(door, number=2, reason="open again")
    assert log.see(reading(0.4, 400, stops=[door])) == ["WARN protective stop: door: open (Ann)"]
    assert log.see(reading(0.6, 600, stops=[door])) == []
    released = replace(door, latched=False, release_reason="closed", release_who="Ben")
    assert log.see(reading(0.8, 800, stops=[released])) == ["INFO protective stop released: door: closed (Ben)"]
    short = replace(again, latched=False, release_who="Ben")
    assert log.see(reading(1.0, 1000, stops=[released, short])) == [
        "WARN protective stop: door: open again (Ann)",
        "INFO protective stop released: door (Ben)",
    ], "it was released before anybody looked"


def test_a_lost_server_and_the_next_one(log: Lines, reading: Any) -> None:
    lost = "ERROR the control server is lost: its sessions have ended; their parts are brought to safety"
    assert log.see(reading(0.4, 400, server_attached=False)) == [lost]
    assert log.see(reading(0.6, 600, server_attached=False)) == []
    assert log.see(reading(0.8, 800, server_epoch=2)) == ["INFO a control server is attached again"]
    assert log.see(reading(1.0, 1000, server_epoch=3)) == [lost, "INFO a control server is attached again"]


def test_a_server_that_detaches_is_not_lost(log: Lines, reading: Any) -> None:
    gone = reading(0.4, 400, server_attached=False, server_released=True)
    assert log.see(gone) == ["INFO the control server has detached: its sessions have ended"]


def test_a_fault_is_reported_with_reason_and_file(log: Lines, part: Any, reading: Any) -> None:
    def seen(time_s: float, **of_part: str) -> list[str]:
        return log.see(reading(time_s, round(time_s * 1000), parts=[part(**of_part)]))

    assert seen(0.4, state="faulted", fault="too fast") == [], "the file is being written"
    line = "ERROR part 'arm' is faulted: too fast; the last ticks: /logs/1"
    assert seen(0.6, state="faulted", fault="too fast", file="/logs/1") == [line]
    assert seen(2.0, state="faulted", fault="too fast", file="/logs/1") == []
    assert seen(2.2) == ["INFO part 'arm' is no longer faulted: it is enabled"]
    assert seen(2.4, state="faulted", fault="too fast", file="/logs/2") == [], "one line a second"
    again = seen(3.4, state="faulted", fault="too fast", file="/logs/2")
    assert again == ["ERROR part 'arm' is faulted: too fast; the last ticks: /logs/2"]


def test_a_fault_without_a_file_is_reported_too(log: Lines, part: Any, reading: Any) -> None:
    faulted = [part("faulted", "no data")]
    seen = log.see(*(reading(0.2 * i, 200 * i, parts=faulted) for i in range(2, 12)))
    assert seen == ["ERROR part 'arm' is faulted: no data"]


def test_a_foreign_driver_is_told_by_name(log: Lines, reading: Any) -> None:
    good = ForeignDriver(
        device="robot",
        alive=True,
        cycles=1000,
        late_cycles=0,
        unanswered_cycles=0,
        mode=DriverMode.FOLLOWING,
        error=ImageError.NONE,
        reason="",
        age_ticks=0,
        max_age_ticks=50,
    )
    dead = replace(good, alive=False)
    assert log.see(reading(0.4, 400, drivers=[good])) == []
    assert log.see(*(reading(0.6, 600, drivers=[dead]), reading(0.8, 800, drivers=[dead]))) == [
        "ERROR hardware_driver_robot: its process is dead"
    ]
    assert log.see(reading(1.0, 1000, drivers=[good])) == ["INFO hardware_driver_robot: all is well again"]
