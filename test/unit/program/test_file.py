"""Programs as YAML."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.definitions.definitions import (
    ActionDefinition,
    ParameterValue,
    ProgramDefinition,
    ReactionDefinition,
)
from robot_rt_control.program.check import check_program
from robot_rt_control.program.file import ProgramTemplate, dump_program, load_program, parse_program
from robot_rt_control.validation.catalogue import Catalogue
from robot_rt_control.vocabulary.capacities import MAX_MISTAKES
from robot_rt_control.vocabulary.errors import CapacityError, ConditionError, DefinitionError, ProgramError
from robot_rt_control.vocabulary.names import RESERVED

UP_AND_DOWN = """\
name: up_and_down
parts: [arm]
start: [move_down]
actions:
  move_down:
    type: velocity_move
    parts: arm
    parameters: {linear: {value: [0, 0, -0.1], unit: m/s}, smooth: true}
    reactions:
      - {when: rangefinder.distance < 0.25, start: move_up}
      - {when: is_done, event: finished, capture: [rangefinder.distance]}
  move_up:
    type: velocity_move
    parts: {robot: arm}
    parameters:
      linear: [0, 0, 1e-1]
      mode: on
reactions:
  - name: emergency
    when: >
      estop and
      not move_up.is_done
    stop: true
    fire_once: true
"""


def test_reads_a_program() -> None:
    assert parse_program(UP_AND_DOWN) == ProgramDefinition(
        name="up_and_down",
        parts=("arm",),
        start=("move_down",),
        actions=(
            ActionDefinition(
                id="move_down",
                type="velocity_move",
                parts=("arm",),
                parameters=(
                    ParameterValue(name="linear", value=(0, 0, -0.1), unit="m/s"),
                    ParameterValue(name="smooth", value=True),
                ),
                reactions=(
                    ReactionDefinition(condition="rangefinder.distance < 0.25", start=("move_up",)),
                    ReactionDefinition(condition="is_done", event="finished", capture=("rangefinder.distance",)),
                ),
            ),
            ActionDefinition(
                id="move_up",
                type="velocity_move",
                parts={"robot": "arm"},
                parameters=(
                    ParameterValue(name="linear", value=(0, 0, 0.1)),
                    ParameterValue(name="mode", value="on"),
                ),
            ),
        ),
        reactions=(
            ReactionDefinition(
                name="emergency", condition="estop and not move_up.is_done\n", stop=True, fire_once=True
            ),
        ),
    )


def test_reads_the_shortest_program() -> None:
    program = parse_program("{actions: {wait: {type: hold, parts: [arm]}}}")
    assert program == ProgramDefinition(actions=(ActionDefinition(id="wait", type="hold", parts=("arm",)),))


def test_a_condition_may_be_a_bare_word_of_yaml() -> None:
    program = parse_program(
        "{actions: {wait: {type: hold, parts: arm, reactions: [{when: true, event: e}]}}}", source="p.yaml"
    )
    assert program.actions[0].reactions[0].condition == "true"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("start: move_up}", "start: move_upp}", "10: reaction on 'range|starts an action that is not|mean 'move_up'"),
        ("start: [move_down]", "start: [down]", "3: program starts an action that is not defined|got 'down'"),
        ("when: is_done", "wen: is_done", "11: actions.move_down.reactions[1].wen: unknown key|mean 'when'; got 'wen'"),
        ("{when: is_done, ", "{", "11: actions.move_down.reactions[1].when; expected this key; got nothing"),
        ("event: finished", "event: 'all done'", "11: actions.move_down.reactions[1].event; expected letters"),
        ("type: velocity_move\n    parts: arm", "typ: a", "6: actions.move_down.typ: unknown key|mean 'type'"),
        ("    parts: {robot: arm}\n", "", "12: actions.move_up.parts; expected this key; got nothing"),
        ("parts: arm", "parts: [arm, arm]", "5: action 'move_down': part 'arm' is given twice"),
        ("[0, 0, -0.1]", "[0, 0, {z: 1}]", "8: actions.move_down.parameters.linear.value; expected|got [0, 0, {'z'"),
        ("[0, 0, -0.1]", "[0, 0, fast]", "8: value of parameter 'linear'; expected a number|or a flat list of numbers"),
        ("unit: m/s", "units: m/s", "8: actions.move_down.parameters.linear.units: unknown key|mean 'unit'"),
        ("mode: on", "mode:", "17: actions.move_up.parameters.mode; expected a number|got nothing"),
        ("stop: true", "stop: yes", "23: reactions[0].stop; expected true or false; got 'yes'"),
        ("fire_once: true", "keep_owner: true", "19: reaction 'emergency' keeps its owner|together with start"),
        ("name: emergency", "signal: pause", "19: reaction on|expected 'action.signal' in a free-standing reaction"),
        ("\nactions:", "\naction:", "4: action: unknown key|did you mean 'actions' or 'reactions'; got 'action'"),
        ("  move_up:", "  move_down:", "12: actions: key 'move_down' is given twice; expected each once; got two"),
        ("  move_up:", "  move up:", "12: actions.move up; expected letters, digits and underscores|got 'move up'"),
        ("name: up_and_down", "name: [a]", "1: name; expected a text; got ['a']"),
    ],
)  # fmt: skip
def test_errors_carry_the_line(old: str, new: str, message: str) -> None:
    assert UP_AND_DOWN.count(old) == 1
    with pytest.raises(DefinitionError) as caught:
        parse_program(UP_AND_DOWN.replace(old, new), source="program.yaml")
    text = str(caught.value)
    assert any(line.startswith("program.yaml:" + message.split("|")[0]) for line in text.splitlines())
    assert all(piece in text for piece in message.split("|"))


def test_conditions_are_pointed_into() -> None:
    with pytest.raises(ConditionError) as caught:
        parse_program(UP_AND_DOWN.replace("distance < 0.25", "distance < 0.25 m m"), source="program.yaml")
    assert str(caught.value) == (
        "program.yaml:10: condition of a reaction of action 'move_down' is not valid at column 31; "
        "expected 'and', 'or' or the end of the condition; got 'm'\n"
        "  rangefinder.distance < 0.25 m m\n"
        "                                ^"
    )


def test_missing_actions() -> None:
    with pytest.raises(
        DefinitionError, match="^program:1: actions; expected this key; got nothing$"
    ):
        parse_program("name: x")


def test_actions_of_the_session_may_be_started() -> None:
    text = "{actions: {wait: {type: hold, parts: arm, reactions: [{when: x, start: old, signal: older.s}]}}}"
    parse_program(text, defined=["old", "older"])
    with pytest.raises(
        DefinitionError, match="signals an action that is not defined; expected one of the known names; did"
    ):
        parse_program(text, defined=["old"])


def test_load(tmp_path: Path) -> None:
    path = tmp_path / "program.yaml"
    path.write_text(UP_AND_DOWN.replace("stop: true", "stop: 3"), encoding="utf-8")
    with pytest.raises(DefinitionError, match=r"^program.yaml:23: reactions\[0\].stop; expected true or false; got 3"):
        load_program(path)
    path.write_text(UP_AND_DOWN, encoding="utf-8")
    assert load_program(path) == parse_program(UP_AND_DOWN)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(
        DefinitionError, match="file '.*program.yaml' cannot be read; expected a readable UTF-8 text file"
    ):
        load_program(path)
    with pytest.raises(DefinitionError, match="file '.*missing.yaml' cannot be read; .*No such file"):
        load_program(tmp_path / "missing.yaml")


TEMPLATE = """\
name: until_near
description: >
  Moves down
  until something is near.
roles:
  robot: {kinds: arm, description: moves}
  eye: {kinds: [rangefinder], default: rangefinder}
  any_part:
parameters:
  speed: {unit: m/s, default: 0.1, minimum: 0.01, maximum: 0.25, description: Of the tool.}
  near: {unit: m}
  mode: {type: text, choices: [soft, hard], default: soft}
parts: robot
start: [down]
actions:
  down:
    type: velocity_move
    parts: {part: robot, sensor: eye}
    parameters:
      linear: [0, 0, -$speed]
      mode: $mode
      label: costs 5 $$
      ramp: {value: 2 * $speed, unit: s}
    reactions:
      - {when: eye.distance < $near, start: stay, capture: [eye.distance, is_done]}
  stay: {type: hold, parts: [robot], final: true, manual: true}
"""


def test_a_template_says_what_it_asks_for() -> None:
    template = ProgramTemplate(TEMPLATE)
    assert (template.name, template.description) == ("until_near", "Moves down until something is near.")
    assert [(r.name, r.kinds, r.default) for r in template.roles] == [
        ("robot", ("arm",), ""),
        ("eye", ("rangefinder",), "rangefinder"),
        ("any_part", (), ""),
    ]
    speed, near, mode = template.parameters
    assert (speed.unit, speed.default, speed.minimum, speed.maximum) == ("m/s", 0.1, 0.01, 0.25)
    assert (near.default, mode.choices) == (None, ("soft", "hard"))


def test_a_template_is_filled_with_values_and_parts() -> None:
    values = [ParameterValue(name="near", value=0.3), ParameterValue(name="speed", value=0.2)]
    filled = ProgramTemplate(TEMPLATE).fill(parameters=values, parts=["robot=left", "any_part=x"])
    program = filled.definition
    down, stay = program.actions
    assert program.parts == ("left",)
    assert down.parts == {"part": "left", "sensor": "rangefinder"} and stay.parts == ("left",)
    assert {p.name: (p.value, p.unit) for p in down.parameters} == {
        "linear": ((0, 0, -0.2), "m/s"),
        "mode": ("soft", ""),
        "label": ("costs 5 $", ""),
        "ramp": (0.4, "s"),
    }
    assert down.reactions[0].condition == "rangefinder.distance < 0.3 m"
    assert down.reactions[0].capture == ("rangefinder.distance", "is_done")
    assert (stay.final, stay.manual) == (True, True)
    assert filled.unused == ("any_part",)
    assert filled.roles == {"robot": "left", "eye": "rangefinder", "any_part": "x"}
    assert parse_program(dump_program(program)) == dataclasses.replace(program, actions=(down, stay))


def test_a_template_is_read_before_it_is_filled() -> None:
    sample = ProgramTemplate(TEMPLATE).sample()
    assert sample.is_sample and sample.sampled == frozenset()
    assert sample.definition.actions[0].reactions[0].condition == "eye.distance < 1.0 m"
    open_speed = ProgramTemplate(TEMPLATE.replace("default: 0.1, ", "")).sample()
    assert open_speed.sampled == {("down", "linear"), ("down", "ramp")}


def test_places_know_lines_and_what_is_written() -> None:
    places = ProgramTemplate(TEMPLATE).sample().places
    assert places.line("actions", "down") == 16
    assert places.line("actions", "down", "parameters", "mode") == 21
    assert places.line("actions", "down", "reactions", 0, "when") == 25
    assert places.line("actions", "down", "nothing", "at all") == 16
    assert places.line("parameters", "near") == 11
    assert places.line("nowhere") == 1
    assert places.text("actions", "down", "reactions", 0, "when") == "eye.distance < $near"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kinds: arm", "kinds: amr", "6: role 'robot': unknown kind of part|did you mean 'arm'"),
        ("kinds: arm", "kind: arm", "6: roles.robot.kind: unknown key|did you mean 'kinds'; got 'kind'"),
        ("minimum: 0.01", "minimum: low", "10: parameters.speed.minimum; expected a finite number; got 'low'"),
        ("minimum: 0.01", "minimum: 0.2", "10: program: default of parameter 'speed': out of range; expected 0.2 to"),
        ("near: {unit: m}", "eye: {unit: m}", "11: parameter 'eye' has the name of a role; expected different names"),
        ("  stay: {", "  eye: {", "26: action 'eye' has the name of a role"),
        ("$mode", "$mod", "21: action 'down': parameter 'mode': unknown parameter $mod|did you mean 'mode'; got $mod"),
        ("-$speed", "-$mode", "20: action 'down': parameter 'linear': '-' computes with numbers|got $mode = 'soft'"),
        ("-$speed", "-$speed $", "20: action 'down': parameter 'linear': '-$speed $' cannot be computed"),
        ("< $near", "< $mode", "25: reaction: when: $mode cannot be used in a condition|got the text 'soft'"),
        ("final: true", "final: yes", "26: actions.stay.final; expected true or false; got 'yes'"),
        ("description: >\n  Moves down\n  until", "description:\n  - Moves\n  -", "2: description; expected a text"),
    ],
)  # fmt: skip
def test_mistakes_in_templates_carry_the_line(old: str, new: str, message: str) -> None:
    assert TEMPLATE.count(old) == 1
    with pytest.raises(DefinitionError) as caught:
        _ = ProgramTemplate(TEMPLATE.replace(old, new), source="p.yaml").sample().definition
    first, *others = message.split("|")
    text = str(caught.value)
    assert any(line.startswith(f"p.yaml:{first}") for line in text.splitlines()), text
    assert all(piece in text for piece in others), text


def test_mistakes_of_form_do_not_hide_others() -> None:
    text = UP_AND_DOWN.replace("unit: m/s", "units: m/s").replace("start: move_up", "start: move_upp")
    text = text.replace("stop: true", "stop: yes").replace("start: [move_down]", "start: [down]")
    with pytest.raises(ProgramError) as caught:
        parse_program(text)
    assert [mistake.line for mistake in caught.value.mistakes] == [3, 8, 10, 23]


def test_all_mistakes_are_told_by_line() -> None:
    text = TEMPLATE.replace("-$speed", "-$sped").replace("start: stay", "start: sty")
    text = text.replace("start: [down]", "start: up")
    with pytest.raises(ProgramError) as caught:
        _ = ProgramTemplate(text, source="p.yaml").sample().definition
    assert [mistake.line for mistake in caught.value.mistakes] == [14, 20, 25]
    assert [line.split(": ")[0] for line in str(caught.value).splitlines()] == ["p.yaml:14", "p.yaml:20", "p.yaml:25"]


def test_dump_is_for_people() -> None:
    text = dump_program(parse_program(UP_AND_DOWN))
    assert "start: [move_down]" in text
    assert "- {when: rangefinder.distance < 0.25, start: move_up}" in text
    assert "fire_once" in text
    assert "keep_owner" not in text


names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True).filter(lambda name: name not in RESERVED)
scalars = st.one_of(st.floats(allow_nan=False), st.integers(-(2**60), 2**60), st.booleans())
characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")  # NUL is refused everywhere
texts = st.text(characters, max_size=12) | st.sampled_from(
    ["$x", "a $ b", "$$", "1e5", "0o17", "on", "null", "~", "", "1:30", "2026-11-21", ".nan", "a: b", "#", "<<"]
)
parameters = st.builds(
    lambda name, value, unit: ParameterValue(name=name, value=value, unit=unit),
    names,
    scalars | texts | st.lists(scalars, min_size=1, max_size=4).map(tuple),
    st.sampled_from(["", "m", "rad/s^2", "1/s", "%"]),
)
conditions = st.sampled_from(
    ["x", "true", "not a.b[1]", "x < -0.5 m\nand y", "approx(x, 1, 1e-3)", "is_unknown(x) or\ty"]
)


@st.composite
def reactions(draw: st.DrawFn, ids: list[str], free_standing: bool = False) -> ReactionDefinition:
    start = tuple(draw(st.lists(st.sampled_from(ids), max_size=2, unique=True)))
    signal = draw(st.sampled_from(["", f"{ids[0]}.pause"] if free_standing else ["", "pause"]))
    return ReactionDefinition(
        name=draw(st.just("") | names),
        condition=draw(conditions),
        start=start,
        stop=draw(st.booleans()) if not start else False,
        signal=signal,
        event=draw(names),
        fire_once=draw(st.booleans()),
        capture=tuple(draw(st.lists(st.sampled_from(["x", "arm.position[3]"]), max_size=3))),
    )


def each_once(strategy: st.SearchStrategy, key: str, max_size: int) -> st.SearchStrategy[tuple]:
    return st.lists(strategy, max_size=max_size, unique_by=lambda item: getattr(item, key) or id(item)).map(tuple)


@st.composite
def programs(draw: st.DrawFn) -> ProgramDefinition:
    ids = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    parts = st.lists(names, min_size=1, max_size=3, unique=True)
    actions = tuple(
        ActionDefinition(
            id=action,
            type=draw(names),
            parts=draw(parts.map(tuple) | parts.map(lambda p: {f"slot_{i}": part for i, part in enumerate(p)})),
            parameters=draw(each_once(parameters, "name", 3)),
            reactions=draw(each_once(reactions(ids), "name", 2)),
            final=draw(st.booleans()),
            manual=draw(st.booleans()),
        )
        for action in ids
    )
    return ProgramDefinition(
        name=draw(st.just("") | names),
        parts=tuple(draw(parts)),
        start=tuple(draw(st.lists(st.sampled_from(ids), unique=True))),
        actions=actions,
        reactions=draw(each_once(reactions(ids, free_standing=True), "name", 2)),
    )


def test_strategies_and_time_limits_are_dumped() -> None:
    text = """
start: a
actions:
  a:
    type: hold
    parts: arm
    time_limit: 2.5
    strategies:
      joint[1]:
        - {name: near, when: 'eye.distance < 0.3', law: velocity, parameters: {velocity: {value: 0.1, unit: rad/s}},
           inputs: {d: eye.distance}, parts: eye, capture: [eye.distance, elapsed]}
        - {name: far, law: hold}
"""
    program = parse_program(text)
    assert program.actions[0].strategies and program.actions[0].time_limit == 2.5
    assert parse_program(dump_program(program)) == program


@given(programs())
def test_round_trip(program: ProgramDefinition) -> None:
    assert parse_program(dump_program(program)) == program


@given(
    st.text(max_size=40)
    | st.lists(st.sampled_from([*"{}[]:,-&*!|>'\"#%@` \n", "a", "actions", "1"]), max_size=20).map("".join)
)
def test_any_text_is_a_program_or_refused_with_a_line(text: str) -> None:
    try:
        parse_program(text, source="p.yaml")
    except DefinitionError as error:
        assert str(error).startswith("p.yaml:")


def test_limits_are_checked_before_anything_is_read() -> None:
    for text, message in (
        ("actions:\n  a: " + "[" * 2000, "p.yaml:2: nested too deeply; expected at most 50 (MAX_YAML_DEPTH); got more"),
        (
            "a: &a [x,x,x,x,x,x,x,x]\n" + "".join(f"{b}: &{b} [{f'*{a},' * 8}]\n" for a, b in pairwise("abcdefgh")),
            "p.yaml:6: too many items, those included that aliases repeat; expected at most 100000 (MAX_YAML_ITEMS)",
        ),
        ("#" * (1 << 20) + "\n", "p.yaml:1: the text is too large; expected at most 1048576 bytes; got 1048577 bytes"),
    ):
        with pytest.raises(CapacityError) as caught:
            ProgramTemplate(text, source="p.yaml")
        assert str(caught.value).startswith(message)


def test_mistakes_are_reported_up_to_a_limit() -> None:
    wrong = ["{when: x, event: 'a b'}"] * 80 + ["{when: x, start: nothing}"] * 80 + ["{when: x, evnt: e}"] * 80
    text = "actions: {a: {type: hold, parts: arm}}\nreactions:\n" + "".join(f"  - {reaction}\n" for reaction in wrong)
    with pytest.raises(ProgramError) as caught:
        parse_program(text)
    assert len(caught.value.mistakes) == MAX_MISTAKES
    assert caught.value.line == 3


@given(st.data())
def test_any_change_of_a_program_is_read_or_refused_with_a_line(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(TEMPLATE)))
    end = data.draw(st.integers(start, min(start + 30, len(TEMPLATE))))
    pieces = ["", " ", "\n", "{", "}", "[", "]", ": ", "- ", "$", "$speed", "null", "1e9", "&x ", "*x", "!!int "]
    text = TEMPLATE[:start] + data.draw(st.sampled_from(pieces) | st.text(max_size=6)) + TEMPLATE[end:]
    try:
        ProgramTemplate(text, source="p.yaml").sample().definition  # noqa: B018
    except DefinitionError as error:
        assert all(line.startswith("p.yaml:") for line in str(error).splitlines() if not line.startswith("  "))
        assert error.line >= 1


@pytest.mark.parametrize("view", ["{move_down: [40, -20.5]}", "{gone: [1, 2], move_up: far, move_down: [.inf, 1]}"])
def test_N48_places_of_states_are_for_pictures_only(view: str) -> None:
    plain, moved = ProgramTemplate(UP_AND_DOWN), ProgramTemplate(f"{UP_AND_DOWN}view: {view}\n")
    assert moved.sample().definition == plain.sample().definition
    assert moved.fill().definition == plain.fill().definition
    catalogue = Catalogue()
    assert check_program(moved.sample(), catalogue) == check_program(plain.sample(), catalogue)
    assert moved.sample().unused == ()


def test_a_view_that_is_no_mapping_is_a_mistake_with_its_line() -> None:
    with pytest.raises(DefinitionError, match=r"program:25: view; expected a mapping"):
        _ = ProgramTemplate(f"{UP_AND_DOWN}view: 3\n").fill().definition
