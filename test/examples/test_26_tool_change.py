"""A program puts a tool into a rack and takes another one, led by contact; without a tool there it ends."""

from __future__ import annotations

import pytest

from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.event_kinds import Kind


def test_one_tool_is_put_down_and_another_taken(example, capsys: pytest.CaptureFixture[str]) -> None:
    tools = example("26_tool_change")
    with LockstepClient(tools.WORKCELL) as client:
        rack = tools.Rack(client)
        assert tools.main(client) == ["gripper", "none", "driver"]
        assert rack.held == "driver"
        cell = client.cell
        assert [e.reason for e in cell.kinds("tool_changed")] == ["none", "driver"]
        fired = [e.event for e in cell.events if e.kind == Kind.REACTION_FIRED and e.event]
        assert fired == ["old_tool_in_rack", "none_is_on", "flange_on_new_tool", "driver_is_on", "done"]
        assert not cell.kinds("action_failed") and not cell.kinds("part_faulted")
    assert "driver is on" in capsys.readouterr().out


def test_a_missing_tool_ends_the_program(example) -> None:
    tools = example("26_tool_change")
    with LockstepClient(tools.WORKCELL) as client:
        tools.Rack(client)
        cell = client.cell
        cell.drive_sensor("coupling/driver_on", lambda: 0.0)  # it never comes into the coupling
        client.enable("arm")
        with client.session(["arm", "wrist", "coupling"]) as session:
            session.add(*tools.actions())
            session.start("ready", "watch")
            session.wait_for("no_tool", timeout_s=60.0)
            assert [e.reason for e in cell.kinds("tool_changed")] == ["none"]
            assert session.value("arm.tool") == 0.0 and "take" not in session.active
