"""Behavior trees as blueprints, and blueprints as behavior trees: the same behavior."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.blueprint.exchange.exporter import export_models, export_trees
from robot_rt_control.blueprint.exchange.importer import Imported, import_trees
from robot_rt_control.blueprint.exchange.xml_reader import MAX_DEPTH, read_xml
from robot_rt_control.blueprint.graph import events, orders
from robot_rt_control.blueprint.graph.events import Moment
from robot_rt_control.blueprint.graph.results import Results
from robot_rt_control.blueprint.runs.rehearsal import Ending, Rehearsal
from robot_rt_control.blueprint.runs.runner import Runner
from robot_rt_control.blueprint.text.calls import Calls
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.vocabulary.errors import DefinitionError

from .tree_interpreter import Script, TooLong, TreeInterpreter

LEAVES = "abcdef"
AT_MOST = 40
"""Leaves of one run."""
quickly = settings(
    deadline=None, max_examples=tries(15, whole=60), suppress_health_check=[HealthCheck.function_scoped_fixture]
)


class Engine:
    """One run of the engine; leaves answer from a script."""

    def __init__(self, catalogue: SkillCatalogue, name: str, script: Script) -> None:
        self.script, self.counts, self.trace = script, Counter[str](), list[str]()
        self.moment = Moment(tick=0, time=0.0)
        self.performer = Rehearsal(catalogue, lambda: self.moment, choose=self.choose)
        self.runner = Runner(Calls(catalogue).plan(name), self.performer, self)

    def write(self, record: orders.Record) -> None:
        if record["what"] == "start" and len(self.trace) < AT_MOST:
            self.trace.append(record["skill"])

    def choose(self, order: orders.StartSkill, results: Results) -> Ending:
        self.counts[order.skill] += 1
        return Ending(result="good" if self.script(order.skill, self.counts[order.skill] - 1) else "bad")

    def run(self) -> bool | None:
        """Whether it succeeded; None: it is too long."""
        assert self.runner.give(events.Begin()) == ""
        for _ in range(10 * AT_MOST):
            if self.counts.total() >= AT_MOST:
                break
            outcome = self.runner.update()
            if outcome is not None:
                return not outcome.failure
            self.moment = Moment(tick=self.moment.tick + 1, time=self.moment.time + 1.0)
        return None


def with_imported(catalogue: SkillCatalogue, imported: Imported) -> SkillCatalogue:
    for template in imported.skills.values():
        catalogue = catalogue.with_skill(template)
    for template in imported.skills.values():
        check_skill(template, catalogue)
    return catalogue


def of_engine(catalogue: SkillCatalogue, name: str, script: Script) -> Run:
    engine = Engine(catalogue, name, script)
    return engine.run(), engine.trace


def of_tree(text: str, script: Script) -> Run:
    tree = TreeInterpreter(text, script, AT_MOST)
    try:
        return tree.run(), tree.trace
    except TooLong:
        return None, tree.trace


def script_of(answers: dict[str, list[bool]]) -> Script:
    return lambda name, number: answers[name][number % len(answers[name])]


scripts = st.fixed_dictionaries({leaf: st.lists(st.booleans(), min_size=1, max_size=5) for leaf in LEAVES})


@st.composite
def trees(draw: st.DrawFn, leaves: str = LEAVES, depth: int = 3, parallel: bool = False) -> str:
    """The XML of a tree; with ParallelAll, whose children share no leaf, or without."""
    if depth == 0 or not draw(st.integers(0, 4)):
        leaf = draw(st.sampled_from(leaves))
        return draw(st.sampled_from([f"<{leaf}/>", f'<Action ID="{leaf}"/>', '<Sleep msec="10"/>', f"<{leaf}/>"]))

    def inner(some: str = leaves) -> str:
        return draw(trees(some, depth - 1, parallel))

    kinds = ["Sequence", "Fallback", "IfThenElse", "Inverter", "ForceSuccess", "ForceFailure", "Repeat", "Retry"]
    kind = draw(st.sampled_from([*kinds, *(["ParallelAll"] * 3 if parallel and len(leaves) > 1 else [])]))
    if kind in ("Sequence", "Fallback"):
        return f"<{kind}>{''.join(inner() for _ in range(draw(st.integers(1, 3))))}</{kind}>"
    if kind == "IfThenElse":
        return f"<{kind}>{''.join(inner() for _ in range(draw(st.integers(2, 3))))}</{kind}>"
    if kind == "ParallelAll":
        most = draw(st.sampled_from([1, 2, -1]))
        return f'<{kind} max_failures="{most}">{inner(leaves[::2])}{inner(leaves[1::2])}</{kind}>'
    if kind in ("Repeat", "Retry"):
        times = draw(st.integers(1, 3)) if parallel else draw(st.sampled_from([1, 2, 3, -1]))
        tag, name = ("Repeat", "num_cycles") if kind == "Repeat" else ("RetryUntilSuccessful", "num_attempts")
        return f'<{tag} {name}="{times}">{inner()}</{tag}>'
    return f"<{kind}>{inner()}</{kind}>"


@st.composite
def files(draw: st.DrawFn, parallel: bool) -> str:
    other = draw(trees(parallel=parallel, depth=2))
    main = draw(trees(parallel=parallel))
    called = '<SubTree ID="Other"/>' if draw(st.booleans()) else '<SubTree ID="Other" _autoremap="true" name="sub"/>'
    return (
        '<root BTCPP_format="4" main_tree_to_execute="Main">'
        f'<BehaviorTree ID="Main"><Sequence>{main}{called}</Sequence></BehaviorTree>'
        f'<BehaviorTree ID="Other">{other}</BehaviorTree></root>'
    )


Run = tuple[bool | None, list[str]]


def assert_same(one: Run, other: Run, *, parallel: bool = False) -> None:
    """The same results and leaves. The order of branches side by side is nobody's promise, nor where what is too long
    was cut."""
    assert one[0] == other[0]
    if one[0] is None:
        shorter = 0 if parallel else min(len(one[1]), len(other[1]))
        assert one[1][:shorter] == other[1][:shorter]
    else:
        assert (sorted(one[1]) == sorted(other[1])) if parallel else one[1] == other[1]


def compare(leaves: SkillCatalogue, text: str, script: Script, *, parallel: bool) -> None:
    imported = import_trees(text, leaves)
    catalogue = with_imported(leaves, imported)
    expected = of_tree(text, script)
    assert_same(of_engine(catalogue, imported.main, script), expected, parallel=parallel)
    exported = export_trees(imported.main, catalogue)
    assert_same(of_tree(exported, script), expected, parallel=parallel)
    again = import_trees(exported, leaves)
    assert_same(of_engine(with_imported(leaves, again), again.main, script), expected, parallel=parallel)


@quickly
@given(files(parallel=False), scripts)
def test_N46_an_imported_tree_does_what_the_tree_does(leaves: SkillCatalogue, text: str, answers: dict[str, list[bool]]) -> None:  # noqa: E501
    compare(leaves, text, script_of(answers), parallel=False)


@quickly
@given(files(parallel=True), scripts)
def test_so_does_one_with_branches(leaves: SkillCatalogue, text: str, answers: dict[str, list[bool]]) -> None:
    compare(leaves, text, script_of(answers), parallel=True)


@st.composite
def graphs(draw: st.DrawFn) -> str:
    """A blueprint in which each node leads on after success and failure, without loops through several nodes."""
    count = draw(st.integers(1, 7))
    text = "name: graph\nnodes:\n"
    reached = {0}
    for i in range(count):
        ends = ["end: done", "end: failed", *(f"go: n{j}" for j in range(i + 1, count))]
        targets = [draw(st.sampled_from(ends)) for _ in range(2)]
        if i + 1 < count and i + 1 not in reached:
            targets[draw(st.integers(0, 1))] = f"go: n{i + 1}"
        reached |= {int(target[5:]) for target in targets if target.startswith("go")}
        loop = draw(st.sampled_from(["", "", "", "", "retry: 1, ", "repeat: 2, "]))
        then = f"[{{{targets[0]}}}, {{on: failure, {targets[1]}}}]"
        if targets[0] == targets[1]:
            then = f"[{{on: any, {targets[0]}}}]"
        text += f"  n{i}: {{skill: {draw(st.sampled_from(LEAVES))}, {loop}then: {then}}}\n"
    return text


@quickly
@given(graphs(), scripts)
def test_N47_an_exported_graph_does_what_the_graph_does(leaves: SkillCatalogue, text: str, answers: dict[str, list[bool]]) -> None:  # noqa: E501
    template, script = SkillTemplate(text), script_of(answers)
    check_skill(template, leaves)
    catalogue = leaves.with_skill(template)
    expected = of_engine(catalogue, "graph", script)
    exported = export_trees("graph", catalogue)
    assert_same(of_tree(exported, script), expected)
    again = import_trees(exported, leaves)
    assert_same(of_engine(with_imported(leaves, again), again.main, script), expected)


# --- examples -----------------------------------------------------------------------------------------


def tree(inside: str, more: str = "") -> str:
    return f'<root BTCPP_format="4">\n<BehaviorTree ID="Main">\n{inside}\n</BehaviorTree>{more}</root>'


def test_attempts_of_branches_whose_failures_are_counted(leaves: SkillCatalogue) -> None:
    inside = '<RetryUntilSuccessful num_attempts="3"><ParallelAll><a/><b/></ParallelAll></RetryUntilSuccessful>'
    compare(leaves, tree(inside), script_of({"a": [False, True], "b": [True]}), parallel=True)


def test_ports_units_and_entries_of_the_blackboard(leaves: SkillCatalogue) -> None:
    text = tree(
        '<Sequence>\n<a name="first" speed="0.25" way="1;2;3" word="cost $5" elapsed="{time}"/>\n'
        '<b speed="{pace}" parts="robot=left"/>\n<SubTree ID="Other" pace="{pace}" long="{time}" last="{last}"/>\n'
        '<say text="{word}"/><c speed="{last}" often="3"/></Sequence>',
        '<BehaviorTree ID="Other"><Timeout msec="1500"><d speed="{pace}" elapsed="{last}"/></Timeout></BehaviorTree>',
    ).replace('"4">', '"4" main_tree_to_execute="Main">', 1)
    imported = import_trees(text, leaves)
    catalogue = with_imported(leaves, imported)
    main, other = imported.skills["Main"].content, imported.skills["Other"].content
    assert {name: (p.type, p.unit) for name, p in main.parameters.items() if p} == {
        "pace": ("float", "m/s"), "word": ("text", ""),
    }  # fmt: skip
    given = {id: {name: value.value for name, value in node.with_.items()} for id, node in main.nodes.items()}
    assert given["first"] == {"speed": 0.25, "way": (1, 2, 3), "word": "cost $$5"}
    assert given["b"] == {"speed": "$pace"} and main.nodes["b"].parts == {"robot": "left"}
    assert given["Other"] == {"pace": "$pace"} and main.nodes["say"].say == "$word"
    assert given["c"] == {"speed": "$Other.last", "often": 3}
    assert other.nodes["d"].timeout is not None and other.nodes["d"].timeout.value == 1.5
    exported = export_trees("Main", catalogue)
    assert 'word="cost $5"' in exported and 'way="1;2;3"' in exported and '<Timeout msec="1500">' in exported
    again = import_trees(exported, leaves)
    assert {name: t.text for name, t in again.skills.items()}.keys() == {"Main", "Other"}
    assert export_trees("Main", with_imported(leaves, again)).replace("Other__last", "") == exported.replace("Other__last", "")  # noqa: E501


@pytest.mark.parametrize(
    "inside, expected",
    [
        ("<RunOnce><a/></RunOnce>", "trees:3: <RunOnce> is not imported"),
        ("<Sequence><Script code='x:=1'/></Sequence>", "<Script> is not imported"),
        ('<a _skipIf="x"/>', "attribute '_skipIf' is not imported"),
        ("<Sequence/>", "trees:3: <Sequence>; expected at least 1 elements in it; got 0"),
        ("<IfThenElse><a/></IfThenElse>", "expected 2 or 3 elements"),
        ("<Sequence>\n<a/>\n<g/></Sequence>", "trees:5: unknown skill 'g'"),
        ('<a sped="1"/>', "skill 'a' has no port 'sped'; expected one of the known names; did you mean 'speed'"),
        ('<a speed="fast"/>', "port 'speed'; expected a float; got 'fast'"),
        ('<a way="1;x;3"/>', "port 'way'; expected a list of float"),
        ('<a elapsed="3"/>', "port 'elapsed' is an output; expected an entry such as {elapsed}"),
        ('<a speed="{a b}"/>', "entry of the blackboard"),
        ('<Sequence><a speed="{x}"/><b word="{x}"/></Sequence>', "entry {x} is read as different things"),
        ('<Sequence><a elapsed="{x}"/><b elapsed="{x}"/><c speed="{x}"/></Sequence>', "{x} is written by two nodes"),
        ('<Repeat num_cycles="{n}"><a/></Repeat>', "num_cycles: a number from 1 to 1000000, or -1; got '{n}'"),
        ('<ParallelAll max_failures="3"><a/><b/></ParallelAll>', "max_failures: a number from 1 to 2, or -1"),
        ('<Timeout msec="0"><a/></Timeout>', "msec: a number from 1"),
        ('<SubTree ID="Mian"/>', "unknown tree 'Mian'; expected one of the known names; did you mean 'Main'"),
        ('<SubTree ID="Main"/>', "tree 'Main' contains itself: Main → Main"),
        ("<a><b/></a>", "<a>; expected 0 elements in it; got 1"),
        ('<Sequence speed="1"><a/></Sequence>', "<Sequence> has no port 'speed'; expected no ports"),
    ],
)
def test_N46_what_is_refused_and_where(leaves: SkillCatalogue, inside: str, expected: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        import_trees(tree(inside), leaves)
    assert expected in str(refused.value) and "trees:" in str(refused.value) and refused.value.line >= 2


@pytest.mark.parametrize(
    "text, expected",
    [
        ("<root/>", "trees:1: not a file of behavior trees; expected <root BTCPP_format=\"4\">"),
        ("nonsense", "trees:1: not valid XML"),
        ('<root BTCPP_format="4">\n<include path="x"/></root>', "trees:2: <include> is not imported"),
        ('<root BTCPP_format="4" main_tree_to_execute="B"><BehaviorTree ID="A"/></root>', "main tree"),
        ('<root BTCPP_format="4"><BehaviorTree ID="a"><b/></BehaviorTree></root>', "the name of a program"),
        ('<!DOCTYPE root [<!ENTITY x "y">]>\n<root BTCPP_format="4"/>', "trees:1: a document type or an entity"),
        ('<!DOCTYPE root SYSTEM "file:///etc/passwd">\n<root/>', "trees:1: a document type or an entity"),
        ("<a>" * (MAX_DEPTH + 1), "too much for one file"),
        (f"<a>{'<b/>' * 10_001}</a>", "too much for one file"),
        (f"<a>{'x' * 1_100_000}</a>", "trees is too large"),
    ],
)
def test_files_that_are_refused(leaves: SkillCatalogue, text: str, expected: str) -> None:
    with pytest.raises(DefinitionError, match=None) as refused:
        import_trees(text, leaves)
    assert expected in str(refused.value)


def test_all_mistakes_of_all_trees_at_once(leaves: SkillCatalogue) -> None:
    text = tree("<g/>", '<BehaviorTree ID="Two">\n<Delay/></BehaviorTree>')
    text = text.replace("4", '4" main_tree_to_execute="Main')
    with pytest.raises(DefinitionError) as refused:
        import_trees(text, leaves)
    assert [mistake.line for mistake in refused.value.mistakes] == [3, 5]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("nodes: {x: {skill: a, then: [{when: x.count < 2, go: x}]}}", "graph:2: a condition"),
        ("nodes: {x: {skill: a, then: [{on: good, go: y}, {end: failed}]}, y: {skill: b}}", "its successes lead to"),
        ("nodes: {x: {skill: a, then: y}, y: {skill: b, then: x}}", "node 'y' leads back to 'x'"),
        ("reactions: [{when: arm.x < 1, go: x}]\nnodes: {x: {skill: a}}", "graph:2: reactions of a blueprint"),
        ("nodes: {x: {skill: a, with: {speed: 2 * $s}}}\nparameters: {s: {unit: m/s}}", "is computed"),
        ("results: {no: {}}\nnodes: {x: {skill: a, then: [{end: 'no'}]}}", "the end 'no'; expected done or failed"),
        ("nodes: {x: {ask: {text: Go?}}}", "node 'x': ask; expected a skill, wait, say, log or wait_until"),
        ("nodes: {x: {all_of: {l: {skill: a}, r: {skill: b}}, then: [{on: any, end: done}]}}", "branches side by side"),
        ("nodes: {x: {skill: a, retry: 1, repeat: 1}}", "retry and repeat in one node"),
        ("nodes: {x: {skill: a, manual: true}, y: {skill: b, manual: true}}", "only a person's jump"),
        ("nodes: {x: {skill: a, timeout: 0.0005}}", "whole milliseconds"),
    ],
)
def test_N47_what_has_not_the_shape_of_a_tree(leaves: SkillCatalogue, text: str, expected: str) -> None:
    template = SkillTemplate(f"name: graph\n{text}", source="graph")
    with pytest.raises(DefinitionError) as refused:
        export_trees("graph", leaves.with_skill(template))
    assert expected in str(refused.value) and "graph:" in str(refused.value)


def test_a_skill_that_has_not_the_shape_is_a_leaf(leaves: SkillCatalogue) -> None:
    odd = SkillTemplate("name: odd\nlevel: motion_skill\nnodes: {x: {ask: {text: Go?}}}")
    even = SkillTemplate("name: even\nlevel: motion_skill\nnodes: {x: {skill: a}}")
    main = SkillTemplate("name: main\nnodes: {x: {skill: odd, then: y}, y: {skill: even}}")
    text = export_trees("main", leaves.with_skill(odd).with_skill(even).with_skill(main))
    assert '<Action ID="odd" name="x"/>' in text and '<SubTree ID="even" name="y"/>' in text
    assert [element.attributes["ID"] for element in read_xml(text, "x").children[-1].children] == ["a", "odd"]


def test_models_of_all_skills(bench: SkillCatalogue) -> None:
    root = read_xml(export_models(bench), "models")
    models = {model.attributes["ID"]: model for model in root.children[0].children}
    assert {"move_until_contact", "move_linear", "watch_distance", "say"} <= models.keys()
    ports = {port.attributes["name"]: port for port in models["move_until_contact"].children if "port" in port.tag}
    assert ports["speed"].attributes == {"name": "speed", "type": "double", "default": "0.02"}
    assert ports["watch__push"].tag == "output_port" and "parts" in ports and "until" not in ports
    assert models["move_linear"].tag == "Action"
