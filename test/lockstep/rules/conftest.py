"""A fresh cell for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from loaded_types import Drift
from open_cells import cells_are_closed  # noqa: F401  (a fixture of all tests here)

from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.testing.lockstep_cell import LockstepCell

_FILE = Path(__file__).parent / "workcell.yaml"


@pytest.fixture(scope="session")
def workcell() -> Workcell:
    return load_workcell(_FILE)


@pytest.fixture
def cell(workcell: Workcell) -> Iterator[LockstepCell]:
    with LockstepCell(workcell) as made:
        yield made


@pytest.fixture
def hosted_cell() -> Iterator[LockstepCell]:
    """Its devices are beside the loop, with process images, and can fall silent."""
    with LockstepCell(_FILE, hardware="robot_rt_control.hardware.mock_plugin:MockPlugin") as made:
        yield made


@pytest.fixture
def drift(tmp_path: Path) -> Drift:
    return Drift(tmp_path)
