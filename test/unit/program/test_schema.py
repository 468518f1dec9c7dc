"""The JSON Schema of program files: up to date, and in agreement with what reads them."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.program.library import library_programs
from robot_rt_control.program.schema import SCHEMA_FILE, program_schema
from robot_rt_control.vocabulary.errors import DefinitionError

VALIDATOR = jsonschema.Draft202012Validator(program_schema())

PROGRAM: dict[str, Any] = {
    "name": "trace",
    "description": "Traces.",
    "roles": {
        "robot": {"kinds": ["arm", "base"], "default": "arm", "description": "moves"},
        "eye": {"kinds": "rangefinder"},
    },
    "parameters": {
        "speed": {"unit": "m/s", "default": 0.1, "minimum": 0.01, "maximum": 1, "description": "fast"},
        "path": {"length": "any", "default": [1, 2.5]},
        "mode": {"type": "text", "choices": ["a", "b"]},
    },
    "parts": ["robot"],
    "start": "go",
    "actions": {
        "go": {
            "type": "velocity_move",
            "parts": {"part": "robot"},
            "parameters": {
                "linear": [0, "-$speed", 1.5],
                "mode": "$mode",
                "time": {"value": "2 * $speed", "unit": "s"},
                "x": True,
            },
            "reactions": [
                {"when": "eye.distance < 0.2", "start": "stay", "event": "near", "name": "r", "capture": ["eye.age"]},
                {"when": True, "signal": "stay.pause", "fire_once": True, "capture": "eye.age"},
            ],
        },
        "stay": {
            "type": "my.hold",
            "parts": "robot",
            "final": True,
            "manual": False,
            "reactions": [{"when": "x", "stop": True}],
        },
        "both": {
            "type": "motion_group",
            "parts": ["robot", "left"],
            "manual": True,
            "commands": [
                {"part": "robot", "position": [0, "2 * $speed"], "speed": "2 * $speed", "via": [[0, 1], "$path"]},
                {
                    "part": "left",
                    "trajectory": {"times": [0, 1], "poses": [[0, 0, 1, 0, 0, 0, 1], [0, 0, 2, 0, 0, 0, 1]]},
                },
                {"part": "left", "pose": {"position": [0, 0, 1], "orientation": [0, 0, 0, 1]}, "duration": 1},
            ],
        },
    },
    "reactions": [{"when": "speed < 0.1", "event": "slow"}],
    "view": {"go": [10, 20.5]},
}  # fmt: skip


def schema_takes(document: Any) -> bool:
    return bool(VALIDATOR.is_valid(document))


def reader_refuses(document: Any) -> str:
    """What the reader says; empty: it takes it."""
    try:
        _ = ProgramTemplate(yaml.safe_dump(document, sort_keys=False)).sample().definition
    except DefinitionError as error:
        return str(error)
    return ""


def test_the_file_is_up_to_date() -> None:
    assert json.loads(SCHEMA_FILE.read_text()) == program_schema(), (
        "run python -m robot_rt_control.program.schema"
    )
    jsonschema.Draft202012Validator.check_schema(program_schema())


def test_it_describes_every_key_for_whoever_edits() -> None:
    definitions = program_schema()["$defs"]
    assert "conditions" in definitions["ParameterDeclaration"]["description"]
    described = [
        (name, key)
        for name, definition in definitions.items()
        for key, item in definition["properties"].items()
        if "description" not in item
        and key not in ("type", "unit", "description", "minimum", "maximum", "value", "kinds")
    ]
    assert described == []


def test_the_example_of_everything_is_valid() -> None:
    assert reader_refuses(PROGRAM) == ""
    VALIDATOR.validate(PROGRAM)


def test_the_library_is_valid() -> None:
    for path in library_programs().values():
        VALIDATOR.validate(yaml.safe_load(path.read_text()))


def changed(document: Any, path: list[Any], value: Any) -> Any:
    """A copy with the item at a path replaced; `...` removes it."""
    copied = json.loads(json.dumps(document))
    item = copied
    for step in path[:-1]:
        item = item[step]
    if value is ...:
        del item[path[-1]]
    else:
        item[path[-1]] = value
    return copied


GO = ["actions", "go"]
BOTH = ["actions", "both"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["nmae"], "x"),
        (["actions"], ...),
        (["actions"], []),
        (["name"], "two words"),
        (["roles", "robot", "kinds"], ["amr"]),
        (["roles", "robot", "kind"], "arm"),
        (["roles", "not"], {"x": 1}),
        (["parameters", "speed", "type"], "flaot"),
        (["parameters", "speed", "length"], 0),
        (["parameters", "speed", "minimum"], "low"),
        (["parameters", "speed", "uint"], "m"),
        ([*GO, "type"], ...),
        ([*GO, "type"], "a b"),
        ([*GO, "parts"], ["a", "b", "c", "d", "e"]),
        ([*GO, "parts"], {"slot": ["arm"]}),
        ([*GO, "parameters", "linear"], []),
        ([*GO, "parameters", "linear"], [[1]]),
        ([*GO, "parameters", "linear"], {"valeu": 1}),
        ([*GO, "parameters", "linear"], {"value": 1, "unit": "m", "x": 1}),
        ([*GO, "reactions", 0, "when"], ...),
        ([*GO, "reactions", 0, "event"], "two words"),
        ([*GO, "reactions", 0, "stop"], "yes"),
        ([*GO, "reactions", 0, "capture"], ["a b"]),
        ([*GO, "reactions", 0, "capture"], ["x"] * 9),
        ([*GO, "reactions", 0, "evnt"], "x"),
        ([*GO, "reactions"], {"when": "x", "event": "e"}),
        ([*GO, "final"], 1),
        ([*BOTH, "type"], "move_joint"),
        ([*BOTH, "parts"], "a b"),
        ([*BOTH, "strategies"], {}),
        ([*BOTH, "commands", 0, "part"], ...),
        ([*BOTH, "commands", 0, "speed"], "fast"),
        ([*BOTH, "commands", 0, "position"], []),
        ([*BOTH, "commands", 0, "via", 0], []),
        ([*BOTH, "commands", 0, "sped"], 1),
        ([*BOTH, "commands", 1, "trajectory", "times"], ...),
        ([*BOTH, "commands", 2, "pose"], [0, 0, 1]),
        (["start"], ["go"] * 65),
    ],
)  # fmt: skip
def test_what_the_schema_refuses_the_reader_refuses(path: list[Any], value: Any) -> None:
    document = changed(PROGRAM, path, value)
    assert not schema_takes(document)
    assert reader_refuses(document).startswith("program:")


def item(document: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        document = document[step]
    return document


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of all items."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += places(item, (*path, key))
    return found


values = st.sampled_from(
    [
        None,
        True,
        0,
        -3,
        2.5,
        "arm",
        "go",
        "a b",
        "$speed",
        "x < 1",
        [],
        [1, 2],
        ["arm"],
        [[1]],
        {},
        {"value": 1},
        {"go": 1},
    ]
)


@settings(deadline=None)
@given(st.sampled_from(places(PROGRAM)), values | st.just(...))
def test_where_the_reader_takes_a_change_the_schema_takes_it(path: tuple[Any, ...], value: Any) -> None:
    # The reader takes `description: 3` for the text "3"; an editor rightly asks for quotes.
    assume(not isinstance(value, bool | int | float) or isinstance(item(PROGRAM, path), bool | int | float))
    document = changed(PROGRAM, list(path), value)
    assume(not reader_refuses(document))
    VALIDATOR.validate(document)
