"""Real processes over DDS, on a ROS domain of their own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from robot_rt_control.client import Client
from robot_rt_control.demo.demo_workcell import DemoWorkcell
from robot_rt_control.testing.ros_domain import claim_domain

FOLDER = Path(__file__).parent
REPOSITORY = Path(__file__).resolve().parents[2]
CONTROLLERS = """
controllers:
  arm_controller:
    type: joint_trajectory_controller/JointTrajectoryController
    part: arm
    options: {allow_partial_joints_goal: true}
"""
"""Of the shared workcell."""


def pytest_configure(config: pytest.Config) -> None:
    # One domain for all: no foreign nodes are on it, and those of the tests follow each other.
    os.environ["ROS_DOMAIN_ID"] = str(claim_domain("workcell"))
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"


_running: list[DemoWorkcell] = []
_users: set[Path] = set()
"""Files with tests that use the shared workcell. They follow each other."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    _users.update(
        item.path for item in items if item.path.parent == FOLDER and "workcell" in getattr(item, "fixturenames", ())
    )


def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    # It would run until the end of the session, and take a processor from all later tests.
    if nextitem is None or nextitem.path not in _users:
        for workcell in _running:
            workcell.__exit__(None, None, None)


def pytest_exception_interact(node: pytest.Item, report: pytest.TestReport) -> None:
    """What a browser's page showed when its test failed, and what the workcell said."""
    found = getattr(node, "funcargs", {})
    page, cell = found.get("page"), found.get("cell")
    if page is not None:
        picture = REPOSITORY / ".build" / "screenshots" / f"failed_{node.name}.png"
        with contextlib.suppress(Exception):  # a page that died has no picture, and the failure comes first
            page.screenshot(path=str(picture))
            report.sections.append(("page", f"{picture}\n{page.inner_text('body')}"))
    for one in cell if isinstance(cell, tuple) else (cell,):
        if isinstance(one, DemoWorkcell):
            report.sections.append(("workcell", "\n".join(one.last_lines(200))))


@pytest.fixture(scope="session")
def workcell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoWorkcell]:
    """A KUKA iiwa in PyBullet, in simulated time: executor and control server, each in a process of its own."""
    folder = tmp_path_factory.mktemp("workcell")
    shipped = (REPOSITORY / "config" / "iiwa.yaml").read_text()
    folders = f"{REPOSITORY}, {tmp_path_factory.getbasetemp()}"
    file = folder / "iiwa.yaml"
    for key in ("action_type_folders", "trusted_native_code"):
        assert f"{key}: [../examples]" in shipped
        shipped = shipped.replace(f"{key}: [../examples]", f"{key}: [{folders}]")
    file.write_text(shipped + CONTROLLERS)
    with DemoWorkcell(["--workcell", str(file)], folder / "workcell.log") as made:
        with Client("starting", timeout_s=60.0) as starting:
            made.wait_until_ready(starting, lambda _: None)
        _running.append(made)
        yield made


@pytest.fixture(scope="module")
def own_domain(request: pytest.FixtureRequest) -> Iterator[None]:
    """A domain for the nodes of one file, which would meet those of the shared workcell: they have the same names."""
    shared = os.environ["ROS_DOMAIN_ID"]
    os.environ["ROS_DOMAIN_ID"] = str(claim_domain(request.module.__name__))
    yield
    os.environ["ROS_DOMAIN_ID"] = shared


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
