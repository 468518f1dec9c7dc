"""The workcell that is attacked."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.kill_attack import CLOCK, HARDWARE, MAX_AGE_TICKS, STOPPED, VICTIMS, driven_workcell
from robot_rt_control.bringup.bringup import BringupOptions, ProcessDescription, processes
from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.lifecycle import HardwareLifecycle, load_plugin
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.enums import CommandMode


def test_each_victim_is_a_process_of_its_own(tmp_path: Path) -> None:
    file = driven_workcell(tmp_path)
    options = BringupOptions(workcell=file, hardware=HARDWARE, clock=CLOCK, program="mover.py", blueprints=True)
    described = {p.executable for p in processes(options) if isinstance(p, ProcessDescription)}
    assert {STOPPED.get(victim, victim) for victim in VICTIMS} - {"client", "editor"} <= described


def test_lost_cycles_do_not_look_like_a_fast_joint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workcell = load_workcell(driven_workcell(tmp_path), HARDWARE)
    (device,) = workcell.devices
    assert device.max_age_ticks == MAX_AGE_TICKS
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    driver = HardwareLifecycle(load_plugin(HARDWARE)(), hardware_info(workcell, device))
    driver.configure()
    driver.activate()
    driver.switch_modes({"arm": CommandMode.POSITION})
    speeds = []
    for cycle in range(600):
        now[0] += 0.04 if cycle == 300 else 0.001
        driver.command[0] = now[0]  # 1 rad/s
        driver.write(now[0], 0.001)
        driver.read(now[0], 0.001)
        speeds.append(driver.state[1])
    assert speeds[299] == pytest.approx(1.0, abs=0.01) and max(speeds) < 1.31
    assert speeds[-1] == pytest.approx(1.0, abs=0.01)
