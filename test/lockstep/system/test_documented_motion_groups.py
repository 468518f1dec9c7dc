"""docs/motion_groups.md: its cell, Python, program and calls work as they are on the page; its files exist."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from service_calls import ServiceCalls

from robot_rt_control.program.file import parse_program
from robot_rt_control.ros.conversions import action_definition, motion_commands
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary import capacities

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "motion_groups.md").read_text(encoding="utf-8")
CELL, PROGRAM = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
FIRST, PATHS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
CALLS = re.findall(r"(robot_rt_control/(?:srv|action)/\w+) (?:\\\n\s*)?\"(.*?)\"", PAGE, re.DOTALL)
BENT = (0.0, 0.5, 0.0, 1.2, 0.0, 0.9, 0.0)


@pytest.fixture
def cell_file() -> Path:
    file = ROOT / "config" / "pair.yaml"
    assert CELL in file.read_text(encoding="utf-8")
    return file


def filled(message: Any, values: dict[str, Any]) -> Any:
    """A message with the values that `ros2` puts into it; each name must exist."""
    for name, value in values.items():
        kind = message.get_fields_and_field_types()[name]
        if "/" in kind:
            package, _, leaf = kind.removeprefix("sequence<").rstrip(">").partition("/")
            value = [filled(getattr(import_module(f"{package}.msg"), leaf)(), item) for item in value]
        elif "double" in kind:
            value = [float(v) for v in value] if isinstance(value, list) else float(value)
        setattr(message, name, value)
    return message


def test_python_and_program(cell_file: Path) -> None:
    with LockstepClient(cell_file) as client:
        names: dict[str, Any] = {"client": client}
        exec(FIRST.replace("with Client() as client, ", "with "), names)
        swing = names["swing"].definition(("left", "right"))
        program = parse_program(PROGRAM)
        assert program.actions[0].commands == swing.commands
        assert program.actions[0].parameters[0].value == "together"
        exec(PATHS, names)
        with client.session(["left", "right"]) as session:
            session.upload(PROGRAM)
            session.start("swing")
            session.wait_for("arrived", timeout_s=60)
            session.wait_until("rest.is_settled", timeout_s=60)
            session.add(names["draw"])
            session.start("draw")
            session.wait_until("draw.is_settled", timeout_s=60)
            assert client.value("right.position[0]") == pytest.approx(0.4, abs=0.01)
        assert not client.cell.kinds("part_faulted", "action_failed", "command_refused", "motion_starved")


def test_calls_by_hand(cell_file: Path) -> None:
    calls = {name.rpartition("/")[2]: yaml.safe_load(values) for name, values in CALLS}
    assert list(calls) == ["RunAction", "OpenSession", "DefineActions", "StartActions", "CloseSession"]
    goal = filled(import_module("robot_rt_control.action").RunAction.Goal(), calls["RunAction"])
    first, second, _ = parse_program(PROGRAM).actions[0].commands
    assert motion_commands(goal.commands) == (first, second)
    with LockstepClient(cell_file) as client:
        by_hand = ServiceCalls(client.cell)
        for name, values in [(n, v) for n, v in calls.items() if n != "RunAction"]:
            service = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
            request = filled(by_hand.kinds[service].Request(), values)
            answer = by_hand.handlers[service](request, by_hand.kinds[service].Response())
            assert answer.success, answer.message
            if name == "DefineActions":
                assert action_definition(request.actions[0]).parts == ("left", "right")
            client.sleep(0.1)
        assert client.cell.kinds("action_started")


def test_files_and_functions_exist() -> None:
    table = PAGE.split("## The document's functions")[1]
    for row in table.splitlines():
        cells = row.split("|")
        if len(cells) < 6 or "`" not in cells[2]:
            continue
        files = [ROOT / "robot_rt_control" / place for place in re.findall(r"`([\w/]+\.py)`", cells[2])]
        assert files and all(file.exists() for file in files), row
        text = "".join(file.read_text() for file in files)
        for name in re.findall(r"`(?:\w+\.)?(\w+)`(?= and| in|,)", cells[2]):
            assert re.search(rf"(def |class |^){name}\b", text, re.MULTILINE), (name, row)


def test_capacities() -> None:
    section = PAGE.split("## Capacities")[1].split("\n## ")[0]
    for text in (
        f"| parts of a group | {capacities.MAX_PARTS} |",
        f"{capacities.MAX_COMMANDS_OF_GROUP}; with `profile: realtime` {capacities.MAX_GROUP_COMMANDS} for each part",
        f"| groups with `profile: async` | {capacities.MAX_MOTION_QUEUES},",
        f"{capacities.MOTION_QUEUE_BYTES >> 20} MiB of all",
        f"starts | {capacities.MAX_ACTIONS_PER_COMMAND} |",
        f"{capacities.MAX_PROGRAM_BYTES >> 20} MiB with {capacities.MAX_YAML_ITEMS // 1000} 000 items",
    ):
        assert text in section
