"""Values of state variables in texts, parameters, conditions and outputs: as checked, and as a node gets them."""

from __future__ import annotations

from typing import Any

import pytest
from blueprint_driver import Driver

from robot_rt_control.blueprint.engine.foresight import foresee
from robot_rt_control.blueprint.exchange.exporter import export_trees
from robot_rt_control.blueprint.graph import events
from robot_rt_control.blueprint.graph.events import Moment
from robot_rt_control.blueprint.graph.scope import Scope
from robot_rt_control.blueprint.text.calls import Calls
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.validation.catalogue import Catalogue
from robot_rt_control.vocabulary.errors import DefinitionError

KEEP = """
name: keep
roles: {hand: {kinds: [arm], default: arm}}
values: {d: {unit: m, default: 0.0}, words: {type: text, default: none}, still: {type: bool, default: false}}
outputs: {height: {unit: m, value: arm.tool.z}}
nodes:
  look: {set: {d: hand.tool.z, words: 'at ${hand.tool.z} m', still: '${arm.at_rest}'}, then: tell}
  tell: {say: 'at ${d}, now ${arm.tool.z}, ${arm.position[1]}', then: down}
  down: {skill: move_linear, parts: {arm: hand}, with: {offset: [0, 0, arm.tool.z]},
         then: [{when: 'arm.tool.z < ${d} - 0.1', go: far}]}
  far: {wait: 1.0 * $arm.tool.z, then: last}
  last: {wait_until: 'arm.tool.z > $arm.tool.z + 0.1'}
"""


def plan(text: str, bench: SkillCatalogue) -> Any:
    template = SkillTemplate(text)
    assert [line for line in check_skill(template, bench) if "not used" not in line] == []
    return Calls(bench.with_skill(template)).plan("keep")


def run(text: str, bench: SkillCatalogue, values: dict[str, Any]) -> Driver:
    return Driver(*plan(text, bench).graphs.values(), values=values, parts={"hand": "arm"})


VALUES = {"arm.tool.z": 0.75, "arm.at_rest": 1.0, "arm.position": [0.5, -0.25, 0, 0, 0, 0, 0]}


def test_N55_a_state_variable_is_stored_said_passed_on_and_compared(bench: SkillCatalogue) -> None:
    driver = run(KEEP, bench, dict(VALUES))
    assert driver.records("set")[0]["values"] == {"d": 0.75, "words": "at 0.75 m", "still": True}
    assert driver.arguments["tell"] == {"text": "at 0.75, now 0.75, -0.25"}
    driver.values = {**VALUES, "arm.tool.z": 0.7}
    driver.end("tell")
    assert driver.arguments["down"]["offset"] == (0, 0, 0.7)
    driver.values = {**VALUES, "arm.tool.z": 0.5}
    driver.end("down")
    assert driver.records("decided")[-1]["go"] == "far" and driver.engine.next_deadline == pytest.approx(
        driver.engine.moment.time + 0.5
    )
    driver.values = {**VALUES, "arm.tool.z": 0.25}
    driver.give(events.Elapsed(), ticks=100)
    assert driver.conditions["last"] == "arm.tool.z > 0.35"
    driver.end("last")
    assert driver.result == "done" and driver.records("end")[0]["outputs"] == {"height": 0.25}


@pytest.mark.parametrize("values", [{}, {"arm.tool.z": float("nan")}])
def test_N55_an_unknown_value_fails_the_node_and_is_never_a_zero(bench: SkillCatalogue, values: dict[str, Any]) -> None:
    driver = run(KEEP, bench, values)
    (end,) = driver.records("end")
    assert end["result"] == "failed" and "known value of this state variable; got unknown" in end["reason"]
    assert "$hand.tool.z" in end["reason"] or "$arm.at_rest" in end["reason"]
    assert driver.records("set") == [] and end["outputs"] == {}


@pytest.mark.parametrize("values", [{}, VALUES])
def test_N55_a_rehearsal_has_samples_of_the_type_and_length_of_what_they_stand_for(
    bench: SkillCatalogue, values: dict[str, Any]
) -> None:
    text = """
name: keep
values: {joint: {default: 0.0}, still: {type: bool, default: false}}
nodes:
  look: {set: {joint: '$arm.position[6]', still: $arm.at_rest}, then: tell}
  tell: {say: '${joint}, ${still}, ${arm.position}'}
"""
    graph = plan(text, bench).graphs["keep"]
    scope = Scope(graph, (), {}, lambda: Moment(tick=1, time=0.0, values=values, pretended=True))
    found = scope.set(graph.nodes["look"].call.arguments)
    assert found == ({"joint": 0.0, "still": True} if values else {"joint": 1.5, "still": True})
    (words,) = scope.arguments(graph.nodes["tell"].call)
    assert str(words.value).count("1.5") == (0 if values else 8), "seven joints, and what was kept of one"


def test_N55_what_a_state_variable_will_be_is_not_foreseen(bench: SkillCatalogue) -> None:
    driver = run(KEEP, bench, dict(VALUES))
    assert foresee(driver.engine, 3) == [], "what comes needs the value of that moment"
    fixed = run(KEEP.replace("[0, 0, arm.tool.z]", "[0, 0, 0.1]"), bench, dict(VALUES))
    assert [each.skill for each in foresee(fixed.engine, 3)] == ["move_linear"]


@pytest.mark.parametrize(
    ("old", "new", "mistake"),
    [
        ("d: hand.tool.z", "d: hand.tool.zz", "7: .*(wrong type|unknown)"),
        ("d: hand.tool.z", "d: $hand.tool.zz", "7: .*unknown \\$hand.tool.zz; expected .*did you mean"),
        ("'at ${hand.tool.z} m'", "'at ${arm.tool.y2} m'", "7: .*unknown \\$arm.tool.y2"),
        ("d: hand.tool.z", "d: arm.joint_1.velocity", "7: .*unit"),
        ("d: hand.tool.z", "d: arm.at_rest", "7: .*expected float; got \\$arm.at_rest, a bool"),
        ("d: hand.tool.z", "d: arm.position", "7: .*expected float; got \\$arm.position, 7 of type float"),
        ("d: hand.tool.z", "d: 'arm.position[9]'", "7: .*an element of \\$arm.position"),
        ("'${arm.at_rest}'", "'${arm.tool.z}'", "7: .*expected bool; got \\$arm.tool.z, a float"),
        ("name: keep", "name: keep\nreactions: [{when: arm.tool.z > $arm.tool.z, go: tell}]", "z without the dollar"),
        ("name: keep", "name: keep\ncommands: [{when: arm.tool.z > $arm.tool.z}]", "has no value before the start"),
        ("${d} - 0.1'", "${arm.tool.zz} - 0.1'", "10: .*unknown \\$arm.tool.zz"),
    ],
)
def test_N55_mistakes_with_their_lines(bench: SkillCatalogue, old: str, new: str, mistake: str) -> None:
    assert old in KEEP
    with pytest.raises(DefinitionError, match=mistake):
        check_skill(SkillTemplate(KEEP.replace(old, new)), bench)


def test_N55_without_a_workcell_names_of_parts_are_not_checked() -> None:
    nodes = "{n: {set: {d: below.distance}, then: m}, m: {say: '${below.x}'}}"
    text = f"{{name: a, values: {{d: {{default: 0.0}}}}, nodes: {nodes}}}"
    nowhere = SkillCatalogue(Catalogue(), {}, {})
    assert check_skill(SkillTemplate(text), nowhere) == []
    with pytest.raises(DefinitionError, match="unknown parameter \\$n.x"):
        check_skill(SkillTemplate(text.replace("below.x", "n.x")), nowhere)


def test_N55_a_behavior_tree_has_no_place_for_the_value_of_a_state_variable(bench: SkillCatalogue) -> None:
    template = SkillTemplate("{name: tell, nodes: {a: {say: 'at ${arm.tool.z}'}}}")
    with pytest.raises(DefinitionError, match="\\$arm.tool.z, the value of a state variable; expected none"):
        export_trees("tell", bench.with_skill(template))
