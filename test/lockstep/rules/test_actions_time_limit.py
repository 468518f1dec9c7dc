"""Rules A14 and A15 of docs/semantics/actions.md: the time of an action, and its limit."""

from __future__ import annotations

import math

import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import DefinitionError

PROGRAM = """\
parameters: {longest: {unit: s}}
start: [wait]
actions:
  wait:
    type: hold
    parts: right
    time_limit: 2 * $longest
"""


def test_A14_every_action_has_elapsed_in_its_own_time(cell: LockstepCell) -> None:
    session = cell.session("right")
    session.add(
        Action("a", "hold", reactions=[Reaction("elapsed > 0.0025", event="later", capture=["elapsed", "a.timed_out"])])
    )
    cell.step()
    assert math.isnan(session.value("a.elapsed")) and math.isnan(session.value("a.timed_out")), "not active"
    session.start("a")
    first = cell.step()
    cell.step(3)
    (later,) = cell.fired("later")
    assert (later.tick, later.values) == (first + 3, (pytest.approx(0.003), 0.0))
    session.start("a")  # re-entered: from the beginning
    cell.step(2)
    assert 0.0 < session.value("a.elapsed") <= 0.0021
    cell.server.set_speed(0.0)
    cell.step(2000)
    stands = session.value("a.elapsed")
    cell.step(10)
    assert session.value("a.elapsed") == stands, "its time stands still"
    session.stop("a")
    cell.step()
    assert math.isnan(session.value("a.elapsed"))


def test_A14_a_type_may_have_its_own(cell: LockstepCell) -> None:
    session = cell.session("right")
    session.add(Action("a", "probe"))
    session.start("a")
    cell.step(3)
    assert session.value("a.elapsed") == pytest.approx(0.003), "probe adds up in sense: one more"
    assert session.value("a.timed_out") == 0.0


def test_A15_at_its_time_limit_an_action_ends_as_by_stop(cell: LockstepCell) -> None:
    session = cell.session("right", "left")
    session.add(
        Action("a", "hold", parts="right", time_limit=0.0045, reactions=[Reaction("timed_out", event="late")]),
        Action("b", "hold", parts="left"),
        reactions=[Reaction("a.timed_out", event="seen", capture=["a.elapsed"])],
    )
    session.start("a", "b")
    first = cell.step()
    cell.step(4)
    assert session.active == ("a", "b")
    tick = cell.step()
    assert tick == first + 5
    assert (session.active, cell.active("right")) == (("b",), "default")
    assert [(e.tick, e.values) for e in cell.fired("seen")] == [(tick, (pytest.approx(0.005),))]
    assert [e.tick for e in cell.fired("late")] == [tick]
    ends = cell.kinds("action_stopped", previous_action="a")
    assert [(e.tick, e.reason) for e in ends] == [(tick, "its time limit was reached")]
    cell.step(10)
    assert len(cell.kinds("action_stopped", previous_action="a")) == 1 and session.ended is None


def test_A15_a_reaction_of_that_tick_takes_it(cell: LockstepCell) -> None:
    session = cell.session("right")
    session.add(
        Action("a", "hold", time_limit=0.002, reactions=[Reaction("timed_out", start="b", event="late")]),
        Action("b", "hold", time_limit=0.003, reactions=[Reaction("timed_out", start="b", event="again")]),
    )
    session.start("a")
    first = cell.step()
    cell.step(2)
    assert session.active == ("b",) and [e.tick for e in cell.fired("late")] == [first + 2]
    (end,) = cell.kinds("action_stopped", previous_action="a")
    assert end.reason == "ended by a reaction"
    cell.step(7)  # it re-enters itself: its time begins anew
    assert session.active == ("b",) and [e.tick for e in cell.fired("again")] == [first + 5, first + 8]


def test_A15_a_start_that_is_refused_does_not_keep_it(cell: LockstepCell) -> None:
    """Only its end by a reaction counts, not that one fired."""
    session = cell.session("right", "left")
    session.add(
        Action("a", "hold", parts="right", time_limit=0.002, reactions=[
            Reaction("timed_out", start="b", event="late"),
        ]),
        Action("b", "pair", parts={"one": "left", "two": "right"}),
    )  # fmt: skip
    session.start("a")
    cell.step()
    cell.server.set_motion(["left"], "disable", secret=cell.server.session(session.id).secret)
    cell.step(2)
    assert len(cell.fired("late")) == 1 and len(cell.kinds("switch_dropped")) == 1
    assert session.active == () and cell.active("right") == "default"


def test_A15_over_programs_and_what_is_refused(cell: LockstepCell) -> None:
    session = cell.session("right")
    session.upload(PROGRAM, longest=0.001)
    session.start("wait")
    cell.step(3)
    assert session.active == () and len(cell.kinds("action_stopped", previous_action="wait")) == 1
    session.close()
    session = cell.session("right")
    with pytest.raises(DefinitionError, match=r"program:4: action 'wait': time_limit; expected a number of seconds"):
        session.upload(PROGRAM, longest=-1.0)
    with pytest.raises(DefinitionError, match=r"program:4: action 'wait': time_limit: unit; expected s; got 'm'"):
        session.upload(PROGRAM.replace("2 * $longest", "{value: 2, unit: m}"), longest=1.0)
    assert ProgramTemplate(PROGRAM).sample().draft.actions[0].time_limit == 1.0
    for wrong in (0.0, -1.0, math.inf, math.nan, True):
        with pytest.raises(DefinitionError, match=r"action 'a': time_limit; expected a number of seconds above 0"):
            session.add(Action("a", "hold", time_limit=wrong))
    with pytest.raises(
        DefinitionError, match=r"expected none, as type 'wait_for_input' has a state variable 'timed_out'"
    ):
        session.add(Action("a", "wait_for_input", parts="right", input="x", time_limit=1.0))
