"""Rules S21 to S23 of docs/semantics/sessions.md: what needs authority, and who has it."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from service_calls import ServiceCalls

from robot_rt_control.client.client import Client
from robot_rt_control.memory.operator_secret import new_secret, read_operator_secret, write_operator_secret
from robot_rt_control.memory.segment_names import channel_name, operator_file_name
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.testing.cell_backend import CellBackend
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import CommandRefused, SessionError

HINT = (
    "Give the secret of a session that holds parts, or the operator's: `robot-rt` finds it on the executor's machine, "
    "as the executor's user; in Python: Client(operator=True)"
)


@pytest.fixture
def cell(workcell: Workcell) -> Iterator[LockstepCell]:
    """Its commands wait for the loop's answer."""
    with LockstepCell(workcell, gated=False) as made:
        yield made


@pytest.fixture
def call(cell: LockstepCell) -> ServiceCalls:
    return ServiceCalls(cell)


def target(cell: LockstepCell) -> float:
    return float(cell.executor.world.memory.speed_target)


def test_S21_to_speed_up_needs_authority_while_a_protected_session_holds_parts(
    cell: LockstepCell, call: ServiceCalls
) -> None:
    session = cell.session("left")
    cell.session(read_only=True)
    assert call("set_speed", speed=0.5).success and call("set_speed", speed=0.5).success, "slower, and as before"
    for secret, got in (("", "no secret"), ("0" * 32, "a secret that gives none"), ("ü", "a secret that gives none")):
        assert call.refused("set_speed", speed=0.6, secret=secret) == (
            f"set_speed to 0.6 was refused: it is faster than before; expected authority; got {got}. {HINT}"
        )
    assert target(cell) == 0.5
    assert call("set_speed", speed=0.0).success and target(cell) == 0.0
    assert call("set_speed", speed=0.3, secret=session.secret).success and target(cell) == 0.3
    assert call("set_speed", speed=1.0, secret=cell.executor.operator_secret).success and target(cell) == 1.0
    call("set_speed", speed=0.5)
    session.close()
    assert call("set_speed", speed=1.0).success, "nobody's session holds a part"


def test_S21_slowing_down_is_open_whatever_comes_as_a_secret(cell: LockstepCell) -> None:
    cell.session("left")
    cell.server.set_speed(0.5, secret="\ud800")
    cell.step()
    assert target(cell) == 0.5
    with pytest.raises(SessionError, match="got another one"):
        cell.server.set_motion(["left"], "disable", secret="\ud800")


def test_S21_so_does_a_release_without_a_secret_of_its_own(cell: LockstepCell, call: ServiceCalls) -> None:
    session = cell.session("left")
    call("protective_stop", stop=True, source="door")
    assert call.refused("protective_stop", stop=False, source="door") == (
        "the release of protective stop 'door' was refused; expected authority; "
        f"got no secret, or one that gives none. {HINT}"
    )
    assert "expected authority" in call.refused("protective_stop", stop=False, all=True, secret="no")
    assert cell.view.protective_stop and len(cell.server.stops()) == 1
    assert call("protective_stop", stop=False, source="door", secret=session.secret).success
    call("protective_stop", stop=True, source="door")
    assert call("protective_stop", stop=False, all=True, secret=cell.executor.operator_secret).success
    call("protective_stop", stop=True, source="curtain", secret="key")
    assert call("protective_stop", stop=False, secret="key").success, "its own secret is enough"


def test_S21_unprotected_sessions_ask_for_none(cell: LockstepCell, call: ServiceCalls) -> None:
    call("open_session", parts=["left"], unprotected=True, lease=0.0)
    call("set_speed", speed=0.5)
    call("protective_stop", stop=True)
    assert call("set_speed", speed=1.0).success and call("protective_stop", stop=False).success


def test_S21_the_clients_own_session_gives_it(cell: LockstepCell) -> None:
    cell.session("right")
    client, other = (Client(backend=CellBackend(cell, keeps_leases=True)) for _ in range(2))
    with client.session("left"):
        other.set_speed(0.5)
        other.protective_stop("door open", source="door", secret="key")
        other.protective_stop("door open")
        with pytest.raises(CommandRefused, match="expected authority"):
            other.set_speed(1.0)
        with pytest.raises(CommandRefused, match="expected authority"):
            other.release("door open")
        client.set_speed(1.0)
        client.release("door open")
        other.release("door", secret="key")
        assert client.stops() == []
        person = Client(backend=CellBackend(cell, keeps_leases=True), operator=True)
        other.protective_stop()
        other.set_speed(0.1)
        person.set_speed(1.0)
        person.release(everything=True)
        assert client.stops() == []


def test_S22_the_operators_secret_is_a_file_for_its_user_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", "231")
    channel = channel_name("/cell_1", "231")
    assert read_operator_secret("/cell_1") == ""
    before = os.umask(0)
    try:
        secrets = [new_secret(), new_secret()]
        for secret in secrets:
            path = write_operator_secret(channel, secret)
    finally:
        os.umask(before)
    try:
        assert path.name == operator_file_name(channel) and len(set(secrets)) == 2
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert read_operator_secret("/cell_1") == secrets[1] and read_operator_secret("/cell_2") == ""
        path.chmod(0o644)
        assert read_operator_secret("/cell_1") == "", "others can read it, so they may have written it"
        path.unlink()
        path.symlink_to("/etc/hostname")
        assert read_operator_secret("/cell_1") == ""
        assert write_operator_secret(channel, secrets[0]) == path and not path.is_symlink()
    finally:
        path.unlink()


def test_S22_it_is_never_logged_or_published(
    cell: LockstepCell, call: ServiceCalls, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    secret = cell.executor.operator_secret
    with caplog.at_level(logging.DEBUG):
        cell.session("left")
        file = Path(str(cell.executor.record(True, tmp_path / "all.mcap")))
        call("protective_stop", stop=True, source="door", who="Ann")
        call("protective_stop", stop=False, source="dor", secret=secret)
        answer = call("protective_stop", stop=False, source="door", secret=secret)
        call("set_speed", speed=0.5, who="Ann")
        call("set_speed", speed=1.0, secret=secret)
        cell.step(10)
        cell.executor.record(False)
    status = CellBackend(cell, keeps_leases=False).executor_status()
    shown = [str(answer), str(status), caplog.text, *call.log, *map(str, cell.events), repr(cell.server.sessions())]
    assert not any(secret in text for text in shown)
    for memory in (cell.executor.channel.memory, cell.executor.world.memory):
        assert secret.encode() not in bytes(memoryview(memory).cast("B"))
    assert secret.encode() not in file.read_bytes()


def test_S23_a_resume_needs_the_sessions_secret_or_the_operators(cell: LockstepCell, call: ServiceCalls) -> None:
    session, other = cell.session("left"), cell.session("right")
    call("protective_stop", stop=True)
    call("protective_stop", stop=False, secret=session.secret)
    for secret in ("", "no", other.secret):
        message = call.refused("resume_session", session=session.id, secret=secret)
        assert "resume_session was refused" in message and "belongs to somebody else" in message
    assert [s.suspended for s in cell.server.sessions()] == [True, True]
    assert call("resume_session", session=session.id, secret=session.secret, who="Ann").success
    assert call("resume_session", session=other.id, secret=cell.executor.operator_secret).success
    assert [s.suspended for s in cell.server.sessions()] == [False, False]
