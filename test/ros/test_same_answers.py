"""The same mistakes and programs over real nodes and in simulated time: the same exceptions, texts and events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from same_answers import MISTAKES, PROGRAMS, answer, told

from robot_rt_control.client import Client
from robot_rt_control.demo.demo_workcell import DemoWorkcell
from robot_rt_control.testing.lockstep_client import LockstepClient

pytestmark = pytest.mark.timeout(600)  # the first time, everything is compiled

CONFIG = Path(__file__).parents[2] / "config"

NAMESPACE = "same_answers"


@pytest.fixture(scope="module")
def workcell_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """arm7, where clients may send code."""
    file = tmp_path_factory.mktemp("open") / "arm7.yaml"
    text = (CONFIG / "arm7.yaml").read_text().replace("robots/", f"{CONFIG}/robots/")
    file.write_text(f"{text}\nallow_code_upload: true\n")
    return file


@pytest.fixture(scope="module")
def over_ros(workcell_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    log = tmp_path_factory.mktemp("same_answers") / "workcell.log"
    arguments = ["--workcell", str(workcell_file), "--clock", "lockstep", "--namespace", NAMESPACE]
    with (
        # The other workcell of these tests has its own simulated time.
        DemoWorkcell([*arguments, "--own-topics", "--controllers", "false"], log) as workcell,
        Client("same_answers", namespace=NAMESPACE, timeout_s=60.0, arguments=[]) as client,
    ):
        workcell.wait_until_ready(client, lambda _: None, 400.0)
        yield client


@pytest.fixture(scope="module")
def in_cell(workcell_file: Path) -> Iterator[Client]:
    with LockstepClient(workcell_file) as client:
        yield client


def test_there_are_enough_of_them() -> None:
    assert len(MISTAKES) >= 40 and len(PROGRAMS) >= 5


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_has_the_same_answer(over_ros: Client, in_cell: Client, name: str) -> None:
    assert answer(over_ros, name) == answer(in_cell, name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_told_the_same_events(over_ros: Client, in_cell: Client, name: str) -> None:
    assert told(over_ros, name) == told(in_cell, name)
