"""A cube is pinched by a plan, and carried back by an ordinary motion."""

from __future__ import annotations

import pytest

from robot_rt_control.testing.lockstep_client import LockstepClient


def test_the_cube_is_pinched_and_carried(example, tmp_path, monkeypatch):
    module = example("19_pinch")
    squeezes = []

    def carry(client, *arguments):
        gripper = client.cell.part("gripper")
        squeezes.append(sum(gripper["position"][:2] - gripper["commanded_position"][:2]))
        module_carry(client, *arguments)

    module_carry = module.carry
    monkeypatch.setattr(module, "carry", carry)
    with LockstepClient(module.WORKCELL) as client:
        pinched, carried = module.main(client, tmp_path)
        assert not client.cell.kinds("part_faulted", "action_failed", "command_refused")
    assert pinched == pytest.approx(0.15, abs=0.005)
    # Held, it creeps, but no farther than until the finger that closes has reached its place.
    (squeeze,) = squeezes
    assert 0.0 < squeeze < 0.004
    assert -0.001 < pinched - module.BACK - carried < squeeze + 0.001
    assert (tmp_path / "carried.png").read_bytes().startswith(b"\x89PNG")
