"""docs/tutorial.md, followed word by word beside a running workcell."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from robot_rt_control.application.demo_workcell import DemoWorkcell

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))

from tutorial_steps import Reader, steps  # noqa: E402

pytestmark = pytest.mark.timeout(600)  # the first time, everything is compiled


def test_the_tutorial_leads_to_a_moving_arm(workcell: DemoWorkcell, tmp_path: Path) -> None:
    folder = tmp_path / "nodding"
    folder.mkdir()
    reader = Reader(folder, timeout_s=200.0)
    for step in steps(ROOT / "docs" / "tutorial.md"):
        reader.follow(step)
    assert reader.commands.count("python run_nod.py") == 4
    assert "up to" in reader.output and "angle = 0.2 rad: How far out." in reader.output
