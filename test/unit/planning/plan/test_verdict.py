"""What a verification says: of headers alone."""

import pytest

from robot_rt_control.planning.plan.verdict import Tolerance, lacking, refusal, tolerance_of

TOLERANCE = Tolerance(position=0.002, orientation=0.05, speed=0.02)
ROW = {"engine": "pybullet", "speed": 1.0, "rests": True, "drift": 0.0, "error_to_target": 0.0019,
       "orientation_error": 0.04}  # fmt: skip
WORLD = {"name": "mass +20 %", "world": True, "position_error": 0.001, "orientation_error": 0.0}
START = {"name": "start x -5 mm", "world": False, "position_error": 0.9, "orientation_error": 0.0}


def header(row=None, world=None, **changes):
    verification = {"replays": [ROW | (row or {})], "perturbed": [WORLD | (world or {}), START]}
    return {"success": True, "verification": verification, **changes}


def test_V28_verified_is_what_another_engine_and_all_worlds_confirm():
    assert lacking(header(), TOLERANCE) == []


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"success": False}, "it does not reach its target in the planner's own engine"),
        ({"verification": {}}, "no other engine has played it"),
        ({"verification": {"replays": [ROW]}}, "it was not rolled out in worlds that differ"),
    ],
)
def test_V28_what_was_not_looked_at_is_not_verified(changes, text):
    assert lacking({**header(), **changes}, TOLERANCE) == [text]


@pytest.mark.parametrize(
    ("row", "world", "text"),
    [
        ({"error_to_target": 0.0021}, {}, "in pybullet at speed 1 the body ends 2.1 mm and 0.040 rad away; 2.0 mm and"),
        ({"orientation_error": 0.06}, {}, "1.9 mm and 0.060 rad away; 2.0 mm and 0.050 rad are accepted"),
        ({"rests": False, "drift": 0.03}, {}, "0.040 rad away, still moving by 0.030 m/s, 0.02 m/s are accepted; 2.0"),
        ({"rests": False, "drift": 0.001, "error_to_target": 0.00202}, {}, "2.02 mm and 0.040 rad away; 2.00 mm and"),
        ({"orientation_error": 0.0502}, {}, "0.0502 rad away; 2.0 mm and 0.0500 rad are accepted"),
        ({"speed": 0.5}, {}, "at speed 0.5"),
        ({}, {"position_error": 0.003}, "with mass +20 % the body ends 3.0 mm and 0.000 rad away"),
        ({}, {"position_error": None}, "with mass +20 % the simulation diverges"),
    ],
)
def test_V28_each_thing_that_lacks_is_named_with_figures(row, world, text):
    (said,) = lacking(header(row, world), TOLERANCE)
    assert text in said


def test_V28_each_engine_that_disagrees_is_named():
    its = header()
    its["verification"]["others"] = [ROW | {"engine": "mujoco", "error_to_target": 0.0035}, ROW | {"engine": "third"}]
    (said,) = lacking(its, TOLERANCE)
    assert said.startswith("in mujoco at speed 1 the body ends 3.5 mm")


def test_V36_a_blow_that_is_not_asked_for_is_named_with_figures():
    its = header({"blow": 0.06})
    its["verification"] |= {"blow": 0.05, "others": [ROW | {"engine": "mujoco", "blow": 0.84}]}
    (said,) = lacking(its, TOLERANCE)
    assert said.startswith("the robot strikes the body with 0.060 N s within 10 ms; 0.050 N s are accepted, unless")
    its["verification"]["replays"][0]["blow"] = 0.05
    assert lacking(its, TOLERANCE) == [], "the least of the engines counts"
    its["verification"]["replays"][0]["blow"] = 0.06
    del its["verification"]["blow"]
    assert lacking(its, TOLERANCE) == [], "of a plan that may strike, or was verified before there was a limit"


def test_V28_a_body_that_creeps_more_slowly_than_its_task_accepts_rests():
    assert TOLERANCE.holds(ROW | {"rests": False, "drift": 0.01}, at_rest=True)
    assert not TOLERANCE.holds(ROW | {"rests": False, "drift": 0.03}, at_rest=True)
    assert TOLERANCE.holds(ROW | {"rests": False, "drift": 0.03}, at_rest=False)


def test_engines_agree_no_better_than_a_millimetre():
    short = Tolerance(position=0.0002, orientation=0.05, speed=0.02)
    assert short.near(0.001, 0.0) and not short.near(0.0011, 0.0)


def test_a_plan_without_a_tolerance_has_that_of_the_defaults():
    assert tolerance_of({}, 0.5).position == pytest.approx(0.01)
    assert tolerance_of({"tolerance": vars(TOLERANCE)}, 0.5) == TOLERANCE


def test_a_refusal_says_what_to_do():
    said = str(refusal(header(), ["no other engine has played it"]))
    assert "got planned, not verified: no other engine has played it" in said and "--unverified" in said
    assert "expected one that reaches its target" in str(refusal({}, []))
