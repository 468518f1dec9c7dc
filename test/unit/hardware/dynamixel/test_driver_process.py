"""The real driver process with servos on a pseudo-terminal: it moves them; killed, its servos stop by themselves."""

from __future__ import annotations

import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import numpy as np
import pytest
from dynamixel_bus import Servo, ServoLine

from robot_rt_control.hardware.image import read_state, write_command
from robot_rt_control.hardware.process_image import ProcessImage
from robot_rt_control.memory.joint_modes import pack_modes
from robot_rt_control.memory.layout import device_dtype
from robot_rt_control.memory.shared_memory import segment_path
from robot_rt_control.vocabulary.enums import CommandMode, ImageError
from robot_rt_control.vocabulary.errors import ChannelError

CONFIG = Path(__file__).resolve().parents[4] / "config" / "dynamixel.yaml"
PERIOD_S = 0.1
"""Long: a busy machine may hold up the simulated servos for three periods."""


class Loop:
    """The executor's side of the image, by hand."""

    def __init__(self, image: ProcessImage, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.image, self.device = image, np.zeros(1, device_dtype)[0]
        image.connect_device(self.device)

    def until(self, holds: Callable[[], bool], what: str) -> None:
        given_up = time.monotonic() + 60.0
        while not holds():
            read_state(self.image.address, self.device)
            write_command(self.image.address, self.device)
            ended = self.process.poll() is not None or time.monotonic() > given_up
            if ended:
                self.process.kill()
                said = self.process.communicate()[1]
                raise AssertionError(f"{what}: {self.device.state[: self.device.n_state]}; the driver: {said}")
            time.sleep(PERIOD_S / 10)

    def place(self, interface: str) -> int:
        return self.image.manifest.command.index(interface)


@pytest.fixture
def line() -> Iterator[ServoLine]:
    with ServoLine(Servo(1, 1020, 2100), Servo(2, 1020, 2000), Servo(3, 1060, 2600)) as made:
        yield made


@pytest.fixture
def start(line: ServoLine, tmp_path: Path) -> Iterator[Callable[[], tuple[subprocess.Popen[str], Loop]]]:
    """Starts the driver, and attaches to it."""
    text = CONFIG.read_text().replace("/dev/ttyUSB0", line.port).replace("period: 0.01", f"period: {PERIOD_S}")
    file, image = tmp_path / "cell.yaml", f"rrc_test_{uuid.uuid4().hex[:12]}"
    file.write_text(text.replace("watchdog: 0.2", "watchdog: 1.0\n      answer_timeout: 2.0"))
    command = [sys.executable, "-m", "robot_rt_control.hardware.driver", str(file), "bus", "--image", image]
    with ExitStack() as stack:

        def run() -> tuple[subprocess.Popen[str], Loop]:
            process = stack.enter_context(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
            stack.callback(process.kill)
            given_up = time.monotonic() + 120.0
            while True:
                with suppress(ChannelError):
                    found = ProcessImage.attach(image)
                    if found.driver_alive():
                        stack.callback(found.close)
                        return process, Loop(found, process)
                    found.close()
                assert process.poll() is None, process.stderr.read() if process.stderr else ""
                assert time.monotonic() < given_up, "the driver does not come up"
                time.sleep(0.02)

        yield run
    segment_path(image).unlink(missing_ok=True)


def turn(loop: Loop, velocity: float) -> None:
    """Command the head to turn, in velocity mode."""
    loop.until(lambda: loop.image.record.state_error == ImageError.NONE, "it has seen that no commands are enabled")
    head = loop.image.manifest.indices[loop.image.manifest.parts.index("head")]
    loop.device.mode[head] = pack_modes([CommandMode.VELOCITY] * 2)
    loop.device.command[loop.place("head/pan/velocity")] = velocity
    loop.device.enabled = 1


def test_it_moves_servos_which_stop_when_it_is_killed_and_its_successor_moves_them_again(
    line: ServoLine, start: Callable[[], tuple[subprocess.Popen[str], Loop]]
) -> None:
    pan, tilt = line.servos[1], line.servos[2]
    process, loop = start()
    known = loop.image.manifest.state.index("head/pan/position")
    loop.until(lambda: bool(np.isfinite(loop.device.state[known])), "its state")
    turn(loop, 0.3)
    loop.until(lambda: pan.speed > 0.0 and tilt.torque, "it turns")
    process.kill()
    process.wait()
    given_up = time.monotonic() + 60.0
    while pan.table[98] != 0xFF:
        assert time.monotonic() < given_up, "its watchdog has not stopped it"
        time.sleep(0.02)
    assert pan.speed == 0.0 and pan.torque, "it holds"
    stopped = pan.position
    process, loop = start()
    loop.until(lambda: bool(np.isfinite(loop.device.state[known])), "its state after a restart")
    assert pan.torque and abs(pan.position - stopped) < 2.0, "the new driver neither moves nor drops it"
    turn(loop, -0.3)
    loop.until(lambda: pan.speed < 0.0, "it turns back")
    loop.device.enabled = 0
    loop.until(lambda: pan.get(104, 4) == 0, "it is at rest")
    process.terminate()
    assert process.wait(60.0) == 0, process.stderr.read() if process.stderr else ""
