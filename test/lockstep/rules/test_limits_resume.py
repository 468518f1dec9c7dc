"""Rules L29 to L32 of docs/semantics: after a protective stop nothing moves before somebody has asked for it."""

from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.session import Session
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import CommandRefused, SessionError


def is_suspended(session: Session) -> bool:
    return session.suspended


def stop_and_release(cell: LockstepCell) -> None:
    cell.server.protective_stop(True, source="door")
    cell.step(400)
    cell.server.protective_stop(False)
    cell.step()


def near(cell: LockstepCell, distance: float = 0.2) -> None:
    cell.set_sensor("rangefinder/distance", distance)
    cell.step()


def commanded(cell: LockstepCell, part: str = "left") -> np.ndarray:
    return cell.part(part).commanded_position.copy()


def guarded(cell: LockstepCell) -> Session:
    """`a` moves left until something is near, then `back`; `c` moves right when something is very near."""
    cell.set_sensor("rangefinder/distance", 0.9)
    session = cell.session("left", "right")
    session.add(
        Action("a", "probe", parts="left", speed=0.3, reactions=[Reaction("rangefinder.distance < 0.5", start="back")]),
        Action("back", "probe", parts="left", speed=-0.3),
        Action("c", "probe", parts="right", speed=0.2),
        reactions=[Reaction("rangefinder.distance < 0.3", start="c", event="very_near", name="guard")],
    )
    session.start("a")
    cell.step(100)
    return session


def test_L29_a_stop_drops_what_is_scheduled(cell: LockstepCell) -> None:
    session = guarded(cell)
    session.start("c", at_tick=cell.tick + 500)
    cell.step()
    tick = cell.server.protective_stop(True, source="door")
    cell.step()
    refused = [(e.tick, e.session, e.reason) for e in cell.kinds("command_refused")]
    assert refused == [(tick, session.id, "a protective stop holds all parts")]
    cell.server.protective_stop(False)
    session.resume()
    session.start("c", at_tick=cell.tick + 600)
    cell.step()
    held = commanded(cell, "right")
    cell.step(590)
    assert (commanded(cell, "right") == held).all() and cell.active("right") == "none"
    cell.step(20)
    assert cell.active("right") == "c", "it was asked for after the release"


def test_L30_reactions_of_a_suspended_session_start_nothing(cell: LockstepCell) -> None:
    session = guarded(cell)
    assert not is_suspended(session)
    stop_and_release(cell)
    assert is_suspended(session) and [s.suspended for s in cell.server.sessions()] == [True]
    (event,) = cell.kinds("session_suspended")
    assert (event.session, event.tick) == (session.id, cell.kinds("protective_stop")[0].tick)
    held = commanded(cell, "right")
    near(cell)
    cell.step(50)
    assert cell.active("right") == "none" and (commanded(cell, "right") == held).all()
    (fired,) = cell.fired("very_near")
    (dropped,) = cell.kinds("switch_dropped")
    assert dropped.tick == fired.tick and dropped.reaction == "guard"
    assert dropped.reason == "a protective stop has suspended the session"


def test_L30_nor_do_its_commands(cell: LockstepCell) -> None:
    session = guarded(cell)
    stop_and_release(cell)
    session.start("a")
    session.start("c", at_tick=cell.tick + 5)
    cell.step(10)
    assert [e.reason for e in cell.kinds("command_refused")] == ["a protective stop has suspended the session"] * 2
    held = commanded(cell)
    session.replace(Action("a", "probe", parts="left", speed=0.5), start=("a",))
    cell.step(5)
    assert [e.reason for e in cell.kinds("replace_refused")] == ["a protective stop has suspended the session"]
    assert (commanded(cell) == held).all() and cell.active("left") == "none"


def test_L30_the_error_says_how_to_go_on(workcell: Workcell) -> None:
    with LockstepCell(workcell, gated=False) as cell:
        session = guarded(cell)
        stop_and_release(cell)
        with pytest.raises(CommandRefused) as refused:
            session.start("a")
        assert str(refused.value) == (
            "start of 'a' was refused: a protective stop has suspended the session. "
            "Once a person has asked for it, resume the session: Session.resume(), the service resume_session, or "
            "`robot-rt resume`"
        )
        session.resume()
        session.start("a")
        assert cell.active("left") == "a"


def test_L30_sessions_opened_after_the_release_are_not_suspended(cell: LockstepCell) -> None:
    before = cell.session("left")
    cell.server.protective_stop(True, source="door")
    cell.step()
    meanwhile = cell.session("right")
    cell.step()
    cell.server.protective_stop(False)
    cell.step()
    after = cell.session("tool")
    watching = cell.session(read_only=True)
    sessions = {s.id: s.suspended for s in cell.server.sessions()}
    assert sessions == {before.id: True, meanwhile.id: True, after.id: False, watching.id: False}
    cell.set_sensor("rangefinder/distance", 0.9)
    for session, part in ((before, "left"), (meanwhile, "right"), (after, "tool")):  # defined only now
        session.add(
            Action("m", "probe", parts=part, speed=0.1),
            reactions=[Reaction("rangefinder.distance < 0.3", start="m")],
        )
    cell.step()
    near(cell)
    assert [cell.active(part) for part in ("left", "right", "tool")] == ["none", "none", "m"]


def test_L31_after_a_resume_they_start_by_a_new_edge(cell: LockstepCell) -> None:
    session = guarded(cell)
    stop_and_release(cell)
    near(cell)
    tick = session.resume("Ann")
    cell.step()
    (event,) = cell.kinds("session_resumed")
    assert (event.session, event.tick) == (session.id, tick)
    assert not is_suspended(session)
    cell.step(20)
    assert cell.active("right") == "none", "a condition that holds already is no edge"
    near(cell, 0.9)
    near(cell)
    assert cell.active("right") == "c"
    session.resume()
    cell.step()
    assert len(cell.kinds("session_resumed")) == 1, "it was resumed already"


def test_L31_it_is_refused_during_a_stop(cell: LockstepCell) -> None:
    session, empty = guarded(cell), cell.session("tool")
    cell.server.protective_stop(True, source="door")
    cell.step()
    session.resume()
    cell.step()
    assert [e.reason for e in cell.kinds("command_refused")] == ["a protective stop holds all parts"]
    with pytest.raises(Exception, match="was not resumed: a protective stop holds all parts; got door"):
        empty.resume()
    cell.server.protective_stop(False)
    cell.step()
    assert is_suspended(session) and is_suspended(empty)
    empty.resume()
    assert not is_suspended(empty)
    with pytest.raises(SessionError, match="is read-only"):
        cell.session(read_only=True).resume()


def test_L31_a_second_stop_suspends_again(cell: LockstepCell) -> None:
    session = guarded(cell)
    stop_and_release(cell)
    session.resume()
    cell.step()
    stop_and_release(cell)
    near(cell)
    assert is_suspended(session) and cell.active("right") == "none"


def test_L32_neither_a_release_nor_definitions_start_a_default_action(cell: LockstepCell) -> None:
    session = guarded(cell)
    stop_and_release(cell)
    held = {part: commanded(cell, part) for part in ("left", "right", "tool")}
    session.add(Action("d", "probe", parts="left"))
    cell.step(20)
    assert [cell.active(part) for part in held] == ["none"] * 3
    assert all((commanded(cell, part) == at).all() for part, at in held.items())
    session.resume()
    cell.step()
    assert [cell.active(part) for part in held] == ["none"] * 3
    session.start("d")
    cell.step()
    assert (cell.active("left"), cell.active("right")) == ("d", "none")
    session.stop("d")
    cell.step()
    assert cell.active("left") == "default", "as after any stop"
    cell.server.set_motion(["tool"], "disable")
    cell.step()
    cell.server.set_motion(["tool"], "enable")
    cell.step()
    assert cell.active("tool") == "default", "its motion was enabled anew"
