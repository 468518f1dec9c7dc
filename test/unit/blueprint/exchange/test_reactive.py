"""Conditions, reactive elements, delays and entries that are set: the same steps at the same ticks as in the tree."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.blueprint.exchange.exporter import export_trees
from robot_rt_control.blueprint.exchange.importer import import_trees
from robot_rt_control.blueprint.exchange.reactive import not_true
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.conditions.evaluation import evaluate_ast
from robot_rt_control.conditions.grammar import parse_condition
from robot_rt_control.conditions.tree import variables
from robot_rt_control.vocabulary.errors import DefinitionError

from .test_exchange import tree, with_imported
from .timed_tree import TimedTree, World, of_engine

LEAVES = "abcdef"
quickly = settings(
    deadline=None, max_examples=tries(15, whole=60), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
VARIABLES = ("arm.position[0]", "arm.position[1]")
CONDITIONS = (
    "{x} < 1", "not {x} < 1", "{x} < 1 or {y} < 1", "{x} < 1 and not {y} < 1", "is_unknown({x})",
    "not ({x} < 1 and {y} > 0)", "{y} > {x}", "not is_unknown({y}) and {y} < 1",
)  # fmt: skip
conditions = st.sampled_from([text.format(x=VARIABLES[0], y=VARIABLES[1]) for text in CONDITIONS])
numbers = st.sampled_from([0.0, 1.0, math.nan])
worlds = st.builds(
    World,
    answers=st.fixed_dictionaries({leaf: st.lists(st.booleans(), min_size=1, max_size=4) for leaf in LEAVES}),
    ticks=st.fixed_dictionaries({leaf: st.integers(1, 3) for leaf in LEAVES}),
    variables=st.fixed_dictionaries({name: st.lists(numbers, min_size=1, max_size=8) for name in VARIABLES}),
)


def again(world: World) -> World:
    return World(world.answers, world.ticks, world.variables)


def text_of(condition: str) -> str:
    return condition.replace("<", "&lt;")


@st.composite
def judged(draw: st.DrawFn, depth: int = 1) -> str:
    """An element made of conditions."""
    if depth == 0 or draw(st.booleans()):
        return f'<Condition ID="holds" condition="{text_of(draw(conditions))}"/>'
    kind = draw(st.sampled_from(["Inverter", "Sequence", "Fallback"]))
    return f"<{kind}>{''.join(draw(judged(depth - 1)) for _ in range(1 if kind == 'Inverter' else 2))}</{kind}>"


@st.composite
def trees(draw: st.DrawFn, depth: int = 3) -> str:
    if depth == 0 or not draw(st.integers(0, 4)):
        leaf = draw(st.sampled_from(LEAVES))
        entry = draw(st.sampled_from("uv"))
        return draw(st.sampled_from([
            f"<{leaf}/>", f'<{leaf} speed="{{{entry}}}"/>', f'<{leaf} speed="0.5"/>', '<Sleep msec="2000"/>',
            f'<SetBlackboard value="{draw(st.sampled_from(["0.25", "0.75"]))}" output_key="{entry}"/>',
            '<SetBlackboard value="{v}" output_key="u"/>', draw(judged()), '<SubTree ID="Other" v="{v}"/>',
            '<SubTree ID="Other" v="{u}" w="0.125"/>',
        ]))  # fmt: skip

    def inner() -> str:
        return draw(trees(depth - 1))

    kinds = "Sequence Fallback IfThenElse Inverter ForceSuccess ForceFailure Repeat Retry Delay".split()
    kind = draw(st.sampled_from([*kinds, *["ReactiveSequence", "ReactiveFallback", "Sequence"] * 3]))
    if kind in ("Sequence", "Fallback", "IfThenElse"):
        return f"<{kind}>{''.join(inner() for _ in range(draw(st.integers(2, 3))))}</{kind}>"
    if kind.startswith("Reactive"):
        before = "".join(draw(judged()) for _ in range(draw(st.integers(1, 2))))
        return f"<{kind}>{before}{inner()}</{kind}>"
    if kind in ("Repeat", "Retry"):
        tag, name = ("Repeat", "num_cycles") if kind == "Repeat" else ("RetryUntilSuccessful", "num_attempts")
        return f'<{tag} {name}="{draw(st.integers(1, 2))}">{inner()}</{tag}>'
    if kind == "Delay":
        return f'<Delay delay_msec="{draw(st.sampled_from([1000, 2000]))}">{inner()}</Delay>'
    return f"<{kind}>{inner()}</{kind}>"


@st.composite
def files(draw: st.DrawFn) -> str:
    """A file whose trees set u and v first, in three of four cases."""
    first = "".join(f'<SetBlackboard value="0.{n}" output_key="{entry}"/>' for n, entry in ((1, "u"), (2, "v")))
    main = draw(trees())
    if draw(st.integers(0, 3)):
        main = f"<Sequence>{first}{main}</Sequence>"
    other = '<a speed="{v}"/><b speed="{w}"/><SetBlackboard value="{w}" output_key="x"/><c speed="{x}"/>'
    return (
        f'<root BTCPP_format="4" main_tree_to_execute="Main"><BehaviorTree ID="Main">{main}</BehaviorTree>'
        f'<BehaviorTree ID="Other"><Sequence>{other}</Sequence></BehaviorTree><TreeNodesModel><SubTree ID="Other">'
        '<input_port name="v"/><input_port name="w" default="0.375"/></SubTree></TreeNodesModel></root>'
    )


REFUSED = ("may be read before it is set", "is read elsewhere, and may not be set", "is written by two nodes",
           "is read as different things")  # fmt: skip


@quickly
@given(files(), worlds)
def test_N46_conditions_and_entries_do_what_the_tree_does(leaves: SkillCatalogue, text: str, world: World) -> None:
    try:
        imported = import_trees(text, leaves)
    except DefinitionError as error:
        for mistake in getattr(error, "mistakes", (error,)):
            assert any(reason in str(mistake) for reason in REFUSED), mistake
        return
    if any(skill.content.parameters for name, skill in imported.skills.items() if name == imported.main):
        return  # it reads an entry that nothing sets: an error in the tree, a parameter here
    catalogue = with_imported(leaves, imported)
    expected = TimedTree(text, again(world)).run()
    assert of_engine(catalogue, imported.main, again(world)) == expected
    exported = export_trees(imported.main, catalogue)
    assert TimedTree(exported, again(world)).run() == expected
    read = import_trees(exported, leaves)
    once = with_imported(leaves, read)
    assert of_engine(once, read.main, again(world)) == expected


@given(conditions, st.tuples(numbers, numbers))
def test_what_is_not_true_is_false_or_unknown(text: str, values: tuple[float, float]) -> None:
    known = dict(zip(VARIABLES, values, strict=True))
    condition = parse_condition(text)
    opposite = parse_condition(str(not_true(condition)))
    assert {v.name for v in variables(opposite)} <= {*known}
    assert evaluate_ast(opposite, known) is (evaluate_ast(condition, known) is not True)


def test_a_reactive_sequence_as_text(leaves: SkillCatalogue) -> None:
    inside = '<ReactiveSequence><holds condition="arm.position[0] &lt; 1"/><a/></ReactiveSequence>'
    main = import_trees(tree(inside), leaves).skills["Main"].content
    assert main.nodes["check"].then[0].when == "arm.position[0] < 1"
    branches = main.nodes["while"].first_of
    assert branches is not None
    assert branches["until"].wait_until == "not arm.position[0] < 1 or is_unknown(arm.position[0])"
    assert branches["a"].skill == "a"


@pytest.mark.parametrize("kind", ["ReactiveSequence", "ReactiveFallback"])
@pytest.mark.parametrize("condition", ["{}", "<Inverter>{}</Inverter>"])
def test_nothing_is_added_by_writing_and_reading_again(leaves: SkillCatalogue, kind: str, condition: str) -> None:
    judged = condition.format('<holds condition="arm.position[0] &lt; 1"/>')
    first = '<SetBlackboard value="0.5" output_key="v"/>'
    text = tree(f'<Sequence>{first}<{kind}>{judged}<a speed="{{v}}"/></{kind}><b/></Sequence>')
    for _ in range(3):
        imported = import_trees(text, leaves)
        catalogue = with_imported(leaves, imported)
        main = imported.skills[imported.main].content
        assert len(main.nodes) == 3 and [*main.values] == ["v"]
        text = export_trees(imported.main, catalogue)
        assert text.count("SetBlackboard") == 1 and text.count('ID="holds"') == 2  # and its model


@pytest.mark.parametrize(
    "inside, expected",
    [
        ("<ReactiveSequence>\n<a/><b/></ReactiveSequence>", "trees:4: <a> in <ReactiveSequence>; expected conditions"),
        ("<ReactiveFallback>\n<Inverter><a/></Inverter><b/></ReactiveFallback>", "trees:4: <Inverter> in"),
        ('<ReactiveFallback><wait_until condition="true"/><b/></ReactiveFallback>', "<wait_until> in <Reactive"),
        ('<ReactiveFallback><holds condition="norm(arm.f) > 1"/><b/></ReactiveFallback>', "trees:3: condition 'norm"),
        ('<holds condition="1 &lt;"/>', "trees:3: <holds>"),
        ("<holds/>", "trees:3: <holds>; expected the attribute condition; got none"),
        ('<holds condition="true" more="1"/>', "<holds> has no port 'more'; expected condition"),
        ('<Timeout msec="10"><SubTree ID="Main" _skipIf="x"/></Timeout>', "attribute '_skipIf' is not imported"),
        ("<Delay><a/></Delay>", "<Delay>; expected delay_msec: a number from 0"),
        ('<Delay delay_msec="{t}"><a/></Delay>', "<Delay>; expected delay_msec: a number from 0"),
        ('<Delay delay_msec="1"/>', "<Delay>; expected 1 elements in it; got 0"),
    ],
)  # fmt: skip
def test_N46_what_is_refused_of_them(leaves: SkillCatalogue, inside: str, expected: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        import_trees(tree(inside), leaves)
    assert expected in str(refused.value) and refused.value.line >= 3


@pytest.mark.parametrize(
    "text, expected",
    [
        ("first_of: {w: {wait_until: true}, l: {skill: a}}, then: [{on: w, go: y}, {end: done}]}, y: {skill: b}",
         "the conditions lead to a node of their own"),
        ("first_of: {l: {skill: a}, r: {skill: b}}, then: [{on: any, end: done}]", "node 'x': first_of"),
        ("first_of: {w: {wait_until: true}, l: {skill: a}}, retry: 1", "retry, repeat or timeout"),
        ("set: {}, then: [{when: $speed < 1, end: done}, {end: failed}]", "a condition with values"),
        ("set: {u: $v, v: 1}", "value 'u' of others that are set here"),
        ("set: {u: 2 * $v}", "is computed"),
    ],
)  # fmt: skip
def test_N47_what_has_not_the_shape_of_them(leaves: SkillCatalogue, text: str, expected: str) -> None:
    from robot_rt_control.blueprint.text.skill_file import SkillTemplate

    values = "parameters: {speed: {}}\nvalues: {u: {default: 1}, v: {default: 2}}\n"
    braces = "}" * (1 if "}, y:" not in text else 0)
    template = SkillTemplate(f"name: graph\n{values}nodes: {{x: {{{text}{braces}}}", source="graph")
    with pytest.raises(DefinitionError) as refused:
        export_trees("graph", leaves.with_skill(template))
    assert expected in str(refused.value) and "graph:" in str(refused.value)
