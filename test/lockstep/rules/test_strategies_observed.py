"""Rules Y18 and Y19 of docs/semantics/strategies.md: what is seen of strategies from outside."""

from __future__ import annotations

import math

import pytest

from robot_rt_control.client.actions import Action, Reaction, Strategy
from robot_rt_control.server.programs.program_states import ProgramStates, SessionState
from robot_rt_control.testing.cell_backend import event_of
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError, RobotControlError

NEAR = "rangefinder.distance < 0.5"
SEEN = ["rangefinder.distance", "x.strategy", "x.ticks"]
FORWARD = Strategy("forward", "push", step=1e-6)
PLAIN = Strategy("back", "push", when=NEAR, step=-1e-6)
BACK = Strategy("back", "push", when=NEAR, step=-1e-6, capture=SEEN)


def see(cell: LockstepCell, *distances: float) -> None:
    for distance in distances:
        cell.set_sensor("rangefinder/distance", distance)
        cell.step()


def test_Y18_a_change_carries_its_fields_and_the_values_that_its_strategy_captures(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", "hold", parts="left", strategies={"x": [BACK, FORWARD], "joint[1]": [FORWARD]}))
    session.start("a")
    see(cell, 0.9, 0.9, 0.9, 0.4, 0.9)
    changes = [event_of(event) for event in cell.kinds("strategy_changed")]
    assert [(e.current_action, e.degree_of_freedom, e.from_strategy, e.to_strategy, e.tick) for e in changes] == [
        ("a", "x", "", "forward", cell.tick - 4),
        ("a", "joint[1]", "", "forward", cell.tick - 4),
        ("a", "x", "forward", "back", cell.tick - 1),
        ("a", "x", "back", "forward", cell.tick),
    ]
    assert [e.values for e in changes] == [
        {}, {}, {"rangefinder.distance": 0.4, "x.strategy": 1.0, "x.ticks": 2.0}, {},
    ], "as the conditions saw them: forward governed, two ticks after it took over"  # fmt: skip
    others = [event_of(event) for event in cell.kinds("action_started")]
    assert {(e.degree_of_freedom, e.from_strategy, e.to_strategy) for e in others} == {("", "", "")}


def test_Y18_what_was_unknown_is_captured_as_unknown(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", "hold", parts="left", strategies={"x": [BACK, FORWARD]}))
    session.start("a")
    see(cell, 0.4)
    (change,) = map(event_of, cell.kinds("strategy_changed"))
    assert (change.from_strategy, change.to_strategy, change.values["rangefinder.distance"]) == ("", "back", 0.4)
    assert math.isnan(change.values["x.strategy"]), "none governed before"


PROGRAM = """
roles: {eye: {kinds: [rangefinder]}}
start: a
actions:
  a:
    type: hold
    parts: left
    strategies:
      x:
        - {name: back, when: eye.distance < 0.5, law: push, capture: [eye.distance, b.elapsed]}
        - {name: forward, law: push, capture: eye.distance}
  b: {type: probe, parts: right, manual: true}
"""


def test_Y18_a_program_captures_as_an_application_does(cell: LockstepCell) -> None:
    session = cell.session("left", "right")
    session.upload(PROGRAM.replace("b.elapsed", "b.is_done"), {"eye": "rangefinder"})
    session.start("a", "b")
    see(cell, 0.9, 0.4)
    changes = [(e.names, e.values) for e in cell.kinds("strategy_changed")]
    assert changes == [(("rangefinder.distance",), (0.9,)), (("rangefinder.distance", "b.is_done"), (0.4, 0.0))]
    with pytest.raises(DefinitionError, match="'b' cannot be removed: a strategy of action 'a' refers to it"):
        session.remove("b")


def test_Y18_captures_are_checked(cell: LockstepCell) -> None:
    session = cell.session("left", "right")
    with pytest.raises(RobotControlError) as caught:
        session.upload(PROGRAM.replace("[eye.distance, b.elapsed]", "eye.distanc"), {"eye": "rangefinder"})
    line = next(i for i, text in enumerate(PROGRAM.splitlines(), 1) if "name: back" in text)
    assert f":{line}: action 'a': strategy 'back' of 'x' captures an unknown state variable" in str(caught.value)
    assert "did you mean 'rangefinder.distance'" in str(caught.value)
    many = Strategy("many", "push", capture=["time"] * 9)
    with pytest.raises(CapacityError, match=r"strategy 'many': captures too much; expected at most 8 .*; got 9"):
        session.add(Action("a", "hold", parts="left", strategies={"x": [many]}))


def test_Y19_the_governing_strategies_are_published_with_a_sessions_states(cell: LockstepCell) -> None:
    told: list[SessionState] = []
    states = ProgramStates(lambda _: "", told.append)
    cell.server.add_listener(states.take)
    session = cell.session("left", "right")
    out = Reaction("rangefinder.distance < 0.2", start="b")
    session.add(
        Action("a", "hold", parts="left", strategies={"x": [BACK, FORWARD], "turn": [FORWARD]}, reactions=[out]),
        Action("b", "hold", parts="left", strategies={"turn": [FORWARD]}),
        Action("c", "hold", parts="right", strategies={"joint[0]": [PLAIN, FORWARD]}),
    )
    session.start("a", "c")
    see(cell, 0.9)
    states.flush()
    first = cell.tick
    assert dict(told[-1].strategies) == {
        ("a", "x"): ("forward", first),
        ("a", "turn"): ("forward", first),
        ("c", "joint[0]"): ("forward", first),
    }
    see(cell, 0.9, 0.4)
    states.flush()
    assert told[-1].strategies["a", "x"] == ("back", first + 2) and told[-1].tick == first + 2
    assert told[-1].strategies["a", "turn"] == ("forward", first)
    see(cell, 0.1)
    states.flush()
    assert dict(told[-1].strategies) == {("b", "turn"): ("forward", first + 3), ("c", "joint[0]"): ("back", first + 2)}
    session.close()
    cell.step()
    states.flush()
    assert told[-1].ended and not told[-1].strategies


def test_Y19_a_client_reads_and_records_them(cell: LockstepCell) -> None:
    session = cell.session("left", "right")
    session.add(
        Action("a", "hold", parts="left", strategies={"x": [BACK, FORWARD], "turn": [FORWARD]}),
        Action("c", "hold", parts="right", strategies={"joint[0]": [PLAIN, FORWARD]}),
    )
    with pytest.raises(DefinitionError, match=r"'a.y.strategy' is not known; .* did you mean 'a.x.strategy'"):
        session.value("a.y.strategy")
    assert math.isnan(session.value("a.x.strategy")), "not active"
    session.start("a", "c")
    see(cell, 0.9)
    with session.record("a.x.strategy", "a.x.ticks", "c.joint[0].strategy") as recording:
        see(cell, 0.9, 0.9, 0.4, 0.4)
    assert recording["a.x.strategy"].tolist() == [1, 1, 0, 0] and recording["a.x.ticks"].tolist() == [1, 2, 0, 1]
    assert recording["c.joint[0].strategy"].tolist() == [1, 1, 0, 0]
    assert session.value("a.turn.ticks") == 4.0
