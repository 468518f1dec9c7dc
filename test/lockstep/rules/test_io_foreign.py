"""A driver in C++ beside the real executor: its component moves, fails in every way, and is brought to rest."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import foreign_executor
import numpy as np
import pytest
from foreign_driver import Fault, ForeignDriver, until
from foreign_executor import ACCELERATION, CELL, PERIOD_S, ForeignCell

from robot_rt_control.definitions.reaction import ReactionDefinition
from robot_rt_control.hardware.process_image import ProcessImage
from robot_rt_control.realtime.executor.health import driver_trouble
from robot_rt_control.vocabulary.enums import ImageError


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[ForeignDriver]:
    with ForeignDriver(tmp_path, CELL) as started:
        yield started


@pytest.fixture
def cell(driver: ForeignDriver) -> Iterator[ForeignCell]:
    made = ForeignCell(driver.workcell, driver.image)
    yield made
    made.close()


def image_of(cell: ForeignCell) -> ProcessImage:
    return cell.executor.devices._images["drive"]


def arrives(cell: ForeignCell, position: float) -> None:
    """On a busy machine states come late and are unknown for a while: a condition is then true anew, and its reaction
    halts the motion once more."""
    begun = -math.inf

    def there() -> bool:
        nonlocal begun
        if time.monotonic() - begun > 10.0:
            cell.move(position)
            begun = time.monotonic()
        return abs(cell.position - position) < 1e-6

    until(there, "the motion's end", timeout_s=120.0)


def goes_on(cell: ForeignCell) -> None:
    """The loop ticks, whatever the driver does."""
    tick = cell.tick
    until(lambda: cell.tick > tick + 10, "ten ticks")


def trouble(cell: ForeignCell) -> str:
    """What the executor reports of `hardware_driver_drive`."""
    (found,) = cell.executor.devices.foreign_drivers()
    return driver_trouble(found)


def succeeded(cell: ForeignCell, old: ProcessImage) -> None:
    """The executor is attached to another driver."""
    until(lambda: image_of(cell) is not old, "the successor's image")


def test_I25_it_moves_and_a_reaction_acts_in_the_cycle_that_shows_its_condition(
    driver: ForeignDriver, cell: ForeignCell
) -> None:
    cell.define(ReactionDefinition(condition="axis.position[0] > 0.25", start=("halt",)))
    for _ in range(10):
        arrives(cell, 0.0)
        first, unanswered = driver.writes, int(image_of(cell).record.unanswered_cycles)
        cell.move(0.5)
        until(lambda: cell.position > 0.25, "the motion")
        until(lambda: float(cell.executor.channel.snapshot().parts[0].measured.velocity[0]) == 0.0, "the halt")
        rows = driver.rows(first)
        assert rows[-1, 1] < 0.45, "the reaction has stopped it"
        if int(image_of(cell).record.unanswered_cycles) == unanswered:
            break  # else the machine was so busy that an answer came too late
    else:
        pytest.fail("in none of ten motions all commands came in time")
    shown = int(np.argmax(rows[:, 1] > 0.25))  # this command was over the border: the next cycle's states show it
    assert rows[shown + 1, 0] == rows[shown, 0] + 1, "one read, one write"
    assert np.diff(rows[shown - 1 : shown + 1, 2]) == pytest.approx(0.0, abs=1e-9), "at constant velocity before"
    assert rows[shown + 1, 2] < rows[shown, 2] - 1e-4, "the command of these states brakes"
    measured = cell.executor.channel.snapshot().parts
    assert measured[1].measured.inputs[0] == 1.0 and measured[2].measured.distance == 2.0
    assert measured[3].measured.inputs[0] == 3.0 and measured[3].measured.input_age[0] == 0.0
    cell.server.start(cell.session.id, ["light"])
    until(lambda: list(cell.executor.channel.snapshot().parts[1].measured.outputs[:2]) == [1.0, 1.0], "the outputs")


def test_a_device_that_fails_faults_its_parts_with_its_reason_and_its_successor_takes_over(
    driver: ForeignDriver, cell: ForeignCell
) -> None:
    for fault, reason in ((Fault.READ_ERROR, "read returned ERROR: bus off"), (Fault.WRITE_THROWS, "write threw")):
        arrives(cell, 0.1)
        cell.move(0.9)
        old = image_of(cell)
        driver.fault(fault)
        assert driver.process.wait(60.0) == 1
        until(lambda: cell.state() == "faulted")
        assert old.record.state_error == ImageError.DEVICE
        assert bytes(old.record.driver_reason).decode().startswith(reason)
        assert driver.shutdowns == 1 and reason in driver.log
        assert trouble(cell).startswith(f"its process is dead; it reported device: {reason}")
        goes_on(cell)
        driver.book[:] = 0.0
        driver.start()
        succeeded(cell, old)
        cell.recover()


def test_I28_a_device_that_hangs_or_a_process_that_is_killed_faults_its_parts_and_the_loop_goes_on(
    driver: ForeignDriver, cell: ForeignCell
) -> None:
    cell.move(0.9)
    until(lambda: cell.position > 0.05)
    driver.fault(Fault.HANGS)
    until(lambda: cell.state() == "faulted")
    assert "old" in cell.fault()
    assert trouble(cell) == "silent: its process runs and publishes no states"
    goes_on(cell)
    driver.fault(Fault.NONE)
    cell.recover()
    arrives(cell, 0.2)
    old = image_of(cell)
    assert trouble(cell) == ""
    driver.kill()
    until(lambda: cell.state() == "faulted")
    assert trouble(cell) == "its process is dead"
    goes_on(cell)
    driver.start()
    succeeded(cell, old)
    cell.recover()
    arrives(cell, 0.1)


def test_a_device_that_is_late_is_counted_and_one_that_measures_nothing_faults(
    driver: ForeignDriver, cell: ForeignCell
) -> None:
    before = int(image_of(cell).record.late_cycles)
    driver.fault(Fault.SLOW, 1.5 * PERIOD_S)
    until(lambda: int(image_of(cell).record.late_cycles) > before + 10, "late cycles")
    arrives(cell, 0.05)
    assert cell.state() == "enabled"
    cell.move(0.9)
    driver.fault(Fault.NOT_A_NUMBER)
    until(lambda: cell.state() == "faulted")
    until(lambda: not driver.rows(driver.writes - 5)[:, 2].any(), "rest")
    driver.fault(Fault.NONE)
    cell.recover()
    arrives(cell, 0.1)


def test_I27_a_device_that_ends_its_activity_is_activated_again_but_moves_only_when_asked(
    driver: ForeignDriver, cell: ForeignCell
) -> None:
    arrives(cell, 0.1)
    cell.move(0.9)
    driver.fault(Fault.DEACTIVATES)
    until(lambda: cell.state() == "faulted")
    until(lambda: driver.activations == 2, "the second activation")
    assert "the device has ended its activity in write: the pendant says no" in driver.log
    until(lambda: int(image_of(cell).record.state_error) == 0)
    at = cell.position
    goes_on(cell)
    assert cell.position == at and cell.state() == "faulted", "until somebody clears it"
    cell.recover()
    arrives(cell, 0.2)


def test_I26_after_the_executor_is_killed_the_driver_brings_the_device_to_rest(tmp_path: Path) -> None:
    # The system takes some 10 ms to end a large process: less than the two periods in which the ramp can begin.
    period = 0.1
    with ForeignDriver(tmp_path, CELL.replace(f"period: {PERIOD_S}", f"period: {period}")) as driver:
        killed_while_it_moves(driver, period)


def killed_while_it_moves(driver: ForeignDriver, period: float) -> None:
    command = [sys.executable, foreign_executor.__file__, str(driver.workcell), driver.image]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as executor:
        assert executor.stdout is not None and executor.stdout.readline() == "moving\n"
        executor.kill()
    until(lambda: "at rest" in driver.log.split("the executor has ended")[-1], "rest")
    until(lambda: driver.rows(driver.writes - 1)[-1, 2] == 0.0, "the last command")
    velocities = np.trim_zeros(driver.rows()[:, 2], "b")
    faster = np.flatnonzero(np.diff(velocities) >= 0.0)  # cycles before the ramp; a command may have been late in some
    ramp = velocities[faster[-1] + 1 :]
    assert ramp[0] > 0.1, "it moved when its executor was killed"
    assert np.diff(ramp).min() == pytest.approx(-ACCELERATION * period, rel=1e-3)
    assert len(ramp) >= ramp[0] / (ACCELERATION * period) - 1
    assert driver.stop() == 0
    assert driver.shutdowns == 1


def test_an_error_keeps_its_name_beside_the_device_s_own_code(driver: ForeignDriver, cell: ForeignCell) -> None:
    driver.pause(stopped=True)
    try:
        image_of(cell).record.state_error = int(ImageError.STOPPED) | 0x2310 << 8
        assert trouble(cell) == "stopped"
    finally:
        driver.pause(stopped=False)


def test_the_loop_paces_a_driver_that_asks_for_it(tmp_path: Path) -> None:
    with ForeignDriver(tmp_path, CELL.replace("EXTERNAL", "pace: loop, EXTERNAL")) as driver:
        cell = ForeignCell(driver.workcell, driver.image, clock="realtime")
        try:
            tick, reads = cell.tick, driver.reads
            until(lambda: cell.tick > tick + 100)
            assert abs((cell.tick - tick) - (driver.reads - reads)) <= 20, "a cycle for each tick"
            arrives(cell, 0.2)
        finally:
            cell.close()
