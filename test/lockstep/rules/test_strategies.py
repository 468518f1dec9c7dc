"""Rules Y1 to Y12 of docs/semantics/strategies.md: strategies."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from robot_rt_control.client.actions import Action, Reaction, Strategy
from robot_rt_control.client.session import Session
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError, RobotControlError

STEP = 1e-6  # [m] of one tick: no limit is near
SEES = {"distance": "rangefinder.distance"}
NEAR, VERY_NEAR = "rangefinder.distance < 0.5", "rangefinder.distance < 0.2"
FORWARD = Strategy("forward", "push", step=STEP)
BACK = Strategy("back", "push", when=NEAR, step=-STEP)
STILL = Strategy("still", "push", when=VERY_NEAR)


def see(cell: LockstepCell, *distances: float) -> list[float]:
    """One tick for each distance that the rangefinder measures. Returns how far joint x of `left` moved in each."""
    moved = []
    for distance in distances:
        before = float(cell.part("left").commanded_position[0])
        cell.set_sensor("rangefinder/distance", distance)
        cell.step()
        moved.append(round((float(cell.part("left").commanded_position[0]) - before) / STEP, 6))
    return moved


def governed(
    cell: LockstepCell,
    strategies: Iterable[Strategy] = (STILL, BACK, FORWARD),
    *,
    reactions: Iterable[Reaction] = (),
    others: Iterable[Action] = (),
) -> Session:
    """A session whose action `a` has these strategies on joint x of `left`, and is about to start."""
    session = cell.session("left", "right")
    action = Action("a", "hold", parts="left", strategies={"x": strategies}, reactions=reactions)
    session.add(action, *others)
    session.start("a")
    return session


def changes(cell: LockstepCell) -> list[tuple[int, str]]:
    return [(e.tick, e.reason) for e in cell.kinds("strategy_changed")]


# --- Y1 to Y4: selection ---------------------------------------------------------------------------


def test_Y1_the_first_strategy_whose_condition_holds_governs_in_that_tick(cell: LockstepCell) -> None:
    governed(cell)
    assert see(cell, 0.9, 0.9, 0.4, 0.1, 0.4, 0.9) == [1, 1, -1, 0, -1, 1]


def test_Y1_conditions_are_levels(cell: LockstepCell) -> None:
    governed(cell)
    assert see(cell, 0.4, 0.4, 0.4) == [-1, -1, -1], "it holds from the start on, and goes on holding"
    assert see(cell, 0.1, 0.4) == [0, -1], "a lower one governs again although its condition has not changed"


def test_Y1_by_magnitude_and_by_origin(cell: LockstepCell) -> None:
    low, high = Strategy("low", "push", when="io.input[0]", step=STEP), Strategy("high", "push", when=NEAR, step=-STEP)
    governed(cell, [low, high, Strategy("none", "push")])
    assert see(cell, 0.9, 0.4) == [0, -1]
    cell.set_sensor("io/input_0", 1.0)
    assert see(cell, 0.4, 0.9) == [1, 1]


@pytest.mark.parametrize("first", ["x", "turn"])
def test_Y3_a_condition_on_a_strategy_reads_the_one_that_governed_before(cell: LockstepCell, first: str) -> None:
    follows = Strategy("follows", "push", when="x.strategy == 0", step=STEP)
    lists = {"x": [BACK, FORWARD], "turn": [follows, Strategy("waits", "push")]}
    session = cell.session("left")
    session.add(Action("a", "hold", parts="left", strategies={k: lists[k] for k in sorted(lists, key=first.__ne__)}))
    session.start("a")
    start = cell.tick + 1
    see(cell, 0.9, 0.4, 0.4)
    assert [(tick - start, text) for tick, text in changes(cell) if tick > start] == [
        (1, "x: forward → back"),
        (2, "turn: waits → follows"),
    ]


def test_Y2_unknown_does_not_hold(cell: LockstepCell) -> None:
    governed(cell)
    assert see(cell, 0.4, math.nan, 0.4) == [-1, 1, -1]


def test_Y2_variables_of_an_action_that_is_not_active_hold_nothing(cell: LockstepCell) -> None:
    other = Action("other", "probe", parts="right", duration=0.003)
    session = governed(
        cell, [Strategy("beside", "push", when="not other.is_done", step=-STEP), FORWARD], others=[other]
    )
    assert see(cell, 0.9) == [1]
    session.start(other)
    assert see(cell, 0.9, 0.9, 0.9, 0.9) == [-1, -1, 1, 1]


def test_Y3_an_exit_comes_first_and_the_entered_state_selects_in_the_same_tick(cell: LockstepCell) -> None:
    turn = Strategy("turn", "push", when=VERY_NEAR, step=3 * STEP)
    b = Action("b", "hold", parts="left", strategies={"x": [turn, Strategy("else", "push", step=2 * STEP)]})
    governed(cell, reactions=[Reaction(VERY_NEAR, start=b, event="out")], others=[b])
    assert see(cell, 0.9, 0.4) == [1, -1]
    assert see(cell, 0.1) == [3], "still held `a` in this tick, but its exit switched: turn of `b` governs"
    tick = cell.tick
    assert [e.tick for e in cell.fired("out")] == [tick]
    assert changes(cell)[-1] == (tick, "x: turn")


def test_Y3_reactions_see_the_strategy_of_the_tick_before(cell: LockstepCell) -> None:
    governed(cell, reactions=[Reaction("x.strategy == 1", event="took_over", capture=["x.strategy", "x.ticks"])])
    see(cell, 0.9, 0.4)
    assert not cell.fired("took_over")
    see(cell, 0.4)
    (event,) = cell.fired("took_over")
    assert (event.tick, dict(zip(event.names, event.values, strict=True))) == (
        cell.tick, {"x.strategy": 1.0, "x.ticks": 0.0},
    )  # fmt: skip


def test_Y4_strategies_are_taken_up_and_left_in_any_order(cell: LockstepCell) -> None:
    governed(cell)
    expected = {0.9: 1.0, 0.4: -1.0, 0.1: 0.0}
    order = list(np.random.default_rng(7).choice(list(expected), 200))
    assert see(cell, *order) == [expected[distance] for distance in order]


# --- Y5, Y6: degrees of freedom and laws -----------------------------------------------------------


def test_Y5_degrees_of_freedom_do_not_touch_each_other(workcell: Workcell) -> None:
    turn = [Strategy("slow", "velocity", when="io.input[0]", velocity=0.1), Strategy("fast", "velocity", velocity=0.9)]
    traces = []
    for on_x in ([FORWARD], [STILL, BACK, FORWARD]):
        with LockstepCell(workcell) as cell:
            session = cell.session("left")
            session.add(Action("a", "hold", parts="left", strategies={"x": on_x, "turn": turn}))
            session.start("a")
            moved, trace = [], b""
            for switch, distance in enumerate((0.9, 0.4, 0.1, 0.4, 0.9)):
                cell.set_sensor("io/input_0", switch % 2)
                moved += see(cell, distance)
                trace += cell.part("left").commanded_position[1].tobytes()
            traces.append(trace)
    assert moved == [1, -1, 0, -1, 1]
    assert traces[0] == traces[1]


def test_Y5_what_has_no_list_does_what_the_type_of_the_action_does(cell: LockstepCell) -> None:
    session = cell.session("left", "right")
    session.add(Action("a", "probe", parts="left", speed=0.001, strategies={"x": [STILL, BACK, FORWARD]}))
    session.start("a")
    assert see(cell, 0.9, 0.4) == [1, -1]
    assert cell.part("left").commanded_velocity[1] == pytest.approx(0.001)


def test_Y6_a_law_starts_anew_each_time_it_takes_over(cell: LockstepCell) -> None:
    failing = Strategy("failing", "push", when=NEAR, step=-STEP, fail_at=3)
    session = governed(cell, [failing, FORWARD])
    assert see(cell, 0.4, 0.4, 0.9, 0.4, 0.4, 0.9) == [-1, -1, 1, -1, -1, 1]
    see(cell, 0.4, 0.4, 0.4)
    (failed,) = cell.kinds("action_failed")
    assert (failed.tick, failed.current_action, failed.reason) == (
        cell.tick, "a", "status 9 of the action's own code",
    )  # fmt: skip
    assert session.id not in {s.id for s in cell.server.sessions()}


def test_Y6_a_law_reads_the_parts_of_its_other_slots(cell: LockstepCell) -> None:
    governed(cell, [Strategy("echo", "echo", parts="rangefinder")])
    assert see(cell, 0.9, 0.5) == [0.9, 0.5]


def test_Y7_the_governing_strategy_is_observed(cell: LockstepCell) -> None:
    seen = Reaction("true", event="seen", capture=["a.x.strategy", "a.x.ticks"])
    session = governed(cell)
    session.add(reactions=[Reaction("is_unknown(a.x.strategy)", event="ended")])
    first = cell.tick + 1
    see(cell, 0.9, 0.9, 0.4, 0.1, 0.9)
    assert changes(cell) == [
        (first, "x: forward"),
        (first + 2, "x: forward → back"),
        (first + 3, "x: back → still"),
        (first + 4, "x: still → forward"),
    ]
    see(cell, 0.9, 0.9)
    session.add(reactions=[seen])
    see(cell, 0.9)
    (event,) = cell.fired("seen")
    assert event.values == (2.0, 2.0), "forward, for two ticks after it took over when the tick began"
    session.stop("a")
    see(cell, 0.9)
    assert cell.fired("ended")[-1].tick == cell.tick


@pytest.mark.parametrize(
    "slow",
    [
        Strategy("back", "velocity", when=NEAR, velocity=-0.05),
        Strategy("stop", "stop_at", when=NEAR, direction="forward"),
        Strategy("keep", "distance", when=NEAR, velocity=0.1, distance=0.45, inputs=SEES),
        Strategy("press", "force", when=NEAR, force=-30.0, velocity=0.06, inputs={"force": "left.effort[0]"}),
    ],
    ids=lambda strategy: strategy.law,
)
def test_Y8_velocity_changes_without_a_jump(cell: LockstepCell, slow: Strategy) -> None:
    cell.set_sensor("left/x/effort", 0.0)
    governed(cell, [slow, Strategy("fast", "velocity", velocity=0.2)])
    part, period = cell.part("left"), cell.workcell.period
    velocities = []
    for distance in np.random.default_rng(3).choice([0.4, 0.9], 12):
        for _ in range(60):
            see(cell, float(distance))
            velocities.append(float(part.commanded_velocity[0]))
    acceleration = np.diff(velocities) / period
    jerk = np.diff(acceleration) / period
    assert max(velocities) > 0.1 and min(velocities) < 0.01
    assert np.abs(acceleration).max() <= float(part.acceleration_limit[0]) * 1.001
    assert np.abs(jerk).max() <= float(part.jerk_limit[0]) * 1.0001


# --- Y9 to Y12: definitions ------------------------------------------------------------------------


def refused(cell: LockstepCell, **strategies: Iterable[Strategy]) -> str:
    """The text with which an action with these strategies on both joints of `left` is refused."""
    session = cell.session("left")
    with pytest.raises(RobotControlError) as caught:
        session.add(Action("a", "hold", parts="left", strategies=strategies))
    session.close()
    return str(caught.value)


def test_Y9_a_law_is_an_action_type_for_one_degree_of_freedom(cell: LockstepCell) -> None:
    text = refused(cell, x=[Strategy("s", "velocty", velocity=0.1)])
    assert "action 'a': strategy 's' of 'x': unknown law" in text and "did you mean 'velocity'" in text
    text = refused(cell, x=[Strategy("s", "probe")])
    assert "action 'a': strategy 's' of 'x': action type 'probe' is no law" in text
    session = cell.session("left")
    with pytest.raises(DefinitionError, match="strategy 's' of 'along': law 'hold' is for joints; expected one of"):
        session.add(Action("a", "geared", parts="left", strategies={"along": [Strategy("s", "hold")]}))
    session.close()
    session = cell.session("left")
    with pytest.raises(DefinitionError) as caught:
        session.add(Action("b", "velocity", parts="left", velocity=0.1))
    assert "part 'left' does not fit slot 'axis' of type 'velocity'" in str(caught.value)
    assert "Type 'velocity' is a law: use it in `strategies`" in str(caught.value)


def test_Y9_an_action_type_for_joints_is_a_law_too(cell: LockstepCell) -> None:
    governed(cell, [Strategy("go", "move_joint", position=0.03)])
    cell.step(1500)
    assert cell.part("left").commanded_position[0] == pytest.approx(0.03)
    assert cell.part("left").commanded_position[1] == 0.0


def test_Y9_parameters_and_conditions_are_checked(cell: LockstepCell) -> None:
    assert "strategy 's' of 'x' has no parameter 'speed'" in refused(cell, x=[Strategy("s", "velocity", speed=0.1)])
    text = refused(cell, x=[Strategy("s", "velocity", velocity=(0.1, "rad/s"))])
    assert "strategy 's' of 'x': parameter 'velocity'" in text and "m/s" in text
    text = refused(cell, x=[Strategy("s", "velocity", velocity=3.0)])
    assert "velocity of 'left.x' is above its limit" in text
    text = refused(cell, x=[Strategy("s", "push", when="rangefinder.distanc < 1"), FORWARD])
    assert "condition of action 'a': strategy 's' of 'x'" in text and "rangefinder.distance" in text
    text = refused(cell, x=[Strategy("s", "echo", parts="io")])
    assert "part 'io' does not fit slot 'eye' of type 'echo'" in text


def test_Y10_each_degree_of_freedom_has_one_list_with_a_default(cell: LockstepCell) -> None:
    text = refused(cell, x=[STILL, BACK])
    assert "strategies of 'x': there is no default" in text
    assert "strategy 'back' with the condition 'rangefinder.distance < 0.5'" in text
    text = refused(cell, x=[FORWARD, Strategy("other", "push")])
    assert "strategy 'forward' has no condition, but is not the last" in text
    assert "strategies of 'x': the list is empty" in refused(cell, x=[])
    assert "strategies of 'x': strategy 'forward' is given twice" in refused(cell, x=[FORWARD, FORWARD])
    text = refused(cell, tur=[FORWARD])
    assert "action 'a': strategies of 'tur': unknown degree of freedom" in text and "did you mean 'turn'" in text
    text = refused(cell, **{"joint[2]": [FORWARD]})
    assert "unknown degree of freedom" in text and "joint[0] to joint[1]" in text
    text = refused(cell, **{"x": [FORWARD], "joint[0]": [FORWARD]})
    assert "action 'a': strategies of 'joint[0]': 'x' is the same joint" in text
    assert "one list of strategies for each degree of freedom" in text
    assert "'right'" in refused(cell, **{"right.y": [FORWARD]})
    session = cell.session("left", "right")
    with pytest.raises(DefinitionError) as caught:
        session.add(Action("a", "pair", parts={"one": "left", "two": "right"}, strategies={"x": [FORWARD]}))
    assert "the action moves 2 parts" in str(caught.value) and "left.x or right.x" in str(caught.value)


PROGRAM = """
roles:
  stage: {kinds: [base]}
  eye: {kinds: [rangefinder]}
parameters:
  near: {unit: m, default: 0.5}
  step: {default: 0.000001}
start: a
actions:
  a:
    type: hold
    parts: stage
    strategies:
      stage.x:
        - {name: still, when: eye.distance < $near - 0.3, law: push}
        - {name: back, when: eye.distance < $near, law: push, parameters: {step: -$step}}
        - {name: forward, law: push, parameters: {step: $step}}
      turn:
        - {name: echo, law: echo, parts: eye}
    reactions:
      - {when: "io.input[0]", stop: true, event: out}
"""


def test_Y11_a_program_writes_strategies_as_an_application_does(cell: LockstepCell) -> None:
    session = cell.session("left", "right")
    session.upload(PROGRAM, {"stage": "left", "eye": "rangefinder"})
    session.start("a")
    assert see(cell, 0.9, 0.4, 0.1, 0.9) == [1, -1, 0, 1]
    assert cell.part("left").commanded_position[1] == pytest.approx(1e-6 * (0.9 + 0.4 + 0.1 + 0.9))


def test_Y11_mistakes_have_their_lines(cell: LockstepCell) -> None:
    wrong = (
        PROGRAM.replace("law: push, parameters: {step: -$step}", "law: pull")
        .replace("name: still, when: eye.distance", "name: still, when: eye.distanc")
        .replace("law: echo, parts: eye}", "law: echo, parts: eye, when: eye.distance < 1}")
    )
    session = cell.session("left", "right")
    with pytest.raises(ProgramError) as caught:
        session.upload(wrong, {"stage": "left", "eye": "rangefinder"})
    lines = [i for i, line in enumerate(wrong.splitlines(), 1) if "still" in line or "pull" in line or "turn" in line]
    text = str(caught.value)
    assert all(f":{line}:" in text for line in lines), text
    assert "unknown law" in text and "there is no default" in text and "did you mean" in text


def test_Y12_what_a_strategy_reads_or_runs_stays(cell: LockstepCell) -> None:
    other = Action("other", "probe", parts="right")
    session = governed(cell, [Strategy("s", "push", when="other.is_done"), FORWARD], others=[other])
    see(cell, 0.9)
    with pytest.raises(DefinitionError, match="'other' cannot be removed: a strategy of action 'a' refers to it"):
        session.remove("other")
    with pytest.raises(RobotControlError, match="action 'a'"):
        cell.server.unload_action_types(["push"])
    before = see(cell, 0.9)
    session.add(Action("late", "probe", parts="right"))  # tables are exchanged
    assert before + see(cell, 0.9, 0.9) == [1, 1, 1]
    assert len(changes(cell)) == 1, "the strategy governs on"
    session.remove("a", "other")
    cell.step(100)
    assert cell.part("left").commanded_velocity[0] == 0.0, "its parts took their default action"


def test_Y20_a_strategy_takes_new_parameters_while_it_governs_and_while_it_does_not(cell: LockstepCell) -> None:
    session = cell.session("left")
    fast = Strategy("fast", "velocity", when="io.input[0]", velocity=0.2)
    action = Action("a", "hold", parts="left", strategies={"x": [fast, Strategy("slow", "velocity", velocity=0.05)]})
    session.add(action)
    session.start("a")
    cell.step(400)
    x = cell.part("left").commanded_velocity
    for name, velocity in (("fast", 0.3), ("slow", -0.1)):
        session.set(f"a.x.{name}", velocity=velocity)
    cell.step(400)
    assert x[0] == pytest.approx(-0.1)
    assert session.value("a.x.ticks") > 700, "it went on"
    cell.set_sensor("io/input_0", 1.0)
    cell.step(400)
    assert x[0] == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("name", "values", "text"),
    [
        ("b.x.slow", {}, "unknown action in session .*; expected one of: a; got 'b'"),
        ("a.y.slow", {}, "strategies of 'y'; expected one of: x; got 'y'"),
        ("a.x.slaw", {}, "strategies of 'x'; expected .*did you mean 'slow'"),
        ("a.x.slow", {"velocity": 99.0}, "velocity of 'left.x' is above its limit"),
        ("a.x.slow", {"velocity": (0.1, "rad/s")}, "strategy 'slow': parameter 'velocity'"),
        ("a.x.slow", {"speed": 0.1}, "strategy 'slow' has no parameter 'speed'; expected one of: velocity"),
    ],
)
def test_Y20_what_is_not_valid_is_refused(cell: LockstepCell, name: str, values: dict[str, Any], text: str) -> None:
    session = cell.session("left")
    slow = Strategy("slow", "velocity", velocity=0.05)
    session.add(Action("a", "hold", parts="left", strategies={"x": [slow]}))
    session.start("a")
    cell.step(400)
    with pytest.raises(DefinitionError, match=text):
        session.set(name, **values)
    cell.step(10)
    assert cell.part("left").commanded_velocity[0] == pytest.approx(0.05)
