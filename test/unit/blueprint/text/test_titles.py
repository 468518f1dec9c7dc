"""Names for people: read, checked, carried through the engine, the log, pictures and behavior trees."""

from __future__ import annotations

import pytest

from robot_rt_control.blueprint.engine.engine import Engine
from robot_rt_control.blueprint.exchange.elements import identifier
from robot_rt_control.blueprint.exchange.exporter import export_trees
from robot_rt_control.blueprint.exchange.importer import import_trees
from robot_rt_control.blueprint.graph import events, orders
from robot_rt_control.blueprint.graph.events import Moment
from robot_rt_control.blueprint.text.calls import Calls
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.diagram import blueprint_diagram
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.command_line.blueprints.records import shown_record
from robot_rt_control.validation.catalogue import Catalogue
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError

ASKING = """name: pick
title: Würfel holen
nodes:
  node_1: {title: 拾取, log: here, retry: 2, then: help}
  help:
    title: Try again?
    ask: {text: Again?, answers: [try_again, leave], titles: {try_again: try again, leave: Lass es}}
    then: [{on: try_again, go: node_1}, {on: leave, end: done}]
"""


def catalogue(*texts: str) -> SkillCatalogue:
    found = SkillCatalogue(Catalogue(), {}, {})
    for text in texts:
        found = found.with_skill(SkillTemplate(text))
    return found


def mistakes(text: str) -> str:
    with pytest.raises((ProgramError, DefinitionError)) as caught:
        check_skill(SkillTemplate(text), catalogue(text))
    return "\n".join(str(each) for each in getattr(caught.value, "mistakes", (caught.value,)))


def test_N56_titles_are_read_and_wrong_ones_are_mistakes() -> None:
    template = SkillTemplate(ASKING)
    check_skill(template, catalogue(ASKING))
    assert template.title == "Würfel holen"
    for wrong in ("''", "' x'", "[a]", "1", '"a\\nb"', '"a\\u202eb"', "x" * 101):
        assert "a name for people" in mistakes(ASKING.replace("拾取", wrong))
        assert "a name for people" in mistakes(ASKING.replace("Lass es", wrong))
    assert "ask: titles" in mistakes(ASKING.replace("leave: Lass es", "leav: Lass es"))


@pytest.mark.parametrize("titles", ["try_again: leave", "try_again: leave, leave: try_again", "try_again: x, leave: x"])
def test_N56_a_title_that_means_another_answer_as_well_is_a_mistake(titles: str) -> None:
    """An answer is taken by its identifier or its title: a person would press one, and another one be taken."""
    found = mistakes(ASKING.replace("try_again: try again, leave: Lass es", titles))
    assert "the title of answer 'try_again'; expected one that answer 'leave' has neither" in found
    assert "skill:7:" in found


def test_N56_a_title_may_be_the_answers_own_identifier() -> None:
    text = ASKING.replace("leave: Lass es", "leave: leave")
    check_skill(SkillTemplate(text), catalogue(text))


def test_N56_the_log_has_titles_and_an_answer_is_taken_by_its_title() -> None:
    engine = Engine(Calls(catalogue(ASKING)).plan("pick"))
    assert engine.plan.graphs["pick"].title == "Würfel holen"
    records: list[orders.Record] = []
    questions: list[orders.Question] = []

    def take(tick: int, event: events.EngineEvent) -> str:
        taken = engine.take(event, Moment(tick=tick, time=float(tick)))
        records.extend(taken.records)
        questions.extend(each for each in taken.orders if isinstance(each, orders.Question))
        return taken.refused

    take(1, events.Begin())
    (question,) = questions
    assert question.titles == {"try_again": "try again", "leave": "Lass es"}
    assert "expected one of: try_again, leave" in take(2, events.Answer(activity=question.activity, answer="Again"))
    take(3, events.Answer(activity=question.activity, answer="try again"))
    take(4, events.Answer(activity=questions[-1].activity, answer="leave"))
    assert engine.outcome is not None and engine.outcome.result == "done"
    nodes = [(r["path"], r.get("title")) for r in records if r["what"] == "node"]
    assert nodes == [("node_1", "拾取"), ("help", "Try again?")] * 2
    results = [r["result"] for r in records if r["what"] == "ended" and r["path"] == "help"]
    assert results == ["try_again", "leave"]
    shown = "\n".join(shown_record(record) for record in records)
    assert "node_1 “拾取”" in shown and "asks: Again? (try again / Lass es)" in shown


def test_N56_pictures_show_titles() -> None:
    diagram = blueprint_diagram(SkillTemplate(ASKING))
    shown = {line.text for state in diagram.states for line in state.lines}
    shown |= {line.text for switch in diagram.switches for line in switch.label}
    assert diagram.title == "Würfel holen"
    assert {"拾取", "Try again?", "try again", "Lass es", "try again / Lass es"} <= shown and "node_1" not in shown


def test_N56_behavior_trees_have_titles_as_names() -> None:
    text = "name: go\nnodes:\n  node_1: {title: 拾取, log: one, then: b}\n  b: {title: 'Zurück!', log: two}\n"
    xml = export_trees("go", catalogue(text))
    assert 'name="拾取"' in xml and 'name="Zurück!"' in xml
    imported = import_trees(xml, catalogue())
    nodes = imported.skills[imported.main].content.nodes
    assert {id: node.title for id, node in nodes.items()} == {"node": "拾取", "Zurueck_": "Zurück!"}


@pytest.mark.parametrize(
    ("text", "name"),
    [("greet", "greet"), ("try again", "try_again"), ("Prüfen", "Pruefen"), ("café", "cafe"), ("拾取", "node"),
     ("1 mal", "n_1_mal"), ("größer", "groesser")],
)  # fmt: skip
def test_N56_identifiers_of_names(text: str, name: str) -> None:
    assert identifier(text) == name
