"""Contact, then compliance: what the example claims, and what the force would be without it."""

from __future__ import annotations

import math

import pytest

from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.lockstep_client import LockstepClient

pytestmark = pytest.mark.timeout(600)  # with an empty cache, the action types are compiled first

SOFT = {"force": 10.0, "mass": 5.0, "damping": 500.0, "weight": 2.0}


@pytest.mark.long
def test_contact_is_found_and_the_arm_becomes_compliant(example, tmp_path, capsys):
    module = example("08_contact_admittance")
    with LockstepClient(module.WORKCELL) as client:
        first = module.main(client, tmp_path)
        assert not client.cell.kinds("part_faulted", "action_failed", "switch_dropped")
    assert first["ticks_to_switch"] == 0, "in the very tick"
    # At 20 mm/s the mat's damper (100 N s/m) gives 2 N at the touch, its spring (20 kN/m) 0.4 N more in each tick, and
    # the felt force lags by 5 ticks.
    assert 10 <= first["ticks_to_threshold"] <= 14
    assert 5.0 < first["force_at_switch"] < 5.0 + 5 * 0.45
    assert 10.0 <= first["peak"] < 11.5
    assert 100 < first["ticks_to_settle"] < 300
    assert first["rms"] < 0.15 and first["largest"] < 1.0, "[N] from 10 N while it wipes"
    assert "from there to the soft action: 0 ticks" in capsys.readouterr().out
    for name in ("force.png", "scene.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


@pytest.fixture
def harness(example):
    """The action by itself, on a fake arm; the sensor reads 2 N of weight and no contact."""
    made = ActionHarness(example("08_contact_admittance").Comply, parameters=SOFT)
    made.part("wrist").wrench[2] = 2.0
    made.start()
    return made


def height(harness) -> float:
    harness.step()
    return float(harness.state.tool.tool_position[2])


def test_against_nothing_it_goes_down_as_fast_as_force_and_damping_say(harness):
    harness.step(100)
    # After 0.1 s, ten times mass / damping: 10 N / 500 N s/m, and no faster, however long the way is.
    assert harness.state.into == pytest.approx(0.02, rel=1e-3)
    harness.step(500)
    assert harness.state.into == pytest.approx(0.02, rel=1e-6)
    assert harness.state.pressing == 0.0 and harness.state.is_settled == 0.0


def test_a_wall_that_pushes_with_the_wanted_force_is_where_it_stays(harness):
    harness.part("wrist").wrench[2] = 2.0 - 10.0
    first = height(harness)
    harness.step(200)
    assert harness.state.slope == 0.0
    assert harness.state.is_settled == 1.0
    assert height(harness) == pytest.approx(first, abs=1e-9)
    assert harness.state.rms == harness.state.largest == 0.0


def test_where_the_sensor_is_silent_it_comes_to_rest(harness):
    harness.step(100)
    harness.part("wrist").wrench[2] = math.nan
    harness.step(200)
    assert abs(harness.state.into) < 1e-6
    assert math.isfinite(harness.state.rms)


def test_a_jolt_of_one_tick_is_hardly_felt(harness):
    harness.step(10)
    for force in (2.0 - 20.0, 2.0):
        harness.part("wrist").wrench[2] = force
        harness.step()
    assert harness.state.peak == 20.0 and harness.state.felt < 5.0
    harness.part("wrist").wrench[2] = 2.0 - 8.0
    harness.step(10)
    assert harness.state.felt > 5.0, "but what lasts is"
