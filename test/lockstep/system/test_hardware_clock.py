"""The cycle of PyBullet's driver, a process of its own, drives the loop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from robot_rt_control.memory.shared_memory import segment_path
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.realtime.executor.executor import Executor, ExecutorOptions

CONFIG = Path(__file__).parents[3] / "config" / "iiwa.yaml"
PERIOD_S = 0.01
"""Long, so that a busy machine is not taken for a silent simulator."""


@pytest.fixture
def executor(tmp_path: Path) -> Iterator[tuple[Executor, int]]:
    """Beside its driver process, whose id comes with it."""
    (tmp_path / "cell.yaml").write_text(CONFIG.read_text().replace("period: 0.001", f"period: {PERIOD_S}"))
    image = f"rrc_test_{uuid.uuid4().hex[:12]}"
    command = [sys.executable, "-m", "robot_rt_control.hardware.driver", str(tmp_path / "cell.yaml"), "sim"]
    with subprocess.Popen([*command, "--image", image, "--hardware", "simulator"]) as driver:
        made = Executor(
            load_workcell(tmp_path / "cell.yaml", "simulator"),
            ExecutorOptions(clock="hardware", priority=0, lock_memory=False, device_timeout_s=60.0),
            channel_name=None,
            image_name=lambda _: image,
        )
        try:
            made.configure(lambda _: None)
            made.activate()
            yield made, driver.pid
            made.deactivate()
        finally:
            made.cleanup()
            driver.send_signal(signal.SIGCONT)
            driver.send_signal(signal.SIGTERM)
            driver.wait(20.0)
            segment_path(image).unlink(missing_ok=True)


def wait_for(condition: Callable[[], bool], timeout_s: float = 30.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.005)


@pytest.mark.long
def test_the_simulator_drives_the_tick_and_when_it_hangs_the_loop_goes_on(executor: tuple[Executor, int]) -> None:
    core, driver = executor

    def tick() -> int:
        return int(core.channel.snapshot().tick)

    def cycle() -> int:
        return int(core.world.memory.devices[0].last_cycle)

    def states() -> set[str]:
        return {part.operational_state for part in core.part_status() if part.name == "arm"}

    wait_for(lambda: states() == {"enabled"})
    first_tick, first_cycle = tick(), cycle()
    wait_for(lambda: tick() >= first_tick + 200)
    # If the machine stalls for more than five periods, the loop ticks by itself; that is rare.
    assert abs((tick() - first_tick) - (cycle() - first_cycle)) <= 20
    os.kill(driver, signal.SIGSTOP)
    stopped = tick()
    wait_for(lambda: states() == {"faulted"})
    assert 50 < tick() - stopped < 150, "max_age_ticks is 50: it noticed in time, and ticked all the while"
    still = tick()
    wait_for(lambda: tick() > still + 20)
    os.kill(driver, signal.SIGCONT)
    wait_for(lambda: float(core.channel.snapshot().parts[0].measured.age) < 5)
    assert states() == {"faulted"}, "until somebody clears it"
