"""State diagrams: what they show, and that they are drawn."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib.image
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_rt_control.drawing.diagram import ANY, END, HAND, START, Diagram
from robot_rt_control.drawing.diagram_picture import _Picture, draw
from robot_rt_control.drawing.state_diagram import diagram_of
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.program.library import library_programs
from robot_rt_control.vocabulary.errors import RobotControlError

TEXT = """\
name: until_near
description: Moves down until something is near.
roles: {robot: {kinds: [arm], description: moves}}
parameters: {near: {unit: m, default: 0.3, minimum: 0.1, maximum: 1}, path: {length: any, default: [1, 2.5]}}
start: [down]
actions:
  down:
    type: velocity_move
    parts: {part: robot}
    reactions:
      - {when: eye.distance < $near and eye.distance > 0.5 * $near, start: stay, event: touched, fire_once: true}
      - {when: elapsed > 5, start: down}
      - {when: elapsed > 9, event: slow, signal: pause}
      - {when: is_done, stop: true}
  stay:
    type: hold
    parts: robot
    final: true
    strategies:
      elbow:
        - {name: fast, when: eye.distance >= $near  and  eye.distance < 0.9 * $near, law: velocity}
        - {name: velocity, law: velocity}
      robot.joint[2]: [{name: distance, law: distance}]
  home: {type: move_joint, parts: robot, manual: true, reactions: [{when: is_done, start: stay}]}
reactions:
  - {when: speed < 0.1, event: too_slow}
  - {when: eye.distance < 0.05, start: stay}
"""


def test_a_motion_group_shows_its_parts_and_its_finish() -> None:
    commands = ", ".join(f"{{part: arm{i}, position: 0}}" for i in range(12))
    text = f"""\
actions:
  all: {{type: motion_group, final: true, manual: true, commands: [{commands}], parameters: {{finish: together}}}}
  one: {{type: motion_group, final: true, manual: true, commands: [{{part: arm0, position: 0}}]}}
"""
    states = {s.key[1]: " ".join(line.text for line in s.lines) for s in diagram_of(ProgramTemplate(text)).states}
    seven = ", ".join(f"arm{i}" for i in range(7))
    assert states["all"] == f"all motion_group · {seven}, 5 more finish together"
    assert states["one"] == "one motion_group · arm0 finish own"


def shown(diagram: Diagram) -> dict[tuple[str, str], list[str]]:
    return {(s.source[1], s.target[1]): [line.text for line in s.label] for s in diagram.switches}


def test_what_a_diagram_shows() -> None:
    diagram = diagram_of(ProgramTemplate(TEXT))
    assert diagram.title == "until_near"
    assert [line.text for line in diagram.header] == [
        "Moves down until something is near.",
        "robot: arm – moves",
        "$near = 0.3 m, 0.1 to 1",
        "$path = [1, 2.5]",
    ]
    assert shown(diagram) == {
        (START, "down"): [],
        (HAND, "home"): [],
        ("down", "stay"): ["eye.distance < $near and", "eye.distance > 0.5 * $near", "/ event touched, once"],
        ("down", "down"): ["elapsed > 5"],
        ("down", END): ["is_done"],
        ("home", "stay"): ["is_done"],
        (ANY, "stay"): ["eye.distance < 0.05"],
    }
    states = {s.key[1]: s for s in diagram.states}
    assert [line.text for line in states["down"].lines] == ["down", "velocity_move · part: robot"]
    assert [line.text for line in states["down"].inside] == ["elapsed > 9", "/ event slow, signal pause"]
    assert [line.text for line in states[ANY].inside] == ["speed < 0.1", "/ event too_slow"]
    assert {axis: [line.text for line in lines] for axis, lines in states["stay"].blocks.items()} == {
        "elbow": ["fast (velocity): eye.distance >= $near and eye.…", "velocity"],
        "robot.joint[2]": ["distance"],
    }, "as written, shortened"
    assert not states["down"].blocks
    assert (states["down"].first, states["stay"].final, states["home"].first) == (True, True, False)
    assert [s.source[1] for s in diagram.switches if s.free] == [START, HAND, ANY]


INNER = """\
name: down_and_up
roles: {robot: {kinds: [arm]}}
start: [down, beside]
actions:
  down: {type: velocity_move, parts: robot, time_limit: 5, reactions: [{when: is_done, start: up}]}
  beside: {type: hold, parts: robot, reactions: [{when: down.x, signal: down.now}, {when: up.is_done, stop: true}]}
  up: {type: stop, parts: robot, final: true, reactions: [{when: is_done, stop: true, event: up}]}
"""
OUTER = """\
name: outer
start: first
actions:
  first: {type: hold, parts: arm, reactions: [{when: is_done, start: middle}]}
  middle: {use: down_and_up, parts: {robot: arm}, exits: {up: last}}
  last: {type: stop, parts: arm, final: true}
"""


def test_N48_a_program_s_moved_states_stay_where_a_person_put_them(tmp_path: Path) -> None:
    moved = "view: {middle: [300, 40], first: [300, 40], last: [500, 400], gone: [1, 2], start: far}\n"
    diagram = diagram_of(ProgramTemplate(OUTER + moved, find=lambda name: ProgramTemplate(INNER)))
    assert diagram.places == {("action", "first"): (300.0, 40.0), ("action", "last"): (500.0, 400.0)}
    picture = _Picture(diagram)
    (ax, ay), (bx, by) = picture.layout.centers["action", "first"], picture.layout.centers["action", "last"]
    a, b = picture.boxes["action", "first"], picture.boxes["action", "last"]
    assert (bx - b.width / 2) - (ax - a.width / 2) == pytest.approx(200.0)
    assert (by - b.height / 2) - (ay - a.height / 2) == pytest.approx(360.0)
    # The used program's box is larger than the one that was moved: it gives way.
    box, (x, y) = picture.boxes["use", "middle"], picture.layout.centers["use", "middle"]
    for other, (u, v) in ((a, (ax, ay)), (b, (bx, by))):
        apart_x, apart_y = (box.width + other.width) / 2, (box.height + other.height) / 2
        assert abs(x - u) >= apart_x or abs(y - v) >= apart_y
    assert draw(diagram, tmp_path / "moved.svg").stat().st_size > 1000


def test_a_used_program_is_a_box_with_its_own_states(tmp_path: Path) -> None:
    diagram = diagram_of(ProgramTemplate(OUTER, find=lambda name: ProgramTemplate(INNER)))
    assert shown(diagram) == {
        (START, "first"): [],
        ("first", "middle"): ["is_done"],
        ("middle", "last"): ["up:", "is_done", "/ event up"],
    }, "one arrow to the box, though two actions start; exits leave the box"
    states = {s.key: s for s in diagram.states}
    box = states["use", "middle"]
    assert [line.text for line in box.lines] == ["middle", "uses down_and_up"]
    assert box.nested is not None
    assert {(s.source[1], s.target[1]) for s in box.nested.switches} == {
        (START, "middle__down"),
        (START, "middle__beside"),
        ("middle__down", "middle__up"),
        ("middle__beside", END),
    }
    inner = {s.lines[0].text: s for s in box.nested.states if s.lines}
    assert [line.text for line in inner["down"].lines] == ["down", "velocity_move · arm", "at most 5 s"]
    assert [line.text for line in inner["beside"].inside] == ["down.x", "/ signal down.now"]
    assert (inner["down"].first, inner["up"].first) == (True, False)
    picture = _Picture(diagram)
    around, within = picture.boxes["use", "middle"], picture.nested["use", "middle"].layout
    assert around.width > within.width and around.height > within.height, "the box holds its states"
    written = re.findall(r"<!-- (.*?) -->", draw(diagram, tmp_path / "d.svg").read_text())
    assert {"uses down_and_up", "up:", "beside", "at most 5 s"} <= set(written)


def test_an_svg_holds_every_text_and_a_png_has_colours(tmp_path: Path) -> None:
    diagram = diagram_of(ProgramTemplate(TEXT))
    svg = draw(diagram, tmp_path / "d.svg").read_text()
    written = set(re.findall(r"<!-- (.*?) -->", svg))
    for text in (
        "until_near",
        "down",
        "velocity_move · part: robot",
        "eye.distance &lt; $near and",
        "/ event too_slow",
        "elbow",
        "velocity",
        "robot.joint[2]",
    ):
        assert text in written or text.replace("&lt;", "<") in written, text
    picture = matplotlib.image.imread(draw(diagram, tmp_path / "d.png"))
    height, width = picture.shape[:2]
    assert 600 < width < 3000 and 600 < height < 3000
    colours = {tuple(int(c * 255) for c in pixel[:3]) for row in picture[::7] for pixel in row[::7]}
    assert {(255, 255, 255), (0xE3, 0xF1, 0xE4), (0xF6, 0xEC, 0xD9)} <= colours, "white, first states, final states"
    assert draw(diagram, tmp_path / "again.svg").read_text() == svg, "the same program gives the same file"


def test_what_cannot_be_drawn(tmp_path: Path) -> None:
    diagram = diagram_of(ProgramTemplate(TEXT))
    with pytest.raises(RobotControlError, match=r"picture '.*d.gif'; expected a name that ends with .svg or .png; got"):
        draw(diagram, tmp_path / "d.gif")
    with pytest.raises(RobotControlError, match="picture '.*nowhere/d.svg' cannot be written; got .*No such file"):
        draw(diagram, tmp_path / "nowhere" / "d.svg")


def test_switches_that_are_too_long_are_written_into_the_state() -> None:
    n = 30
    ways = "reactions: [{when: is_done, start: s%d}, {when: x, start: s20}]"
    chain = "".join(f"  s{i}: {{type: t, parts: p, {ways % ((i + 1) % n)}}}\n" for i in range(n))
    diagram = diagram_of(ProgramTemplate(f"start: s0\nactions:\n{chain}"))
    picture = _Picture(diagram)
    inside = {s.key[1]: [line.text for line in s.inside] for s in picture.states}
    assert inside["s0"] == ["x", "→ s20"] and inside["s19"] == [] and inside["s29"] == ["is_done", "→ s0", "x", "→ s20"]
    picture.figure()


def test_the_library_can_be_drawn() -> None:
    for path in library_programs().values():
        width, height = _Picture(diagram_of(ProgramTemplate.load(path))).figure().get_size_inches()
        assert 3.0 < width < 40.0 and 3.0 < height < 40.0


@st.composite
def programs(draw: st.DrawFn) -> str:
    ids = [f"s{i}" for i in range(draw(st.integers(1, 7)))]
    lines = ["start: [s0]", "actions:"]
    for i, id in enumerate(ids):
        lines += [f"  {id}:", "    type: t", "    parts: p"]
        lines += ["    final: true"] if draw(st.booleans()) else []
        lines += ["    manual: true"] if i and draw(st.booleans()) else []
        lines += ["    reactions:"]
        for _ in range(draw(st.integers(1, 4))):
            response = draw(
                st.sampled_from([*(f"start: {t}" for t in ids), "stop: true", "event: e", "start: s0, event: e"])
            )
            lines.append(
                f"      - {{when: {draw(st.sampled_from(['x', 'a.b > 3 and not c or is_unknown(d)']))}, {response}}}"
            )
    if draw(st.booleans()):
        lines += ["reactions:", f"  - {{when: x, start: {draw(st.sampled_from(ids))}}}", "  - {when: y, event: e}"]
    return "\n".join(lines) + "\n"


@settings(max_examples=6, deadline=None)
@given(programs())
def test_any_program_is_drawn(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    template = ProgramTemplate(text)
    diagram = diagram_of(template)
    definition = template.sample().definition
    assert [s.key[1] for s in diagram.states if s.key[0]] == [a.id for a in definition.actions]
    switches = {(a.id, name) for a in definition.actions for r in a.reactions for name in r.start}
    assert {(s.source[1], s.target[1]) for s in diagram.switches if s.source[0] and s.target[0]} == switches
    path = draw(diagram, tmp_path_factory.mktemp("drawn") / "d.svg")
    assert path.read_text().rstrip().endswith("</svg>")
