"""The distance kept over the uneven plate, against the plate as it is."""

from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.lockstep_client import LockstepClient

pytestmark = pytest.mark.timeout(600)  # with an empty cache, the action types are compiled first


@pytest.mark.long
def test_the_distance_is_kept(example, tmp_path, capsys):
    module = example("07_kept_distance")
    with LockstepClient(module.WORKCELL) as client:
        first = module.main(client, tmp_path)
        assert not client.cell.kinds("part_faulted", "action_failed", "switch_dropped")
    assert first["rms"] < 0.1e-3, "true deviation [m]"
    assert first["largest"] < 0.8e-3
    assert first["lowest"] > 4.5e-3, "it never came near the plate"
    # It ends with the first step of 0.05 mm that is commanded beyond 0.44 m; the tool is measured a tick later.
    assert abs(first["length"] - 0.44) < 0.05e-3
    assert 0.045 < first["speed"] <= 0.0501
    assert first["joint_speed"] < 0.5
    assert 0.1e-3 < first["measured_rms"] < 0.15e-3, "the sensor's noise is 0.1 mm"
    assert "440 mm along the plate" in capsys.readouterr().out
    for name in ("distance.png", "scene.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_blind_it_comes_to_rest_and_says_so(example):
    module = example("07_kept_distance")
    parameters = {"distance": 0.1, "speed": 0.1}
    harness = ActionHarness(module.KeepDistance, parameters=parameters)
    sensor = harness.part("sensor")
    sensor.distance = 0.1
    harness.start()
    harness.step(300)
    assert harness.state.is_seen == 1.0 and harness.state.travelled > 0.02
    for unseen in (np.inf, -np.inf, np.nan):
        sensor.distance = unseen
        harness.step(100)
        assert harness.state.is_seen == 0.0
        assert harness.state.tool.twist[1] == harness.state.tool.twist[2] == 0.0
        assert harness.state.error == 0.0, "what was measured before is not spoilt"
