"""A cube is pinched by a plan, and carried back by an ordinary motion."""

from __future__ import annotations

import pytest

from robot_rt_control.testing.lockstep_client import LockstepClient


def test_the_cube_is_pinched_and_carried(example, tmp_path):
    module = example("19_pinch")
    with LockstepClient(module.WORKCELL) as client:
        pinched, carried = module.main(client, tmp_path)
        assert not client.cell.kinds("part_faulted", "action_failed", "command_refused")
    assert pinched == pytest.approx(0.15, abs=0.005)
    assert carried == pytest.approx(pinched - module.BACK, abs=0.003)
    assert (tmp_path / "carried.png").read_bytes().startswith(b"\x89PNG")
