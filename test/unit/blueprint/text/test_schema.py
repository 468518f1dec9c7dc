"""The JSON Schema of skills' files: up to date, and in agreement with what reads them."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.blueprint.text.schema import SCHEMA_FILE, skill_schema
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.vocabulary.errors import DefinitionError

VALIDATOR = jsonschema.Draft202012Validator(skill_schema())
SKILL: dict[str, Any] = {
    "name": "welcome",
    "level": "blueprint",
    "scenarios": ["welcome"],
    "commands": [{"say": ["welcome the guest"]}, {"gesture": "wave"}, {"when": "door.distance < 1.5", "cooldown": 60}],
    "roles": {"hand": {"kinds": ["arm"]}},
    "parameters": {"guest": {"type": "text", "default": "dear guest"}},
    "results": {"staff": None, "thief": {"failure": True}},
    "outputs": {"drink": {"type": "text", "value": "$seat.wish"}},
    "values": {"round": {"type": "int", "default": 0}},
    "start": "look",
    "nodes": {
        "look": {"skill": "recognise_face", "then": ["greet", {"on": ["staff"], "end": "staff"}]},
        "greet": {"skill": "greet@2", "with": {"phrase": "$guest"}, "parts": {"arm": "hand"}, "retry": 1},
        "both": {"all_of": {"a": {"wait": 1}, "b": {"say": "hello"}}, "then": "look", "manual": True},
        "ask": {"ask": {"text": "Tea?", "answers": ["yes", "no"]}, "then": ["both", {"when": True, "go": "look"}]},
        "move": {"skill": "move_linear", "until": "is_near", "repeat": 2},
        "set": {"set": {"round": "$round + 1"}},
        "log": {"log": 3.5},
        "until": {"wait_until": "x > 1", "then": {"go": "look"}},
        "first": {"first_of": {"a": {"skill": "b"}}, "timeout": 30},
    },
    "reactions": [{"when": "person.distance < 0.5", "go": "greet", "at": "end"}],
    "view": {"look": [1, 2]},
}


def test_the_schema_file_is_up_to_date() -> None:
    assert json.loads(SCHEMA_FILE.read_text()) == skill_schema(), "python -m robot_rt_control.blueprint.text.schema"


def test_a_file_with_all_keys_is_valid_for_both() -> None:
    VALIDATOR.validate(SKILL)
    template = SkillTemplate(yaml.safe_dump(SKILL, sort_keys=False))
    assert not template.mistakes and list(template.content.nodes) == list(SKILL["nodes"])


def _items(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(*path, key) for key, _ in pairs] + [p for key, item in pairs for p in _items(item, (*path, key))]


@settings(max_examples=tries(37, whole=150), deadline=None)
@given(st.sampled_from(_items(SKILL)), st.sampled_from([None, 1, -1.5, True, "x y", [], {}, [1], {"x": 1}, "done"]))
def test_N6_what_the_schema_refuses_is_a_mistake_with_its_line(path: tuple[Any, ...], value: Any) -> None:
    data = json.loads(json.dumps(SKILL))
    item = data
    for step in path[:-1]:
        item = item[step]
    item[path[-1]] = value
    try:
        mistakes = [str(error) for error in SkillTemplate(yaml.safe_dump(data, sort_keys=False)).mistakes]
    except DefinitionError as error:
        mistakes = str(error).splitlines()
    if not VALIDATOR.is_valid(data) and path[0] != "view":
        assert mistakes
    assert all(m.startswith("skill:") and m.split(":")[1].isdigit() for m in mistakes), mistakes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "skill:1: the document is empty"),
        ("- 1", "skill:1: the content; expected a mapping with name, level"),
        ("nodes: [", "skill:1: not valid YAML"),
        ("name: x\nnods: {}", "skill:2: nods: unknown key; expected one of the known names; did you mean 'nodes'"),
        ("nodes: {a: {wth: {}, wait: 1}}", "skill:1: nodes.a.wth: unknown key; expected one of"),
        ("name: x\nlevel: top\nnodes: {a: {wait: 1}}", "skill:2: level; expected a level: capability, meta_skill"),
        ("results: {done: {}}\nnodes: {a: {wait: 1}}", "skill:1: result 'done'; expected a name that not every skill"),
        ("values: {n: {type: int}}\nnodes: {a: {wait: 1}}", "skill:1: value 'n' has no first value; expected a `def"),
        ("name: x", "skill:1: the skill does nothing; expected `nodes`, or `is`; got neither"),
        ("is: {wait: 1}\nnodes: {a: {wait: 1}}", "skill:2: nodes; expected either `is` or `nodes`; got both"),
        ("category: sensing\nnodes: {a: {wait: 1}}", "skill:1: category; expected none, except of a capability"),
    ],
)
def test_N6_unreadable(text: str, message: str) -> None:
    try:
        (found, *_) = map(str, SkillTemplate(text).mistakes)
    except DefinitionError as error:
        found = str(error)
    assert found.startswith(message), found
