"""Rules S1 to S8 of docs/semantics/sessions.md: definitions and sessions."""

from __future__ import annotations

import math

import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.session import Session
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import RobotControlError, SessionError

NEAR = "rangefinder.distance < 0.3"


def started(cell: LockstepCell, part: str, *reactions: Reaction, lease_s: float = 0.0) -> Session:
    """A session on a part whose action `a` has been active for three ticks."""
    session = cell.session(part, lease_s=lease_s)
    session.add(Action("a", "probe", reactions=reactions), Action("b", "probe"))
    session.start("a")
    cell.step(3)
    return session


def stops(cell: LockstepCell, action: str = "a") -> list[tuple[int, str]]:
    return [(e.tick, e.reason) for e in cell.kinds("action_stopped", previous_action=action)]


def goes_on(cell: LockstepCell, session: Session, ticks: int = 1) -> bool:
    """Whether action `a` of the session is controlled in each of the next ticks."""
    before = session.value("a.controls")
    cell.step(ticks)
    return session.value("a.controls") == before + ticks


# --- S1, S2, S3: definitions ---------------------------------------------------------------------


def test_S1_adding_is_all_or_nothing_and_the_session_lives_on(cell: LockstepCell) -> None:
    session = started(cell, "left")
    good = Action("good", "probe")
    for bad in (
        [Action("bad", "porbe")],
        [Action("bad", "probe", sped=1.0)],
        [Action("bad", "probe", parts="right")],
        [Action("bad", "probe", reactions=[Reaction("elapsd > 1", event="e")])],
        [Action("bad", "probe", reactions=[Reaction("is_done", start="nobody")])],
        [Action("bad", "velocity_move", velocity=[100.0, 0.0])],  # its own preparation refuses
        [Action("a", "probe")],
    ):
        with pytest.raises(RobotControlError):
            session.add(good, *bad, reactions=[Reaction(NEAR, event="free")])
    cell.set_sensor("rangefinder/distance", 0.1)
    assert goes_on(cell, session)
    assert cell.fired("free") == [] and session.ended is None
    assert list(cell.server.contents(cell.server.session(session.id)).actions) == ["a", "b"]
    session.add(good)  # its id is still free
    session.start("good")
    cell.step()
    assert cell.active("left") == "good"


def test_S1_removing_is_all_or_nothing(cell: LockstepCell) -> None:
    session = started(cell, "left", Reaction(NEAR, start="b"))
    session.add(Action("c", "probe"), reactions=[Reaction(NEAR, event="free", name="free")])
    for actions, reactions in (
        (["c", "nobody"], []),
        (["c", "b"], []),  # a's reaction starts b
        (["c"], ["free", "nobody"]),
    ):
        with pytest.raises(RobotControlError):
            session.remove(*actions, reactions=reactions)
    cell.set_sensor("rangefinder/distance", 0.1)
    cell.step()
    assert cell.active("left") == "b" and len(cell.fired("free")) == 1
    session.start("c")
    cell.step()
    assert cell.active("left") == "c"


def test_S2_definitions_take_effect_at_one_boundary_and_active_actions_go_on(cell: LockstepCell) -> None:
    cell.set_sensor("rangefinder/distance", 0.1)
    session = started(cell, "left", Reaction(NEAR, event="near"), Reaction("senses > 1", event="once", fire_once=True))
    assert (len(cell.fired("near")), len(cell.fired("once"))) == (1, 1)
    for i in range(5):
        free = [Reaction(NEAR, event="free", name=f"free_{i}"), Reaction(NEAR, event="free", name=f"again_{i}")]
        session.add(*[Action(f"n{i}_{k}", "probe") for k in range(3)], reactions=free)
        assert goes_on(cell, session)
        assert [e.tick for e in cell.fired("free")][-2:] == [cell.tick, cell.tick], "all of it in the same tick"
        session.remove(f"n{i}_0", f"n{i}_2", reactions=[f"free_{i}", f"again_{i}"])
        assert goes_on(cell, session)
    assert (len(cell.fired("near")), len(cell.fired("once"))) == (1, 1), "memory and counts stay"
    assert session.value("a.entries") == 1.0 and session.value("a.elapsed") == pytest.approx(0.013)
    cell.set_sensor("rangefinder/distance", 0.5)
    cell.step()
    cell.set_sensor("rangefinder/distance", 0.1)
    cell.step()
    assert (len(cell.fired("near")), len(cell.fired("once"))) == (2, 1)


def test_S2_while_the_robot_moves_no_command_is_missed(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", "move_joint", position=[0.3, -0.4]))
    session.start("a")

    def positions(change: bool) -> list[float]:
        session.start("a")
        found = []
        for i in range(100):
            if change:
                session.add(Action(f"n{i}", "probe"), reactions=[Reaction("a.is_done", event="e")])
            cell.step()
            found.append(float(cell.part("left").commanded_position[0]))
        return found

    first = positions(change=True)
    assert first == sorted(first) and first[-1] > 0.0
    with LockstepCell(cell.workcell) as other:
        twin = other.session("left")
        twin.add(Action("a", "move_joint", position=[0.3, -0.4]))
        twin.start("a")
        alone = []
        for _ in range(100):
            other.step()
            alone.append(float(other.part("left").commanded_position[0]))
    assert first == alone


def test_S3_ids_are_never_used_again_in_a_session(cell: LockstepCell) -> None:
    session = started(cell, "left")
    session.add(Action("c", "probe"))
    cell.step()
    session.remove("c")
    cell.step()
    with pytest.raises(RobotControlError, match="'c'"):
        session.add(Action("c", "probe"))
    with pytest.raises(RobotControlError, match="unknown action"):
        session.start("c")
    session.close()
    cell.step()
    again = cell.session("left")
    again.add(Action("c", "probe"))  # another session: its ids are its own
    again.start("c")
    cell.step()
    assert cell.active("left") == "c" and again.id != session.id


# --- S4, S5, S6: sessions ------------------------------------------------------------------------


def test_S4_a_session_holds_its_parts_alone(cell: LockstepCell) -> None:
    first = started(cell, "left")
    with pytest.raises(SessionError, match=f"part 'left' is taken.*held by session '{first.id}'"):
        cell.session("right", "left", name="mine")
    with pytest.raises(RobotControlError, match="'right'"):
        first.add(Action("c", "probe", parts="right"))
    second = started(cell, "right")  # refused as a whole: right was not taken
    # conditions may read every part, and sensors have no holder
    second.add(reactions=[Reaction("left.position[0] < 0.5 and rangefinder.age < 5", event="looked")])
    cell.step()
    assert len(cell.fired("looked")) == 1
    first.close()
    assert goes_on(cell, second)
    assert started(cell, "left").id != first.id


def test_S5_a_session_that_is_not_renewed_is_lost(cell: LockstepCell) -> None:
    leased, other = started(cell, "left", lease_s=1.0), started(cell, "right")
    for _ in range(3):
        cell.now += 0.9
        leased.renew()
        assert goes_on(cell, leased)
    cell.now += 1.1
    cell.step()  # notices
    tick = cell.step()  # ends it: its end is reported after its last actions' ends
    assert leased.ended == "its client did not renew it for its lease of 1 s"
    assert (cell.active("left"), cell.active("right")) == ("safety", "a")
    assert (tick, "the session ended") in stops(cell)
    with pytest.raises(SessionError, match="did not renew it"):
        leased.renew()
    cell.now += 1e6
    assert goes_on(cell, other), "a lease of 0 lasts until the session is closed"


@pytest.mark.parametrize("end", ["close", "lease", "failure"])
def test_S6_an_ended_session_ends_its_actions_and_its_parts_take_their_safety_action(
    cell: LockstepCell, end: str
) -> None:
    session = cell.session("left", "tool", lease_s=1.0)
    session.add(
        Action("a", "probe", parts="left", speed=0.2),
        Action("bad", "probe", parts="tool", fail_in=4, fail_at=4 if end == "failure" else 10_000),
        reactions=[Reaction(NEAR, start="a", event="free")],
    )
    other = started(cell, "right")
    session.start("a", "bad")
    cell.step(3)
    if end == "close":
        session.close()
    elif end == "lease":
        cell.now += 2.0
        cell.server.poll()
    tick = cell.step()
    assert [cell.active(part) for part in ("left", "tool", "right")] == ["safety", "safety", "a"]
    assert {e.previous_action: e.tick for e in cell.kinds("action_stopped", session=session.id)} == {
        "a": tick,
        "bad": tick,
    }
    assert session.ended
    cell.set_sensor("rangefinder/distance", 0.1)
    cell.step(400)
    assert cell.fired("free") == [], "its reactions have ended, too"
    assert cell.part("left").at_rest == 1.0
    assert [cell.active(part) for part in ("left", "tool")] == ["safety", "safety"], "until somebody else takes them"
    assert goes_on(cell, other)
    for call in (lambda: session.start("a"), lambda: session.add(Action("c", "probe", parts="left")), session.renew):
        with pytest.raises(SessionError, match="has ended"):
            call()


def test_S7_an_action_that_is_removed_while_active_ends_and_its_parts_take_their_default_action(
    cell: LockstepCell,
) -> None:
    session = cell.session("left", "right", "tool")
    session.add(
        Action("both", "pair", parts={"one": "left", "two": "right"}, reactions=[Reaction("true", event="e")]),
        Action("a", "probe", parts="tool"),
    )
    session.start("both", "a")
    cell.step(3)
    session.remove("both")
    tick = cell.step()
    assert [cell.active(part) for part in ("left", "right", "tool")] == ["default", "default", "a"]
    assert stops(cell, "both") == [(tick, "the action was removed")]
    assert session.value("a.controls") == 4.0 and session.ended is None


# --- S8: the server ------------------------------------------------------------------------------


def active(cell: LockstepCell, part: str) -> str:
    """What commands a part, seen from the executor alone: default, safety, or something else."""
    w, index = cell.executor.world.memory, cell.workcell.part(part).index
    tables, slot = w.tables[int(w.active_tables)], int(w.parts_runtime[index].active_action)
    return {int(tables.default_action[index]): "default", int(tables.safety_action[index]): "safety"}.get(slot, "other")


def test_S8_when_the_server_is_lost_all_sessions_parts_take_their_safety_action(cell: LockstepCell) -> None:
    one, two = started(cell, "left"), started(cell, "right")
    cell.executor.world.memory.server_lost = 1  # what the executor's watch writes when the server's process ends
    tick = cell.step()
    assert (cell.active("left"), cell.active("right"), cell.active("tool")) == ("safety", "safety", "default")
    assert [e.tick for e in cell.kinds("server_lost")] == [tick]
    assert stops(cell) == [(tick, "the control server was lost")] * 2
    assert one.ended and two.ended
    before = cell.tick
    cell.step(100)
    assert cell.tick == before + 100, "the loop goes on"
    assert goes_on(cell, started(cell, "left")), "a server that lives after all may go on with new sessions"


def test_S8_a_server_that_leaves_is_lost_too_and_another_one_may_come(cell: LockstepCell) -> None:
    session = started(cell, "left")
    assert (active(cell, "left"), active(cell, "right")) == ("other", "default")
    cell.server.detach("it leaves")
    assert session.ended == "it leaves"
    cell.executor.step(1)
    assert (active(cell, "left"), active(cell, "right")) == ("safety", "default")
    cell.executor.step(100)
    cell.server = cell.new_server()
    cell.step()
    again = started(cell, "left")
    assert goes_on(cell, again)
    assert [e.kind for e in cell.kinds("server_lost")] == [], "the new server hears nothing of the old one's end"
    assert math.isfinite(cell.part("left").commanded_position[0])
