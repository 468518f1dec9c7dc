"""The five tasks that are compared with ros2_control, run in simulated time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.compared_tasks import TASKS, load
from robot_rt_control.testing.lockstep_client import LockstepClient

CONFIG = Path(__file__).resolve().parents[3] / "config"


def positions(client: LockstepClient) -> np.ndarray:
    return np.array([client.value(f"arm.position[{i}]") for i in range(7)])


def test_all_tasks_are_here() -> None:
    assert set(TASKS) == {name.removeprefix("test_") for name in globals() if name.removeprefix("test_") in TASKS}


def test_follow_trajectory() -> None:
    with LockstepClient(CONFIG / "arm7.yaml") as client:
        task = load("follow_trajectory")
        seen: list[np.ndarray] = []
        client.cell.after_tick.append(lambda: seen.append(positions(client)))
        task.main(client)
        np.testing.assert_allclose(positions(client), task.POINTS[-1], atol=1e-3)
    for point in task.POINTS:
        assert np.abs(np.array(seen) - point).max(axis=1).min() < 2e-3, "it passes each point"


def test_stop_on_contact() -> None:
    with LockstepClient(CONFIG / "arm7.yaml") as client:
        client.cell.drive_sensor("wrist/force.z", lambda: 6.0 if client.value("arm.position[0]") > 0.2 else 0.0)
        task = load("stop_on_contact")
        task.main(client)
        assert 0.2 < positions(client)[0] < 0.3 < task.GOAL[0]


def test_switch_on_sensor() -> None:
    with LockstepClient(CONFIG / "arm7.yaml") as client:
        task = load("switch_on_sensor")
        task.main(client)
        assert 0.25 < positions(client)[0] < task.GOAL[0] - 0.1
        assert client.value("arm.at_rest")


def test_hold_force() -> None:
    with LockstepClient(CONFIG / "contact.yaml") as client:
        weight = client.value("wrist.force.z")
        load("hold_force").main(client)
        assert client.value("wrist.force.z") - weight == pytest.approx(-5.0, abs=0.2)


def test_follow_stream() -> None:
    with LockstepClient(CONFIG / "arm7.yaml") as client:
        seen: list[float] = []
        client.cell.after_tick.append(lambda: seen.append(client.value("arm.position[0]")))
        load("follow_stream").main(client)
        assert positions(client)[0] == pytest.approx(0.0, abs=0.002)
    assert max(seen) == pytest.approx(0.2, abs=0.01)
