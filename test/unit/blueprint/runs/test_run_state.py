"""What can be shown of a run at any moment."""

from __future__ import annotations

from blueprint_driver import Driver, calls, graph, leaf, node, sequence

from robot_rt_control.blueprint.graph import events
from robot_rt_control.blueprint.graph.plan import ONLY, Call, Candidate, Given, Kind, shown_path
from robot_rt_control.blueprint.graph.results import with_standard
from robot_rt_control.blueprint.runs.run_state import NodeState, state_of


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


def test_N50_a_skill_made_of_one_call_is_one_node_of_its_caller() -> None:
    """In the state, in the log, and in the paths of commands, with `only` or without."""
    ask = Call(
        kind=Kind.ASK, arguments={"text": Given(value="Tea?")}, answers=("yes",), results=with_standard({"yes": False})
    )
    one = calls("one")
    main = graph("main", node("A", "B", one), node("B", "C", one), node("C", (), calls("asks")))
    run = Driver(main, graph("one", node(ONLY)), graph("asks", node(ONLY, [Candidate(on=("yes",), end="done")], ask)))
    assert run.started == ["A"] and state_of(run.engine).nodes == (NodeState(path="A", does="one", visit=1, attempt=1),)
    run.give(events.Pause(now=True))
    run.end("A", "cancelled")
    assert (run.standing, state_of(run.engine).stands_at) == ("cut A", "A")
    run.give(events.Resume())
    run.end("A")
    assert [(r["what"], r["path"]) for r in run.log if r.get("path", "").startswith("A")] == [
        ("node", "A"), ("call", "A"), ("start", "A"), ("cancel", "A"), ("ended", "A"), ("stands", "A"),
        ("node", "A"), ("start", "A"), ("ended", "A"), ("decided", "A"),
    ]  # fmt: skip
    assert run.jump("C/only", now=True) == run.jump("C") == ""
    run.end("B", "cancelled")
    assert [shown_path(question.path) for question in state_of(run.engine).questions] == ["C"]
    assert [node.path for node in state_of(run.engine).nodes] == ["C"]
    run.give(events.Answer(activity=run.questions.pop("C").activity, answer="yes"))
    assert run.result == "done"


def test_what_a_skill_says_of_its_progress_is_in_the_state() -> None:
    run = Driver(graph("main", *sequence("A", "B", call=calls("one"))), graph("one", node(ONLY)))
    for text in ("1 of 2", "2 of 2"):
        run.give(events.Told(activity=run.running["A"], what="progress", content={"text": text}))
        run.give(events.Told(activity=run.running["A"], what="goal", content={"server": "/dock"}))
        assert state_of(run.engine).nodes[0].progress == text
    run.end("A")
    assert state_of(run.engine).nodes == (NodeState(path="B", does="one", visit=1, attempt=1),)
