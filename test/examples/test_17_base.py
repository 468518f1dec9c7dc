"""A plan as a program of a mobile base: it ends with `done`, and a second time with `object_moved`."""

from __future__ import annotations

import pytest

from robot_rt_control.testing.lockstep_client import LockstepClient

from .planned import straight


def test_a_push_beside_the_box_is_missed(example, tmp_path, monkeypatch):
    module = example("17_base")
    aside = straight(module.WORKCELL, "box", [0.65, 0.0, 0.06], {"base": [-0.2, 0.0, 0.0]})
    target = aside("").plan.header["target"][0]
    target[0] = 1.15
    monkeypatch.setattr(module, "plan_file", aside)
    with LockstepClient(module.WORKCELL) as client:
        assert module.main(client, tmp_path) == ["missed", "missed"]
    assert "object_moved" in (tmp_path / "push.yaml").read_text()


@pytest.mark.long
def test_the_box_is_pushed_and_no_second_time(example, tmp_path):
    module = example("17_base")
    with LockstepClient(module.WORKCELL) as client:
        assert module.main(client, tmp_path) == ["done", "object_moved"]
        assert client.value("camera.x") == pytest.approx(1.15, abs=0.01)
        assert not client.cell.kinds("part_faulted", "action_failed", "command_refused")
