"""Ports of trees: what a call leaves out, and models that are written."""

from __future__ import annotations

import pytest

from robot_rt_control.blueprint.exchange.exporter import export_trees
from robot_rt_control.blueprint.exchange.importer import import_trees
from robot_rt_control.blueprint.exchange.xml_reader import read_xml
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.vocabulary.errors import DefinitionError

from .test_exchange import with_imported


def file(call: str, ports: str, more: str = "") -> str:
    return (
        '<root BTCPP_format="4" main_tree_to_execute="Main">\n'
        f'<BehaviorTree ID="Main">\n<Sequence><SubTree ID="Other" {call}/>{more}</Sequence>\n</BehaviorTree>\n'
        '<BehaviorTree ID="Other"><a speed="{pace}" often="{n}" word="{word}" elapsed="{time}"/></BehaviorTree>\n'
        f'<TreeNodesModel><SubTree ID="Other">\n{ports}</SubTree></TreeNodesModel></root>'
    )


PORTS = (
    '<input_port name="pace" default="{speed}"/><input_port name="n" default="3"/>'
    '<input_port name="word" default="a b"/><output_port name="time" default="{took}"/>'
)


def test_N46_ports_that_a_call_leaves_out_are_those_of_the_model(leaves: SkillCatalogue) -> None:
    imported = import_trees(file('n="5"', PORTS, '<b speed="{took}"/>'), leaves)
    with_imported(leaves, imported)
    main, other = imported.skills["Main"].content, imported.skills["Other"].content
    assert {name: value.value for name, value in main.nodes["Other"].with_.items()} == {"pace": "$speed", "n": 5}
    assert main.nodes["b"].with_["speed"].value == "$Other.time"
    defaults = {name: p.default for name, p in other.parameters.items() if p}
    assert defaults == {"pace": None, "n": 3, "word": "a b"}


def test_the_same_name_in_braces_with_an_equals_sign(leaves: SkillCatalogue) -> None:
    main = import_trees(file('pace="{=}" time="{=}" n="1" word=""', ""), leaves).skills["Main"].content
    assert main.nodes["Other"].with_["pace"].value == "$pace"


def test_autoremap_takes_no_defaults(leaves: SkillCatalogue) -> None:
    main = import_trees(file('_autoremap="true" n="1"', PORTS), leaves).skills["Main"].content
    given = {name: value.value for name, value in main.nodes["Other"].with_.items()}
    assert given == {"pace": "$pace", "word": "$word", "n": 1}


@pytest.mark.parametrize(
    "call, ports, expected",
    [
        ("", '<input_port name="pace"/>', 'trees:3: <SubTree ID="Other">; expected the port pace'),
        ("", '<output_port name="time" default="3"/>', "trees:7: port 'time' is an output; expected an entry"),
        ("", '<input_port name="n" default="x"/>', "trees:7: port 'n'; expected a int; got 'x'"),
        ("", '<input_port default="x"/>', "trees:7: <input_port>; expected the attribute name"),
        ("", '<input_port name="n" default="{a b}"/>', "trees:7: entry of the blackboard"),
        ("", '<input_port name="n" default="1"/>' * 2, "trees:7: a second port 'n'"),
    ],
)
def test_models_that_are_refused(leaves: SkillCatalogue, call: str, ports: str, expected: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        import_trees(file(call, ports), leaves)
    assert expected in str(refused.value)


def test_N47_models_of_trees_are_written(leaves: SkillCatalogue) -> None:
    other = SkillTemplate(
        "name: other\nlevel: motion_skill\nparameters:\n  pace: {unit: m/s}\n  n: {type: int, default: 3}\n"
        "  word: {type: text, default: ''}\noutputs: {time: {value: $x.elapsed}}\n"
        "nodes: {x: {skill: a, with: {speed: $pace, often: $n, word: $word}, then: [{on: good, end: done}]}}"
    )
    main = SkillTemplate("name: main\nnodes: {x: {skill: other, with: {pace: 0.5}}}")
    text = export_trees("main", leaves.with_skill(other).with_skill(main))
    (model,) = (each for each in read_xml(text, "x").children[-1].children if each.tag == "SubTree")
    ports = {port.attributes["name"]: (port.tag, port.attributes.get("default")) for port in model.children}
    assert ports == {
        "pace": ("input_port", None), "n": ("input_port", "3"), "word": ("input_port", None),
        "time": ("output_port", "{other__time__unread}"),
    }  # fmt: skip
    assert '<SubTree ID="other" name="x" pace="0.5" word=""/>' in text
    again = import_trees(text, leaves)
    catalogue = with_imported(leaves, again)
    n = again.skills["other"].content.parameters["n"]
    assert n is not None and n.default == 3
    assert export_trees("main", catalogue).count("n=") == text.count("n=")
