"""Rules L25 to L28 of docs/semantics/limits.md: protective stops are latched by source."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from service_calls import ServiceCalls

from robot_rt_control.client.actions import Action
from robot_rt_control.client.session import Session
from robot_rt_control.memory.stops import FURTHER, foreseen_refusal, stop_request
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.realtime.executor.executor import Executor, ExecutorOptions
from robot_rt_control.realtime.executor.health import Reading, executor_health
from robot_rt_control.testing.cell_backend import CellBackend
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.capacities import MAX_STOPS
from robot_rt_control.vocabulary.enums import Authority, Command, Refusal
from robot_rt_control.vocabulary.errors import CommandRefused
from robot_rt_control.vocabulary.health import Level


@pytest.fixture
def answering(workcell: Workcell) -> Iterator[LockstepCell]:
    """Its commands wait for the loop's answer."""
    with LockstepCell(workcell, gated=False) as made:
        yield made


@pytest.fixture
def call(answering: LockstepCell) -> ServiceCalls:
    return ServiceCalls(answering)


def sources(cell: LockstepCell) -> list[str]:
    return [stop.source for stop in cell.server.stops()]


def is_stopped(cell: LockstepCell) -> bool:
    return cell.view.protective_stop


def ready(cell: LockstepCell) -> Session:
    session = cell.session("left")
    session.add(Action("a", "probe", speed=0.3))
    cell.step()
    return session


def test_L25_two_stops_need_two_releases(cell: LockstepCell) -> None:
    session = ready(cell)
    cell.server.protective_stop(True, "door open", source="door", who="a switch")
    cell.server.protective_stop(True, "somebody is near", source="light curtain")
    cell.step()
    assert sources(cell) == ["door", "light curtain"]
    assert [e.reason for e in cell.kinds("protective_stop")] == [
        "door: door open (a switch)",
        "light curtain: somebody is near",
    ]
    cell.server.protective_stop(False, "closed again", source="light curtain", who="Ann")
    cell.step()
    session.start("a")
    cell.step()
    assert cell.active("left") == "none" and is_stopped(cell), "the door is open"
    assert [e.reason for e in cell.kinds("command_refused")] == ["a protective stop holds all parts"]
    assert [e.reason for e in cell.kinds("protective_stop_released")] == ["light curtain: closed again (Ann)"]
    cell.server.protective_stop(False, source="door")
    cell.step()
    assert sources(cell) == [] and not is_stopped(cell)
    session.resume()
    session.start("a")
    cell.step()
    assert cell.active("left") == "a"


def test_L25_they_are_listed_in_status_and_diagnostics(cell: LockstepCell) -> None:
    cell.server.protective_stop(True, "door open", source="door", who="Ann", secret="key")
    cell.step(3)
    status = CellBackend(cell, keeps_leases=False).executor_status()
    (stop,) = status.stops
    assert (stop.source, stop.reason, stop.who, stop.needs_secret) == ("door", "door open", "Ann", True)
    assert stop.tick == cell.tick - 2 and status.protective_stop
    plain: dict[str, Any] = dict.fromkeys(Reading.__dataclass_fields__, 0)
    texts = {"clock": "lockstep", "shortfall": ""}
    reading = Reading(**{**plain, **texts, "parts": (), "drivers": (), "stops": cell.server.stops()})
    (health,) = (h for h in executor_health(reading, None) if h.what == "protective stop")
    assert (health.level, health.message) == (Level.WARN, "door: door open (Ann)")


def test_L25_a_stop_without_a_source_is_known_by_its_reason(cell: LockstepCell) -> None:
    cell.server.protective_stop(True, "door open")
    cell.server.protective_stop(True)
    cell.step()
    assert sources(cell) == ["door open", "stop"]


def test_L25_a_second_stop_of_a_source_changes_nothing_and_is_answered(
    answering: LockstepCell, call: ServiceCalls
) -> None:
    first = call("protective_stop", stop=True, source="door")
    answering.step(5)
    again = call("protective_stop", stop=True, source="door", reason="still open")
    assert first.success and first.message == "" and again.success
    assert again.message == f"'door' was latched already, in tick {first.tick}"
    assert [(s.source, s.reason, s.tick) for s in again.stops] == [("door", "", first.tick)]
    assert len(answering.kinds("protective_stop")) == 1


def test_L25_a_stop_is_never_refused(answering: LockstepCell, call: ServiceCalls) -> None:
    long = ["door " + "ä" * 9000 + end for end in ("1", "2")]
    assert call("protective_stop", stop=True, source=long[0], reason="x" * 100_000, who="y" * 9999).success
    assert call("protective_stop", stop=True, source=long[1]).success
    assert len(set(sources(answering))) == 2, "cut, but not taken for one"
    for i in range(MAX_STOPS + 3):
        answer = call("protective_stop", stop=True, source=f"switch {i}", secret="key" if i == MAX_STOPS else "")
        assert answer.success
    assert len(answer.stops) == MAX_STOPS and answer.stops[-1].source == FURTHER
    assert answer.message == "all places are taken: it is latched as 'further sources', with 6 stops"
    for i in range(MAX_STOPS - 3):
        assert call("protective_stop", stop=False, source=f"switch {i}").success
    for name in sources(answering)[:2]:
        assert call("protective_stop", stop=False, source=name).success
    refused = call.refused("protective_stop", stop=False, source=FURTHER, secret="key")
    assert "expected the secret that the stop was made with" in refused, "one of them has a secret"
    assert is_stopped(answering)
    assert call("protective_stop", stop=False, secret=answering.executor.operator_secret).success
    assert not is_stopped(answering)


def test_L25_the_executor_and_the_server_have_one_list(cell: LockstepCell) -> None:
    cell.server.protective_stop(True, source="door")
    cell.step()
    cell.executor.protective_stop(True, source="panel", who="by hand")
    cell.step()
    assert sources(cell) == ["door", "panel"] == [s.source for s in cell.executor.stops()]
    cell.server.detach("it leaves")
    cell.executor.protective_stop(True, source="curtain")
    cell.executor.step(1)
    cell.executor.protective_stop(False, source="door")
    cell.executor.step(1)
    cell.server = cell.new_server()
    cell.step()
    assert sources(cell) == ["panel", "curtain"], "a new server knows what was stopped without it"
    cell.server.protective_stop(False, everything=True)
    cell.step()
    assert cell.executor.stops() == [] and not is_stopped(cell)


def test_L26_a_release_names_one_or_the_only_one(answering: LockstepCell, call: ServiceCalls) -> None:
    assert call("protective_stop", stop=False).success, "there is nothing to release"
    call("protective_stop", stop=True, source="door", reason="open", who="Ann")
    assert call.refused("protective_stop", stop=False, source="dor") == (
        "the release of protective stop 'dor' was refused; expected the source of one that is latched; "
        "got latched: door: open (Ann)"
    )
    call("protective_stop", stop=True, source="curtain")
    assert call.refused("protective_stop", stop=False) == (
        "the release of the protective stop was refused; expected the source of one, as several are latched; "
        "got none; latched: door: open (Ann); curtain. "
        "Name the source; `robot-rt release --all` releases all that need no secret of their own"
    )
    answer = call("protective_stop", stop=False, source="curtain")
    assert answer.success and answer.message == "still latched: door: open (Ann)"
    answer = call("protective_stop", stop=False)
    assert answer.success and answer.message == "" and list(answer.stops) == []


def test_L27_a_stop_with_a_secret_needs_it(answering: LockstepCell, call: ServiceCalls) -> None:
    call("protective_stop", stop=True, source="curtain", secret="key")
    call("protective_stop", stop=True, source="curtain", secret="other")
    call("protective_stop", stop=True, source="door")
    operator = answering.executor.operator_secret
    for secret in ("", "wrong", operator):
        message = call.refused("protective_stop", stop=False, source="curtain", secret=secret)
        assert "expected the secret that the stop was made with" in message
        assert operator not in message and "key" not in message
    answer = call("protective_stop", stop=False, all=True)
    assert answer.success
    assert answer.message == "still latched: curtain [needs its secret]; curtain [needs its secret]"
    assert "expected the secret" in call.refused("protective_stop", stop=False, all=True, secret="key")
    answer = call("protective_stop", stop=False, source="curtain", secret="other")
    assert answer.success and len(answer.stops) == 1, "that of the other one is a stop of its own"
    assert call("protective_stop", stop=False, secret="key").success
    assert not is_stopped(answering)


def test_L27_secrets_are_kept_as_digests_alone(cell: LockstepCell) -> None:
    secret = "a secret that is nowhere"
    cell.server.protective_stop(True, "open", source="door", secret=secret)
    cell.step()
    for memory in (cell.executor.channel.memory.stops, cell.executor.world.memory.stops):
        assert secret.encode() not in memory.tobytes()


@pytest.mark.parametrize("released_first", [True, False])
def test_L28_a_release_and_a_stop_in_one_tick_are_a_stop(cell: LockstepCell, released_first: bool) -> None:
    session = ready(cell)
    cell.server.protective_stop(True, source="door")
    cell.step()
    for stop in (False, True) if released_first else (True, False):
        cell.server.protective_stop(stop, source="door")
        session.start("a")
    cell.step()
    assert is_stopped(cell) and sources(cell) == ["door"]
    assert cell.active("left") == "none" and cell.part("left").commanded_velocity[0] == 0.0
    cell.server.protective_stop(False, source="door")
    cell.step()
    assert not is_stopped(cell)


def test_L28_a_stop_of_the_executor_beats_a_release_of_the_server(cell: LockstepCell) -> None:
    cell.server.protective_stop(True, source="door")
    cell.step()
    cell.server.protective_stop(False, source="door")
    cell.executor.protective_stop(True, source="door")
    cell.step()
    assert sources(cell) == ["door"]
    assert [e.reason for e in cell.kinds("command_refused")] == ["a stop came in the same tick"]


def test_L26_an_error_of_the_executor_says_the_same(answering: LockstepCell) -> None:
    executor = answering.executor
    executor.protective_stop(True, source="door")
    answering.step()
    with pytest.raises(CommandRefused):
        answering.server.protective_stop(False, source="dor")
    assert executor._authority("") == Authority.GIVEN
    answering.session("left")
    assert executor._authority("") == Authority.NONE and executor._authority("no") == Authority.NONE
    assert executor._authority(executor.operator_secret) == Authority.OPERATOR
    answering.server.detach("it leaves")
    assert executor._authority("") == Authority.GIVEN, "no session is left"


def test_L26_the_executor_reports_a_refusal_before_its_next_tick(cell: LockstepCell) -> None:
    cell.executor.protective_stop(True, "open", source="door", who="Ann")
    cell.step()
    with pytest.raises(CommandRefused) as refused:
        cell.executor.protective_stop(False, source="dor")
    assert str(refused.value) == (
        "the release of protective stop 'dor' was refused; expected the source of one that is latched; "
        "got latched: door: open (Ann)"
    )
    cell.step()
    assert is_stopped(cell)
    cell.executor.protective_stop(False)
    cell.step()
    assert not is_stopped(cell)


@pytest.mark.parametrize("authority", Authority)
def test_L26_what_is_foreseen_is_what_the_loop_answers(answering: LockstepCell, authority: Authority) -> None:
    def loop_refuses(request: Any) -> Refusal:
        return answering.link.send(Command.RELEASE_PROTECTIVE_STOP, record=request).refusal

    stops = [("door", ""), ("curtain", "key"), ("curtain", "other"), *((f"switch {i}", "") for i in range(MAX_STOPS))]
    found = set()
    for count in (0, 1, 2, 3, len(stops)):
        for source, secret, everything in itertools.product(
            ("", "door", "curtain", "dor", FURTHER), ("", "key", "wrong"), (False, True)
        ):
            for name, needed in stops[:count]:
                answering.server.protective_stop(True, source=name, secret=needed)
            answering.step()
            request = stop_request(source=source, secret=secret, everything=everything, authority=authority)
            foreseen = foreseen_refusal(answering.executor.channel.stops(), request)
            assert foreseen == loop_refuses(request), (count, source, secret, everything)
            found.add(foreseen)
    expected = {Refusal.NONE, Refusal.SEVERAL_STOPS, Refusal.NO_SUCH_STOP, Refusal.STOP_NEEDS_SECRET}
    assert found == expected | ({Refusal.NO_AUTHORITY} if authority == Authority.NONE else set())


def test_L25_a_stop_that_waits_for_the_first_tick_is_not_lost(workcell: Workcell, tmp_path: Path) -> None:
    options = ExecutorOptions(clock="lockstep", real_time_factor=-1.0, fault_folder=tmp_path)
    executor = Executor(workcell, options, channel_name=None, image_name=str)
    executor.configure(lambda _: None)
    executor.protective_stop(True, source="door")
    executor.activate(lambda _: None)
    try:
        assert [stop.source for stop in executor.stops()] == ["door"]
        assert [p.operational_state for p in executor.part_status()] == ["enabled"] * len(workcell.parts)
        assert not any(p.active_action for p in executor.part_status()), "no default action during a stop"
        executor.protective_stop(True, source="gate")
        executor.deactivate()
        assert [stop.source for stop in executor.stops()] == ["door", "gate"]
    finally:
        executor.deactivate()
        executor.cleanup()
