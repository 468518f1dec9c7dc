"""What can be shown of a run at any moment."""

from __future__ import annotations

from blueprint_driver import Driver, calls, graph, leaf, node, sequence

from robot_rt_control.blueprint import events
from robot_rt_control.blueprint.plan import Call, Given, Kind
from robot_rt_control.blueprint.results import with_standard
from robot_rt_control.blueprint.run_state import NodeState, state_of


def test_nodes_branches_questions_and_what_waits() -> None:
    ask = Call(
        kind=Kind.ASK, arguments={"text": Given(value="Tea?")}, answers=("yes",), results=with_standard({"yes": False})
    )
    both = Call(kind=Kind.ALL_OF, branches={"l": leaf(), "r": ask})
    g = graph("g", node("A", "B", calls("inner"), retry=1), node("B"))
    run = Driver(g, graph("inner", node("x", "y"), node("y", (), both)))
    run.end("A/x", "failed")
    run.end("A/x")
    run.jump("B")
    run.give(events.Pause())
    run.give(events.SetBreakpoints(before=frozenset({("A", "y")}), after=frozenset({("B",)})))
    state = state_of(run.engine)
    assert state.nodes == (
        NodeState(path="A", does="inner", visit=1, attempt=2),
        NodeState(path="A/y", does="all_of", visit=1, attempt=1),
        NodeState(path="A/y/l", does="skill"),
        NodeState(path="A/y/r", does="ask"),
    )
    assert [(q.text, q.path) for q in state.questions] == [("Tea?", ("A", "y", "r"))]
    assert (state.jump, state.will_pause, state.before, state.after) == ("B", True, ("A/y",), ("B",))
    assert (state.blueprint, state.stands, state.outcome) == ("g", "", None)


def test_standing_stopped_ending_ended() -> None:
    run = Driver(graph("g", *sequence("A", "B")))
    run.give(events.Stopped())
    assert state_of(run.engine).nodes[0].ends
    run.end("A", "failed")
    state = state_of(run.engine)
    assert (state.stands, state.stands_at, state.stopped, state.has_to_be_said) == ("cut", "A", True, True)
    run.give(events.Released())
    run.give(events.Resume(how="next"))
    run.give(events.Cancel())
    assert state_of(run.engine).ending and state_of(run.engine).nodes[0].ends
    run.end("B", "cancelled")
    state = state_of(run.engine)
    assert not state.nodes and not state.ending and state.outcome is not None and state.outcome.result == "cancelled"
