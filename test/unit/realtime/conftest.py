"""Worlds and channels for tests of the executor's parts."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from robot_rt_control.model.workcell import Workcell, load_workcell
from robot_rt_control.program.shared_memory import segment_path
from robot_rt_control.realtime.assembly import World

_CONFIG = Path(__file__).parents[3] / "config"


@pytest.fixture(scope="session")
def workcell() -> Workcell:
    return load_workcell(_CONFIG / "arm7.yaml")


@pytest.fixture
def world(workcell: Workcell) -> World:
    return World(workcell)


@pytest.fixture
def name() -> Iterator[str]:
    """Of a shared-memory segment; what is left of it goes away with the test."""
    chosen = f"rrc_test_{uuid.uuid4().hex[:12]}"
    yield chosen
    segment_path(chosen).unlink(missing_ok=True)
