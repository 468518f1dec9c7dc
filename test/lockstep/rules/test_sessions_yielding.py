"""Rule S33 of docs/semantics/sessions.md: sessions that yield their parts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from service_calls import ServiceCalls

from robot_rt_control.client.actions import Action
from robot_rt_control.client.backend import SessionRequest
from robot_rt_control.client.session import Session
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import SessionError


@pytest.fixture
def cell(workcell: Workcell) -> Iterator[LockstepCell]:
    """Its commands wait for the loop's answer."""
    with LockstepCell(workcell, gated=False) as made:
        yield made


@pytest.fixture
def session(cell: LockstepCell) -> Session:
    made = Session(cell._backend, SessionRequest(name="yields", parts=("left",), lease_s=0.0, yielding=True))
    made.add(Action("a", "probe", speed=0.05))
    return made


def end_of(session: Session) -> str:
    return session.ended or ""


def listed(cell: LockstepCell) -> list[str]:
    return [info.name for info in cell._backend.list_sessions()]


def test_S33_a_session_that_is_opened_on_its_part_ends_it_while_nothing_of_it_is_active(
    cell: LockstepCell, session: Session
) -> None:
    assert listed(cell) == []
    other = cell.session("right", name="elsewhere")
    assert not end_of(session), "another part"
    other.close()
    with cell.session("left", name="next") as taken:
        assert end_of(session) == "another session, 'next', was opened on its parts" and listed(cell) == ["next"]
        with pytest.raises(SessionError, match="was opened on its parts"):
            session.start("a")
        taken.add(Action("a", "probe"))
        taken.start("a")
        assert cell.active("left") == "a"


def test_S33_it_holds_its_part_from_a_start_until_nothing_of_it_is_active(cell: LockstepCell, session: Session) -> None:
    session.start("a")
    assert listed(cell) == ["yields"]
    with pytest.raises(SessionError, match="part 'left' is taken.*held by"):
        cell.session("left")
    session.stop()
    assert listed(cell) == [] and not end_of(session)
    session.start("a")
    with pytest.raises(SessionError, match="part 'left' is taken"):
        cell.session("left")
    session.replace(Action("a", "probe", speed=0.02), start="a")
    with pytest.raises(SessionError, match="part 'left' is taken"):
        cell.session("left")
    session.stop()
    cell.session("left").close()
    assert end_of(session)


def test_S33_it_holds_its_part_while_a_start_waits_for_its_tick(cell: LockstepCell, session: Session) -> None:
    with cell.server.core.sessions.starting(cell.server.session(session.id), cell.tick + 50):
        pass
    with pytest.raises(SessionError, match="part 'left' is taken"):
        cell.session("left")
    cell.step(60)
    cell.session("left").close()
    assert end_of(session)


def test_S33_one_that_holds_nothing_needs_no_authority_and_gives_none(cell: LockstepCell, session: Session) -> None:
    call = ServiceCalls(cell)
    call("set_speed", speed=0.2)
    assert call("set_speed", speed=0.3).success
    assert call("set_motion", parts=["left"], command="disable").success
    assert call("set_motion", parts=["left"], command="enable").success
    other = cell.session("right")
    assert "a secret that gives none" in call.refused("set_speed", speed=0.5, secret=session.secret)
    other.close()
    session.start("a")
    assert "expected authority" in call.refused("set_speed", speed=0.5)
    assert call("set_speed", speed=0.5, secret=session.secret).success
