"""move_until_contact: the tool goes straight until it pushes against something."""

from __future__ import annotations

import pytest
from library.bench_run import FINGERS, MARGIN, run

from robot_rt_control.vocabulary.errors import DefinitionError


def test_it_stops_on_the_table_with_a_bounded_force_and_the_same_bits_twice(simulator: str) -> None:
    first = run("move_until_contact", speed=0.05)
    assert first.exit == "contact" and first.states == ["ready", "approach", "touched"]
    assert first.values["watch.peak"] > 5.0 and first.values["watch.push"] > 2.0
    assert first.peak < 25.0
    # The finger tips are 7.2 mm below the tool, and give way as Hooke says.
    height = 0.1072 + MARGIN[simulator] - first.values["watch.push"] / FINGERS
    assert first.tool == pytest.approx([0.48, 0.0, height], abs=2e-4)
    assert run("move_until_contact", speed=0.05).digest == first.digest


def test_the_force_grows_with_the_speed_and_is_small_at_a_low_one() -> None:
    assert run("move_until_contact", speed=0.02).peak < 10.0


def test_without_anything_in_its_way_it_ends_there_and_says_so() -> None:
    outcome = run("move_until_contact", way=[0.0, 0.02, 0.03], speed=0.1)
    assert outcome.exit == "not_found" and outcome.states == ["ready", "approach", "at_the_end"]
    assert outcome.tool == pytest.approx([0.48, 0.02, 0.152], abs=5e-4)


def test_too_much_force_is_a_failure_whatever_else_is_true() -> None:
    outcome = run("move_until_contact", speed=0.05, force=8.0, max_force=6.0)
    assert outcome.exit == "failed" and outcome.states[-1] == "failed"
    assert outcome.values["watch.peak"] > 6.0


def test_it_fails_after_its_time() -> None:
    outcome = run("move_until_contact", way=[0.0, 0.0, 0.2], max_time=0.5)
    assert outcome.exit == "failed" and 0.5 < outcome.values["watch.elapsed"] < 0.6
    assert outcome.peak < 10.0


def test_a_way_that_leads_out_of_reach_is_a_failure_and_the_arm_stops() -> None:
    outcome = run("move_until_contact", way=[0.6, 0.0, 0.1], speed=0.25, acceleration=1.0)
    assert outcome.exit == "failed" and outcome.ticks < 4000


def test_parameters_out_of_their_range_are_refused() -> None:
    with pytest.raises(
        DefinitionError,
        match=r"program 'move_until_contact': parameter 'speed': out of range; expected 0.001 to 0.25 m/s",
    ):
        run("move_until_contact", speed=1.0)
    with pytest.raises(DefinitionError, match=r"parameter 'way'.*3"):
        run("move_until_contact", way=[0.0, 0.1])
    with pytest.raises(DefinitionError, match="no parameter 'forse'.*did you mean 'force'"):
        run("move_until_contact", forse=1.0)
    with pytest.raises(DefinitionError, match="force_torque_sensor"):
        run("move_until_contact", parts={"wrist": "below"})
