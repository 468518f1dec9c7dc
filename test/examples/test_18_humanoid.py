"""All limbs of a plan begin in one tick."""

from __future__ import annotations

import pytest

from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.testing.lockstep_client import LockstepClient

from .planned import straight


def test_V16_all_parts_begin_in_one_tick(example, tmp_path, monkeypatch, capsys):
    module = example("18_humanoid")
    limbs = {part.name: [0.1] * part.dof for part in load_workcell(module.WORKCELL).parts if part.dof}
    monkeypatch.setattr(module, "plan_file", straight(module.WORKCELL, "left_arm.torso", [0.0, 0.0, 0.0], limbs))
    with LockstepClient(module.WORKCELL) as client:
        begun = module.main(client, tmp_path)
    assert len(begun) == len(limbs) and len(set(begun.values())) == 1
    assert "limb face from 0.55 to 1.00 s" in capsys.readouterr().out


@pytest.mark.long
def test_the_torso_is_pushed_up(example, tmp_path):
    module = example("18_humanoid")
    with LockstepClient(module.WORKCELL) as client:
        begun = module.main(client, tmp_path)
        assert len(set(begun.values())) == 1
        assert client.value("camera.z") > 0.14
        assert not client.cell.kinds("part_faulted", "action_failed", "command_refused")
