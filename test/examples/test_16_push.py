"""A planned push; the box is then drawn back, and a second plan brings it to its place."""

from __future__ import annotations

import pytest

from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.testing.plan_replay import simulation


def test_the_box_is_pushed_and_measured(example, tmp_path, monkeypatch):
    module = example("16_push")
    monkeypatch.setattr(module, "CORRECTIONS", 0)
    with LockstepClient(module.WORKCELL) as client:
        [error] = module.main(client, tmp_path)
        assert simulation(client).object_pose("box").position == pytest.approx((0.8, 0.0, 0.04), abs=0.012)
    assert error.normalized < 0.06


@pytest.mark.long
def test_what_is_left_is_planned_again(example, tmp_path, capsys):
    module = example("16_push")
    with LockstepClient(module.WORKCELL) as client:
        plugin = simulation(client)

        def disturb() -> None:
            plugin.move_object("box", Pose(position=(0.75, 0.0, 0.04)))
            client.sleep(0.1)

        errors = module.main(client, tmp_path, disturb)
        assert not client.cell.kinds("part_faulted", "action_failed", "switch_dropped", "command_refused")
        assert plugin.object_pose("box").position == pytest.approx((0.8, 0.0, 0.04), abs=0.006)
    assert errors[0].normalized == pytest.approx(0.25, abs=0.01) and errors[-1].normalized <= module.CLOSE
    assert len(errors) == 2, errors
    assert Plan.load(tmp_path / "last.plan").start_pose.position[0] == pytest.approx(0.75, abs=0.01)
    assert (tmp_path / "scene.png").read_bytes().startswith(b"\x89PNG")
    assert "push 2:" in capsys.readouterr().out
