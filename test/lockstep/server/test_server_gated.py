"""A loop that ticks on request only: nobody waits, everything happens at the next step, in order."""

from collections.abc import Callable

import pytest

from robot_rt_control.definitions.definitions import ActionDefinition, ParameterValue, ReactionDefinition
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.server.types.action_types import ActionTypes
from robot_rt_control.testing.server_bench import ServerBench
from robot_rt_control.vocabulary.errors import DefinitionError

MakeAction = Callable[..., ActionDefinition]


@pytest.fixture
def session(gated: ServerBench, wait: MakeAction) -> str:
    gated.step()
    session = gated.server.open_session("", ["arm"], 0.0)
    reaction = ReactionDefinition(condition="is_done", event="finished", start=("b",))
    gated.server.define(session.id, [wait("a", "arm", reaction, duration=0.003), wait("b", duration=50.0)])
    return session.id


def test_answers_name_the_next_tick_and_hold_there(gated: ServerBench, session: str) -> None:
    now = gated.view.tick
    assert gated.server.start(session, ["a"]) == now + 1
    assert gated.view.tick == now
    assert gated.active("arm") == "default"
    gated.step()
    assert gated.active("arm") == "a"
    assert [e.tick for e in gated.kinds("action_started") if e.current_action == "a"] == [now + 1]
    gated.step(2)
    assert [e.tick for e in gated.fired("finished")] == [now + 3]
    assert gated.active("arm") == "b"


def test_T2_the_same_steps_give_the_same_events(
    gated: ServerBench, workcell: Workcell, types: ActionTypes, wait: MakeAction
) -> None:
    def run(bench: ServerBench) -> list[tuple]:
        bench.step()
        session = bench.server.open_session("", ["arm"], 0.0)
        late = "elapsed > 0.0045"
        finished = ReactionDefinition(condition=late, event="finished", start=("b",), capture=("elapsed",))
        bench.server.define(session.id, [wait("a", "arm", finished), wait("b", fail_after=0.002)])
        bench.server.start(session.id, ["a"], target_tick=bench.view.tick + 4)
        for ticks in (3, 1, 7):
            bench.step(ticks)
        return [
            (e.kind, e.tick, e.time_ns, e.event, e.previous_action, e.current_action, e.values) for e in bench.events
        ]

    first = run(gated)
    with ServerBench(workcell, types, gated=True) as second:
        assert run(second) == first
    assert "action_failed" in [e[0] for e in first]


def test_definitions_before_the_first_step_are_complete_at_it(
    gated: ServerBench, session: str, wait: MakeAction
) -> None:
    for i in range(5):
        gated.server.define(session, [wait(f"n{i}", duration=float(i))])
    gated.server.remove(session, ["n0", "n1"])
    gated.server.set_parameters(session, "n2", [ParameterValue(name="duration", value=9.0)])
    gated.server.set_parameters(session, "n2", [ParameterValue(name="duration", value=8.0)])
    gated.server.start(session, ["n2"])
    gated.step()
    assert gated.active("arm") == "n2"
    assert gated.value(session, "n2.limit") == 8.0
    gated.server.start(session, ["n4"])
    gated.step()
    assert gated.value(session, "n4.limit") == 4.0


def test_S6_a_closed_session_ends_at_the_next_step_with_safety(
    gated: ServerBench, session: str, wait: MakeAction
) -> None:
    gated.server.start(session, ["b"])
    gated.step()
    gated.server.close_session(session)
    other = gated.server.open_session("", ["arm"], 0.0)
    gated.server.define(other.id, [wait("x", duration=50.0)])
    assert gated.active("arm") == "b", "nothing has ticked yet"
    gated.step()
    assert gated.active("arm") == "safety", "not the default action: the session has ended, it was not removed"
    gated.server.start(other.id, ["x"])
    gated.step()
    assert gated.active("arm") == "x"
    gated.server.define(other.id, [wait("y")])
    assert len(gated.store.sessions) == 2, "the system's and this one"


def test_a_start_behind_the_end_of_another_session_takes_the_part_in_the_same_step(
    gated: ServerBench, session: str, wait: MakeAction
) -> None:
    gated.server.start(session, ["b"])
    gated.step()
    gated.server.close_session(session)
    other = gated.server.open_session("", ["arm"], 0.0)
    gated.server.define(other.id, [wait("x", duration=50.0)])
    gated.server.start(other.id, ["x"])
    gated.step()
    assert gated.active("arm") == "x"


def test_a_refusal_comes_as_an_event(gated: ServerBench, session: str) -> None:
    gated.server.set_motion(["arm"], "disable")
    gated.server.start(session, ["a"])
    gated.server.signal(session, "a", "pause")
    gated.step()
    (event,) = gated.kinds("command_refused")
    assert (event.session, event.reason) == (session, "the motion of a part is not enabled")
    assert [e.current_action for e in gated.kinds("signal_dropped")] == ["a"]


def test_what_is_wrong_is_refused_at_once(gated: ServerBench, session: str, wait: MakeAction) -> None:
    with pytest.raises(DefinitionError, match="action '.*' exists"):
        gated.server.define(session, [wait("a")])
    with pytest.raises(DefinitionError, match="unknown action"):
        gated.server.start(session, ["x"])


def test_a_second_server_takes_over_between_two_steps(gated: ServerBench, session: str, wait: MakeAction) -> None:
    gated.server.start(session, ["b"])
    gated.step()
    gated.server.detach("the first server goes")
    gated.server = gated.new_server()
    gated.step()
    assert gated.active("arm") == "none", "what was active is gone; the loop itself holds the part"
    gated.step()
    assert gated.active("arm") == "default"
    other = gated.server.open_session("", ["arm"], 0.0)
    gated.server.define(other.id, [wait("x", duration=50.0)])
    gated.server.start(other.id, ["x"])
    gated.step()
    assert gated.active("arm") == "x"
