"""The engine, case by case; the document's own cases by their names. The letters of the nodes are the document's."""

from __future__ import annotations

from typing import Any

import pytest
from blueprint_driver import Driver, calls, graph, leaf, node, plan, sequence

from robot_rt_control.blueprint.engine.engine import Engine
from robot_rt_control.blueprint.graph import events
from robot_rt_control.blueprint.graph.events import Moment
from robot_rt_control.blueprint.graph.plan import Call, Candidate, Given, GraphReaction, Kind, Node
from robot_rt_control.blueprint.graph.results import with_standard
from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.definitions.parameter_value import ParameterValue
from robot_rt_control.vocabulary.capacities import MAX_CHANGES_PER_TICK, MAX_REACTIONS_IN_A_ROW

# --- the document's cases -----------------------------------------------------------------------


def test_N9_the_first_blueprint_a_b_c() -> None:
    run = Driver(graph("first", *sequence("A", "B", "C")))
    run.ends("A", "B", "C")
    assert run.started == ["A", "B", "C"] and run.result == "done"


def test_N10_the_second_blueprint_one_node_d() -> None:
    run = Driver(graph("second", node("D")))
    assert run.started == ["D"] and not run.result
    run.end("D")
    assert run.result == "done"


def test_N15_the_third_blueprint_e_f_g_h_of_mixed_levels() -> None:
    """E is a meta skill, F and G are motion skills, H is a behavior skill: a graph of graphs is a skill like others."""
    shake = graph("shake_hands", *sequence("reach", "grasp", "say"))
    guide = graph("guide", node("route", "seat"), node("seat", (), calls("shake_hands")))
    third = graph(
        "third", node("E", "F"), node("F", "G", calls("shake_hands")), node("G", "H"), node("H", (), calls("guide"))
    )
    run = Driver(third, shake, guide)
    run.ends("E", "F/reach", "F/grasp", "F/say", "G", "H/route", "H/seat/reach", "H/seat/grasp", "H/seat/say")
    assert run.result == "done" and run.started[-1] == "H/seat/say"


def test_N15_a_nested_call_and_back() -> None:
    first = graph("first", node("A", "B"), node("B", "C", calls("second")), node("C"))
    run = Driver(first, graph("second", node("D")))
    run.ends("A", "B/D", "C")
    assert run.started == ["A", "B/D", "C"] and run.result == "done"


@pytest.mark.parametrize(("result", "next"), [("done", "third"), ("failed", "fourth")])
def test_N9_success_and_failure_to_different_nodes(result: str, next: str) -> None:
    then = [Candidate(on=("success",), go="third"), Candidate(on=("failure",), go="fourth")]
    run = Driver(graph("g", node("first", then), node("third"), node("fourth")))
    run.end("first", result)
    assert run.started == ["first", next]


@pytest.mark.parametrize(("level", "next"), [(0.1, "charge"), (0.9, "seat"), (None, "seat")])
def test_N9_power_shortage_leads_to_charging(level: float | None, next: str) -> None:
    """An unknown level is no shortage (C2)."""
    then = [Candidate(when="battery.level < 0.2", go="charge"), Candidate(go="seat")]
    run = Driver(graph("g", node("greet", then), node("charge"), node("seat")))
    run.values = {} if level is None else {"battery.level": level}
    run.end("greet")
    assert run.started == ["greet", next]
    judged = run.records("decided")[0]["judged"]
    held = None if level is None else level < 0.2
    assert judged[0] == {"candidate": 0, "held": held, "values": {"battery.level": level}}


def test_N11_cyclic_execution_bounded_by_the_count_of_visits() -> None:
    loop = graph("g", node("A", "B"), node("B", [Candidate(when="A.count < 3", go="A"), Candidate(end="done")]))
    run = Driver(loop)
    run.ends("A", "B", "A", "B", "A", "B")
    assert run.started == ["A", "B"] * 3 and run.result == "done"


def test_N24_jump_from_b_to_d_then_e() -> None:
    run = Driver(graph("g", *sequence("A", "B", "C", "D", "E")))
    run.end("A")
    assert run.jump("D", source="a person") == ""
    assert run.started == ["A", "B"], "B runs to its end"
    run.ends("B", "D", "E")
    assert run.started == ["A", "B", "D", "E"] and run.result == "done"


def test_N24_jump_from_b_back_to_a_then_b_c_d_e() -> None:
    run = Driver(graph("g", *sequence("A", "B", "C", "D", "E")))
    run.end("A")
    run.jump("A")
    run.ends("B", "A", "B", "C", "D", "E")
    assert run.started == ["A", "B", "A", "B", "C", "D", "E"] and run.result == "done"


def test_N31_of_a_node_control_command_content_reception_and_execution_are_recorded() -> None:
    run = Driver(graph("g", *sequence("A", "B", "C", "D", "E")))
    run.jump("C", source="gesture")
    run.jump("D", source="voice")
    assert run.jump("F", source="hand") == "unknown node 'F'; expected one of: A, B, C, D, E; got 'F'"
    run.end("A")
    commands = run.records("command")[1:]
    received = [(c["number"], c["source"], c["target"], c["tick"], c["time"]) for c in commands]
    assert received == [
        (2, "gesture", ["C"], 2, 0.2),
        (3, "voice", ["D"], 3, 0.3),
        (4, "hand", ["F"], 4, 0.4),
    ]
    assert [c.get("refused", "")[:12] for c in commands] == ["", "", "unknown node"]
    assert [(j["number"], j["tick"], j["time"], j["outcome"]) for j in run.records("jump")] == [
        (2, 3, 0.3, "replaced by 3"),
        (3, 5, 0.5, "executed"),
    ]


# --- order --------------------------------------------------------------------------------------


def test_N10_what_nobody_takes_ends_the_graph_as_failed_with_the_reason() -> None:
    run = Driver(graph("g", *sequence("A", "B")))
    run.end("A", "failed", "nothing found")
    assert (run.result, run.reason) == ("failed", "node 'A' ended as failed: nothing found")
    run = Driver(graph("g", node("A", [Candidate(when="x > 1", go="A")])))
    run.end("A")
    assert (run.result, run.reason) == ("failed", "node 'A' ended as done, and no candidate holds")


def test_N10_end_names_a_result_of_the_graph() -> None:
    results = with_standard({"staff": False, "thief": True})
    then = [Candidate(on=("guest",), end="staff"), Candidate(on=("failure",), end="thief")]
    look = leaf(results={"guest": False, "dog": True})
    for given, expected in (("guest", "staff"), ("dog", "thief")):
        run = Driver(graph("g", node("look", then, look), results=results))
        run.end("look", given)
        assert run.result == expected


def test_N5_a_result_that_the_skill_does_not_have_is_a_failure() -> None:
    run = Driver(graph("g", node("A", [Candidate(on=("any",), go="B")]), node("B")))
    run.end("A", "wonderful")
    assert run.started == ["A", "B"]
    assert run.records("ended")[0]["reason"] == "skill 'skill' returned the unknown result 'wonderful'"


def test_N11_retry_after_failures_repeat_after_successes() -> None:
    run = Driver(graph("g", node("A", "B", retry=2, repeat=1), node("B")))
    for result in ("failed", "done", "failed", "done"):
        run.end("A", result)
    assert run.started == ["A"] * 4 + ["B"]
    assert [(r["visit"], r["attempt"]) for r in run.records("node")][:4] == [(1, 1), (1, 2), (1, 3), (1, 4)]


def test_N11_no_more_often_than_that() -> None:
    run = Driver(graph("g", node("A", "B", retry=1, repeat=1), node("B")))
    for result in ("failed", "done", "failed"):
        run.end("A", result)
    assert run.started == ["A"] * 3 and run.result == "failed"
    run = Driver(graph("g", node("A", "B", repeat=1), node("B")))
    run.ends("A", "A")
    assert run.started == ["A", "A", "B"]


def test_N12_a_timeout_cancels_and_is_the_result_once_at_rest() -> None:
    timeout = Given(value="$limit", unit="s")
    run = Driver(
        graph("g", node("A", [Candidate(on=("timeout",), go="B")], timeout=timeout), node("B"),
              parameters=(Parameter(name="limit", unit="s", default=2.0),))
    )
    assert run.engine.next_deadline == pytest.approx(2.1)
    run.give(events.Elapsed(), ticks=10)
    assert not run.cancelled
    run.give(events.Elapsed(), ticks=11)
    assert run.cancelled == ["A"] and run.started == ["A"]
    run.end("A", "cancelled")
    assert run.started == ["A", "B"] and run.engine.next_deadline is None


def test_N13_outputs_are_passed_on_and_a_missing_one_is_a_failure() -> None:
    serve = leaf(drink="$seat.wish")
    nodes = [node("seat", "serve", leaf("wish")), node("serve", [Candidate(on=("failure",), go="seat")], serve)]
    run = Driver(graph("g", *nodes))
    run.end("seat", wish="tea")
    assert run.arguments["serve"] == {"drink": "tea"}
    run.end("serve", "failed")
    run.end("seat")  # without a wish: that of the first visit is gone
    assert run.started == ["seat", "serve", "seat", "seat"]
    assert "unknown parameter $seat.wish" in run.records("ended")[3]["reason"]


def test_N9_outputs_decide() -> None:
    then = [Candidate(when="$feel.force > 3 N", go="hard"), Candidate(go="soft")]
    for force, next in ((4.0, "hard"), (2.0, "soft"), (None, "soft")):
        run = Driver(graph("g", node("feel", then, leaf("force")), node("hard"), node("soft")))
        outputs: dict[str, Any] = {} if force is None else {"force": force}
        run.end("feel", **outputs)
        assert run.started[-1] == next


def test_N14_a_run_that_changes_nodes_without_end_fails() -> None:
    log = Call(kind=Kind.LOG, arguments={"text": Given(value="round")})
    run = Driver(graph("g", node("A", "B", log), node("B", "A", log)))
    assert (run.result, run.reason) == ("failed", "the run changed nodes 100 times in one tick")
    assert len(run.records("log")) == MAX_CHANGES_PER_TICK


def test_N15_a_graph_has_parameters_values_and_outputs_of_its_own() -> None:
    inner = graph(
        "count",
        node("A", "B", Call(kind=Kind.SET, arguments={"n": Given(value="$n + $by"), "old": Given(value="$n")})),
        node("B", (), leaf(n="$n")),
        parameters=(Parameter(name="by", type="int", default=1, maximum=5),),
        values={"n": Given(value=10), "old": Given(value=0)},
        outputs={"sum": Given(value="$n"), "old": Given(value="$old"), "none": Given(value="$C.x")},
    )
    x, y = node("x", "y", calls("count", by=2)), node("y", "z", calls("count"))
    outer = graph("g", x, y, node("z", (), leaf(n="$x.sum")))
    run = Driver(outer, inner)
    run.ends("x/B", "y/B")
    assert run.arguments == {"x/B": {"n": 12}, "y/B": {"n": 11}, "z": {"n": 12}}
    assert run.records("ended")[2]["outputs"] == {"sum": 12, "old": 10}
    run = Driver(graph("g", node("x", (), calls("count", by=6))), inner)
    assert run.result == "failed" and "parameter 'by': out of range; expected at most 5; got 6" in run.reason


def test_N15_each_attempt_begins_with_new_values_and_counts() -> None:
    inner = graph(
        "inner",
        node("A", "B", Call(kind=Kind.SET, arguments={"n": Given(value="$n + 1")})),
        node("B", [Candidate(when="B.count < 2", go="A"), Candidate(end="failed")], leaf(n="$n")),
        values={"n": Given(value=0)},
    )
    run = Driver(graph("g", node("x", (), calls("inner"), retry=1)), inner)
    seen = []
    for _ in range(4):
        seen.append(run.arguments["x/B"]["n"])
        run.end("x/B")
    assert seen == [1, 2, 1, 2] and run.result == "failed"


def test_N1_roles_lead_to_parts_through_all_calls() -> None:
    touch = Call(kind=Kind.LEAF, skill="touch", parts={"arm": "hand", "wrist": "sensor"})
    outer = Call(kind=Kind.GRAPH, skill="inner", parts={"hand": "robot"})
    engine = Engine(plan(graph("g", node("a", (), outer)), graph("inner", node("b", (), touch))))
    taken = engine.take(events.Begin(parts={"robot": "left_arm"}), Moment(tick=1, time=0.0))
    (order,) = taken.orders
    assert order.parts == {"arm": "left_arm", "wrist": "sensor"}  # type: ignore[union-attr]


def branches(kind: Kind, **of: Call) -> Call:
    results = {name: False for name in of} if kind == Kind.FIRST_OF else {}
    return Call(kind=kind, branches=of, results=with_standard(results))


def test_N16_all_of_waits_for_all_and_fails_with_the_first() -> None:
    both = branches(Kind.ALL_OF, left=leaf("x"), right=calls("inner"))
    g, inner = graph("g", node("A", "B", both), node("B", (), leaf(x="$A.left.x"))), graph("inner", *sequence("c", "d"))
    run = Driver(g, inner)
    assert run.started == ["A/left", "A/right/c"]
    run.ends("A/right/c", "A/right/d")
    run.end("A/left", x=3.0)
    assert run.arguments["B"] == {"x": 3.0}
    run = Driver(g, inner)
    run.end("A/left", "failed", "stuck")
    assert run.cancelled == ["A/right/c"] and run.engine.outcome is None
    run.end("A/right/c", "done")  # it ended before it could be cancelled
    assert run.result == "failed" and "branch 'left' ended as failed: stuck" in run.reason


def test_N16_first_of_ends_with_the_first_at_rest() -> None:
    call = branches(Kind.FIRST_OF, drive=leaf(), person=leaf())
    g = graph("g", node("A", [Candidate(on=("person",), go="B"), Candidate(go="C")], call), node("B"), node("C"))
    run = Driver(g)
    run.end("A/person")
    assert run.cancelled == ["A/drive"] and run.started[-1] != "B"
    run.end("A/drive", "cancelled")
    assert run.started[-1] == "B"
    run = Driver(g)
    run.end("A/drive", "failed", "blocked")
    run.end("A/person", "cancelled")
    assert run.result == "failed" and "branch 'drive' ended as failed: blocked" in run.reason


def reacting(once: bool) -> Driver:
    reaction = GraphReaction(when="person.distance < 0.5", go="back", once=once)
    inner = graph("inner", *sequence("c", "d"))
    g = graph("g", node("A", "B", calls("inner")), node("B"), node("back", "B"), reactions=(reaction,))
    return Driver(g, inner)


def test_N17_a_reaction_at_once_ends_inner_calls() -> None:
    run = reacting(once=True)
    assert run.watched[""].conditions == ("person.distance < 0.5",)
    run.fire()
    assert run.cancelled == ["A/c"] and run.started == ["A/c"]
    run.end("A/c", "cancelled")
    assert run.started == ["A/c", "back"]
    run.ends("back", "B")
    assert run.result == "done"


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_N17_the_first_reaction_in_the_text_wins(once: bool, order: tuple[int, int]) -> None:
    reactions = tuple(GraphReaction(when=f"x > {n}", go=n, once=once) for n in "pq")
    run = Driver(graph("g", node("A"), node("p"), node("q"), reactions=reactions))
    for reaction in order:
        run.fire(reaction=reaction)
    run.end("A", "cancelled" if once else "done")
    assert run.started == ["A", "p"]


def test_N17_a_reaction_at_the_end_waits_for_the_node_of_its_graph() -> None:
    run = reacting(once=False)
    run.fire()
    run.ends("A/c", "A/d", "back", "B")
    assert run.started == ["A/c", "A/d", "back", "B"] and not run.cancelled


def test_N49_a_reaction_does_not_cut_the_node_that_it_led_to() -> None:
    run = reacting(once=True)
    run.fire()
    run.end("A/c", "cancelled")
    run.fire()  # the sensor is noisy: it was false, and is true again
    assert run.started == ["A/c", "back"] and run.cancelled == ["A/c"]
    run.values = {"person.distance": 0.4}
    run.end("back")
    assert run.started == ["A/c", "back", "back"]  # it still holds
    run.fire()
    run.values = {"person.distance": 0.6}
    run.end("back")
    assert run.started == ["A/c", "back", "back", "B"]  # it has helped


@pytest.mark.parametrize("between", [False, True])
def test_N49_a_reaction_that_does_not_help_ends_the_run(between: bool) -> None:
    """The person stays: the call of `inner` begins and is cut again and again, as its loop wants it."""
    near = GraphReaction(when="person.distance < 0.5", go="back", once=True)
    inner = graph("inner", node("work"), node("back"), reactions=(near,))
    then = "rest" if between else "A"
    run = Driver(graph("g", node("A", then, calls("inner")), node("rest", "A")), inner)
    for count in range(MAX_REACTIONS_IN_A_ROW + 1):
        run.fire("A")
        run.end("A/work", "cancelled")
        if count < MAX_REACTIONS_IN_A_ROW or between:
            assert not run.result and run.started[-1] == "A/back"
            run.ends("A/back", *(["rest"] if between else []))
    if between:  # something else succeeds each time
        assert not run.result and run.started[-1] == "A/work"
    else:
        why = "reaction 'person.distance < 0.5' led to node 'A/back' 100 times, and no other node succeeded in between"
        assert (run.result, run.reason) == ("failed", why)


def test_N18_wait_ask_set_log() -> None:
    ask = Call(
        kind=Kind.ASK, arguments={"text": Given(value="Tea?")}, answers=("yes", "no"),
        results=with_standard({"yes": False, "no": False}),
    )
    wait = Call(kind=Kind.WAIT, arguments={"time": Given(value=1.5, unit="s")})
    then = [Candidate(on=("yes",), go="tea"), Candidate(go="wait")]
    run = Driver(graph("g", node("ask", then, ask), node("tea"), node("wait", "ask", wait)))
    question = run.questions["ask"]
    assert (question.text, question.answers) == ("Tea?", ("yes", "no"))
    refused = run.give(events.Answer(activity=question.activity, answer="maybe")).refused
    assert refused == "expected one of: yes, no; got 'maybe'"
    run.give(events.Answer(activity=question.activity, answer="no"))
    run.give(events.Elapsed(), ticks=15)
    assert run.questions["ask"].activity != question.activity
    assert run.give(events.Answer(activity=question.activity, answer="yes")).refused == "nobody asks this any more"
    run.give(events.Answer(activity=run.questions["ask"].activity, answer="yes"))
    assert run.started == ["tea"]


def test_N18_wait_until_has_its_condition_judged_by_the_loop() -> None:
    call = Call(kind=Kind.WAIT_UNTIL, skill="wait_until", until="door.distance > $far")
    run = Driver(graph("g", node("A", (), call), parameters=(Parameter(name="far", unit="m", default=1.0),)))
    assert run.conditions["A"] == "door.distance > 1.0 m"
    run.end("A")
    assert run.result == "done"


# --- commands -----------------------------------------------------------------------------------


def test_N19_pause_after_the_node_and_on() -> None:
    run = Driver(graph("g", *sequence("A", "B")))
    run.give(events.Pause())
    assert run.standing == ""
    run.end("A")
    assert run.standing == "after A" and run.started == ["A"]
    assert run.give(events.Pause()).refused == "the run stands already"
    run.give(events.Resume())
    assert run.started == ["A", "B"] and run.standing == ""
    assert run.give(events.Resume()).refused == "the run does not stand; pause it first"


def test_N19_pause_now_cancels_and_no_time_passes() -> None:
    outer = graph("g", node("A", "B", calls("inner"), timeout=Given(value=3.0)), node("B"))
    run = Driver(outer, graph("inner", *sequence("c", "d")))
    run.give(events.Pause(now=True))
    assert run.cancelled == ["A/c"] and run.standing == ""
    run.end("A/c", "cancelled")
    assert run.standing == "cut A/c" and run.engine.next_deadline is None
    run.give(events.Resume(), ticks=1000)
    assert run.started == ["A/c", "A/c"] and run.engine.next_deadline == pytest.approx(3.1 + 100.0)


def test_N19_reactions_are_watched_anew_when_it_goes_on() -> None:
    run = reacting(once=True)
    first = run.watched[""].watch
    run.give(events.Pause(now=True))
    assert not run.watched
    run.give(events.Fired(watch=first, reaction=0))  # it was under way
    run.end("A/c", "cancelled")
    run.give(events.Resume())
    assert run.started == ["A/c", "A/c"] and run.watched[""].watch != first


def test_N19_a_reaction_that_was_about_to_be_followed_is_forgotten() -> None:
    run = reacting(once=False)
    run.fire()
    run.give(events.Pause())
    run.end("A/c")
    assert run.standing == "after A/c" and not run.watched
    run.give(events.Resume())
    run.ends("A/d", "B")
    assert run.started == ["A/c", "A/d", "B"]


@pytest.mark.parametrize(
    ("how", "started"), [("", ["A", "A"]), ("again", ["A", "A"]), ("next", ["A", "B"])]
)
def test_N20_after_a_cut(how: str, started: list[str]) -> None:
    run = Driver(graph("g", *sequence("A", "B")))
    run.give(events.Pause(now=True))
    run.end("A", "failed")
    run.give(events.Resume(how=how))
    assert run.started == started


def test_N20_candidates_are_judged_when_it_goes_on() -> None:
    then = [Candidate(when="x > 1", go="B"), Candidate(go="C")]
    run = Driver(graph("g", node("A", then), node("B"), node("C")))
    run.give(events.Pause())
    run.end("A")
    assert run.give(events.Resume(how="agian")).refused == (
        "expected one of the known names; did you mean 'again'; got 'agian'"
    )
    run.values = {"x": 2.0}
    run.give(events.Resume())
    assert run.started == ["A", "B"]


def stepping() -> Driver:
    outer = graph("g", node("A", "B"), node("B", "C", calls("inner")), node("C"))
    return Driver(outer, graph("inner", *sequence("d", "e")), paused=True)


def test_N21_step_over() -> None:
    run = stepping()
    assert run.standing == "before A" and run.started == []
    run.give(events.Step())
    run.end("A")
    assert run.standing == "after A"
    run.give(events.Step())
    assert run.give(events.Step()).refused == "the run does not stand; pause it first"
    run.ends("B/d", "B/e")
    assert run.standing == "after B"


def test_N21_step_into() -> None:
    run = stepping()
    run.give(events.Step(into=True))
    run.end("A")
    run.give(events.Step(into=True))
    assert run.standing == "before B/d"
    run.give(events.Step(into=True))
    run.end("B/d")
    assert run.standing == "after B/d"
    run.give(events.Step())
    run.end("B/e")
    assert run.standing == "after B/e"
    run.give(events.Step())
    assert run.standing == "after B", "the graph has no more nodes"


def test_N22_breakpoints_nested_ones_too() -> None:
    both = branches(Kind.ALL_OF, left=leaf())
    outer = graph("g", node("A", "B", calls("inner")), node("B", "C"), node("C", (), both))
    run = Driver(outer, graph("inner", *sequence("d", "e")))
    refused = run.give(events.SetBreakpoints(before=frozenset({("C", "left")}))).refused
    assert refused == "node 'C/left' is in a parallel branch; expected a node outside of it, such as 'C'"
    assert run.give(events.SetBreakpoints(after=frozenset({("A", "f")}))).refused.startswith("unknown node 'A/f'")
    run.give(events.SetBreakpoints(before=frozenset({("A", "e")}), after=frozenset({("B",)})))
    run.end("A/d")
    assert run.standing == "before A/e"
    run.give(events.Resume())
    run.ends("A/e", "B")
    assert run.standing == "after B"


def test_N23_skip() -> None:
    then = [Candidate(on=("guest",), go="B"), Candidate(go="C")]
    look = leaf(results={"guest": False})
    run = Driver(graph("g", node("A", then, look, retry=3), node("B"), node("C")))
    assert "has no result 'ghost'; expected one of the known names; did you mean 'guest'" in (
        run.give(events.Skip(result="ghost")).refused
    )
    run.give(events.Skip(result="guest"))
    assert run.cancelled == ["A"]
    run.end("A", "cancelled")
    assert run.started == ["A", "B"]


def test_N23_skip_while_it_stands_stays_standing() -> None:
    outer = graph("g", node("A", "B", calls("inner")), node("B"))
    run = Driver(outer, graph("inner", *sequence("c", "d")), paused=True)
    run.give(events.Skip(result="done", node=("A",)))
    assert run.standing == "after A"
    assert run.give(events.Skip(result="done")).refused == "node 'A' has ended; say again, next or a jump"
    run.give(events.Resume())
    assert run.started == ["B"]


def test_N23_skip_an_outer_node() -> None:
    run = Driver(graph("g", node("A", "B", calls("inner")), node("B")), graph("inner", *sequence("c", "d")))
    assert run.give(events.Skip(result="done", node=("B",))).refused.startswith("node 'B' does not run; expected")
    run.give(events.Skip(result="done", node=("A",)))
    assert run.cancelled == ["A/c"]
    run.end("A/c", "cancelled")
    assert run.started == ["A/c", "B"]


def test_N24_jump_now_cancels_first() -> None:
    g = graph("g", node("A", "B", calls("inner")), *sequence("B", "C", "D"))
    run = Driver(g, graph("inner", *sequence("x", "y")))
    run.jump("C", now=True)
    assert run.cancelled == ["A/x"] and run.started == ["A/x"]
    run.end("A/x", "cancelled")
    run.ends("C", "D")
    assert run.started == ["A/x", "C", "D"] and run.result == "done"


def test_N24_a_jump_in_the_outer_graph_waits_for_the_outer_node() -> None:
    g = graph("g", node("A", "B", calls("inner")), *sequence("B", "C", "D"))
    run = Driver(g, graph("inner", *sequence("x", "y")))
    run.jump("D")
    run.ends("A/x", "A/y", "D")
    assert run.started == ["A/x", "A/y", "D"] and run.result == "done"


def test_N24_nested_targets() -> None:
    g = graph("g", node("A", "drinks"), node("drinks", "C", calls("inner")), node("C"))
    inner = graph("inner", *sequence("ask", "open_bottle", "pour"))
    run = Driver(g, inner)
    run.jump("drinks/open_bottle")
    run.ends("A", "drinks/open_bottle", "drinks/pour", "C")
    assert run.started == ["A", "drinks/open_bottle", "drinks/pour", "C"] and run.result == "done"
    run = Driver(g, inner)
    run.ends("A", "drinks/ask")
    run.jump("drinks/ask")
    run.ends("drinks/open_bottle", "drinks/ask", "drinks/open_bottle", "drinks/pour", "C")
    assert run.result == "done"


@pytest.mark.parametrize(
    ("target", "now", "then"),
    [("D", False, ["A", "D", "B"]), ("D", True, ["A", "D", "A"]), ("n/y", False, ["A", "n/y", "B"])],
)
def test_N24_come_back(target: str, now: bool, then: list[str]) -> None:
    g = graph("g", *sequence("A", "B", "C", "D"), node("n", (), calls("inner")))
    run = Driver(g, graph("inner", *sequence("x", "y", "z")))
    run.jump(target, now=now, come_back=True)
    run.end("A", "cancelled" if now else "done")
    run.end(target)
    assert run.started == then


def test_N24_come_back_to_the_end() -> None:
    run = Driver(graph("g", node("A"), *sequence("B", "C")))
    run.jump("B", come_back=True)
    run.ends("A", "B")
    assert run.started == ["A", "B"] and run.result == "done"


def test_N24_a_standing_run_jumps_at_once() -> None:
    g = graph("g", node("A", "B", calls("inner")), *sequence("B", "C", "D"))
    run = Driver(g, graph("inner", *sequence("x", "y")))
    run.give(events.Pause())
    run.end("A/x")
    run.jump("C", come_back=True)
    assert run.started == ["A/x", "C"] and run.standing == ""
    run.end("C")
    assert run.started == ["A/x", "C", "A/x"], "A had not ended"


def test_N25_a_later_jump_takes_over_while_the_node_is_being_left() -> None:
    g = graph("g", node("A", "B", calls("inner")), *sequence("B", "C"))
    run = Driver(g, graph("inner", *sequence("x", "y", "z")))
    run.jump("A/z", now=True)
    run.jump("C")
    assert run.cancelled == ["A/x"]
    run.end("A/x", "cancelled")
    assert run.started == ["A/x", "C"]


def test_N25_a_reaction_comes_before_the_jump_that_waits() -> None:
    run = reacting(once=True)
    run.jump("A")
    run.fire()
    run.end("A/c", "cancelled")
    assert run.started[-1] == "back"
    run.end("back")
    assert run.started[-1] == "A/c"


def test_N26_refused_jumps() -> None:
    both = branches(Kind.ALL_OF, left=calls("inner"))
    serve = node("serve", (), leaf(drink="$seat.wish"))
    g = graph("g", node("A", "seat"), node("seat", "serve", leaf("wish")), serve, node("p", (), both))
    run = Driver(g, graph("inner", *sequence("x", "y")))
    assert run.jump("p/left/x") == "node 'p/left/x' is in a parallel branch; expected a node outside of it, such as 'p'"
    assert run.jump("serv").startswith("unknown node 'serv'; expected one of the known names; did you mean 'serve'")
    assert run.jump("serve") == "the target needs $seat.wish, which has no value"
    run.end("A")
    assert run.jump("serve", now=True) == "the target needs $seat.wish, which has no value"
    assert run.jump("serve") == "", "the present node gives it"


def test_N27_cancel_ends_as_cancelled_once_at_rest() -> None:
    g = graph("g", node("A", [Candidate(on=("any",), go="A")], calls("inner")))
    run = Driver(g, graph("inner", *sequence("x", "y")))
    run.give(events.Cancel(source="Ann"))
    assert run.cancelled == ["A/x"] and not run.result
    assert run.jump("A") == "the run is ending"
    run.end("A/x", "done")
    assert (run.result, run.reason) == ("cancelled", "by Ann")
    assert run.jump("A") == "the run has ended as cancelled"


def test_N27_a_standing_run_is_cancelled_at_once() -> None:
    run = Driver(graph("g", *sequence("A", "B")), paused=True)
    run.give(events.Cancel())
    assert run.result == "cancelled"


def test_N28_protective_stop() -> None:
    run = Driver(graph("g", *sequence("A", "B")))
    run.give(events.Stopped())
    run.end("A", "failed", "PROTECTIVE_STOP")
    assert run.standing == "cut A"
    held = "a protective stop holds the robot; release it first"
    assert run.give(events.Resume(how="again")).refused == held and run.jump("B") == held
    assert run.give(events.Step()).refused == held
    run.give(events.Released())
    assert run.started == ["A"]
    said = "after a protective stop, say how to go on: again, next, a jump, or cancel"
    assert run.give(events.Resume()).refused == said and run.give(events.Step()).refused == said
    run.give(events.Resume(how="again"))
    assert run.started == ["A", "A"]


def test_N28_a_run_can_be_cancelled_during_a_stop() -> None:
    run = Driver(graph("g", *sequence("A", "B")))
    run.give(events.Stopped())
    run.end("A", "failed", "PROTECTIVE_STOP")
    run.give(events.Skip(result="done"))
    assert run.standing == "after A" and run.started == ["A"], "a result moves nothing"
    run.give(events.Cancel())
    assert run.result == "cancelled" and run.started == ["A"]


@pytest.mark.parametrize("first", ["jump", "reaction"])
def test_N28_a_stop_while_a_node_is_being_left(first: str) -> None:
    reaction = GraphReaction(when="x > 1", go="B", once=True)
    run = Driver(graph("g", *sequence("A", "B"), reactions=(reaction,)))
    run.fire() if first == "reaction" else run.jump("B", now=True)
    run.give(events.Stopped())
    run.end("A", "failed")
    assert run.standing and run.started == ["A"]
    run.give(events.Released())
    run.give(events.Resume(how="next"))
    assert run.started == ["A", "B"] if first == "jump" else run.started[-1] in ("A", "B")


def test_N29_start_at_a_node_with_outputs() -> None:
    g = graph("g", *sequence("A"), node("seat", "serve", leaf("wish")), node("serve", (), leaf(drink="$seat.wish")))
    run = Driver(g, at=("serve",), outputs={"seat.wish": "tea"})
    assert run.arguments["serve"] == {"drink": "tea"}
    run = Driver(g, at=("serve",))
    assert run.records("command")[0]["refused"] == "the node to begin with needs $seat.wish, which has no value"
    assert not run.started


def test_N30_records_are_json_and_come_with_their_orders() -> None:
    import json

    run = Driver(
        graph("g", node("A", "B", leaf(x="$p")), node("B"), parameters=(Parameter(name="p", length=2, unit="m"),)),
        arguments=(ParameterValue(name="p", value=(1.0, 2.0), unit="m"),),
    )
    run.jump("B")
    run.ends("A", "B")
    assert [json.loads(json.dumps(line)) for line in run.log] == run.log
    assert run.records("start")[0]["arguments"] == {"x": [1.0, 2.0]}
    assert [line["what"] for line in run.log] == [
        "command", "node", "start", "command", "ended", "jump", "node", "start", "ended", "decided", "end",
    ]  # fmt: skip


def test_N32_the_same_events_give_the_same_records_and_orders() -> None:
    def once() -> Any:
        run = reacting(once=True)
        run.jump("A")
        run.fire()
        run.end("A/c", "cancelled")
        return run.log, run.started

    assert once() == once()


def test_parts_of_a_node() -> None:
    assert Node(id="a", call=leaf(x="$b.c + $d"), timeout=Given(value="$t")).references == {"b.c", "d", "t"}
