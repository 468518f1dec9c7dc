"""Worlds, workcells and shared-memory names for unit tests. Random tests run the same examples each time."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from samples import tries

from robot_rt_control.memory.shared_memory import segment_path
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.realtime.executor.assembly import World

settings.register_profile("deterministic", derandomize=True, deadline=None, max_examples=tries(25, whole=100))
settings.load_profile("deterministic")

_CONFIG = Path(__file__).parents[2] / "config"


@pytest.fixture(scope="session")
def workcell() -> Workcell:
    return load_workcell(_CONFIG / "arm7.yaml")


@pytest.fixture
def world(workcell: Workcell) -> World:
    return World(workcell)


@pytest.fixture
def name() -> Iterator[str]:
    """Name of a shared-memory segment, which is removed after the test."""
    chosen = f"rrc_test_{uuid.uuid4().hex[:12]}"
    yield chosen
    segment_path(chosen).unlink(missing_ok=True)
