"""Pictures of blueprints: what they show, and that they are drawn."""

from __future__ import annotations

import itertools
from pathlib import Path

import matplotlib.image
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.diagram import blueprint_diagram
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.drawing.diagram import ANY, HAND, START, Diagram
from robot_rt_control.drawing.diagram_picture import _Picture, draw

TEXT = """\
name: tour
description: Touches, and lifts.
scenarios: [show]
commands: [{say: [touch it]}, {gesture: wave}]
results: {nothing: {failure: true}}
nodes:
  touch:
    skill: move_until_contact
    with: {way: [0, 0, -0.1]}
    retry: 2
    timeout: 30
    then: [{on: contact, when: touch.count < 2, go: both}, {on: contact, go: touch}, {on: not_found, end: nothing}]
  both:
    all_of: {up: {skill: move_linear, parts: {arm: arm}, until: is_settled}, words: {say: up}}
    then: [{on: any, go: pause}]
  pause: {wait: 2}
  ask: {ask: {text: Again?}, manual: true, then: [{on: 'yes', go: touch}, {on: 'no', go: lost}]}
reactions: [{when: arm.tool.z < 0.1, go: pause, at: end}]
view: {pause: [400, 10], both: nonsense, gone: [1, 2]}
"""


def labels(diagram: Diagram) -> dict[tuple[str, str], list[str]]:
    return {(s.source[1], s.target[1]): [line.text for line in s.label] for s in diagram.switches}


def test_N48_a_blueprint_s_picture(bench: SkillCatalogue, tmp_path: Path) -> None:
    diagram = blueprint_diagram(SkillTemplate(TEXT), bench, frozenset({"both"}))
    states = {state.key[1]: state for state in diagram.states}
    assert diagram.title == "tour"
    assert [line.text for line in diagram.header][:2] == [
        "blueprint, value skill for show",
        "starts at “touch it”, gesture wave",
    ]
    assert [line.text for line in states["touch"].lines] == [
        "touch",
        "move_until_contact · meta skill",
        "way = [0, 0, -0.1]",
        "retry 2, at most 30 s",
    ]
    assert {id: state.kind for id, state in states.items()} == {
        START: "", HAND: "", ANY: "", "touch": "meta_skill", "both": "built_in", "pause": "built_in",
        "ask": "built_in", "nothing": "failure", "done": "success", "lost": "failure",
    }  # fmt: skip
    assert [id for id, state in states.items() if state.active] == ["both"]
    blocks = {name: [line.text for line in lines] for name, lines in states["both"].blocks.items()}
    assert blocks == {"up": ["move_linear · capability", "arm: arm", "until is_settled"], "words": ["say “up”"]}
    assert labels(diagram) == {
        (START, "touch"): [],
        (HAND, "ask"): [],
        ("touch", "both"): ["1. contact", "touch.count < 2"],
        ("touch", "touch"): ["2. contact"],
        ("touch", "nothing"): ["not_found"],
        ("both", "pause"): ["any"],
        ("pause", "done"): [],
        ("ask", "touch"): ["yes"],
        ("ask", "lost"): ["no"],
        (ANY, "pause"): ["arm.tool.z < 0.1", "at its end"],
    }
    assert diagram.places == {("node", "pause"): (400.0, 10.0)}
    picture = matplotlib.image.imread(draw(diagram, tmp_path / "tour.png"))
    assert picture.shape[0] > 500 and picture.shape[1] > 500
    assert (picture[..., :3] < 0.9).any()


def test_one_call_has_a_picture(bench: SkillCatalogue) -> None:
    template = SkillTemplate("name: probe\nlevel: motion_skill\nis: {skill: move_until_contact}")
    assert labels(blueprint_diagram(template, bench)) == {(START, "probe"): [], ("probe", "done"): []}


@settings(deadline=None, max_examples=15)
@given(st.data())
def test_N48_no_two_nodes_lie_on_each_other(data: st.DataObject) -> None:
    ids = [f"n{i}" for i in range(data.draw(st.integers(1, 9)))]
    text = f"name: random\nstart: {ids[0]}\nnodes:\n"
    for id in ids:
        go = data.draw(st.lists(st.sampled_from(ids), max_size=3, unique=True))
        text += f"  {id}: {{wait: 1, then: [{', '.join(f'{{when: a.b < {i}, go: {n}}}' for i, n in enumerate(go))}]}}\n"
    places = data.draw(st.dictionaries(st.sampled_from(ids), st.tuples(*[st.integers(-99, 500)] * 2), max_size=1))
    text += f"view: {{{', '.join(f'{id}: [{x}, {y}]' for id, (x, y) in places.items())}}}\n"
    picture = _Picture(blueprint_diagram(SkillTemplate(text)))
    around = []
    for key, box in picture.boxes.items():
        x, y = picture.layout.centers[key]
        around.append((x - box.width / 2, y - box.height / 2, x + box.width / 2 + box.beside, y + box.height / 2))
    for a, b in itertools.combinations(around, 2):
        assert a[2] <= b[0] + 1e-6 or b[2] <= a[0] + 1e-6 or a[3] <= b[1] + 1e-6 or b[3] <= a[1] + 1e-6
