"""The active states of sessions, from events."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.server.programs.program_states import HISTORY, ProgramStates, SessionState
from robot_rt_control.vocabulary.event_kinds import Kind


def followed() -> tuple[ProgramStates, list[SessionState]]:
    told: list[SessionState] = []
    return ProgramStates(lambda session: f"program of {session}", told.append), told


def started(action: str, tick: int, session: str = "s1") -> ServerEvent:
    return ServerEvent(kind=Kind.ACTION_STARTED, session=session, current_action=action, tick=tick, time_ns=tick * 10)


def test_what_happens_in_between_is_told_at_once() -> None:
    states, told = followed()
    states.take(started("a", 3))
    states.take(ServerEvent(kind=Kind.REACTION_FIRED, session="s1", reaction="r", event="e", tick=5, time_ns=50))
    states.take(ServerEvent(kind=Kind.ACTION_STOPPED, session="s1", previous_action="a", tick=5, time_ns=50))
    states.take(started("b", 5))
    assert states.changed.is_set() and told == []
    states.flush()
    (state,) = told
    assert (state.program, state.tick, state.time_ns, dict(state.active)) == ("program of s1", 5, 50, {"b": 5})
    assert (state.last_reaction, state.last_event, state.ended) == ("r", "e", False)
    assert not states.changed.is_set()
    states.flush()
    assert len(told) == 1


def test_what_changes_nothing_is_not_told() -> None:
    states, told = followed()
    for event in (
        ServerEvent(kind=Kind.COMMAND_DONE, session="s1", tick=1),
        ServerEvent(kind=Kind.ACTION_STARTED, session="", current_action="safety", tick=1),
        ServerEvent(kind=Kind.PART_FAULTED, session="s1", part="arm", tick=2),
    ):
        states.take(event)
    states.flush()
    assert told == [] and not states.changed.is_set()


def changed(action: str, axis: str, strategy: str, tick: int) -> ServerEvent:
    return ServerEvent(
        kind=Kind.STRATEGY_CHANGED, session="s1", current_action=action, degree_of_freedom=axis, to_strategy=strategy,
        tick=tick, time_ns=tick * 10,
    )  # fmt: skip


def test_governing_strategies_end_with_their_action() -> None:
    states, told = followed()
    for event in (started("a", 3), changed("a", "x", "fast", 3), changed("a", "y", "fast", 3), started("b", 4)):
        states.take(event)
    states.take(changed("b", "x", "slow", 4))
    states.take(changed("a", "x", "slow", 7))
    states.flush()
    assert dict(told[-1].strategies) == {("a", "x"): ("slow", 7), ("a", "y"): ("fast", 3), ("b", "x"): ("slow", 4)}
    assert told[-1].tick == 7
    states.take(ServerEvent(kind=Kind.ACTION_STOPPED, session="s1", previous_action="a", tick=8))
    states.flush()
    assert dict(told[-1].strategies) == {("b", "x"): ("slow", 4)}
    states.take(ServerEvent(kind=Kind.SESSION_ENDED, session="s1", tick=9, reason="lost"))
    states.flush()
    assert not told[-1].strategies


def test_the_end_is_told_with_the_reason_and_is_the_last() -> None:
    states, told = followed()
    states.take(started("a", 3))
    states.take(ServerEvent(kind=Kind.SESSION_ENDED, session="s1", tick=9, reason="lost"))
    states.flush()
    (state,) = told
    assert (state.program, dict(state.active), state.ended, state.end_reason) == ("program of s1", {}, True, "lost")


def test_a_quiet_session_is_still_among_the_last_for_who_comes_late() -> None:
    states, told = followed()
    states.take(started("quiet", 1, "s1"))
    states.flush()
    for tick in range(2, 2000):
        states.take(started(f"a{tick % 2}", tick, "s2"))
        states.flush()
        assert "s1" in {state.session for state in told[-HISTORY:]}
    states.take(ServerEvent(kind=Kind.SESSION_ENDED, session="s1", tick=2000))
    states.flush()
    n = len([s for s in told if s.session == "s1"])
    for tick in range(2001, 2600):
        states.take(started(f"a{tick % 2}", tick, "s2"))
        states.flush()
    assert len([s for s in told if s.session == "s1"]) == n, "an ended one is told once"


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["start", "stop", "flush"]), st.sampled_from("abc")), max_size=30))
def test_the_last_state_told_is_the_present_one(steps: list[tuple[str, str]]) -> None:
    states, told = followed()
    active: dict[str, int] = {}
    for tick, (step, action) in enumerate(steps, start=1):
        if step == "start":
            states.take(started(action, tick))
            active.pop(action, None)
            active[action] = tick
        elif step == "stop":
            states.take(ServerEvent(kind=Kind.ACTION_STOPPED, session="s1", previous_action=action, tick=tick))
            active.pop(action, None)
        else:
            states.flush()
    states.flush()
    if told:
        assert list(told[-1].active.items()) == list(active.items())
    else:
        assert not active
