"""Rehearsing a run without a robot."""

from __future__ import annotations

import pytest

from robot_rt_control.blueprint.graph import events, orders
from robot_rt_control.blueprint.graph.events import Moment
from robot_rt_control.blueprint.graph.results import Results
from robot_rt_control.blueprint.runs.rehearsal import Ending, Rehearsal, first_success
from robot_rt_control.blueprint.runs.runner import Runner
from robot_rt_control.blueprint.text.calls import Calls
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.vocabulary.errors import DefinitionError

TEXT = """
name: tour
nodes:
  touch: {skill: move_until_contact, with: {way: [0, 0, -0.1]}, then: [{on: contact, go: show}, {on: failure, go: lost}]}
  show: {log: $touch.watch.push, then: rest}
  rest: {wait: 100}
  lost: {log: lost, then: [{end: failed}]}
  flee: {say: help, then: rest}
reactions: [{when: arm.tool.z < 0.1, go: flee}]
"""  # noqa: E501


class Rehearsed:
    def __init__(self, bench: SkillCatalogue, text: str = TEXT, **options: object) -> None:
        template = SkillTemplate(text)
        check_skill(template, bench)
        self.catalogue = bench.with_skill(template)
        self.moment = Moment(tick=0, time=0.0)
        self.records: list[orders.Record] = []
        self.performer = Rehearsal(self.catalogue, lambda: self.moment, **options)  # type: ignore[arg-type]
        self.runner = Runner(Calls(self.catalogue).plan("tour"), self.performer, self)
        assert self.runner.give(events.Begin()) == ""

    def write(self, record: orders.Record) -> None:
        self.records.append(record)

    def pass_(self, seconds: float) -> str:
        self.moment = Moment(tick=self.moment.tick + 1, time=self.moment.time + seconds)
        outcome = self.runner.update()
        return "" if outcome is None else outcome.result

    def run(self) -> str:
        return next(filter(None, (self.pass_(60.0) for _ in range(20))))

    @property
    def ends(self) -> list[tuple[str, str]]:
        return [(record["path"], record["result"]) for record in self.records if record["what"] == "ended"]


def test_N45_first_declared_success(bench: SkillCatalogue) -> None:
    run = Rehearsed(bench)
    assert run.run() == "done"
    assert run.ends == [("touch", "contact"), ("show", "done"), ("rest", "done")]
    assert [record["text"] for record in run.records if record["what"] == "log"] == [1.5], "a sample"


def test_N45_a_person_chooses(bench: SkillCatalogue) -> None:
    chosen: list[Ending | None] = [None, Ending(result="not_found")]

    def choose(order: orders.StartSkill, results: Results) -> Ending | None:
        return chosen.pop(0) if order.skill == "move_until_contact" else first_success(order, results)

    run = Rehearsed(bench, choose=choose)
    assert run.pass_(1.0) == "" and [order.path for order in run.performer.under_way] == [("touch",)]
    assert run.run() == "failed"
    assert run.ends == [("touch", "not_found"), ("lost", "done")]


def test_skills_take_time_and_can_be_skipped(bench: SkillCatalogue) -> None:
    run = Rehearsed(bench, seconds=5.0)
    run.pass_(4.0)
    assert run.performer.next_end == 5.0 and not run.ends
    assert run.runner.give(events.Skip(result="failed")) == ""
    assert run.run() == "failed" and run.ends[0] == ("touch", "failed")


def test_a_reaction_fires_when_a_person_says_so(bench: SkillCatalogue) -> None:
    run = Rehearsed(bench)
    (watch,) = run.performer.watched.values()
    assert watch.conditions == ("arm.tool.z < 0.1",)
    run.performer.fire(watch.watch, 0)
    assert run.run() == "done"
    assert [path for path, _ in run.ends] == ["touch", "flee", "rest"]


def test_an_unknown_result_is_refused(bench: SkillCatalogue) -> None:
    run = Rehearsed(bench, choose=lambda order, results: Ending(result="contct"))
    with pytest.raises(DefinitionError, match="no result 'contct'.*contact"):
        run.pass_(1.0)


def test_a_question_is_gone_when_it_is_answered(bench: SkillCatalogue) -> None:
    asks = "ask: {ask: {text: Go?}, then: [{on: 'yes', go: rest}]}"
    run = Rehearsed(bench, f"name: tour\nnodes: {{{asks}, rest: {{wait: 1}}}}")
    (question,) = run.runner.questions.values()
    assert run.runner.give(events.Answer(activity=question.activity, answer="maybe")) and run.runner.questions
    assert run.runner.give(events.Answer(activity=question.activity, answer="yes")) == ""
    assert not run.runner.questions and run.run() == "done"
