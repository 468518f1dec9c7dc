"""Real processes over DDS, on a ROS domain of their own."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from robot_rt_control.application.demo_workcell import DemoWorkcell
from robot_rt_control.client import Client

REPOSITORY = Path(__file__).resolve().parents[2]


_claimed: list[IO[str]] = []


def _claim_domain() -> int:
    """A ROS domain that no other test run on this machine uses, held until this process ends."""
    for domain in range(1, 100):  # above 101, DDS's ports would meet those that the system hands out
        file = open(Path(tempfile.gettempdir()) / f"robot_rt_control_test_domain_{domain}.lock", "a")  # noqa: SIM115
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
        else:
            _claimed.append(file)
            return domain
    raise RuntimeError("all ROS domains from 1 to 99 are claimed by other test runs on this machine")


def pytest_configure(config: pytest.Config) -> None:
    # One domain for all: no foreign nodes are on it, and those of the tests follow each other.
    os.environ["ROS_DOMAIN_ID"] = str(_claim_domain())
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"


_running: list[DemoWorkcell] = []


def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    # It would run until the end of the session, and take a processor from all later tests.
    if nextitem is None or not nextitem.path.is_relative_to(Path(__file__).parent):
        for workcell in _running:
            workcell.__exit__(None, None, None)


@pytest.fixture(scope="session")
def workcell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoWorkcell]:
    """A KUKA iiwa in PyBullet, in simulated time: executor and control server, each in a process of its own."""
    folder = tmp_path_factory.mktemp("workcell")
    shipped = (REPOSITORY / "config" / "iiwa.yaml").read_text()
    folders = f"action_type_folders: [{REPOSITORY}, {tmp_path_factory.getbasetemp()}]"
    file = folder / "iiwa.yaml"
    file.write_text(shipped.replace("action_type_folders: [../examples]", folders))
    with DemoWorkcell(["--workcell", str(file)], folder / "workcell.log") as made:
        with Client("starting", timeout_s=60.0) as starting:
            made.wait_until_ready(starting, lambda _: None)
        _running.append(made)
        yield made


@pytest.fixture
def client(workcell: DemoWorkcell) -> Iterator[Client]:
    with Client("test", timeout_s=60.0) as made:
        yield made


def run_python(*arguments: str, timeout: float) -> subprocess.CompletedProcess[str]:
    """Run a Python program in the repository's folder; it must end by itself in time."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=REPOSITORY, capture_output=True, text=True, timeout=timeout, check=False
    )


@pytest.fixture
def python():
    """Runs a Python program: `python("examples/01_single_action.py", timeout=30)`."""
    return run_python
