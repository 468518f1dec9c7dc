"""Document 3: two arms and their grippers hand a bar over, by motion groups alone."""

from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.hardware.world.simulator import SimulatorPlugin
from robot_rt_control.testing.lockstep_client import LockstepClient


@pytest.mark.long
def test_two_arms_begin_and_arrive_in_one_tick_and_the_bar_changes_hands(example, tmp_path, capsys):
    module = example("13_hand_over")
    with LockstepClient(module.WORKCELL) as client:
        done = module.main(client, tmp_path)
        assert not client.cell.kinds("part_faulted", "action_failed", "command_refused")
        begun = [e.current_action for e in client.cell.kinds("action_started") if e.session]
        plugin = client.cell.executor.devices.hosts["sim"].plugin
        assert isinstance(plugin, SimulatorPlugin)
        bar = plugin.object_pose("bar")
    assert [name for name in begun if not name.endswith("_action")] == [
        "reach", "pick", "meet", "take", "give", "retreat"
    ]  # fmt: skip
    for group in ("meet", "retreat"):
        assert done[f"{group}_moves_difference"] == 0 and done[f"{group}_arrives_difference"] == 0, "[ticks]"
        assert done[f"{group}_arrives"] > done[f"{group}_moves"] + 100, "[ticks]"
    x, y, z = module.MEETING
    # B's tool looks down: its x is along -x of the world, its y along y.
    true = np.array([-1.0, 1.0, -1.0]) * (bar.position - np.array([x + 0.15, y, z]))
    assert true == pytest.approx([done["x"], 0.0, done["z"]], abs=5e-4), "as the simulator knows it"
    assert done["offset"] < 1e-3, "[m] in B's hand"
    assert abs(bar.orientation[3]) == pytest.approx(1.0, abs=1e-4), "level"
    forces = [done[f"fingers.{hand}_{side}"] for hand in "ab" for side in ("left", "right")]
    assert min(forces) > module.HOLDS and max(forces) < 40.0, "[N]"
    assert done["held"] > module.HOLDS
    assert "difference 0 ticks" in capsys.readouterr().out
    for name in ("hand_over", "handed_over", "apart"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
