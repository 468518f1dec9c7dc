"""Rules S16 to S20 of docs/semantics/sessions.md: who may command a session, and in which order its events come."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from service_calls import ServiceCalls

from robot_rt_control import msg
from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.client import Client
from robot_rt_control.server.node.stream_topics import StreamTopics
from robot_rt_control.testing.cell_backend import CellBackend
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import SessionError
from robot_rt_control.vocabulary.event_kinds import Kind


@pytest.fixture
def call(cell: LockstepCell) -> ServiceCalls:
    return ServiceCalls(cell)


@pytest.fixture
def stream_cell() -> Iterator[LockstepCell]:
    with LockstepCell(Path(__file__).parent / "streams.yaml") as made:
        yield made


def opened(call: ServiceCalls, *parts: str, **fields: Any) -> tuple[str, str]:
    """Id and secret of a session whose actions `a` (active) and `b` move its first part."""
    answer = call("open_session", name="me", parts=list(parts), **fields)
    assert answer.success
    actions = [msg.ActionDefinition(id=name, type="probe", parts=[parts[0]]) for name in ("a", "b")]
    assert call("define_actions", session=answer.session, secret=answer.secret, actions=actions).success
    assert call("start_actions", session=answer.session, secret=answer.secret, actions=["a"]).success
    return answer.session, answer.secret


COMMANDS: dict[str, dict[str, Any]] = {
    "renew_session": {},
    "define_actions": {"actions": [msg.ActionDefinition(id="c", type="probe", parts=["left"])]},
    "replace_actions": {"actions": [msg.ActionDefinition(id="a", type="probe", parts=["left"])], "start": ["a"]},
    "upload_program": {"program": "actions: {c: {type: probe, parts: [left]}}"},
    "remove_actions": {"actions": ["b"]},
    "set_action_parameters": {"action": "a", "parameters": [msg.ParameterValue(name="speed", values=[0.1])]},
    "start_actions": {"actions": ["b"]},
    "raise_signal": {"action": "a", "signal": "mark"},
    "open_stream": {"action": "a", "stream": "goal"},
    "close_session": {},
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(("secret", "got"), [("", "none"), ("0" * 32, "another one"), ("ü", "another one")])
def test_S16_commands_without_the_secret_are_refused_and_change_nothing(
    cell: LockstepCell, call: ServiceCalls, name: str, secret: str, got: str
) -> None:
    session, _ = opened(call, "left")
    cell.step(2)
    cell.events.clear()
    message = call.refused(name, session=session, secret=secret, **COMMANDS[name])
    assert message == (
        f"{name} was refused: session {session!r} (me) belongs to somebody else; "
        f"expected the secret that open_session answered; got {got}. Give it as `secret`. "
        "A session that is opened with `unprotected: true` needs none. "
        "Everybody may stop: stop_actions, protective_stop"
    )
    cell.step(3)
    assert cell.active("left") == "a" and cell.events == []
    assert list(cell.server.contents(cell.server.session(session)).actions) == ["a", "b"]


@pytest.mark.parametrize("name", COMMANDS)
def test_S16_its_opener_may_do_all_of_that(cell: LockstepCell, call: ServiceCalls, name: str) -> None:
    session, secret = opened(call, "left")
    cell.step(2)
    answer = call(name, session=session, secret=secret, **COMMANDS[name])
    if name in ("raise_signal", "open_stream"):  # `probe` has none: this comes after the secret was accepted
        assert "has no s" in answer.message
    else:
        assert answer.success, answer.message


def test_S16_a_secret_is_new_for_each_session_has_128_bits_and_is_another_sessions_never(
    cell: LockstepCell, call: ServiceCalls
) -> None:
    first, secret = opened(call, "left")
    second, other = opened(call, "right")
    assert len({secret, other}) == 2 and all(len(s) == 32 and int(s, 16) >= 0 for s in (secret, other))
    assert "got another one" in call.refused("close_session", session=first, secret=other)
    assert secret not in repr(cell.server.session(first))
    assert call("close_session", session=second, secret=other).success


def test_S16_every_service_with_a_session_asks_for_the_secret_but_for_stopping_and_looking(call: ServiceCalls) -> None:
    without = [
        name
        for name, kind in call.kinds.items()
        if "session" in (fields := kind.Request.get_fields_and_field_types()) and "secret" not in fields
    ]
    assert without == ["list_actions", "stop_actions", "list_state_variables"]


def test_S16_parts_of_a_session_are_enabled_and_disabled_with_its_secret_alone(
    cell: LockstepCell, call: ServiceCalls
) -> None:
    session, secret = opened(call, "left")
    cell.step(2)
    for command in ("disable", "enable", "clear_faults"):
        message = call.refused("set_motion", parts=["left"], command=command)
        assert message.startswith(f"{command} part 'left' was refused: session {session!r} (me) belongs to somebody")
    assert "disable part 'left' was refused" in call.refused("set_motion", command="disable"), "all or a refusal"
    cell.step(2)
    assert cell.active("left") == "a" and not cell.kinds("part_disabled")
    remark = call("set_motion", command="enable").message
    assert remark == f"left out: left (session {session!r} (me) holds it)"
    assert call("set_motion", parts=["right"], command="disable").success, "nobody holds it"
    assert call("set_motion", parts=["left"], command="disable", secret=secret).success
    cell.step(2)
    assert {e.part for e in cell.kinds("part_disabled")} == {"left", "right"}


def test_S16_a_client_disables_and_enables_all_parts_of_several_sessions_of_its_own(cell: LockstepCell) -> None:
    client = Client(backend=CellBackend(cell, keeps_leases=True))

    def told(kind: str) -> set[str]:
        cell.step(2)
        found = {e.part for e in cell.kinds(kind)}
        cell.events.clear()
        return found

    with client.session("left"), client.session("right"):
        cell.step(2)
        cell.events.clear()
        client.disable()
        assert told("part_disabled") == set(cell.server.parts)
        client.enable()
        assert told("part_enabled") == set(cell.server.parts)
    stranger = cell.server.open_session("stranger", ["left"])
    with client.session("right"), pytest.raises(SessionError, match=r"disable part 'left' was refused: .*stranger"):
        client.disable()
    assert stranger.end_reason == "" and told("part_disabled") == set()


def test_S17_everybody_may_stop(cell: LockstepCell, call: ServiceCalls) -> None:
    session, secret = opened(call, "left")
    cell.step(2)
    assert call("stop_actions", session=session, actions=["a"]).success
    cell.step()
    assert cell.active("left") == "default"
    for stop in ({"name": "stop_actions", "session": session}, {"name": "stop_actions"}):
        call("start_actions", session=session, secret=secret, actions=["a"])
        cell.step()
        assert cell.active("left") == "a"
        name = stop.pop("name")
        assert call(name, **stop).success
        cell.step()
        assert cell.active("left") == "default"
    call("start_actions", session=session, secret=secret, actions=["a"])
    cell.step()
    assert call("protective_stop", stop=True, reason="somebody came near").success
    cell.step()
    assert cell.view.protective_stop and cell.server.session(session).end_reason == ""


def test_S18_an_unprotected_session_is_open_to_all_and_says_so(cell: LockstepCell, call: ServiceCalls) -> None:
    answer = call("open_session", name="by_hand", parts=["left"], unprotected=True)
    assert answer.secret == ""
    assert call.log == [f"session {answer.session!r} (by_hand) is unprotected: anybody may command it"]
    opened(call, "right")
    (by_hand, protected) = call("list_sessions").sessions
    assert (by_hand.unprotected, protected.unprotected) == (True, False)
    assert call("set_motion", parts=["left"], command="disable").success
    assert call("close_session", session=answer.session).success
    assert len(call.log) == 1


def test_S18_no_list_shows_a_secret(cell: LockstepCell, call: ServiceCalls) -> None:
    session, secret = opened(call, "left")
    cell.step(2)
    shown = [call("list_sessions"), call("list_parts"), call("list_state_variables", session=session), cell.events]
    shown.append(call("list_actions", session=session))
    assert session in str(shown) and secret not in str(shown)


def test_actions_are_listed_with_their_reactions_as_they_are_now(cell: LockstepCell, call: ServiceCalls) -> None:
    session = cell.session("left")
    near = Reaction("left.position[0] > 1", start="b", event="near", capture=["left.position[0]"])
    session.add(Action("a", "probe", parts="left", reactions=[near, Reaction("is_done", stop=True)]),
                Action("b", "probe", parts="left"),
                reactions=[Reaction("a.is_done", event="done", name="ended")])  # fmt: skip
    found = call("list_actions", session=session.id)
    assert found.success
    listed = [(a.id, a.type, list(a.parts)) for a in found.actions]
    assert listed == [("a", "probe", ["left"]), ("b", "probe", ["left"])]
    first, second = found.actions[0].reactions
    assert (first.condition, first.start, first.event) == ("left.position[0] > 1", "b", "near")
    assert second.stop and first.name and first.name != second.name, "as their events name them"
    assert [(r.name, r.condition) for r in found.reactions] == [("ended", "a.is_done")]
    session.add(Action("c", "probe", parts="left"))
    session.remove("c")
    assert [a.id for a in call("list_actions", session=session.id).actions] == ["a", "b"]
    session.close()
    assert session.id in call.refused("list_actions", session=session.id)


def test_S19_samples_need_the_token_of_their_stream(stream_cell: LockstepCell) -> None:
    cell = stream_cell
    session = cell.session("left")
    session.add(Action("a", "listener", parts="left"), Action("b", "listener", parts="left"))
    session.start("a")
    cell.step()
    call = ServiceCalls(cell)
    secret = cell.server.session(session.id).secret
    request = {"session": session.id, "action": "a", "stream": "goal"}
    token = call("open_stream", secret=secret, **request).token
    other = call("open_stream", secret=secret, **{**request, "action": "b"}).token
    assert len(token) == 32 and len({token, other, secret}) == 3
    for bad, got in (("", "none"), (other, "another one"), (secret, "another one")):
        with pytest.raises(SessionError, match=f"the token that open_stream answered; got {got}. Open the stream"):
            cell.server.write_stream(session.id, "a", "goal", [1.0, 2.0], token=bad)
    cell.step()
    assert math.isnan(session.value("a.first"))
    assert not cell.kinds("stream_refused"), "no stranger fills the session's events"
    assert cell.server.write_stream(session.id, "a", "goal", [1.0, 2.0], token=token)
    cell.step()
    assert session.value("a.first") == 1.0


def test_S19_the_topic_of_samples_checks_the_token(stream_cell: LockstepCell) -> None:
    cell = stream_cell
    session = cell.session("left")
    session.add(Action("a", "listener", parts="left"))
    session.start("a")
    cell.step()
    token = cell.server.open_stream(session.id, "a", "goal").token
    log: list[str] = []
    topics: Any = StreamTopics.__new__(StreamTopics)
    topics._get, topics._complain = lambda: cell.server, lambda error: log.append(str(error))
    sample = {"session": session.id, "action": "a", "stream": "goal"}
    topics._take(msg.StreamSample(**sample, values=[5.0, 6.0]))
    cell.step()
    assert session.value("a.first") != 5.0
    assert log[0].startswith("a sample for stream 'goal' of action 'a' was refused: session 's1' belongs to somebody")
    topics._take(msg.StreamSample(**sample, values=[7.0, 8.0], token=token))
    cell.step()
    assert session.value("a.first") == 7.0 and len(log) == 1


def test_S20_the_end_of_a_session_is_its_last_event(cell: LockstepCell) -> None:
    session = cell.session("left", "tool")
    session.add(Action("a", "probe", parts="left"), Action("b", "probe", parts="tool"))
    session.start("a", "b")
    cell.step(3)
    cell.server.close_session(session.id)
    assert not cell.kinds("session_ended"), "the loop has not heard of it"
    with pytest.raises(SessionError, match="has ended: closed by its client"):
        cell.server.session(session.id)
    tick = cell.step()
    ended = [(e.kind, e.tick) for e in cell.events if e.session == session.id][-4:]
    kinds = ["action_stopped", "action_stopped", "command_done", "session_ended"]
    assert ended == [(kind, tick) for kind in kinds]


def test_S20_a_failure_ends_all_actions_before_the_session(cell: LockstepCell) -> None:
    session = cell.session("left", "right")
    session.add(Action("a", "probe", parts="left", fail_in=4, fail_at=3), Action("b", "probe", parts="right"))
    session.start("a", "b")
    cell.step(10)
    kinds = [e.kind for e in cell.events if e.session == session.id]
    assert kinds[-1] == "session_ended" and kinds.count(Kind.ACTION_STOPPED) == 2
    ticks = [e.tick for e in cell.events if e.session == session.id]
    assert ticks == sorted(ticks), list(zip(kinds, ticks, strict=True))


def test_S20_a_session_without_actions_ends_at_once(cell: LockstepCell) -> None:
    session = cell.session("left")
    cell.server.close_session(session.id)
    assert [e.kind for e in cell.events if e.session == session.id] == ["session_opened", "session_ended"]
