"""Rules G1 and G2 of docs/semantics.md: signals."""

from __future__ import annotations

import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.testing.cell_session import CellSession
from robot_rt_control.testing.lockstep_cell import LockstepCell

NEAR = "rangefinder.distance < 0.3"


def heard(session: CellSession, action: str) -> list[float]:
    """Calls of set_parameters, and of control, that saw `ping`; and of control that saw `pong`."""
    return [session.value(f"{action}.{name}") for name in ("heard_first", "heard", "other")]


def two(cell: LockstepCell, *reactions: Reaction) -> CellSession:
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
