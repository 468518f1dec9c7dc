"""Rules G1 to G3 of docs/semantics/signals.md: signals."""

from __future__ import annotations

import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.session import Session
from robot_rt_control.testing.lockstep_cell import LockstepCell

NEAR = "rangefinder.distance < 0.3"


def heard(session: Session, action: str) -> list[float]:
    """Calls of set_parameters, and of control, that saw `ping`; and of control that saw `pong`."""
    return [session.value(f"{action}.{name}") for name in ("heard_first", "heard", "other")]


def two(cell: LockstepCell, *reactions: Reaction) -> Session:
    session = cell.session("left", "right")
    session.add(Action("a", "probe", parts="left", reactions=reactions), Action("b", "probe", parts="right"))
    session.start("a", "b")
    cell.step(2)
    return session


def test_G1_a_signal_by_command_is_seen_once_in_that_tick(cell: LockstepCell) -> None:
    session = two(cell)
    tick = session.signal("a", "ping")
    assert heard(session, "a") == [0.0, 0.0, 0.0]
    assert cell.step() == tick
    assert heard(session, "a") == [1.0, 1.0, 0.0]
    cell.step(5)
    assert heard(session, "a") == [1.0, 1.0, 0.0]
    assert heard(session, "b") == [0.0, 0.0, 0.0]
    session.signal("a", "pong")
    cell.step()
    assert heard(session, "a") == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("target", ["a", "b"])
def test_G1_a_signal_by_reaction_is_seen_once_in_the_tick_of_the_firing(cell: LockstepCell, target: str) -> None:
    session = two(cell, Reaction(NEAR, signal=f"{target}.ping"))
    cell.set_sensor("rangefinder/distance", 0.1)
    cell.step()
    assert heard(session, target) == [1.0, 1.0, 0.0]
    cell.step(5)
    assert heard(session, target) == [1.0, 1.0, 0.0]


def test_G1_raised_twice_in_a_tick_it_is_still_one(cell: LockstepCell) -> None:
    session = two(cell, Reaction(NEAR, signal="ping"))
    session.signal("a", "ping")
    session.signal("a", "ping")
    cell.set_sensor("rangefinder/distance", 0.1)
    cell.step()
    assert heard(session, "a") == [1.0, 1.0, 0.0]


def test_G1_a_signal_to_an_action_that_starts_in_the_same_tick_reaches_it(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", "probe"))
    session.start("a")
    session.signal("a", "ping")
    cell.step(3)
    assert heard(session, "a") == [1.0, 1.0, 0.0]


def test_G1_a_new_activation_does_not_see_an_old_signal(cell: LockstepCell) -> None:
    session = two(cell)
    session.signal("a", "ping")
    session.start("a")
    cell.step(3)
    assert heard(session, "a") == [0.0, 0.0, 0.0]


def test_G2_a_signal_to_an_inactive_action_is_dropped_and_reported(cell: LockstepCell) -> None:
    session = cell.session("left", "right")
    session.add(
        Action("a", "probe", parts="left"),
        Action("b", "probe", parts="right"),
        reactions=[Reaction(NEAR, signal="b.ping", event="near")],
    )
    cell.step()
    session.signal("a", "ping")
    cell.set_sensor("rangefinder/distance", 0.1)
    tick = cell.step()
    dropped = {(e.current_action, e.tick, e.session) for e in cell.kinds("signal_dropped")}
    assert dropped == {("a", tick, session.id), ("b", tick, session.id)}
    assert [e.tick for e in cell.fired("near")] == [tick]
    session.start("a", "b")
    cell.step(3)
    assert heard(session, "a") == heard(session, "b") == [0.0, 0.0, 0.0], "it is not kept for later"


# --- G3: one edge, whatever else happens in that tick --------------------------------------------


def disturb(session: Session, what: str, i: int) -> None:
    """Something that changes tables, parameters or activity in the next tick."""
    if what == "parameters":
        session.set("a", level=float(i))
    elif what == "definition":
        session.add(Action(f"n{i}", "probe", parts="left"), reactions=[Reaction("time > 1e9", event="e", name=f"r{i}")])
    elif what == "removal":
        session.add(Action(f"n{i}", "probe", parts="left"))
        session.remove(f"n{i}")
    elif what == "start":
        session.start("b")


@pytest.mark.parametrize("what", ["parameters", "definition", "removal", "start"])
@pytest.mark.parametrize("order", ["signal first", "signal last", "around"])
def test_G3_a_signal_in_the_tick_of_a_change_is_seen_exactly_once(cell: LockstepCell, what: str, order: str) -> None:
    session = two(cell)
    for i in range(1, 4):
        if order != "signal last":
            session.signal("a", "ping")
        disturb(session, what, i)
        if order != "signal first":
            session.signal("a", "ping")
        cell.step()
        assert heard(session, "a") == [i, i, 0.0]
        cell.step(2)
        assert heard(session, "a") == [i, i, 0.0]
    assert session.value("a.entries") == 1.0 and cell.kinds("signal_dropped") == []


def test_G3_raised_by_command_and_by_several_reactions_it_is_one_edge(cell: LockstepCell) -> None:
    session = cell.session("left", "right")
    session.add(
        Action("a", "probe", parts="left", reactions=[Reaction(NEAR, signal="ping"), Reaction(NEAR, signal="ping")]),
        Action("b", "probe", parts="right", reactions=[Reaction(NEAR, signal="a.ping")]),
        reactions=[Reaction(NEAR, signal="a.ping"), Reaction(NEAR, signal="a.pong")],
    )
    session.start("a", "b")
    cell.step(2)
    session.signal("a", "ping")
    session.signal("a", "ping")
    cell.set_sensor("rangefinder/distance", 0.1)
    cell.step()
    assert heard(session, "a") == [1.0, 1.0, 1.0], "pong is a signal of its own"
    cell.step(5)
    assert heard(session, "a") == [1.0, 1.0, 1.0]


def test_G3_raised_in_each_tick_it_is_an_edge_in_each(cell: LockstepCell) -> None:
    session = two(cell)
    for i in range(1, 11):
        tick = session.signal("a", "ping")
        assert cell.step() == tick and heard(session, "a") == [i, i, 0.0]
    cell.step(5)
    assert heard(session, "a") == [10.0, 10.0, 0.0]


def test_G3_a_reentry_before_it_leaves_one_edge_to_the_new_activation(cell: LockstepCell) -> None:
    session = two(cell)
    session.signal("a", "ping")
    session.start("a")
    session.signal("a", "ping")
    cell.step(3)
    assert heard(session, "a") == [1.0, 1.0, 0.0], "that behind the start; the one before it went with the old state"


def test_G3_a_signal_and_a_switch_to_its_target_in_one_tick(cell: LockstepCell) -> None:
    """Firings respond in order (R5): raised before the switch that starts its target it is dropped, else seen."""
    session = cell.session("left")
    session.add(
        Action("a", "probe"),
        Action("b", "probe"),
        reactions=[
            Reaction(NEAR, signal="b.ping", event="early"),
            Reaction(NEAR, start="b", event="switch"),
            Reaction(NEAR, signal="b.pong", event="late"),
        ],
    )
    session.start("a")
    cell.step(2)
    cell.set_sensor("rangefinder/distance", 0.1)
    tick = cell.step()
    assert [e.tick for e in cell.kinds("signal_dropped", current_action="b")] == [tick]
    assert heard(session, "b") == [0.0, 0.0, 1.0]
    cell.step(3)
    assert heard(session, "b") == [0.0, 0.0, 1.0]


def test_G3_a_signal_to_an_action_that_is_removed_at_that_boundary_is_refused(cell: LockstepCell) -> None:
    session = two(cell)
    session.signal("a", "ping")
    session.remove("a")
    session.add(Action("c", "probe", parts="left"))
    session.start("c")
    cell.step(2)
    assert [e.reason for e in cell.kinds("command_refused")] == ["the action does not exist any more"]
    assert heard(session, "c") == heard(session, "b") == [0.0, 0.0, 0.0], "nobody else gets it"
