"""What a run may start next."""

from __future__ import annotations

from typing import Any

from blueprint_driver import Driver, calls, graph, leaf, node

from robot_rt_control.blueprint.engine.foresight import foresee
from robot_rt_control.blueprint.graph.plan import Call, Candidate, Given, Graph, Kind
from robot_rt_control.blueprint.graph.results import with_standard
from robot_rt_control.definitions.action_type import Parameter


def foreseen(run: Driver, at_most: int = 3) -> list[Any]:
    """The argument x of each foreseen skill."""
    return [{a.name: a.value for a in skill.arguments}.get("x") for skill in foresee(run.engine, at_most)]


def sets(**values: Any) -> Call:
    return Call(kind=Kind.SET, arguments={name: Given(value=value) for name, value in values.items()})


def test_N34_candidates_that_a_success_may_lead_to_are_foreseen_in_their_order() -> None:
    ways = [
        Candidate(on=("failed",), go="repair"),
        Candidate(when="2 < 1 + 0", go="never"),
        Candidate(when="arm.tool.z > 0", go="high"),
        Candidate(go="low"),
        Candidate(go="late"),
    ]
    others = [node(id, call=leaf(x=id)) for id in ("repair", "never", "high", "low", "late")]
    run = Driver(graph("g", node("a", ways), *others))
    assert foreseen(run) == ["high", "low"], "what follows a candidate that surely holds is not reached"
    assert foreseen(run, at_most=1) == ["high"]


def test_N34_a_loop_with_a_value_that_changes_is_foreseen_with_its_next_value() -> None:
    loop = [
        node("count", [Candidate(when="$i > 2", end="done"), Candidate(go="move")], sets(i="$i + 1")),
        node("move", "count", leaf(x="$i * 10")),
    ]
    run = Driver(graph("g", *loop, values={"i": Given(value=0)}))
    assert (run.arguments["move"], foreseen(run)) == ({"x": 10}, [20])
    run.ends("move")
    assert (run.arguments["move"], foreseen(run)) == ({"x": 20}, []), "the next round ends the run"


def test_N34_calls_are_followed_inwards_and_outwards_and_values_that_are_not_known_yet_are_left_out() -> None:
    outer = graph(
        "g",
        node("a", "inner", leaf("seen", x="first")),
        node("inner", "b", calls("h", y="called")),
        node("b", "c", leaf(x="$a.seen")),
        node("c", call=leaf(x="last")),
    )
    inner = Graph(
        name="h",
        start="in",
        nodes={"in": node("in", call=leaf(x="$y"))},
        parameters=[Parameter(name="y", type="text")],
    )
    run = Driver(outer, inner)
    assert foreseen(run) == ["called"]
    run.end("a", seen=7.0)
    assert (run.started[-1], foreseen(run)) == ("inner/in", [7.0])
    run.ends("inner/in")
    assert foreseen(run) == ["last"]


def test_N34_an_output_of_the_node_that_runs_is_the_next_one_not_the_last_one() -> None:
    run = Driver(graph("g", node("a", "b", leaf("seen")), node("b", "a", leaf(x="$a.seen"))))
    run.end("a", seen=1.0)
    assert run.arguments["b"] == {"x": 1.0}
    run.ends("b")
    assert run.started[-1] == "a" and foreseen(run) == []


def test_N34_branches_are_foreseen_together_and_endless_graphs_end() -> None:
    both = Call(
        kind=Kind.ALL_OF, branches={"l": leaf(x="l"), "r": leaf(x="r")}, results=with_standard({})
    )
    wait = Call(kind=Kind.WAIT, arguments={"time": Given(value=1.0)})
    run = Driver(graph("g", node("a", "wait"), node("wait", "both", wait), node("both", call=both)))
    assert foreseen(run) == ["l", "r"]
    endless = Driver(graph("g", node("a", "x"), node("x", "y", wait), node("y", "x", wait)))
    assert foreseen(endless) == []
