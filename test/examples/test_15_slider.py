"""A push by force, as planned and as commanded."""

from __future__ import annotations

import pytest

from robot_rt_control.testing.lockstep_client import LockstepClient


def test_the_force_is_the_planned_one_and_feedback(example, tmp_path):
    module = example("15_slider")
    with LockstepClient(module.WORKCELL) as client:
        found = module.main(client, tmp_path)
        assert not client.cell.kinds("part_faulted", "action_failed", "command_refused")
    assert 2.0 < found["planned"] < 4.0, "friction takes 2.9 N"
    assert found["left"] == pytest.approx(0.0, abs=0.01)
    assert 0.0 < found["feedback"] < 2.0 * found["planned"]
    assert (tmp_path / "force.png").read_bytes().startswith(b"\x89PNG")
