"""A curved nominal path with a force correction: 5 N within 5 %, on a mat that lies elsewhere than drawn."""

from __future__ import annotations

import pytest

from robot_rt_control.testing.lockstep_client import LockstepClient

pytestmark = pytest.mark.timeout(600)  # with an empty cache, the action types are compiled first


@pytest.mark.long
def test_the_force_is_kept_along_a_curved_path(example, tmp_path, capsys):
    module = example("12_nominal_path")
    with LockstepClient(module.WORKCELL) as client:
        done = module.main(client, tmp_path)
        assert not client.cell.kinds("part_faulted", "action_failed", "switch_dropped")
    assert done["lowest"] > 4.75 and done["highest"] < 5.25, "[N] 5 % of 5 N"
    assert done["peak"] < 7.0
    assert done["beside"] < 0.5e-3, "[m] from the path, as measured"
    assert done["first_correction"] == pytest.approx(-1.7e-3, abs=0.5e-3)
    assert done["last_correction"] > done["first_correction"] + 1.5e-3, "the mat is steeper than drawn"
    assert done["length"] > 0.35 and done["speed"] == pytest.approx(0.03, rel=0.01)
    assert "N, 5 wanted" in capsys.readouterr().out
    for name in ("path.png", "scene.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
