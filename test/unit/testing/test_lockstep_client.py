"""The client in simulated time: an application's program, unchanged."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.event import Event
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError, SessionError

_FILE = Path(__file__).parents[3] / "config" / "arm7.yaml"
_GOAL = [0.1, 0.2, 0.0, -1.2, 0.0, 0.9, 0.0]


@pytest.fixture
def client() -> Iterator[LockstepClient]:
    with LockstepClient(_FILE) as made:
        yield made


def test_waiting_lets_the_workcell_tick(client: LockstepClient) -> None:
    with client.session("arm") as session:
        session.add(Action("move", "move_joint", position=_GOAL, reactions=[Reaction("is_done", event="there")]))
        start = session.start("move")
        there = session.wait_for("there", timeout_s=20)
        assert there.tick > start and client.cell.tick == there.tick, "time stands still where nobody waits"
        settled = session.wait_until("move.is_settled", timeout_s=1)
        assert settled.kind == "reaction_fired" and settled.tick > there.tick
        assert session.value("move.is_settled") == 1.0
        assert client.value("arm.position[1]") == session.value("arm.position[1]") == pytest.approx(0.2, abs=1e-9)
        assert [e.name for e in session.events if e.name] == ["there", settled.name]
    assert session.ended == "closed by the application"
    assert client.cell.active("arm") == "safety"


def test_two_runs_are_the_same() -> None:
    def run() -> tuple[int, list[float]]:
        with LockstepClient(_FILE) as client, client.session("arm") as session:
            session.add(Action("move", "move_joint", position=_GOAL))
            session.start("move")
            with session.record("arm.velocity[3]") as recording:
                tick = session.wait_until("move.progress > 0.5", timeout_s=20).tick
            return tick, recording["arm.velocity[3]"].tolist()

    assert run() == run()


def test_each_tick_is_recorded(client: LockstepClient) -> None:
    with client.session("arm") as session:
        session.add(Action("move", "move_joint", position=_GOAL))
        with session.record("arm.position[1]", "move.progress") as recording:
            client.step(5)
            session.start("move")
            client.step(20)
        client.step(5)
        assert len(recording) == 26, "the start took a tick"
        period = client.cell.workcell.period
        assert recording.time[1:] - recording.time[:-1] == pytest.approx([period] * 25)
        assert all(math.isnan(v) for v in recording["move.progress"][:5]), "not active yet"
        assert (recording["move.progress"][6:] > 0.0).all()
        with pytest.raises(DefinitionError, match="'move.progres' cannot be recorded; expected .*'move.progress'"):
            session.record("move.progres").__enter__()


def test_callbacks_come_between_ticks_and_may_use_the_session(client: LockstepClient) -> None:
    calls: list[tuple[int, int]] = []

    def half_way(event: Event) -> None:
        calls.append((event.tick, client.cell.tick))
        session.start("back")

    with client.session("arm") as session:
        reaction = Reaction("progress > 0.5", call=half_way, capture=["move.progress"])
        session.add(
            Action("move", "move_joint", position=_GOAL, reactions=[reaction]),
            Action("back", "stop", reactions=[Reaction("is_done", event="stopped")]),
        )
        session.start("move")
        stopped = session.wait_for("stopped", timeout_s=20)
    ((fired, called),) = calls
    assert fired == called < stopped.tick


def test_it_says_what_did_not_come(client: LockstepClient) -> None:
    with client.session("arm") as session:
        session.add(Action("stay", "hold"))
        session.start("stay")
        before = client.cell.tick
        with pytest.raises(TimeoutError, match="the event 'never' did not come within 0.1 s; events so far: "):
            session.wait_for("never", timeout_s=0.1)
        assert client.cell.tick == before + 100
        with pytest.raises(TimeoutError, match="the condition 'arm.position.0. > 9' did not hold within 0.1 s"):
            session.wait_until("arm.position[0] > 9", timeout_s=0.1)
        with pytest.raises(SessionError, match="arm"):
            client.session("arm")
        client.cell.server.close_session(session.id)
        with pytest.raises(SessionError, match="ended while waiting for the event 'never'"):
            session.wait_for("never")


def test_it_explains_unknown_names_and_missing_cameras(client: LockstepClient, tmp_path: Path) -> None:
    with pytest.raises(RobotControlError, match="'arm.tool.q' is not known; expected .* did you mean 'arm.tool.*'"):
        client.value("arm.tool.q")
    with pytest.raises(RobotControlError, match="no device has a camera"):
        client.take_picture(copy_to=tmp_path / "scene.png")


def test_a_listener_hears_all_sessions(client: LockstepClient) -> None:
    heard: list[str] = []

    def listener(event: Event) -> None:
        heard.append(event.session)

    client.add_listener(listener)
    with client.session("arm") as session:
        session.add(Action("stay", "hold"))
        session.start("stay")
        client.step()
    assert session.id in heard
    client.remove_listener(listener)
    before = len(heard)
    client.session("arm").close()
    assert len(heard) == before
