"""The runner between engine, log and performer."""

from __future__ import annotations

from blueprint_driver import graph, leaf, node, plan, sequence

from robot_rt_control.blueprint.graph import events, orders
from robot_rt_control.blueprint.graph.events import EngineEvent, Moment
from robot_rt_control.blueprint.graph.plan import Call, Candidate, Given, GraphReaction, Kind
from robot_rt_control.blueprint.graph.results import with_standard
from robot_rt_control.blueprint.runs.runner import Runner
from robot_rt_control.vocabulary.errors import SessionError


class Hand:
    """A performer whose skills end when the test says so. Writes down what it does, and what the log gets."""

    def __init__(self, refuses: str = "") -> None:
        self.done: list[str] = []
        self.events: list[EngineEvent] = []
        self.time, self.refuses, self.disk_is_full = 0.0, refuses, False

    def moment(self) -> Moment:
        return Moment(tick=round(self.time * 1000), time=self.time)

    def happened(self) -> list[EngineEvent]:
        found, self.events = self.events, []
        return found

    def start(self, order: orders.StartSkill) -> None:
        if order.path[-1] == self.refuses:
            raise SessionError("part 'arm' is held by session 's7'")
        self.done.append(f"start {order.activity}")

    def cancel(self, activity: int) -> None:
        self.done.append(f"cancel {activity}")

    def answer(self, activity: int, answer: str) -> None:
        pass

    def watch(self, order: orders.Watch) -> None:
        if self.refuses == "watch":
            raise SessionError("too many sessions")
        self.done.append("watch")

    def unwatch(self, watch: int) -> None:
        self.done.append("unwatch")

    def write(self, record: orders.Record) -> None:
        if self.disk_is_full:
            raise OSError("no space left")
        self.done.append(f"log {record['what']}")

    def ends(self, activity: int) -> None:
        self.events.append(events.Ended(activity=activity, result="done"))


def test_N30_each_record_is_written_before_the_thing_is_done() -> None:
    hand = Hand()
    run = Runner(plan(graph("g", *sequence("a", "b"))), hand, hand)
    run.give(events.Begin())
    hand.ends(1)
    assert run.update() is None
    hand.ends(2)
    outcome = run.update()
    assert outcome is not None and outcome.result == "done"
    assert hand.done == [
        "log command", "log node", "log start", "start 1",
        "log ended", "log decided", "log node", "log start", "start 2",
        "log ended", "log decided", "log end",
    ]  # fmt: skip


def test_a_skill_that_cannot_be_started_is_a_failed_node_with_the_reason() -> None:
    hand = Hand(refuses="a")
    run = Runner(plan(graph("g", node("a", [Candidate(on=("failure",), go="b")]), node("b"))), hand, hand)
    run.give(events.Begin())
    run.update()
    assert hand.done[-1] == "start 2"
    hand = Hand(refuses="a")
    run = Runner(plan(graph("g", node("a"))), hand, hand)
    run.give(events.Begin())
    assert run.give(events.Cancel()) == ""
    outcome = run.update()
    assert outcome is not None and outcome.result == "cancelled" and "cancel 1" not in hand.done


def test_a_run_whose_reactions_cannot_be_watched_ends() -> None:
    hand = Hand(refuses="watch")
    reaction = GraphReaction(when="x > 1", go="a", once=True)
    run = Runner(plan(graph("g", node("a"), reactions=(reaction,))), hand, hand)
    run.give(events.Begin())
    run.update()
    hand.ends(2)
    outcome = run.update()
    assert outcome is not None and outcome.reason == "by reactions cannot be watched: too many sessions"


def test_a_run_whose_log_cannot_be_written_stands_after_the_node() -> None:
    hand = Hand()
    run = Runner(plan(graph("g", *sequence("a", "b"))), hand, hand)
    run.give(events.Begin())
    hand.disk_is_full = True
    run.give(events.Jump(target=("b",)))
    run.update()
    hand.ends(1)
    run.update()
    assert run.engine.control.standing is not None and run.log_problem == "the log cannot be written: no space left"
    run.give(events.Resume())  # a person has seen it
    assert hand.done[-1] == "start 2"


def test_time_and_questions() -> None:
    hand = Hand()
    wait = Call(kind=Kind.WAIT, arguments={"time": Given(value=0.5)})
    answers = with_standard({"yes": False})
    ask = Call(kind=Kind.ASK, arguments={"text": Given(value="?")}, answers=("yes",), results=answers)
    g = graph("g", node("a", "b", wait), node("b", "c", ask, timeout=Given(value=1.0)), node("c", (), leaf()))
    run = Runner(plan(g), hand, hand)
    run.give(events.Begin())
    hand.time = 0.4
    run.update()
    assert not run.questions
    hand.time = 0.5
    run.update()
    assert [q.text for q in run.questions.values()] == ["?"]
    hand.time = 1.5
    outcome = run.update()
    assert not run.questions and outcome is not None
    assert outcome.reason == "node 'b' ended as timeout: it took longer than its timeout"
