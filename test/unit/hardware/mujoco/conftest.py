"""The workcell `table_arm` with changes, on MuJoCo."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.lifecycle import HardwareLifecycle, load_plugin
from robot_rt_control.model.workcell.workcell import load_workcell

CONFIG = Path(__file__).parents[4] / "config"
Changes = tuple[tuple[str, str], ...]
StartScene = Callable[..., HardwareLifecycle]


def changed(text: str, changes: Changes) -> str:
    for old, new in changes:
        assert text.count(old) == 1, (old, text.count(old))
        text = text.replace(old, new)
    return text


@pytest.fixture
def start_scene(tmp_path: Path) -> Iterator[StartScene]:
    """Start the cell; arguments: pairs of old and new text in the workcell file, and in its MJCF."""
    running: list[HardwareLifecycle] = []

    def make(*cell: tuple[str, str], scene: Changes = ()) -> HardwareLifecycle:
        (tmp_path / "scenes").mkdir(exist_ok=True)
        text = changed((CONFIG / "scenes" / "table_arm.xml").read_text(), scene)
        (tmp_path / "scenes" / "table_arm.xml").write_text(text)
        (tmp_path / "cell.yaml").write_text(changed((CONFIG / "table_arm.yaml").read_text(), cell))
        workcell = load_workcell(tmp_path / "cell.yaml")
        running.append(HardwareLifecycle(load_plugin("mujoco")(), hardware_info(workcell, workcell.device("sim"))))
        running[-1].configure()
        running[-1].activate()
        running[-1].read(0.0, 0.001)
        return running[-1]

    yield make
    for lifecycle in running:
        lifecycle.shutdown()
