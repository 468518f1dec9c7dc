"""Fixtures: simulations for tests of the simulated world; each test runs on each engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from robot_rt_control.hardware.info import HardwareInfo, HardwarePart
from robot_rt_control.hardware.lifecycle import HardwareLifecycle, load_plugin
from robot_rt_control.model.workcell.simulators import SIMULATORS, VARIABLE

Start = Callable[..., HardwareLifecycle]


@pytest.fixture(params=SIMULATORS)
def engine(request: pytest.FixtureRequest) -> str:
    """Name of a simulator's plugin."""
    return str(request.param)


@pytest.fixture
def simulator(engine: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each simulator in turn is the one that `simulator` means."""
    monkeypatch.setenv(VARIABLE, engine)
    return engine


@pytest.fixture
def start(engine: str) -> Iterator[Start]:
    """Make an active simulation of parts; all are shut down at the end."""
    running: list[HardwareLifecycle] = []

    def make(*parts: HardwarePart, world: dict[str, Any] | None = None, **parameters: Any) -> HardwareLifecycle:
        info = HardwareInfo(name="sim", parts=parts, parameters={"world": world or {}, **parameters})
        running.append(HardwareLifecycle(load_plugin(engine)(), info))
        running[-1].configure()
        running[-1].activate()
        running[-1].read(0.0, 0.001)
        return running[-1]

    yield make
    for lifecycle in running:
        lifecycle.shutdown()
