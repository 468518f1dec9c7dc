"""Rule R14 of docs/semantics, with R4 to R6: what several sessions and reactions do in one and the same tick."""

from __future__ import annotations

import itertools

import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.session import Session
from robot_rt_control.testing.lockstep_cell import LockstepCell

NEAR = "rangefinder.distance < 0.3"
PARTS = ("left", "right", "tool")


def machine(cell: LockstepCell, part: str, *, free: bool = False) -> Session:
    """A session that switches from a to b when it comes near, and back at the next time."""
    session = cell.session(part)
    there, back = Reaction(NEAR, start="b", event="there"), Reaction(NEAR, start="a", event="back")
    watch = [Reaction(NEAR, event="seen")] if free else []
    session.add(
        Action("a", "probe", speed=0.02, reactions=[there]),
        Action("b", "probe", speed=-0.02, reactions=[back]),
        reactions=watch,
    )
    session.start("a")
    return session


def come_near(cell: LockstepCell) -> int:
    cell.set_sensor("rangefinder/distance", 1.0)
    cell.step(3)
    cell.set_sensor("rangefinder/distance", 0.1)
    return cell.step()


def test_R14_three_sessions_switch_in_the_same_tick_and_none_is_dropped(cell: LockstepCell) -> None:
    cell.set_sensor("rangefinder/distance", 1.0)
    sessions = [machine(cell, part, free=True) for part in PARTS]
    for i in range(6):
        tick = come_near(cell)
        assert [cell.active(part) for part in PARTS] == ["ab"[(i + 1) % 2]] * 3
        fired = [(e.session, e.event) for e in cell.kinds("reaction_fired", tick=tick)]
        event = ("there", "back")[i % 2]
        ids = [s.id for s in sessions]
        assert fired == [(i, "seen") for i in ids] + [(i, event) for i in ids], (
            "R5: free ones, then by the sessions' age"
        )
        assert [s.value(f"{'ab'[(i + 1) % 2]}.controls") for s in sessions] == [1.0] * 3
    assert cell.kinds("switch_dropped") == []


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_R14_the_order_in_which_sessions_came_changes_nothing_for_any_of_them(
    cell: LockstepCell, order: tuple[int, ...]
) -> None:
    cell.set_sensor("rangefinder/distance", 1.0)
    for k in order:
        machine(cell, PARTS[k])
    path = []
    for _ in range(2):
        come_near(cell)
        for _ in range(5):
            cell.step()
            path.append(tuple(float(cell.part(p).commanded_position[0]) for p in PARTS))
    with LockstepCell(cell.workcell) as other:
        other.set_sensor("rangefinder/distance", 1.0)
        for part in PARTS:
            machine(other, part)
        twin = []
        for _ in range(2):
            come_near(other)
            for _ in range(5):
                other.step()
                twin.append(tuple(float(other.part(p).commanded_position[0]) for p in PARTS))
    assert path == twin


def test_R14_a_command_a_switch_a_failure_and_a_removal_in_one_tick(cell: LockstepCell) -> None:
    """Each in a session of its own: all of it happens, in that tick."""
    cell.set_sensor("rangefinder/distance", 1.0)
    switching = machine(cell, "left")
    failing = cell.session("right")
    failing.add(Action("bad", "probe", fail_in=4, fail_at=4))
    failing.start("bad")
    removing = cell.session("tool")
    removing.add(Action("old", "probe"), Action("new", "probe"))
    removing.start("old")
    cell.step(3)
    removing.remove("old")
    removing.start("new")
    cell.set_sensor("rangefinder/distance", 0.1)
    tick = cell.step()
    assert [cell.active(part) for part in PARTS] == ["b", "safety", "new"]
    assert {
        e.previous_action: (e.tick, e.reason.partition(":")[0]) for e in cell.kinds("action_stopped", tick=tick)
    } == {
        "a": (tick, "ended by a reaction"),
        "bad": (tick, "the action failed"),
        "old": (tick, "the action was removed"),
        "tool_default_action": (tick, "another action took a part"),
    }
    assert (switching.ended, removing.ended) == (None, None) and "status 7" in str(failing.ended)


def test_R14_a_command_and_a_reaction_of_one_session_in_one_tick(cell: LockstepCell) -> None:
    """The command comes first; the reaction of what it has displaced is not judged any more, its own is (R8)."""
    cell.set_sensor("rangefinder/distance", 1.0)
    session = cell.session("left")
    session.add(
        Action("a", "probe", reactions=[Reaction(NEAR, start="b", event="old")]),
        Action("b", "probe"),
        Action("c", "probe", reactions=[Reaction(NEAR, start="d", event="new")]),
        Action("d", "probe"),
    )
    session.start("a")
    cell.step(3)
    session.start("c")
    cell.set_sensor("rangefinder/distance", 0.1)
    tick = cell.step()
    assert cell.active("left") == "d" and cell.fired("old") == []
    assert [e.tick for e in cell.fired("new")] == [tick]
    chain = [(e.kind, e.previous_action or e.current_action) for e in cell.events if e.tick == tick and e.session]
    assert [x for x in chain if x[0].startswith("action")] == [
        ("action_stopped", "a"),
        ("action_started", "c"),
        ("action_stopped", "c"),
        ("action_started", "d"),
    ]


def test_R14_actions_over_several_parts_claim_all_of_them(cell: LockstepCell) -> None:
    """Two switches of one session over overlapping parts: the first one wins."""
    cell.set_sensor("rangefinder/distance", 1.0)
    session = cell.session("left", "right", "tool")
    session.add(
        Action("l", "probe", parts="left", reactions=[Reaction(NEAR, start="both", event="first")]),
        Action("r", "probe", parts="right", reactions=[Reaction(NEAR, start="solo", signal="t.ping", event="second")]),
        Action("t", "probe", parts="tool"),
        Action("both", "pair", parts={"one": "left", "two": "right"}),
        Action("solo", "probe", parts="right"),
    )
    session.start("l", "r", "t")
    cell.step(3)
    cell.set_sensor("rangefinder/distance", 0.1)
    tick = cell.step()
    assert [cell.active(part) for part in PARTS] == ["both", "both", "t"]
    (dropped,) = cell.kinds("switch_dropped")
    assert (dropped.tick, dropped.current_action, dropped.reason) == (tick, "solo", "two actions use the same part")
    assert session.value("t.heard") == 1.0, "the signal of the dropped switch happens all the same"
    cell.step(5)
    assert cell.active("right") == "both", "its edge is consumed"
