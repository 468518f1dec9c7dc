"""Rules S9 to S12, S14 and S15 of docs/semantics/sessions.md: what sessions may do, and how long they live."""

from __future__ import annotations

import math

import pytest
from cell_client import CellClient

from robot_rt_control import srv
from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.session import Session
from robot_rt_control.definitions.definitions import ParameterValue
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError, SessionError

NEAR = "rangefinder.distance < 0.3"


def started(cell: LockstepCell, part: str) -> Session:
    """A session on a part whose action `a` has been active for three ticks."""
    session = cell.session(part)
    session.add(Action("a", "probe", speed=0.05), Action("b", "probe"))
    session.start("a")
    cell.step(3)
    return session


def goes_on(cell: LockstepCell, session: Session, ticks: int = 1) -> bool:
    """Whether action `a` of the session is controlled in each of the next ticks."""
    before = session.value("a.controls")
    cell.step(ticks)
    return session.value("a.controls") == before + ticks


def test_S9_everything_of_a_session_is_removed_in_one_tick_while_it_moves(cell: LockstepCell) -> None:
    other = started(cell, "right")
    session = cell.session("left", "tool")
    session.add(
        Action("a", "probe", parts="left", speed=0.2, reactions=[Reaction("true", start="b", event="never")]),
        Action("b", "probe", parts="left"),
        Action("c", "probe", parts="tool"),
        reactions=[Reaction(NEAR, start="a", event="free")],
    )
    session.start("b", "c")
    cell.step(3)
    cell.set_sensor("rangefinder/distance", 0.1)
    before = len(cell.kinds("tables_installed"))
    session.clear()
    tick = cell.step()
    assert [cell.active(part) for part in ("left", "tool", "right")] == ["default", "default", "a"]
    assert {e.previous_action: (e.tick, e.reason) for e in cell.kinds("action_stopped", session=session.id)} == {
        "b": (tick, "the action was removed"),
        "c": (tick, "the action was removed"),
    }
    assert len(cell.kinds("tables_installed")) == before + 1, "one exchange of tables for all of it"
    assert cell.fired("free") == [], "it went in the tick in which it would have fired"
    assert session.ended is None and goes_on(cell, other)
    with pytest.raises(DefinitionError, match="'a' existed before and was removed"):
        session.add(Action("a", "probe", parts="left"))
    session.clear()  # nothing there: nothing to do
    session.add(Action("d", "probe", parts="left"))
    session.start("d")
    cell.step()
    assert cell.active("left") == "d"


def test_S9_an_empty_list_of_a_program_removes_nothing(cell: LockstepCell) -> None:
    """Over the service, two empty lists mean everything; a program that computes an empty list does not mean that."""
    cell_session = started(cell, "left")
    cell_session.remove()
    client = CellClient(cell)
    session = client.open("right")
    session.add(Action("a", "probe"))
    session.remove(*[])
    assert list(cell.server.contents(cell.server.session(session.id)).actions) == ["a"]
    assert goes_on(cell, cell_session)
    session.clear()
    assert not cell.server.contents(cell.server.session(session.id)).actions
    session.close()


def test_S10_a_read_only_session_watches_and_moves_nothing(cell: LockstepCell) -> None:
    mover = started(cell, "left")
    watcher = cell.session(read_only=True, name="look")
    seen = [Reaction(NEAR, event="near", capture=["left.position[0]", "rangefinder.distance"], name="near")]
    watcher.add(reactions=seen)
    assert watcher.parts == ()
    cell.set_sensor("rangefinder/distance", 0.1)
    tick = cell.step()
    (fired,) = cell.fired("near")
    assert (fired.tick, fired.session, fired.values[1]) == (tick, watcher.id, 0.1)
    refused = f"session '{watcher.id}' (look) is read-only and cannot "
    value = ParameterValue(name="level", value=1.0)
    for what, call in (
        ("define action 'x'", lambda: watcher.add(Action("x", "probe", parts="left"))),
        ("start, stop or signal", lambda: watcher.add(reactions=[Reaction(NEAR, start="a")])),
        ("start, stop or signal", lambda: watcher.add(reactions=[Reaction(NEAR, stop=True)])),
        ("start, stop or signal", lambda: watcher.add(reactions=[Reaction(NEAR, signal="a.ping")])),
        ("start anything", lambda: watcher.start("a")),
        ("stop anything", lambda: watcher.stop("a")),
        ("stop anything", lambda: watcher.stop()),
        ("signal anything", lambda: watcher.signal("a", "ping")),
        ("set parameters", lambda: cell.server.set_parameters(watcher.id, "a", [value])),
        ("define action 'up'", lambda: watcher.upload("actions: {up: {type: probe, parts: [left]}}\n")),
    ):
        with pytest.raises(RobotControlError) as error:
            call()
        assert isinstance(error.value, SessionError) and refused + what in str(error.value), str(error.value)
    watcher.remove(reactions=["near"])
    assert goes_on(cell, mover) and watcher.ended is None
    watcher.add(reactions=[Reaction("left.velocity[0] > 1e9", event="never")])
    cell.step()
    watcher.close()
    assert goes_on(cell, mover)
    assert [e.previous_action for e in cell.kinds("action_stopped")] == ["left_default_action"], "for mover's a alone"


def test_S10_it_takes_no_part_from_anybody(cell: LockstepCell) -> None:
    watcher = cell.session(read_only=True)
    text = ""
    try:
        cell.session("left", read_only=True)
    except DefinitionError as error:
        text = str(error)
    assert "it is read-only; expected no parts" in text
    assert goes_on(cell, started(cell, "left")) and watcher.ended is None


@pytest.mark.parametrize("read_only", [False, True])
def test_S11_a_session_ends_at_its_deadline_whatever_happens(cell: LockstepCell, read_only: bool) -> None:
    other = started(cell, "right")
    session = cell.session(*([] if read_only else ["left"]), lease_s=1.0, deadline_s=2.5, read_only=read_only)
    if not read_only:
        session.add(Action("a", "probe", speed=0.2))
        session.start("a")
    for _ in range(4):
        cell.now += 0.6
        session.renew()
        cell.step()
    assert cell.kinds("session_ended") == []
    cell.now += 0.2
    session.renew()
    cell.step(2)  # the first one notices
    assert session.ended == "its deadline of 2.5 s has come"
    cell.step()
    (told,) = cell.kinds("session_ended")
    assert (told.session, told.reason) == (session.id, "its deadline of 2.5 s has come")
    assert (cell.active("left"), cell.active("right")) == ("default" if read_only else "safety", "a")
    cell.step(400)
    assert cell.part("left").at_rest == 1.0 and goes_on(cell, other)
    with pytest.raises(SessionError, match=r"has ended: its deadline of 2\.5 s has come"):
        session.renew()


def test_S12_sessions_are_listed(cell: LockstepCell) -> None:
    client = CellClient(cell)
    first = started(cell, "left")
    second = client.open("right", "tool", lease_s=2.0, deadline_s=9.0)
    third = client.open(read_only=True)
    cell.now += 0.5
    listed = client.sessions()
    assert [s.id for s in listed] == [first.id, second.id, third.id], "the oldest first"
    assert [list(s.parts) for s in listed] == [["left"], ["right", "tool"], []]
    assert [s.read_only for s in listed] == [False, False, True]
    assert [(s.lease, s.remaining) for s in listed] == [(0.0, math.inf), (2.0, 1.5), (0.0, math.inf)]
    assert (list(listed[0].actions), list(listed[0].active)) == (["a", "b"], ["a"])
    second.upload("name: demo\nactions: {up: {type: probe, parts: [right]}}\n")
    assert client.sessions()[1].program == "demo"
    second.close()
    third.close()
    assert [s.id for s in client.sessions()] == [first.id]


def test_S14_a_stop_without_session_stops_everybody_in_one_tick(cell: LockstepCell) -> None:
    client = CellClient(cell)
    sessions = [started(cell, part) for part in ("left", "right")]
    read_only = cell.session(read_only=True)
    tick = client.stop_all()
    assert cell.step() == tick
    assert [cell.active(part) for part in ("left", "right", "tool")] == ["default"] * 3
    stopped = cell.kinds("action_stopped", previous_action="a")
    assert [(e.tick, e.reason) for e in stopped] == [(tick, "stopped by a command")] * 2
    assert {e.session for e in stopped} == {s.id for s in sessions}
    cell.step(400)
    assert cell.part("left").at_rest == cell.part("right").at_rest == 1.0
    assert all(s.ended is None for s in (*sessions, read_only)), "the sessions live on"
    sessions[0].start("a")
    cell.step()
    assert [cell.active(part) for part in ("left", "right")] == ["a", "default"]
    with pytest.raises(SessionError, match="unknown session"):
        client.services.call(srv.StopActions, "stop_actions", actions=["a"])


def test_S15_a_reaction_that_goes_with_its_target_does_not_fire(cell: LockstepCell) -> None:
    session = started(cell, "left")
    session.add(
        Action("c", "probe"),
        reactions=[Reaction(NEAR, start="c", name="go", event="go"), Reaction(NEAR, event="stays", name="stays")],
    )
    cell.step()
    cell.set_sensor("rangefinder/distance", 0.1)
    with pytest.raises(DefinitionError, match=r"'c' cannot be removed: reaction 'go' \(free-standing\) refers to it"):
        session.remove("c")
    session.remove("c", reactions=["go"])  # takes effect in the tick in which it would have fired
    assert goes_on(cell, session)
    assert cell.fired("go") == [] and len(cell.fired("stays")) == 1 and cell.active("left") == "a"


def test_S15_an_owner_that_goes_with_its_target_leaves_the_part_to_its_default(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("c", "probe", reactions=[Reaction(NEAR, start="d", event="go")]), Action("d", "probe"))
    session.start("c")
    cell.step(3)
    cell.set_sensor("rangefinder/distance", 0.1)
    session.remove("c", "d")
    cell.step()
    assert cell.active("left") == "default" and cell.fired("go") == []


def test_S15_a_command_that_names_what_went_at_this_boundary_is_refused(cell: LockstepCell) -> None:
    session = started(cell, "left")
    session.signal("a", "ping")
    session.start("b")
    session.set("b", level=3.0)
    session.remove("a", "b")
    cell.step()
    assert [e.reason for e in cell.kinds("command_refused")] == ["the action does not exist any more"] * 3
    assert cell.active("left") == "default" and session.ended is None
