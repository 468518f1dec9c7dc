"""Sessions: their parts, their lease, their end, and what the loop makes of it."""

from collections.abc import Callable
from typing import Any

import pytest

from robot_rt_control.definitions.definitions import ActionDefinition, ReactionDefinition
from robot_rt_control.testing.server_bench import ServerBench
from robot_rt_control.vocabulary.capacities import MAX_SESSIONS
from robot_rt_control.vocabulary.errors import CapacityError, RobotControlError, SessionError

MakeAction = Callable[..., ActionDefinition]


def on(condition: str = "is_done", **fields: Any) -> ReactionDefinition:
    return ReactionDefinition(condition=condition, **({"event": "e"} | fields))


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(RobotControlError) as error:
        call()
    return str(error.value)


def started(bench: ServerBench, wait: MakeAction, part: str = "arm", lease: float = 0.0, **values: Any) -> str:
    """A session whose action `a` is active."""
    session = bench.server.open_session("", [part], lease)
    bench.server.define(session.id, [wait("a", part, duration=50.0, **values)])
    bench.server.start(session.id, ["a"])
    return session.id


def test_parts_take_their_default_action_as_soon_as_the_server_is_there(bench: ServerBench) -> None:
    assert (bench.active("arm"), bench.active("gripper"), bench.active("rangefinder")) == ("default", "default", "none")


def test_S4_a_session_holds_its_parts_alone(bench: ServerBench, wait: MakeAction) -> None:
    first = started(bench, wait)
    text = refusal(lambda: bench.server.open_session("mine", ["gripper", "arm"], 0.0))
    assert "session 'mine' cannot be opened: part 'arm' is taken" in text
    assert f"got held by session '{first}'" in text
    assert bench.server.session_of_part("gripper") == ""
    bench.step()
    assert bench.active("arm") == "a"


def test_S6_closing_a_session_brings_its_parts_to_safety(bench: ServerBench, wait: MakeAction) -> None:
    session = started(bench, wait)
    other = started(bench, wait, "gripper")
    bench.server.close_session(session)
    assert (bench.active("arm"), bench.active("gripper")) == ("safety", "a")
    (event,) = bench.kinds("session_ended")
    assert (event.session, event.part, event.reason) == (session, "arm", "closed by its client")
    stops = [e for e in bench.kinds("action_stopped") if e.session == session]
    assert [(e.previous_action, e.reason) for e in stops] == [("a", "the session ended")]
    assert bench.server.session(other).end_reason == ""
    assert [s.identity for s in bench.store.sessions.values()][1:] == [bench.server.session(other).identity], (
        "only the sessions that live are in the tables"
    )


def test_S5_a_session_that_nobody_renews_is_lost(bench: ServerBench, wait: MakeAction) -> None:
    session = started(bench, wait, lease=1.0)
    bench.now += 0.9
    bench.server.renew_session(session)
    bench.now += 0.9
    bench.step()
    assert bench.active("arm") == "a"
    bench.now += 0.2
    bench.step()
    assert bench.active("arm") == "safety"
    reason = "its client did not renew it for its lease of 1 s"
    assert [e.reason for e in bench.kinds("session_ended")] == [reason]
    assert refusal(lambda: bench.server.start(session, ["a"])) == (
        f"session '{session}' has ended: {reason}. Open a new session and define its actions again"
    )
    started(bench, wait)
    assert bench.active("arm") == "a", "the part is free for others"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"fail_after": 0.003, "status": 42}, "status 42 of the action's own code"),
        ({"index": 4}, "index out of range"),
        ({"fail_after": 0.003, "status": -3}, "a motion could not be planned from the present state"),
    ],
)
def test_A6_a_failure_ends_the_session_with_the_reason_and_no_other(
    bench: ServerBench, wait: MakeAction, values: dict[str, Any], reason: str
) -> None:
    other = started(bench, wait, "gripper")
    session = started(bench, wait, **values)
    bench.step(5)
    (event,) = bench.kinds("action_failed")
    assert (event.session, event.current_action, event.part, event.reason) == (session, "a", "arm", reason)
    assert (bench.active("arm"), bench.active("gripper")) == ("safety", "a")
    assert [(e.session, e.reason) for e in bench.kinds("session_ended")] == [(session, f"action 'a' failed: {reason}")]
    assert f"has ended: action 'a' failed: {reason}" in refusal(lambda: bench.server.stop(session))
    bench.server.renew_session(other)
    started(bench, wait)
    assert bench.active("arm") == "a"


def test_S8_after_the_loop_lost_the_server_all_sessions_have_ended(bench: ServerBench, wait: MakeAction) -> None:
    sessions = [started(bench, wait), started(bench, wait, "gripper")]
    epoch = int(bench.executor.channel.memory.server_epoch)
    bench.executor.world.memory.server_lost = 1
    bench.step()
    assert (bench.active("arm"), bench.active("gripper")) == ("safety", "safety")
    assert [e.session for e in bench.kinds("session_ended")] == sessions
    assert "ended: the executor heard nothing from the control server" in refusal(
        lambda: bench.server.start(sessions[0], ["a"])
    )
    assert int(bench.executor.channel.memory.server_epoch) == epoch + 1, "the loop watches the server again"
    started(bench, wait)
    assert bench.active("arm") == "a"


def test_detaching_ends_everything_with_the_reason(bench: ServerBench, wait: MakeAction) -> None:
    session = started(bench, wait)
    bench.server.detach("the control server is shutting down")
    assert bench.kinds("session_ended")[0].reason == "the control server is shutting down"
    assert not bench.executor.channel.server_attached
    assert refusal(lambda: bench.server.start(session, ["a"])) == (
        "there is no executor: the control server is not attached. Start the executor"
    )
    bench.server.poll()


def test_a_second_server_finds_the_loop_as_it_is_and_uses_no_identity_again(
    bench: ServerBench, wait: MakeAction
) -> None:
    old = bench.server
    session = started(bench, wait)
    identity = old.contents(old.session(session)).actions["a"].entry.identity
    old.detach("the first server goes")
    bench.executor.step(5)
    bench.events.clear()
    bench.server = bench.new_server()
    assert (bench.active("arm"), bench.active("gripper")) == ("default", "default")
    assert all(e.previous_action in ("", "arm_default_action", "gripper_default_action") for e in bench.events)
    second = started(bench, wait)
    assert second == "s2_1", "a client of the first server cannot mistake it for its own session"
    assert bench.server.contents(bench.server.session(second)).actions["a"].entry.identity > identity + 2**39
    assert bench.active("arm") == "a"


@pytest.mark.long
def test_many_sessions_come_and_go(bench: ServerBench, wait: MakeAction) -> None:
    for _ in range(2 * MAX_SESSIONS):
        session = started(bench, wait)
        bench.server.close_session(session)
    store = bench.store
    assert store.session_slots.in_use == 1
    assert store.action_slots.in_use == 4
    assert len(bench.store.directory.actions) < 10


def test_S4_a_session_without_definitions_costs_nothing_in_the_loop(bench: ServerBench) -> None:
    tick = bench.view.tick
    session = bench.server.open_session("", ["arm"], 0.0)
    bench.server.stop(session.id)
    bench.server.close_session(session.id)
    assert bench.view.tick == tick


def test_an_action_of_several_parts_needs_only_those_that_it_moves(bench: ServerBench) -> None:
    session = bench.server.open_session("", ["arm", "gripper"], 0.0)
    definition = ActionDefinition(
        id="b", type="both", parts={"eye": "rangefinder", "tool": "gripper", "arm": "arm"}, reactions=(on("seen >= 0"),)
    )
    bench.server.define(session.id, [definition])
    bench.server.start(session.id, ["b"])
    assert (bench.active("arm"), bench.active("gripper")) == ("b", "b")
    assert [e.part for e in bench.kinds("action_started") if e.current_action == "b"] == ["arm, gripper"]
    bench.server.stop(session.id)
    assert (bench.active("arm"), bench.active("gripper")) == ("default", "default")


def test_too_many_sessions_are_refused_by_name(bench: ServerBench) -> None:
    pool = bench.store.session_slots
    pool.take(MAX_SESSIONS - 1)
    session = bench.server.open_session("", ["arm"], 0.0)
    with pytest.raises(
        CapacityError, match=r"too many sessions with definitions; expected at most 64 \(MAX_SESSIONS\)"
    ):
        bench.server.define(session.id, [], [on("time > 1")])
    with pytest.raises(SessionError):
        bench.server.session("s99")
