"""The bench's skills: its action types, the programs of the library, its parts and state variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.command_line.offline_catalogue import offline_catalogue
from robot_rt_control.program.file import library_template
from robot_rt_control.program.library import library_programs

BENCH = Path(__file__).parents[2] / "lockstep" / "mock_bench.yaml"


@pytest.fixture(scope="session")
def bench() -> SkillCatalogue:
    programs = {name: library_template(name) for name in library_programs()}
    return SkillCatalogue(offline_catalogue(BENCH), programs, {})
