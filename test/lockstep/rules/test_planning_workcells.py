"""The planner's workcells in the tick loop: they come up on both plugins, and their camera sees the body (V25)."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_rt_control.testing.lockstep_cell import LockstepCell

CONFIG = Path(__file__).parents[3] / "config"
POSES = {
    "push": (0.6, 0.0, 0.04),
    "pusher": (0.13, 0.0, 0.05),
    "base_push": (0.65, 0.0, 0.06),
    "base_push_smooth": (0.65, 0.0, 0.06),
    "humanoid": (0.0, 0.0, 0.0),
    "pinch": (0.0, 0.0, 0.04),
}


@pytest.mark.parametrize("hardware", ["mock", "simulator"])
@pytest.mark.parametrize("name", list(POSES))
def test_V25_the_camera_sees_the_body_and_no_part_faults(name: str, hardware: str) -> None:
    with LockstepCell(CONFIG / f"{name}.yaml", hardware=hardware) as cell:
        cell.step(100)
        camera = cell.part("camera")
        assert camera.inputs[:3] == pytest.approx(POSES[name], abs=1e-3)
        assert abs(camera.inputs[6]) == pytest.approx(1.0, abs=1e-3)
        assert (camera.input_age[:7] <= 0.001).all()
        assert not [event for event in cell.events if "fault" in str(event).lower()]
