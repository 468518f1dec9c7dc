"""Programs and actions that run in a given session, beside others, under a prefix of their ids."""

from __future__ import annotations

import pytest

from robot_rt_control.definitions.definitions import ParameterValue
from robot_rt_control.server.runs import shared
from robot_rt_control.server.runs.plan import RunPlan
from robot_rt_control.server.runs.runs import Run, RunResult, plan_program, upload_prefixed
from robot_rt_control.server.sessions import Session
from robot_rt_control.testing.server_bench import ServerBench
from robot_rt_control.vocabulary.errors import DefinitionError, SessionError

PROGRAM = """
roles: {hand: {kinds: [arm]}}
parameters: {duration: {unit: s, default: 0.003}}
start: [one]
actions:
  one: {type: wait, parts: hand, parameters: {duration: $duration}, reactions: [{when: is_done, start: two}]}
  two:
    type: wait
    parts: hand
    final: true
    parameters: {duration: 0.002}
    reactions: [{when: is_done, stop: true, event: full, capture: [two.limit, hand.age]}]
"""


ACTION = """
start: [wait]
actions:
  wait:
    type: wait
    parts: {part: gripper}
    parameters: {duration: 50.0}
    reactions: [{when: elapsed > 0.001, event: done}]
"""


@pytest.fixture
def session(bench: ServerBench) -> Session:
    return bench.server.open_session("all", ["arm", "gripper"], 0.0)


def plan(bench: ServerBench, session: Session, prefix: str, text: str = PROGRAM, **values: float) -> RunPlan:
    return plan_program(
        bench.server,
        text,
        until_event="done" if text != PROGRAM else "",
        timeout=0.0,
        parameters=[ParameterValue(name=name, value=value) for name, value in values.items()],
        parts={"hand": "arm"} if text == PROGRAM else {},
        prefix=prefix,
        session=session,
    )


def program(bench: ServerBench, session: Session, prefix: str, text: str = PROGRAM, **values: float) -> Run:
    return Run(bench.server, plan(bench, session, prefix, text, **values), session=session)


def finish(bench: ServerBench, run: Run, ticks: int = 50) -> RunResult:
    for _ in range(ticks):
        result = run.update()
        if result is not None:
            run.leave()
            return result
        bench.step()
    raise AssertionError("the run did not end")


def active(bench: ServerBench, session: Session) -> list[str]:
    view = bench.server.snapshot()
    assert view is not None
    actions = bench.server.contents(session).actions
    return [id for id, a in actions.items() if view.active_since(a.entry.identity) is not None]


def test_N33_runs_follow_each_other_in_one_session(bench: ServerBench, session: Session) -> None:
    first = finish(bench, program(bench, session, "n1"))
    assert (first.success, first.last_event) == (True, "full")
    assert set(first.values) == {"two.limit", "hand.age"}, "as the program's text names them"
    second = finish(bench, program(bench, session, "n2", duration=0.005))
    assert second.ticks == first.ticks + 2
    assert sorted(bench.server.contents(session).actions) == ["n1__one", "n1__two", "n2__one", "n2__two"]
    again = finish(bench, program(bench, session, "n1"))
    assert (again.ticks, again.values) == (first.ticks, first.values)
    assert not session.end_reason


def test_N33_an_action_that_is_left_goes_on_and_a_cancel_stops_only_what_the_run_started(
    bench: ServerBench, session: Session
) -> None:
    assert finish(bench, program(bench, session, "n1", ACTION)).last_event == "done"
    other = program(bench, session, "n2", duration=50.0)
    bench.step(3)
    assert active(bench, session) == ["n1__wait", "n2__one"]
    other.close()
    bench.step(2)
    assert active(bench, session) == ["n1__wait"] and not session.end_reason


def test_a_run_that_is_cancelled_at_once_leaves_nothing_active(bench: ServerBench, session: Session) -> None:
    run = program(bench, session, "n1", duration=50.0)
    run.close()
    bench.step(3)
    assert active(bench, session) == []


def test_free_standing_reactions_would_stay(bench: ServerBench, session: Session) -> None:
    text = PROGRAM + "reactions: [{when: time > 1, event: late}]\n"
    late = plan_program(bench.server, text, until_event="", timeout=0.0, parts={"hand": "arm"}, prefix="n1")
    with pytest.raises(DefinitionError, match="free-standing reactions runs in a session of its own"):
        Run(bench.server, late, session=session)
    assert not bench.server.contents(session).actions


def test_the_end_of_the_session_ends_the_run(bench: ServerBench, session: Session) -> None:
    run = program(bench, session, "n1", duration=50.0)
    bench.step(3)
    bench.server.close_session(session.id)
    assert not finish(bench, run).success


def ids(bench: ServerBench, session: Session) -> list[str]:
    return sorted(bench.server.contents(session).actions)


def test_N34_the_same_program_is_installed_once_and_other_values_replace_it(
    bench: ServerBench, session: Session
) -> None:
    finish(bench, program(bench, session, "n1", duration=0.003))
    first = bench.server.contents(session).actions["n1__one"]
    finish(bench, program(bench, session, "n1", duration=0.003))
    assert bench.server.contents(session).actions["n1__one"] is first
    slow = finish(bench, program(bench, session, "n1", duration=0.010))
    assert bench.server.contents(session).actions["n1__one"] is not first and slow.ticks >= 10
    assert ids(bench, session) == ["n1__one", "n1__two"]


def test_N34_a_prefix_belongs_to_one_run_at_a_time(bench: ServerBench, session: Session) -> None:
    run = program(bench, session, "n1", duration=50.0)
    with pytest.raises(SessionError, match="a run with the prefix 'n1' is under way"):
        program(bench, session, "n1", duration=50.0)
    with pytest.raises(SessionError, match="is under way"):
        shared.remove(bench.server, session, ["n1__*"])
    run.close()
    program(bench, session, "n1").close()


def test_N34_what_was_uploaded_ahead_is_started_without_reading_it_again(
    bench: ServerBench, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = [ParameterValue(name="duration", value=0.004)]
    present = program(bench, session, "n1", duration=0.02)
    bench.step(3)
    assert upload_prefixed(bench.server, session, PROGRAM, values, {"hand": "arm"}, "n2") == ["n2__one", "n2__two"]
    bench.step()
    assert active(bench, session) == ["n1__one"], "nothing starts by it"
    with pytest.raises(SessionError, match="'n1' is under way"):
        upload_prefixed(bench.server, session, PROGRAM, values, {"hand": "arm"}, "n1")
    finish(bench, present)
    ahead = bench.server.contents(session).actions["n2__one"]
    monkeypatch.setattr(bench.server, "programs", None)
    assert finish(bench, program(bench, session, "n2", duration=0.004)).last_event == "full"
    assert bench.server.contents(session).actions["n2__one"] is ahead


def test_N34_what_a_run_installed_is_removed_when_asked(bench: ServerBench, session: Session) -> None:
    finish(bench, program(bench, session, "n1"))
    assert shared.remove(bench.server, session, ["n1__*", "other"]) == ["n1__one", "n1__two", "other"]
    with pytest.raises(DefinitionError, match="no run has installed anything under 'n2'"):
        shared.remove(bench.server, session, ["n2__*"])


def test_N34_what_was_unused_for_longest_makes_room_but_not_what_is_active(
    bench: ServerBench, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared, "MAX_INSTALLED", 3)
    finish(bench, program(bench, session, "n1", ACTION))  # its action goes on
    for prefix in ("n2", "n3", "n2", "n4"):
        finish(bench, program(bench, session, prefix))
    assert list(session.installed) == ["n1", "n2", "n4"]
    assert active(bench, session) == ["n1__wait"]
    assert ids(bench, session) == ["n1__wait", "n2__one", "n2__two", "n4__one", "n4__two"]
