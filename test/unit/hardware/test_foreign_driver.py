"""The C++ library of foreign drivers, with the tests as its executor: every command is written by hand."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from foreign_driver import Fault, ForeignDriver, rehearsal_program, until

from robot_rt_control.hardware.external_device import external_device, to_json
from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.image import read_state, write_command
from robot_rt_control.hardware.process_image import ProcessImage
from robot_rt_control.hardware.rest_ramp import RestRamp
from robot_rt_control.memory.layout import device_dtype
from robot_rt_control.memory.shared_memory import _whole_file, segment_path
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.enums import CommandMode, DriverMode, ImageError
from robot_rt_control.vocabulary.errors import ChannelError

PERIOD_S = 0.04
"""Long, so that a busy machine is not taken for a silent executor."""
CELL = f"""
name: foreign
period: {PERIOD_S}
parts:
  axis:
    kind: base
    device: drive
    joints: [{{name: x, type: prismatic, position_lower: -1.0, position_upper: 1.0, velocity: 0.5}}]
    command_modes: [position, velocity]
  tool: {{kind: io, device: drive, outputs: {{cup: {{}}, lamp: {{safe: false}}}}}}
devices:
  drive: {{external: {{answer: 0.95, EXTERNAL}}}}
"""


class ByHand:
    """The executor's side of an image."""

    def __init__(self, driver: ForeignDriver, *, withdraws: bool = True) -> None:
        self.image = self._attach(driver.image)
        self.device = np.zeros(1, device_dtype)[0]
        self.image.connect_device(self.device)
        if withdraws:  # as each executor begins
            self.until_written(lambda: self.device.last_cycle > 0 and self.error == 0, CommandMode.NONE)

    @staticmethod
    def _attach(name: str) -> ProcessImage:
        deadline = time.monotonic() + 60.0
        while True:
            try:
                return ProcessImage.attach(name)
            except ChannelError:
                assert time.monotonic() < deadline
                time.sleep(0.01)

    def read(self) -> float:
        """Wait for the next states; returns the axis's position."""
        until(lambda: read_state(self.image.address, self.device) != 0, "the next states", pause_s=0.0005)
        return float(self.device.state[0])

    def write(self, mode: CommandMode = CommandMode.NONE, position: float = 0.0, velocity: float = 0.0) -> None:
        self.device.enabled = mode != CommandMode.NONE
        self.device.mode[0] = mode
        self.device.command[:2] = position, velocity
        write_command(self.image.address, self.device)

    def until_written(self, condition: Callable[[], object], mode: CommandMode, position: float = 0.0) -> None:
        """Answer each state with the same command until the condition holds."""
        while not condition():
            self.read()
            self.write(mode, position)

    def die(self) -> None:
        """As if the kernel ended this process: the lock is gone, and the last command stays as it is."""
        segment = self.image._segment
        assert segment is not None
        fcntl.fcntl(segment.descriptor, fcntl.F_OFD_SETLK, _whole_file(fcntl.F_UNLCK))

    @property
    def error(self) -> int:
        return int(self.image.record.state_error)

    @property
    def reason(self) -> str:
        return bytes(self.image.record.driver_reason).partition(b"\0")[0].decode()


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[ForeignDriver]:
    with ForeignDriver(tmp_path, CELL) as started:
        yield started


@pytest.fixture
def loop(driver: ForeignDriver) -> Iterator[ByHand]:
    made = ByHand(driver)
    yield made
    made.image.close()


def test_I25_the_command_of_the_states_just_published_is_written_in_their_cycle(
    driver: ForeignDriver, loop: ByHand
) -> None:
    loop.image.record.is_clock = 1
    for _ in range(60):
        loop.read()
        loop.write(CommandMode.POSITION, 1e-3 * float(loop.device.last_cycle))
    until(lambda: driver.rows()[-1, 0] >= 40, "the cycles")
    rows = driver.rows()
    rows = rows[rows[:, 3] == CommandMode.POSITION][1:]
    answered = np.isclose(rows[:, 1], 1e-3 * rows[:, 0], atol=1e-12)
    assert len(rows) > 20 and answered.any()
    assert (~answered).sum() <= loop.image.record.unanswered_cycles, "otherwise the driver counts it"


def test_a_command_of_old_states_is_not_followed(driver: ForeignDriver, loop: ByHand) -> None:
    loop.until_written(lambda: driver.rows()[-1:, 3].any(), CommandMode.POSITION, 0.1)
    first = int(loop.device.last_cycle)
    while loop.error == 0:
        loop.read()
        loop.device.last_cycle, seen = first, loop.device.last_cycle
        loop.write(CommandMode.POSITION, 0.1 if seen < first + 10 else 0.9)
        loop.device.last_cycle = seen
    assert loop.error == ImageError.EXECUTOR_SILENT
    assert driver.rows()[:, 1].max() == 0.1, "it has not gone to 0.9"


def test_I26_when_the_executor_ends_the_device_is_brought_to_rest_as_by_a_driver_in_python(
    driver: ForeignDriver, loop: ByHand
) -> None:
    loop.device.command[2 + 1 : 2 + 3] = 1.0  # cup and lamp
    goal, step = 0.0, 0.016  # [m] 0.4 m/s
    while len(driver.rows()) == 0 or driver.rows()[-1, 1] < 0.2:
        loop.read()
        goal += step
        loop.write(CommandMode.POSITION, goal)
    loop.die()
    until(lambda: loop.error != 0 and loop.image.record.driver_mode == DriverMode.HOLDING, "rest")
    assert loop.error == ImageError.EXECUTOR_SILENT and loop.reason.startswith("the executor has ended")
    positions = driver.rows()[:, 1]
    begin = int(np.argmin(np.abs(positions - goal)))
    assert positions[begin] == goal
    workcell = load_workcell(driver.workcell, "external")
    part = hardware_info(workcell, workcell.devices[0]).parts[0]
    command = np.array([positions[begin], 0.0, 0.0])
    ramp = RestRamp(part, (CommandMode.POSITION,), command, [step / PERIOD_S], command)
    expected = []
    while not ramp.at_rest:
        ramp.step(PERIOD_S)
        expected.append(command[0])
    np.testing.assert_allclose(positions[begin + 1 : begin + 1 + len(expected)], expected, atol=1e-9)
    loop = ByHand(driver)
    outputs = [loop.image.manifest.state.index(f"tool/{name}") for name in ("cup", "lamp")]
    loop.read()
    assert list(loop.device.state[outputs]) == [1.0, 0.0], "only the lamp has a safe value"
    loop.until_written(lambda: loop.error == 0, CommandMode.NONE)
    loop.until_written(lambda: driver.rows()[-1, 1] == 0.25, CommandMode.POSITION, 0.25)


def test_I26_a_device_that_the_loop_paces_is_braked_in_the_time_of_its_ramp(tmp_path: Path) -> None:
    slow = CELL.replace("answer: 0.95", "pace: loop").replace(
        "    command_modes", "    limits: {acceleration: 0.1}\n    command_modes"
    )
    with ForeignDriver(tmp_path, slow) as driver:
        loop = ByHand(driver)
        for _ in range(10):
            loop.write(CommandMode.VELOCITY, velocity=0.4)
            loop.read()
        loop.die()
        begun = time.monotonic()
        until(lambda: loop.error != 0 and loop.image.record.driver_mode == DriverMode.HOLDING, "rest")
        ramp_s = 0.4 / (0.1 * 1.2)
        assert ramp_s - 0.2 < time.monotonic() - begun < 1.5 * ramp_s
        loop.image.close()


def test_I26_when_the_executor_hangs_the_device_is_brought_to_rest_and_is_not_moved_again(
    driver: ForeignDriver, loop: ByHand
) -> None:
    for position in 0.004 * np.arange(1, 30):
        loop.read()
        loop.write(CommandMode.POSITION, position)
    until(lambda: loop.error != 0 and loop.image.record.driver_mode == DriverMode.HOLDING, "rest")
    assert loop.error == ImageError.EXECUTOR_SILENT and loop.reason.startswith("no command for 51 periods")
    assert driver.rows()[-1, 1] == position, "it stood there already"
    loop.until_written(lambda: loop.error == 0, CommandMode.NONE)
    for _ in range(5):
        loop.read()
        loop.write(CommandMode.VELOCITY, velocity=0.4)
    first = driver.writes
    until(lambda: loop.error != 0 and loop.image.record.driver_mode == DriverMode.HOLDING, "rest")
    until(lambda: driver.rows()[-1, 2] == 0.0, "the last command")
    velocities = driver.rows(first)[:, 2]
    assert velocities[0] == pytest.approx(0.4)
    assert np.diff(velocities).min() == pytest.approx(-2.0 * 1.2 * PERIOD_S, abs=1e-6)


def test_I26_what_has_stood_while_the_device_hung_is_not_set_in_motion_again(
    driver: ForeignDriver, loop: ByHand
) -> None:
    for position in 0.016 * np.arange(1, 20):
        loop.read()
        loop.write(CommandMode.POSITION, position)
    driver.fault(Fault.HANGS)
    time.sleep(10 * PERIOD_S)
    stood, first = driver.rows()[-1, 1], driver.writes
    loop.write()  # the executor has faulted the part for its age, has braked, and withdraws its enable
    driver.fault(Fault.NONE)
    until(lambda: driver.writes > first + 10, "cycles after it")
    assert stood > 0.2 and set(driver.rows(first)[:, 1]) == {stood}
    assert loop.image.record.driver_mode == DriverMode.HOLDING


def test_I25_commands_that_were_missed_while_the_device_hung_are_not_made_up_in_one_step(
    driver: ForeignDriver, loop: ByHand
) -> None:
    loop.until_written(lambda: driver.rows()[-1:, 3].any(), CommandMode.POSITION)
    driver.fault(Fault.HANGS)
    time.sleep(10 * PERIOD_S)
    first = driver.writes
    driver.fault(Fault.NONE)
    # The executor has moved on meanwhile.
    loop.until_written(lambda: driver.rows()[-1, 1] == 0.3, CommandMode.POSITION, 0.3)
    steps = np.diff(driver.rows(first - 1)[:, 1])
    assert steps.max() <= 1.1 * 1.05 * 0.5 * 2 * PERIOD_S + 1e-9, "at most two periods of the fastest motion in a cycle"


def test_I26_what_is_enabled_while_the_device_brakes_is_followed_once_it_is_at_rest_and_without_a_jump(
    driver: ForeignDriver, loop: ByHand
) -> None:
    goal, step = 0.0, 0.016  # [m] 0.4 m/s
    while len(driver.rows()) == 0 or driver.rows()[-1, 1] < 0.2:
        loop.read()
        goal += step
        loop.write(CommandMode.POSITION, goal)
    loop.until_written(lambda: loop.image.record.driver_mode == DriverMode.BRAKING, CommandMode.NONE)
    first = driver.writes
    loop.until_written(lambda: driver.rows()[-1, 1] == 0.1, CommandMode.POSITION, 0.1)
    way = driver.rows(first - 1)[:, 1]
    assert way.max() > goal - 1e-9 and loop.error == 0
    rest = int(way.argmax())
    assert rest == 0 or np.abs(np.diff(way[: rest + 1], 2)).max(initial=0.0) <= 2.0 * 1.2 * PERIOD_S**2 + 1e-9
    assert np.diff(way).min() >= -1.1 * 1.05 * 0.5 * 2 * PERIOD_S - 1e-9


def test_I26_an_effort_is_not_held_for_an_executor_that_hangs(tmp_path: Path) -> None:
    torque = CELL.replace("velocity: 0.5}", "velocity: 0.5, effort: 10.0}").replace("velocity]", "velocity, effort]")
    with ForeignDriver(tmp_path, torque) as driver:
        loop = ByHand(driver)
        loop.device.command[2] = 3.0
        loop.until_written(lambda: driver.rows()[-1:, 3].any(), CommandMode.EFFORT)
        until(lambda: loop.error != 0, "the end of its patience")
        assert loop.error == ImageError.EXECUTOR_SILENT and loop.reason.startswith("no command for 6 periods")
        until(lambda: driver.rows()[-1, 3] == CommandMode.POSITION, "a held position")
        loop.image.close()


@pytest.mark.parametrize(
    ("fault", "position", "reason"),
    [
        (Fault.REFUSES_MODES, 0.1, "the command modes are refused: not in this pose"),
        (Fault.NONE, np.nan, "axis/x: the command is not finite"),
    ],
)
def test_what_cannot_be_followed_is_not_sent_until_the_executor_withdraws_it(
    driver: ForeignDriver, loop: ByHand, fault: Fault, position: float, reason: str
) -> None:
    driver.fault(fault)
    loop.until_written(lambda: loop.error != 0, CommandMode.POSITION, position)
    assert (loop.error, loop.reason) == (ImageError.MODE_REFUSED, reason)
    assert not driver.rows()[:, 3].any()
    driver.fault(Fault.NONE)
    loop.until_written(lambda: loop.error == 0, CommandMode.NONE)
    loop.until_written(lambda: driver.rows()[-1, 1] == 0.1, CommandMode.POSITION, 0.1)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault.WRITE_ERROR, "write returned ERROR"),
        (Fault.READ_THROWS, "read threw: bus off"),
        (Fault.WRITE_THROWS, "write threw something that is no std::exception"),
        (Fault.SWITCH_THROWS, "switch of command modes threw something that is no std::exception"),
    ],
)
def test_a_device_that_fails_is_published_and_called_no_more(
    driver: ForeignDriver, loop: ByHand, fault: Fault, reason: str
) -> None:
    loop.until_written(lambda: len(driver.rows()) > 3, CommandMode.POSITION, 0.1)
    driver.fault(fault)
    if fault == Fault.SWITCH_THROWS:
        loop.until_written(lambda: driver.process.poll() is not None or loop.error, CommandMode.VELOCITY)
    assert driver.process.wait(60.0) == 1
    writes = driver.writes
    assert (loop.error, loop.reason) == (ImageError.DEVICE, reason)
    assert driver.shutdowns == 1 and driver.writes == writes
    assert f"ERROR hardware 'drive': {reason}" in driver.log


def test_I27_a_device_that_cannot_be_activated_again_stays_inactive(driver: ForeignDriver, loop: ByHand) -> None:
    loop.until_written(lambda: driver.writes > 3, CommandMode.POSITION, 0.1)
    driver.fault(Fault.STAYS_INACTIVE)
    loop.until_written(lambda: loop.error == ImageError.INACTIVE, CommandMode.POSITION, 0.1)
    writes = driver.writes
    loop.until_written(lambda: "cannot be activated again: the brake" in loop.reason, CommandMode.NONE)
    assert loop.error == ImageError.INACTIVE and driver.writes == writes
    driver.fault(Fault.NONE)
    loop.until_written(lambda: loop.error == 0, CommandMode.NONE)
    assert driver.activations == 2


def test_I26_a_successor_follows_no_commands_that_were_enabled_for_another_driver(
    driver: ForeignDriver, loop: ByHand
) -> None:
    loop.until_written(lambda: driver.rows()[-1:, 3].any(), CommandMode.POSITION, 0.1)
    driver.kill()
    first = driver.writes
    driver.start()
    loop = ByHand(driver, withdraws=False)
    loop.until_written(lambda: driver.writes > first + 10, CommandMode.POSITION, 0.5)
    assert loop.error == ImageError.EXECUTOR_SILENT and not driver.rows(first)[:, 1].any()
    assert loop.reason == "commands that were enabled before this driver began are not followed"
    loop.until_written(lambda: loop.error == 0, CommandMode.NONE)
    loop.until_written(lambda: driver.rows()[-1, 1] == 0.1, CommandMode.POSITION, 0.1)


def test_on_sigterm_it_brakes_first(driver: ForeignDriver, loop: ByHand) -> None:
    loop.device.command[:] = 0.0
    for _ in range(10):
        loop.read()
        loop.write(CommandMode.VELOCITY, velocity=0.4)
    until(lambda: driver.rows()[-1, 2] == pytest.approx(0.4), "the motion")
    assert driver.stop() == 0
    assert loop.error == ImageError.DRIVER_ENDING
    assert driver.rows()[-1, 2] == 0.0 and driver.shutdowns == 1
    assert not loop.image.driver_alive()


def test_a_device_that_cannot_be_braked_from_efforts_is_released_as_by_a_driver_in_python(tmp_path: Path) -> None:
    torque = CELL.replace("velocity: 0.5}", "velocity: 0.5, effort: 10.0}").replace("velocity]", "velocity, effort]")
    with ForeignDriver(tmp_path, torque) as driver:
        loop = ByHand(driver)
        driver.fault(Fault.KEEPS_EFFORT)
        loop.until_written(lambda: driver.rows()[-1:, 3].any(), CommandMode.EFFORT)
        loop.die()
        until(lambda: driver.process.poll() is not None or driver.rows()[-1, 3] == CommandMode.NONE, "its release")
        until(lambda: loop.error != 0, "the states of the next cycle")
        assert driver.process.poll() is None and loop.error == ImageError.EXECUTOR_SILENT
        loop.image.close()


def test_a_device_is_not_activated_once_its_driver_was_asked_to_end(driver: ForeignDriver, loop: ByHand) -> None:
    driver.stop()
    activations = driver.activations
    driver.fault(Fault.OPENS_SLOWLY)
    driver.start()
    image = segment_path(driver.image)
    until(lambda: image.exists() and image.stat().st_size > 0, "its image")
    driver.process.send_signal(signal.SIGTERM)
    time.sleep(0.5)
    driver.fault(Fault.NONE)
    assert driver.process.wait(60.0) == 0
    assert driver.activations == activations and driver.shutdowns == 2


def test_it_ends_though_nobody_reads_what_it_says(driver: ForeignDriver, loop: ByHand) -> None:
    driver.stop()
    reader, writer = os.pipe()
    os.write(writer, bytes(fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)))  # it is full
    command = [sys.executable, "-m", "robot_rt_control.hardware.external_driver", str(driver.workcell), "drive"]
    ends = subprocess.Popen([*command, "--hardware", "external", "--image", driver.image], stderr=writer)
    again = ByHand(driver)
    ends.send_signal(signal.SIGTERM)
    try:
        assert ends.wait(20.0) == 0
    finally:
        ends.kill()
        os.close(reader)
        os.close(writer)
        again.image.close()


def test_what_it_cannot_use_is_refused(tmp_path: Path) -> None:
    program = rehearsal_program()

    def refusal(*arguments: str) -> str:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60.0)
        assert done.returncode == 1
        return done.stderr

    assert "expected the file of the device's description" in refusal()
    assert "'/no/such.json' cannot be read" in refusal("/no/such.json")
    driver = ForeignDriver(tmp_path, CELL, refuses="no answer from 192.168.1.5")
    workcell = load_workcell(driver.workcell, "external")
    description = external_device(workcell, workcell.devices[0], driver.image)
    file = tmp_path / "device.json"

    def of(**changes: object) -> str:
        file.write_text(to_json({**description, **changes}))
        return refusal(str(file))

    assert of() == "ERROR hardware 'drive': no answer from 192.168.1.5\n"
    assert "layout of the process image: expected" in of(layout="1")
    assert "pace: expected own, device or loop, got 'fast'" in of(pace="fast")
    assert "'period_s': expected a number" in of(period_s="1")
    assert "period_s: expected from 0.00001 to 1" in of(period_s=1e-10)
    assert "answer: expected from 0 to 0.95" in of(answer=1e9)
    assert "answer: expected from 0 to 0.95" in of(answer=-1.0)
    assert "silence_periods: expected from 3 to 10000" in of(silence_periods=0)
    assert "indices: expected one for each part" in of(indices=[0])
    assert "state: expected an index below" in of(outputs=[{**description["outputs"][0], "state": 99}])
    assert "process image 'a/b': expected a plain file name" in of(image="a/b")
    file.write_text(to_json(description).replace('"answer": 0.95', '"answer": 1e999'))
    assert "expected a finite number before it" in refusal(str(file))
    file.write_text(json.dumps(description)[:-2])
    assert "JSON, byte" in refusal(str(file))


def test_a_second_driver_is_refused(driver: ForeignDriver, loop: ByHand) -> None:
    first = driver.process
    driver.start()
    assert driver.process.wait(60.0) == 1
    assert "a running process owns it; expected one driver" in driver.log
    loop.read()
    driver._process = first
