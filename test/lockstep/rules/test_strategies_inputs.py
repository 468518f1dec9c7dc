"""Rules Y13 to Y17 of docs/semantics: inputs of laws, degrees of freedom that an action type declares, modes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.client.actions import Action, Reaction, Strategy
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError

ARM7 = Path(__file__).parents[3] / "config" / "arm7.yaml"
RULE_TYPES = Path(__file__).parent / "rule_types.py"
SEEN = {"seen": "rangefinder.distance"}


def moved(cell: LockstepCell, *distances: float, joint: int = 0) -> list[float]:
    """How far a joint of `left` moves [µm or µrad] in one tick for each distance that the rangefinder measures."""
    found = []
    for distance in distances:
        before = float(cell.part("left").commanded_position[joint])
        cell.set_sensor("rangefinder/distance", distance)
        cell.step()
        found.append(round(1e6 * (float(cell.part("left").commanded_position[joint]) - before), 6))
    return found


def refused(cell: LockstepCell, type: str = "hold", **strategies: list[Strategy]) -> str:
    session = cell.session("left")
    with pytest.raises(RobotControlError) as caught:
        session.add(Action("a", type, parts="left", strategies=strategies))
    session.close()
    return str(caught.value)


# --- Y13: inputs -----------------------------------------------------------------------------------


def test_Y13_an_input_is_the_state_variable_that_its_strategy_binds(cell: LockstepCell) -> None:
    session = cell.session("left")
    both = Strategy("both", "gauge", when="rangefinder.distance < 0.5", inputs=SEEN | {"more": "rangefinder.distance"})
    session.add(Action("a", "hold", parts="left", strategies={"x": [both, Strategy("one", "gauge", inputs=SEEN)]}))
    session.start("a")
    assert moved(cell, 0.9, 0.4, 0.6, math.nan) == [0.9, 0.8, 0.6, 0.0], "not bound and not known both are unknown"


@pytest.mark.parametrize("first", [True, False])
def test_Y13_inputs_and_conditions_are_of_one_snapshot(cell: LockstepCell, first: bool) -> None:
    """`elapsed` changes in the control of `other`, before or after the law runs."""
    session = cell.session("left", "right")
    other = Action("other", "velocity_move", parts="right", velocity=[0.0])
    law = Strategy("law", "gauge", inputs=SEEN | {"more": "other.elapsed"})
    a = Action("a", "hold", parts="left", strategies={"x": [law]})
    session.add(*((other, a) if first else (a, other)))
    session.start("other", "a")
    shifts = moved(cell, 0.0, 0.0, 0.0)
    session.add(reactions=[Reaction("true", event="judged", capture=["other.elapsed"])])
    shifts += moved(cell, 0.0)
    (event,) = cell.fired("judged")
    assert shifts == pytest.approx([0.0, 0.001, 0.002, event.values[0]]) and shifts[3] == pytest.approx(0.003)


def test_Y13_what_cannot_be_bound_is_refused(cell: LockstepCell) -> None:
    text = refused(cell, x=[Strategy("s", "gauge")])
    assert "strategy 's' of 'x': input 'seen' of law 'gauge' is not bound" in text and "inputs: {seen: " in text
    text = refused(cell, x=[Strategy("s", "gauge", inputs=SEEN | {"mor": "time"})])
    assert "law 'gauge' has no input 'mor'" in text and "did you mean 'more'" in text
    text = refused(cell, x=[Strategy("s", "gauge", inputs={"seen": "rangefinder.distanc"})])
    assert "input 'seen': there is no such state variable" in text and "rangefinder.distance" in text
    text = refused(cell, x=[Strategy("s", "gauge", inputs={"seen": "left.velocity[0]"})])
    assert "input 'seen' cannot be 'left.velocity[0]'; expected a number in m; got one in m/s" in text
    text = refused(cell, turn=[Strategy("s", "gauge", inputs=SEEN)])
    assert "expected a number in rad; got one in m" in text
    kept = Strategy("s", "distance", distance=0.1, velocity=0.2, inputs={"distance": "rangefinder.distance"})
    assert "expected a number in rad; got one in m" in refused(cell, turn=[kept]), "a law adds it to the joint's angle"
    text = refused(cell, x=[Strategy("s", "gauge", inputs={"seen": "left.at_rest"})])
    assert "expected a number in m; got type bool" in text


def test_Y13_an_action_that_an_input_reads_cannot_be_removed_alone(cell: LockstepCell) -> None:
    session = cell.session("left", "right")
    law = Strategy("law", "gauge", inputs=SEEN | {"more": "other.elapsed"})
    session.add(Action("other", "probe", parts="right"), Action("a", "hold", parts="left", strategies={"x": [law]}))
    with pytest.raises(DefinitionError, match="'other' cannot be removed: a strategy of action 'a' refers to it"):
        session.remove("other")


PROGRAM = """
roles:
  eye: {kinds: [rangefinder]}
start: a
actions:
  a:
    type: geared
    parts: left
    final: true
    strategies:
      along:
        - {name: gauge, law: gauge, inputs: {seen: eye.distance}}
"""


def test_Y13_programs_bind_inputs_by_roles_and_mistakes_have_their_lines(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.upload(PROGRAM, {"eye": "rangefinder"})
    session.start("a")
    assert moved(cell, 0.9, 0.4) == [1.8, 0.8]
    other = cell.session("right")
    with pytest.raises(RobotControlError) as caught:
        other.upload(PROGRAM.replace("left", "right").replace("eye.distance", "eye.distanc"), {"eye": "rangefinder"})
    assert ":12:" in str(caught.value) and "input 'seen': there is no such state variable" in str(caught.value)


# --- Y14: declared degrees of freedom --------------------------------------------------------------


def test_Y14_strategies_govern_what_the_type_declares_and_its_control_carries_it_out(cell: LockstepCell) -> None:
    session = cell.session("left")
    near = Strategy("near", "push", when="rangefinder.distance < 0.5", step=-1e-7)
    strategies = {"along": [near, Strategy("far", "push", step=3e-7)], "about": [Strategy("turn", "push", step=5e-7)]}
    session.add(Action("a", "geared", parts="left", strategies=strategies))
    session.start("a")
    assert moved(cell, 0.9, 0.4) == [0.6, -0.2], "in the same tick"
    assert moved(cell, 0.4, joint=1) == [1.0]
    session.stop("a")
    session.add(Action("b", "geared", parts="left", strategies={"about": [near, Strategy("far", "push", step=1e-7)]}))
    session.start("b")
    before = float(cell.part("left").commanded_position[0])
    assert moved(cell, 0.9, joint=1) == [0.2]
    assert float(cell.part("left").commanded_position[0]) == before, "without a list the type holds it"


def test_Y14_they_replace_the_joints_and_have_their_own_limits(cell: LockstepCell) -> None:
    far = Strategy("far", "push", step=1e-6)
    text = refused(cell, "geared", x=[far])
    assert "strategies of 'x': unknown degree of freedom; expected one of: about, along" in text
    assert "unknown degree of freedom" in refused(cell, "geared", **{"joint[0]": [far]})
    text = refused(cell, "geared", **{"along": [far], "left.along": [far]})
    assert "'along' is the same" in text
    text = refused(cell, "geared", along=[Strategy("fast", "velocity", velocity=0.6)])
    assert "velocity of 'left.along' is above its limit; expected at most 0.5000 m/s; got 0.6000" in text
    text = refused(cell, "geared", about=[Strategy("fast", "velocity", velocity=(0.1, "m/s"))])
    assert "expected 'rad/s'" in text


# --- Y15: the task frame of an arm -----------------------------------------------------------------


@pytest.fixture
def arm() -> Iterator[LockstepCell]:
    with LockstepCell(ARM7) as made:
        yield made


def test_Y15_the_tool_moves_along_the_axes_of_the_frame_and_holds_the_others(arm: LockstepCell) -> None:
    heading = 0.3
    axes = np.array([[np.cos(heading), -np.sin(heading)], [np.sin(heading), np.cos(heading)]])
    x = [Strategy("back", "velocity", when="io.input[0]", velocity=-0.04), Strategy("on", "velocity", velocity=0.1)]
    y = [Strategy("aside", "velocity", velocity=0.05)]
    session = arm.session("arm")
    session.add(Action("a", "govern_tool", parts="arm", heading=heading, strategies={"x": x, "y": y}))
    before = np.array(arm.part("arm").tool_position)
    turned = np.array(arm.part("arm").tool_orientation)
    session.start("a")
    arm.step(300)
    tool = arm.part("arm")
    velocities = []
    for switch in (0, 1, 0, 1):
        arm.set_sensor("io/input_0", float(switch))
        for _ in range(150):
            arm.step()
            velocities.append(axes.T @ np.array(tool.tool_twist[:2]))
        assert velocities[-1] == pytest.approx([-0.04 if switch else 0.1, 0.05], abs=2e-4)
    along, beside = np.array(velocities).T
    assert np.abs(beside - 0.05).max() < 0.0005, "within 1 %"
    assert np.abs(np.diff(along)).max() / 0.001 < 2.0 * 1.05, "within its acceleration limit"
    assert tool.tool_position[2] == pytest.approx(before[2], abs=1e-5)
    np.testing.assert_allclose(tool.tool_orientation, turned, atol=1e-5)
    assert arm.value(session.id, "a.slowed") == 1.0


def test_Y15_the_whole_tool_is_slowed_where_a_joint_would_be_too_fast(arm: LockstepCell) -> None:
    session = arm.session("arm")
    fast = {"x": [Strategy("fast", "velocity", velocity=1.0)]}
    session.add(Action("a", "govern_tool", parts="arm", linear_velocity=1.0, linear_acceleration=1.0, strategies=fast))
    session.start("a")
    arm.step_until(lambda: arm.value(session.id, "a.slowed") < 0.9, at_most=1500)
    part = arm.part("arm")
    assert (np.abs(part.commanded_velocity[:7]) / part.velocity_limit[:7]).max() == pytest.approx(1.0, abs=0.01)
    assert part.tool_twist[0] > 0.4 and np.abs(part.tool_twist[1:3]).max() < 0.01 * part.tool_twist[0]


def test_Y15_a_part_without_a_tool_is_refused(cell: LockstepCell) -> None:
    text = refused(cell, "govern_tool", x=[Strategy("s", "velocity", velocity=0.1)])
    assert "part 'left' does not fit slot 'arm' of type 'govern_tool'" in text


def test_Y16_a_mode_that_the_action_cannot_carry_out_fails_it(arm: LockstepCell) -> None:
    arm.load(f"{RULE_TYPES}:Push")
    session = arm.session("arm")
    pull = Strategy("pull", "push", mode=int(CommandMode.EFFORT))  # which its code does not show
    session.add(Action("a", "govern_tool", parts="arm", strategies={"z": [pull]}))
    session.start("a")
    arm.step()
    (failed,) = arm.kinds("action_failed")
    assert failed.reason == "a law commands a degree of freedom in a mode that the action cannot carry out"


# --- Y17: at the ends of a sensor's range ----------------------------------------------------------


def test_Y17_nearer_than_the_range_is_near_and_the_careful_strategy_governs(hosted_cell: LockstepCell) -> None:
    cell = hosted_cell
    session = cell.session("left")
    careful = Strategy("careful", "push", when="rangefinder.distance < 0.3", step=1e-6)
    session.add(Action("a", "hold", parts="left", strategies={"x": [careful, Strategy("fast", "push", step=5e-6)]}))
    session.start("a")
    for measured, known, shift in (
        (0.9, 0.9, 5.0), (0.2, 0.2, 1.0), (0.05, 0.05, 1.0), (0.049, -math.inf, 1.0), (0.0, -math.inf, 1.0),
        (2.0, 2.0, 5.0), (2.1, math.inf, 5.0),
    ):  # fmt: skip
        moved(cell, measured, measured)  # until it has come through the device
        assert moved(cell, measured) == [shift], measured
        assert session.value("rangefinder.distance") == known


def test_Y17_what_the_last_strategy_does_it_does_when_nothing_is_known(cell: LockstepCell) -> None:
    session = cell.session("left")
    fast = Strategy("fast", "push", when="rangefinder.distance >= 0.3", step=4e-6)
    session.add(Action("a", "hold", parts="left", strategies={"x": [fast, Strategy("careful", "push", step=1e-6)]}))
    session.start("a")
    assert moved(cell, 0.9, 0.2, math.nan, math.inf, -math.inf) == [4.0, 1.0, 1.0, 4.0, 1.0]
