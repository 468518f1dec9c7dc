"""The JSON Schema of task files: up to date, and in agreement with what reads them."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from robot_rt_control.planning.files.task_file import read_task
from robot_rt_control.planning.files.task_schema import SCHEMA_FILE, task_schema
from robot_rt_control.vocabulary.errors import DefinitionError

CONFIG = Path(__file__).parents[4] / "config"
VALIDATOR = jsonschema.Draft202012Validator(task_schema())


def test_the_shipped_schema_is_up_to_date():
    """`python -m robot_rt_control.planning.files.task_schema` writes it."""
    assert json.loads(SCHEMA_FILE.read_text()) == task_schema()


def test_every_key_is_described():
    def check(schema, where):
        for name, key in schema.get("properties", {}).items():
            assert "description" in key or name in ("minimum", "maximum", "description", "type"), f"{where}.{name}"

    definitions = task_schema()["$defs"]
    for name in ("TargetKeys", "PartKeys", "PairKeys", "HorizonKeys", "StartKeys"):
        check(definitions[name], name)
    check(task_schema(), "task")


def test_shipped_tasks_are_valid():
    files = sorted((CONFIG / "tasks").glob("*.yaml"))
    assert files
    for file in files:
        VALIDATOR.validate(yaml.safe_load(file.read_text()))
        assert read_task(file).unused == ()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("target", {"by": [0, 0]}),
        ("target", {"by": [0, 0, "x"]}),
        ("target", {"by": [0, 0, 0], "frame": "arm"}),
        ("target", {"free": ["q"], "by": [0, 0, 0]}),
        ("pairs", [{"robot": "arm.peg", "faces": []}]),
        ("pairs", [{"robot": "arm.peg"}]),
        ("horizon", {"time": "x", "steps": 3}),
        ("start", {"from": "elsewhere"}),
        ("penalty", {"schedule": "none"}),
        ("penalty", {"first": -1}),
        ("post_processing", {"hill_climbing": 1}),
        ("strange", 1),
    ],
)
def test_the_schema_and_the_reader_refuse_the_same(key, value):
    task = yaml.safe_load((CONFIG / "tasks" / "push_box.yaml").read_text())
    assert VALIDATOR.is_valid(task)
    task[key] = value
    assert not VALIDATOR.is_valid(task)
    with pytest.raises(DefinitionError):
        read_task(yaml.safe_dump(task))
