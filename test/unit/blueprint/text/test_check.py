"""Skills' texts: read, checked as a whole, expanded, and made plans of."""

from __future__ import annotations

from typing import Any

import pytest
from blueprint_driver import Driver

from robot_rt_control.blueprint.graph.results import STANDARD
from robot_rt_control.blueprint.text.calls import Calls
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.levels import LEVELS, may_call
from robot_rt_control.blueprint.text.phrases import phrase_key
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.drawing.diagram import moved_places
from robot_rt_control.vocabulary.capacities import MAX_CALL_DEPTH, MAX_NODES
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError

TOUCH = """
name: touch_twice
level: behavior_skill
scenarios: [wiping]
roles: {hand: {kinds: [arm]}}
parameters: {force: {unit: N, default: 5.0, maximum: 20.0}}
results: {nothing: {failure: true}}
outputs: {push: {unit: N, value: $second.watch.push}}
start: first
nodes:
  first:
    skill: move_until_contact
    parts: {arm: hand}
    with: {force: $force, way: [0, 0, -0.1]}
    then:
      - {on: contact, when: first.count < 3 and $first.watch.push > 1 N and hand.tool.z > 0, go: second}
      - {on: [not_found, failed], end: nothing}
  second:
    skill: move_until_contact
    parts: {arm: hand}
    with: {force: 2 * $first.watch.push}
    retry: 1
    timeout: 30
    then: [{on: contact, end: done}, {on: failure, end: nothing}]
view: {first: [10, 20]}
"""


PUSH: dict[str, Any] = {"watch.push": 6.0}


def mistakes(text: str, catalogue: SkillCatalogue, *, strict: bool = False) -> list[str]:
    """Line and text of each, without the source."""
    with pytest.raises(DefinitionError) as error:
        check_skill(SkillTemplate(text), catalogue, strict=strict)
    return [line.removeprefix("skill:") for line in str(error.value).splitlines() if line.startswith("skill:")]


def nodes(text: str, top: str = "") -> str:
    """A skill of these nodes; they are on line 3 and after."""
    return f"name: mine\nnodes:\n{text}\n{top}"


def test_N1_a_skill_is_read_checked_and_run(bench: SkillCatalogue) -> None:
    template = SkillTemplate(TOUCH)
    assert check_skill(template, bench) == []
    catalogue = bench.with_skill(template)
    skill = catalogue.find("touch_twice")
    assert skill.results["nothing"] and not skill.results["done"] and skill.outputs["push"].unit == "N"
    plan = Calls(catalogue).plan("touch_twice")
    run = Driver(*plan.graphs.values(), parts={"hand": "arm"})
    assert run.arguments["first"] == {"force": 5.0, "way": (0, 0, -0.1)}
    run.values = {"arm.tool.z": 0.3}
    run.end("first", "contact", **PUSH)
    assert run.arguments["second"] == {"force": 12.0}
    run.end("second", "contact", **PUSH)
    assert run.result == "done" and run.engine.outcome is not None
    assert run.engine.outcome.outputs == {"push": 6.0}


def test_N1_aliases_are_refused() -> None:
    with pytest.raises(DefinitionError, match=r"skill:2: alias \*a; expected the item itself; got an alias"):
        SkillTemplate("nodes: {x: &a {wait: 1},\n  y: *a}")


def test_N2_levels() -> None:
    assert [may_call("meta_skill", level) for level in LEVELS] == [True, False, False, False, False]
    assert [may_call("blueprint", level) for level in LEVELS] == [True] * 5
    assert [may_call("behavior_skill", level, strict=True) for level in LEVELS] == [False, False, True, False, False]


def test_N2_levels_upside_down(bench: SkillCatalogue) -> None:
    text = nodes("  a: {skill: move_until_contact}", "level: meta_skill")
    assert mistakes(text, bench) == [
        "3: node 'a': a meta_skill calls 'move_until_contact', a meta_skill; expected a skill of level capability"
    ]
    text = nodes("  a: {skill: stop, parts: {part: arm}}", "level: motion_skill")
    assert check_skill(SkillTemplate(text), bench) == []
    assert mistakes(text, bench, strict=True) == [
        "3: node 'a': a motion_skill calls 'stop', a capability; expected a skill of level meta_skill"
    ]


def test_N8_too_many_nodes_and_too_long_a_text(bench: SkillCatalogue) -> None:
    text = "name: mine\nnodes:\n" + "".join(f"  n{i}: {{wait: 1}}\n" for i in range(MAX_NODES + 1))
    assert "too many nodes; expected at most 1000 (MAX_NODES); got 1001" in " ".join(mistakes(text, bench))
    with pytest.raises(CapacityError, match="text"):
        SkillTemplate("name: mine\n" + "# " * 2**19)


def test_N2_calls_in_a_circle_and_too_deep(bench: SkillCatalogue) -> None:
    b = SkillTemplate("name: b\nnodes: {x: {skill: mine}}")
    assert mistakes(nodes("  a: {skill: b}"), bench.with_skill(b)) == [
        "3: skill 'mine' calls itself: mine → b → mine; expected calls without a loop"
    ]
    catalogue = bench
    for i in range(MAX_CALL_DEPTH):
        catalogue = catalogue.with_skill(SkillTemplate(f"name: s{i}\nnodes: {{x: {{skill: s{i + 1}}}}}"))
    last = f"name: s{MAX_CALL_DEPTH}\nnodes: {{x: {{wait: 1}}}}"
    (found,) = mistakes(nodes("  a: {skill: s0}"), catalogue.with_skill(SkillTemplate(last)))
    assert found.startswith("3: skills call each other too deeply; expected at most 16 levels of calls")


def test_N2_skills_that_are_each_other(bench: SkillCatalogue) -> None:
    other = SkillTemplate("name: other\nis: {skill: mine}")
    assert mistakes("name: mine\nis: {skill: other}", bench.with_skill(other)) == [
        "2: skill 'mine' calls itself: mine → other → mine; expected calls without a loop"
    ]


def test_many_levels_of_many_calls_take_no_time(bench: SkillCatalogue) -> None:
    calls = "\n".join(f"  n{i}: {{skill: %s, then: n{i + 1}}}" for i in range(20))
    catalogue = bench.with_skill(SkillTemplate("name: s0\nnodes: {a: {skill: move_until_contact}}"))
    for level in range(1, 12):
        text = f"name: s{level}\nnodes:\n{calls % ((f's{level - 1}',) * 20)}\n  n20: {{wait: 1}}"
        template = SkillTemplate(text)
        check_skill(template, catalogue)
        catalogue = catalogue.with_skill(template)
    assert Calls(catalogue).moved_parts("s11") == {"arm", "wrist"}
    with pytest.raises(CapacityError, match="skill 's11' calls too much to be shown as a whole"):
        Calls(catalogue).expand("s11")


def test_N3_programs_and_action_types_are_skills(bench: SkillCatalogue) -> None:
    assert bench.find("move_to_edge").level == "meta_skill" and bench.find("move_linear").level == "capability"
    touch = bench.find("move_until_contact")
    assert dict(touch.results) == {
        "contact": False, "not_found": True, "failed": True, "done": False, "timeout": True, "cancelled": True,
    }  # fmt: skip
    assert touch.outputs["watch.push"].unit == "N" and touch.outputs["arm.tool.x"].unit == "m"
    assert touch.given["contact"] == {"watch.push", "watch.peak", "arm.tool.x", "arm.tool.y", "arm.tool.z"}
    assert touch.moves == {"arm", "wrist"}
    assert bench.find("move_linear").results == STANDARD and bench.find("move_linear").moves == {"arm"}
    not_called = set(bench.workcell.types or ()) - set(bench.names)
    assert {"motion_group", "velocity", "force"} <= not_called
    assert "unknown skill 'motion_group'" in mistakes(nodes("  a: {skill: motion_group}"), bench)[0]


def test_N5_every_skill_has_the_four_results(bench: SkillCatalogue) -> None:
    catalogue = bench.with_skill(SkillTemplate(TOUCH))
    for skill in catalogue.all():
        standard = {name: skill.results.get(name) for name in ("done", "failed", "timeout", "cancelled")}
        assert standard == {"done": False, "failed": True, "timeout": True, "cancelled": True}, skill.name
    for call in ("wait: 1", "say: x", "ask: {text: Go?}", "all_of: {b: {wait: 1}}", "first_of: {b: {wait: 1}}"):
        for result in STANDARD:
            check_skill(SkillTemplate(nodes(f"  a: {{{call}, then: [{{on: {result}, end: {result}}}]}}")), bench)


def test_N6_all_mistakes_at_once(bench: SkillCatalogue) -> None:
    text = nodes("""\
  a: {skill: move_until_contac, then: b}
  b: {parts: {arm: wrist, leg: arm}, skill: move_until_contact, with: {forse: 1, force: {value: 5, unit: m}, way: $x}}
  c: {wait: -1, then: [{on: contact, go: d}, {on: done}, {end: nothing}]}
  d: {wait: 1, say: x}
  arm: {wait: 1}
  e: {set: {n: 1}, then: x}
  f: {skill: hold}
  g: {retry: -1, wait: 1}
""")
    assert mistakes(text, bench) == [
        "3: unknown skill 'move_until_contac'; expected one of the known names; did you mean 'move_until_contact' or "
        "'move_to_corner'",
        "4: node 'b': skill 'move_until_contact' has no parameter 'forse'; expected one of the known names; did you "
        "mean 'force'",
        "4: node 'b': parameter 'force': wrong unit; expected 'N'; got 'm'. Units are not converted: give the value in "
        "the declared unit",
        "4: node 'b': parameter 'way': unknown parameter $x; expected one of: b.arm.tool.x, b.arm.tool.y, "
        "b.arm.tool.z, b.watch.elapsed, b.watch.peak, b.watch.push; got $x",
        "4: node 'b': skill 'move_until_contact' has no role 'leg'; expected one of: arm, wrist",
        "4: node 'b': part 'wrist' does not fit role 'arm' of 'move_until_contact'; expected a part of kind arm; got "
        "force_torque_sensor",
        "5: node 'c': wait: parameter 'time': out of range; expected at least 0 s; got -1",
        "6: node 'd': what it does; expected one of: skill, wait, wait_until, say, ask, log, set, all_of, first_of; "
        "got wait, say",
        "7: node 'arm' has the name of a part, role, parameter or value; expected another id, to keep conditions and "
        "references unambiguous",
        "8: node 'e': unknown value 'n'; expected a known value, but there is none",
        "8: node 'e': unknown node; expected one of: a, arm, b, c, d, e, f; got 'x'",
        "9: node 'f': no part for role 'part' of 'hold'; expected parts: {part: <arm or gripper or base>}",
        "9: node 'f': 'hold' never ends by itself; expected `until`: a condition",
        "10: nodes.g.retry; expected a number of times, 0 to 1000000; got -1",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  a: {wait: 1}\n  b: {wait: 1}", "4: node 'b' cannot be reached"),
        ("  a: {log: x, then: b}\n  b: {log: x, then: a}", "3: nothing in this loop takes time: a → b"),
        ("  a: {wait: 1, then: [{when: arm.tool.w > 1, go: a}]}", "3: node 'a': when, column 1: there is no such"),
        ("  a: {wait: 1, then: [{when: arm.tool.x > 1 N, go: a}]}", "3: node 'a': when, column 14: units do not agree"),
        ("  a: {wait: 1, then: [{when: b.count > 1, go: a}]}", "3: node 'a': when, column 1: there is no such"),
        (
            "  a: {skill: move_until_contact, then: b}\n  b: {say: $a.watch.push, then: [{on: any, go: c}]}\n"
            "  c: {say: $a.watch.push}",
            "4: node 'b': say: parameter 'text': wrong type",
        ),
        (
            "  a: {skill: move_until_contact, then: [{on: any, go: b}]}\n"
            "  b: {skill: move_until_contact, with: {force: $a.watch.push}}",
            "4: node 'b': $a.watch.push may have no value yet",
        ),
        (  # b gives it to d only if it succeeded, whatever a gave
            "  a: {skill: move_until_contact, then: [{on: contact, go: b}]}\n"
            "  b: {skill: move_until_contact, then: [{on: any, go: d}]}\n  d: {log: $b.watch.push}",
            "5: node 'd': $b.watch.push may have no value yet",
        ),
        (
            "  a: {all_of: {l: {skill: move_until_contact}, r: {skill: move_to_corner}}}",
            "3: node 'a': branches 'l' and 'r' both move 'arm'",
        ),
        ("  a: {skill: watch_tool, parts: {sensor: wrist, arm: arm}}", "3: node 'a': 'watch_tool' never ends"),
        (
            "  a: {skill: move_linear, parts: {arm: arm}, until: is_setled}",
            "3: node 'a': until, column 1: there is no such state variable; expected one of the known names; did you "
            "mean 'is_settled'",
        ),
        (
            "  a:\n    ask: {text: Go?,\n      answers: [ok, done]}",
            "5: node 'a': ask: answers; expected names that have no meaning of their own; got 'done'",
        ),
        ("  a: {ask: {text: Go?, answers: [failure]}}", "3: node 'a': ask: answers; expected names that have no"),
        ("  a: {ask: {text: Go?, answers: [ok, ok]}}", "3: node 'a': ask: answers; expected each once; got 'ok' 2"),
        ("  a: {ask: {text: Go?, answers: []}}", "3: node 'a': ask: answers; expected at least one; got none"),
        ("  a: {wait: 1, until: speed > 1}", "3: node 'a': with, parts and until; expected a skill"),
    ],
)
def test_N6_mistakes_of_a_graph(text: str, expected: str, bench: SkillCatalogue) -> None:
    found = mistakes(nodes(text), bench)
    assert found[0].startswith(expected), found


def test_N6_a_parameter_that_has_to_be_given(bench: SkillCatalogue) -> None:
    far = SkillTemplate("name: far\nparameters: {way: {unit: m}}\nnodes: {x: {log: $way}}")
    assert mistakes(nodes("  a: {skill: far}"), bench.with_skill(far)) == [
        "3: node 'a': skill 'far': parameter 'way' is missing; expected a number in m; got no value"
    ]


def test_the_node_of_a_mistake() -> None:
    template = SkillTemplate(TOUCH)
    lines = TOUCH.splitlines()
    at = [next(i for i, text in enumerate(lines, start=1) if word in text) for word in ("on: contact, when", "retry")]
    assert [template.node_at(line) for line in at] == ["first", "second"]
    assert template.node_at(3) == "" and template.node_at(len(lines)) == ""


def test_N6_warnings(bench: SkillCatalogue) -> None:
    text = nodes("  a: {skill: move_until_contact}", "parameters: {x: {default: 1.0}}")
    assert check_skill(SkillTemplate(text), bench) == [
        "skill:3: node 'a': nobody takes its failure 'not_found'; it ends the graph as failed",
        "skill:4: parameter 'x' is not used",
    ]


def test_N49_a_reaction_whose_node_takes_no_time_is_a_warning(bench: SkillCatalogue) -> None:
    reaction = "reactions: [{when: arm.tool.z < 0.1, go: note, at: once}]"
    text = nodes("  a: {wait: 1}\n  note: {log: low, then: a}", reaction)
    assert check_skill(SkillTemplate(text), bench) == [
        "skill:5: reaction 'arm.tool.z < 0.1': its node 'note' takes no time, so the condition still holds when the"
        " graph goes on at 'a'"
    ]
    through = "note: {log: low, then: more}\n  more: {log: very, then: up}\n  up: {wait: 1, then: a}"
    for helps in ("note: {log: low}", "note: {wait: 1, then: a}", through):
        text = nodes(f"  a: {{wait: 1}}\n  {helps}", reaction)
        assert check_skill(SkillTemplate(text), bench) == []


def test_N6_the_same_phrase_in_two_blueprints(bench: SkillCatalogue) -> None:
    other = SkillTemplate("name: other\ncommands: [{say: 'Wipe the table, please!'}]\nnodes: {x: {wait: 1}}")
    text = nodes("  a: {wait: 1}", "commands: [{say: [wipe the table please, stop, 'come {you}']}]")
    assert mistakes(text, bench.with_skill(other)) == [
        "4: phrase 'wipe the table please' starts 'other' already; expected another phrase",
        "4: phrase 'stop' stops: it has the stop word 'stop'; expected another one",
        "4: phrase 'come {you}': unknown parameter 'you'",
    ]
    assert phrase_key("Receive  {guest}!") == phrase_key("receive {name}")


def test_N38_gestures_and_conditions_of_commands_are_checked(bench: SkillCatalogue) -> None:
    other = SkillTemplate("name: other\ncommands: [{gesture: wave}]\nnodes: {x: {wait: 1}}")
    commands = "commands: [{gesture: [Wave, stop]}, {when: arm.tool.q > 1}, {when: arm.tool.z > $far}]"
    text = nodes("  a: {wait: $far}", f"parameters: {{far: {{default: 1.0, unit: s}}}}\n{commands}")
    found = "\n".join(mistakes(text, bench.with_skill(other)))
    assert "gesture 'Wave' starts 'other' already" in found and "gesture 'stop' stops: it has the stop word" in found
    text = text.replace("gesture: [Wave, stop]", "gesture: nod")
    found = "\n".join(mistakes(text, bench.with_skill(other)))
    assert "there is no such state variable" in found and "$far has no value before the start" in found


def test_N7_expanded_to_capabilities(bench: SkillCatalogue) -> None:
    catalogue = bench.with_skill(SkillTemplate(TOUCH)).with_skill(
        SkillTemplate(nodes("  a: {skill: touch_twice, parts: {hand: arm}, then: b}\n  b: {first_of: {w: {wait: 1}}}"))
    )
    lines = list(Calls(catalogue).expand("mine").lines())
    assert lines[:5] == [
        "mine (blueprint)",
        "  a: touch_twice (behavior_skill)",
        "    first: move_until_contact (meta_skill)",
        "      watch: watch_tool (capability)",
        "      ready: hold (capability)",
    ]
    assert lines[-1] == "  b/w: wait (built in)"


def test_a_skill_that_is_one_call_ends_as_that_call(bench: SkillCatalogue) -> None:
    slow = SkillTemplate("name: slow_touch\nlevel: motion_skill\nis: {skill: move_until_contact, with: {speed: 0.01}}")
    assert check_skill(slow, bench) == []
    catalogue = bench.with_skill(slow)
    assert catalogue.find("slow_touch").results["not_found"]
    text = nodes(
        "  a: {skill: slow_touch, then: [{on: contact, go: b}, {on: not_found, end: failed}]}\n"
        "  b: {skill: move_until_contact, with: {force: $a.watch.push}, then: [{on: any, end: done}]}"
    )
    mine = SkillTemplate(text)
    assert check_skill(mine, catalogue) == []
    run = Driver(*Calls(catalogue.with_skill(mine)).plan("mine").graphs.values())
    run.end("a", "contact", **PUSH)
    assert run.arguments["b"] == {"force": 6.0}


def test_N48_what_lists_and_pictures_do_not_use_is_a_warning(bench: SkillCatalogue) -> None:
    text = """name: nap
level: motion_skill
scenarios: [rest, rest]
tags: [a, b, a]
nodes: {one: {wait: 1}, two: {wait: 1, manual: true}, three: {wait: 1, manual: true}}
view: {one: [1, 2, 3], twoo: [1, 2], two: [.nan, 1], three: [-4, 5.5]}
"""
    template = SkillTemplate(text)
    assert check_skill(template, bench) == [
        "skill:3: only a behavior skill or a blueprint is a value skill for scenarios; this is a motion skill",
        "skill:3: scenarios: 'rest' is named 2 times",
        "skill:4: tags: 'a' is named 2 times",
        "skill:6: view: node 'one'; expected two numbers, [x, y]; got [1, 2, 3]",
        "skill:6: view: node 'two'; expected two numbers, [x, y]; got [nan, 1]",
        "skill:6: view: there is no node 'twoo'; expected one of the known names; did you mean 'two'",
    ]
    nodes = {("node", id) for id in template.content.nodes}
    assert moved_places(template.content.view, nodes, "node") == {("node", "three"): (-4.0, 5.5)}
    higher = check_skill(SkillTemplate(text.replace("motion_skill", "behavior_skill")), bench)
    assert higher[0] == "skill:3: scenarios: 'rest' is named 2 times"
