"""The client in simulated time: an application's program, unchanged."""

from __future__ import annotations

import gc
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.event import Event
from robot_rt_control.client.session import Session
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import DefinitionError, HardwareError, RobotControlError, SessionError

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


def sessions_in_memory() -> int:
    gc.collect()
    return sum(isinstance(thing, Session) for thing in gc.get_objects())


def test_S27_a_client_keeps_no_session_that_has_ended(client: LockstepClient) -> None:
    before = sessions_in_memory()
    client.session("arm", name="held by the workcell alone")  # nobody else holds it
    assert sessions_in_memory() == before + 1
    client.cell.server.close_session(client.sessions()[0].id)
    client.step(2)
    for _ in range(20):
        with client.session("arm") as session:
            session.add(Action("stay", "hold", reactions=[Reaction("elapsed > 0.01", call=lambda event: None)]))
            session.on("action_started", lambda event: None)
            session.start("stay")
    ended = client.session("arm")
    client.cell.server.close_session(ended.id)  # and its own client never closes it
    client.step(2)
    assert ended.ended is not None
    del session, ended
    assert sessions_in_memory() == before, "neither closed ones nor those that ended by themselves"
    client.close()


def test_a_client_that_closes_closes_its_sessions(client: LockstepClient) -> None:
    first, second = client.session("arm"), client.watch()
    client.close()
    assert first.ended == second.ended == "closed by the application"


def test_S24_a_picture_is_in_the_folder_of_the_run_and_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROBOT_RT_CONTROL_PICTURES", str(tmp_path / "pictures"))
    with LockstepClient(_FILE.with_name("iiwa.yaml")) as client:
        path = client.take_picture("scene", width=32, height=24)
        assert path.is_relative_to(tmp_path / "pictures") and path.read_bytes().startswith(b"\x89PNG")
        copy = client.take_picture(copy_to=tmp_path / "mine.png", width=32, height=24)
        assert copy == tmp_path / "mine.png" and copy.read_bytes() == path.read_bytes()
        with pytest.raises(DefinitionError, match="there is a picture 'scene.png' in this run; expected another name"):
            client.take_picture("scene")
        with pytest.raises(DefinitionError, match="name of a picture; .*`copy_to` of the client copies one"):
            client.take_picture(str(tmp_path / "scene.png"))
        with pytest.raises(HardwareError, match="picture .* cannot be copied to .*; got .*No such file"):
            client.take_picture(copy_to=tmp_path / "none" / "scene.png")
        taken = len(list(path.parent.iterdir()))
        with pytest.raises(RobotControlError):
            client.take_picture(width=10**6)
        assert len(list(path.parent.iterdir())) == taken, "nothing is left of one that was not taken"
