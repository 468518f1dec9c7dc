"""Skills made of Python functions, in lockstep: rules N41 to N43."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.blueprint.graph import events
from robot_rt_control.blueprint.makers.capability_files import load_capabilities
from robot_rt_control.blueprint.makers.makers import Makers
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.program.file import library_template
from robot_rt_control.program.library import library_programs
from robot_rt_control.server.offline_catalogue import offline_catalogue
from robot_rt_control.testing.lockstep_blueprint import LockstepBlueprint
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.validation.catalogue import Catalogue

BENCH = Path(__file__).parents[1] / "mock_bench.yaml"

CODE = '''
import time
from typing import Annotated
from robot_rt_control.blueprint.makers import Handle, SkillFailed, skill

@skill(level="meta_skill", results=["high"], outputs={"z": "m"}, roles={"arm": {"kinds": ["arm"], "default": "arm"}})
def lift(handle: Handle, far: Annotated[float, "m"] = 0.01) -> object:
    """Lift the arm, and say how high it is."""
    before = handle.view.value("arm.tool.z")
    handle.progress("going")
    handle.view.run("move_linear", offset=[0.0, 0.0, far], speed=0.1)
    handle.sleep(0.02)
    return "high", {"z": handle.view.value("arm.tool.z") - before}

@skill(roles={"arm": {"kinds": ["arm"], "default": "arm"}})
def takes(handle: Handle, what: str = "") -> object:
    if what == "gripper":
        handle.view.run("move_gripper", {"gripper": "gripper"}, opening=1.0)
    if what == "raise":
        raise ValueError("no such thing")
    if what == "unknown":
        return "purple"
    if what == "output":
        return {"x": 1.0}
    if what == "long":
        handle.view.run("move_linear", offset=[0.0, 0.0, 0.1], speed=0.02)
    if what == "ask":
        return None if handle.ask("Go on?", ["yes", "no"]) == "yes" else "failed"
    if what == "until":
        return None if handle.view.wait_until("arm.tool.z > -10", 1.0) else "failed"

LATE = []

@skill(roles={"arm": {"kinds": ["arm"], "default": "arm"}})
def hangs(handle: Handle) -> None:
    while not LATE:
        time.sleep(0.005)
    try:
        handle.view.run("move_linear", offset=[0.0, 0.0, 0.05], speed=0.1)
    except BaseException as error:
        LATE.append(error)
'''


@pytest.fixture(scope="module")
def workcell() -> Catalogue:
    return offline_catalogue(BENCH)


class Code:
    def __init__(self, workcell: Catalogue, folder: Path) -> None:
        file = folder / "own_skills.py"
        file.write_text(CODE)
        self.capabilities = load_capabilities([file])
        programs = {name: library_template(name) for name in library_programs()}
        self.catalogue = SkillCatalogue(workcell, programs, {}, made=self.capabilities.templates)

    def run(self, client: LockstepClient, nodes: str, **options: Any) -> LockstepBlueprint:
        template = SkillTemplate(f"{{name: main, nodes: {nodes}}}")
        check_skill(template, self.catalogue)
        makers = Makers(self.capabilities, patience_s=options.pop("patience_s", 10.0))
        return LockstepBlueprint(client, self.catalogue.with_skill(template), "main", makers=makers, **options)


@pytest.fixture
def code(workcell: Catalogue, tmp_path: Path) -> Code:
    return Code(workcell, tmp_path)


@pytest.fixture
def client() -> Iterator[LockstepClient]:
    with LockstepClient(BENCH, hardware="mock") as made:
        made.sleep(0.02)
        yield made


def test_N41_python_functions_are_skills(code: Code, workcell: Catalogue, tmp_path: Path) -> None:
    """Values, results, outputs and the view of the session, and twice the same to the bit."""
    records = []
    for _ in range(2):
        with LockstepClient(BENCH, hardware="mock") as client:
            client.sleep(0.02)
            run = code.run(
                client,
                "{up: {skill: lift, with: {far: 0.02}, then: {on: high, go: down}},"
                " down: {skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0, -$up.z], speed: 0.1}}}",
            )
            assert run.run().shown == "done"
            records.append(run.records)
    assert records[0] == records[1]
    assert [r["text"] for r in records[0] if r["what"] == "progress"] == ["going"]
    (up,) = [r for r in records[0] if r["what"] == "ended" and r["path"] == "up"]
    assert up["result"] == "high" and up["outputs"]["z"] == pytest.approx(0.02, abs=1e-3)


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("raise", "own_skills.py:20: ValueError: no such thing"),
        ("unknown", "own_skills.py:15: takes() returned the unknown result 'purple'"),
        ("output", "own_skills.py:15: takes(): unknown output 'x'"),
        ("gripper", "'move_gripper' would move gripper; expected parts of the skill's roles: arm"),
    ],
)
def test_N42_what_a_function_does_wrong_is_failed(
    code: Code, client: LockstepClient, what: str, reason: str
) -> None:
    """With file and line; a part that is not of its roles cannot be moved, though the run holds it."""
    run = code.run(
        client,
        f"{{a: {{skill: takes, with: {{what: {what}}}, then: b}},"
        " b: {skill: move_gripper, parts: {gripper: gripper}, with: {opening: 1.0}}}",
    )
    outcome = run.run(at_most=2000)
    assert outcome.result == "failed" and reason in outcome.reason


def test_a_function_asks_and_waits_for_conditions(code: Code, client: LockstepClient) -> None:
    run = code.run(client, "{a: {skill: takes, with: {what: ask}, then: b}, b: {skill: takes, with: {what: until}}}")
    run.step(3)
    ((activity, question),) = run.runner.questions.items()
    assert (question.text, question.answers) == ("Go on?", ("yes", "no"))
    assert "expected one of: yes, no" in run.give(events.Answer(activity=activity, answer="maybe"))
    assert run.give(events.Answer(activity=activity, answer="yes")) == ""
    assert not run.runner.questions
    assert run.run(at_most=100).shown == "done"


def test_a_cancelled_function_ends_at_rest(code: Code, client: LockstepClient) -> None:
    run = code.run(client, "{a: {skill: takes, with: {what: long}}}")
    run.step(100)
    assert client.value("arm.at_rest") == 0.0
    run.give(events.Cancel(source="test"))
    assert run.run(at_most=1000).result == "cancelled" and client.value("arm.at_rest") == 1.0
    ask = code.run(client, "{a: {skill: takes, with: {what: ask}, timeout: 0.05}}")
    assert ask.run(at_most=100).result == "failed" and not ask.runner.questions


def test_N43_what_hangs_is_abandoned(code: Code, client: LockstepClient) -> None:
    """2 s after a cancel; then it moves nothing any more, and what it says is ignored."""
    late = code.capabilities.functions["hangs"].__globals__["LATE"]
    run = code.run(client, "{a: {skill: hangs}}", patience_s=0.05)
    run.step(5)
    began = client.cell.tick
    run.give(events.Cancel(source="test"))
    try:
        assert run.run(at_most=5000).result == "cancelled"
        assert (client.cell.tick - began) * client.cell.workcell.period == pytest.approx(2.0, abs=0.02)
        (told,) = [r for r in run.records if r["what"] == "abandoned"]
        assert "own_skills.py:" in told["text"] and "hangs() did not end" in told["text"]
        before = client.value("arm.tool.z")
    finally:
        late.append("go on")
    deadline = time.monotonic() + 120.0
    while len(late) < 2 and time.monotonic() < deadline:
        time.sleep(0.005)
    assert "its view of the session is closed" in str(late[1])
    client.sleep(0.2)
    assert client.value("arm.tool.z") == before
