"""Strategies of both axes in one state: into the corner, with the force held against the first wall."""

from __future__ import annotations

from robot_rt_control.testing.lockstep_client import LockstepClient


def test_each_axis_changes_its_law_by_itself(example, tmp_path, capsys):
    module = example("10_corner")
    with LockstepClient(module.WORKCELL) as client:
        done = module.main(client, tmp_path)
        assert not client.cell.kinds("part_faulted", "action_failed")
    assert done["lowest"] > 4.75 and done["highest"] < 5.25, "[N] while it slides along the wall"
    assert min(done["x_least"], done["y_least"]) > 4.75 and max(done["x_most"], done["y_most"]) < 5.25, "in the corner"
    assert done["peak"] < 15.0
    assert done["x_velocity"] > 0.5 and done["x_distance"] > 0.5 and done["y_velocity"] > done["x_velocity"]
    assert "in the corner after" in capsys.readouterr().out
    assert (tmp_path / "corner.png").read_bytes().startswith(b"\x89PNG")
