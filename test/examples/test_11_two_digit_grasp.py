"""Figures 4A to 4E of document 2: a grasp with two digits in one state, and a drop-off at a new place."""

from __future__ import annotations

import pytest

from robot_rt_control.hardware.world.simulator import SimulatorPlugin
from robot_rt_control.testing.lockstep_client import LockstepClient


def changes_in(events):
    """The changes from one strategy to another, by their text."""
    return {e.reason: e for e in events if e.kind == "strategy_changed" and "→" in e.reason}


def test_each_digit_changes_its_law_by_itself_until_both_hold(example, tmp_path, capsys):
    module = example("11_two_digit_grasp")
    with LockstepClient(module.WORKCELL) as client:
        done = module.main(client, tmp_path)
        assert not client.cell.kinds("part_faulted", "action_failed")
        events, plugin = client.cell.events, client.cell.executor.devices.hosts["sim"].plugin
        assert isinstance(plugin, SimulatorPlugin)
        block = plugin.object_pose("block")
    changes = changes_in(events)
    assert list(changes) == [
        "x: velocity → soft",  # figure 4B
        "x: soft → stop",  # figure 4D
        "z: velocity → soft",
    ], "figure 4E is the exit, in the tick in which z would have changed to stop"
    assert changes["x: soft → stop"].values == pytest.approx((module.FORCE,), abs=0.1), "in the tick that passes it"
    (held,) = (e for e in events if e.event == "held")
    (lift,) = (e for e in events if e.kind == "action_started" and e.current_action == "lift")
    assert lift.tick == held.tick and module.FORCE <= done["second"] < module.FORCE + 0.1, "in a single cycle"
    assert done["first"] >= module.FORCE
    assert done["x_peak"] < 5.0 and done["z_peak"] < 8.0 < module.MOST, "[N] in the whole run"
    assert done["up_to_contact"] < 1e-3 and done["up_with_block"] < 1e-3, "[m] straight up"
    assert block.position == pytest.approx([0.78, -0.35, 0.295], abs=1e-3), "at its new place"
    assert "both hold" in capsys.readouterr().out
    for name in ("grasp", "lifted", "dropped_off"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_the_second_digit_may_touch_first(example, monkeypatch):
    module = example("11_two_digit_grasp")
    monkeypatch.setattr(module, "AHEAD", 0.015)
    monkeypatch.setattr(module, "UP", 0.05)
    with LockstepClient(module.WORKCELL) as client, client.session("arm") as session:
        module.define(session)
        session.start("grasp")
        held = session.wait_for("held", timeout_s=module.PATIENCE)
        assert list(changes_in(session.events)) == ["z: velocity → soft", "z: soft → stop", "x: velocity → soft"]
    assert all(module.FORCE <= force < module.FORCE + 0.3 for force in held.values.values())
