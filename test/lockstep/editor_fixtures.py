"""The editor's server with a robot in memory, as fixtures: for tests with and without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from memory_robot import MemoryRobot
from served_editor import Served, served


@pytest.fixture
def robot(tmp_path: Path) -> Iterator[MemoryRobot]:
    made = MemoryRobot(tmp_path / "skills", seconds=0.3)
    yield made
    made.close()


@pytest.fixture
def editor(robot: MemoryRobot) -> Iterator[Served]:
    with served(robot) as made:
        yield made
