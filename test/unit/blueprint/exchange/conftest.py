"""Skills for trees: programs a to f, each with a part of its own, which end as good or bad; a also takes and gives."""

from __future__ import annotations

import pytest

from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.command_line.offline_catalogue import offline_catalogue
from robot_rt_control.program.file import ProgramTemplate

LEAVES = "abcdef"
_PROGRAM = """
name: {name}
roles: {{robot: {{kinds: [arm], default: arm_{name}}}}}
parameters:
  speed: {{unit: m/s, default: 0.1}}
  way: {{length: 3, default: [0, 0, 1]}}
  word: {{type: text, default: hello}}
  often: {{type: int, default: 1}}
exits: {{good: {{}}, bad: {{failure: true}}}}
start: [go]
actions:
  go:
    type: velocity_move
    parts: robot
    parameters: {{linear: $way}}
    time_limit: $often
    reactions:
      - {{when: elapsed > 1, event: good, stop: true, capture: [elapsed]}}
      - {{when: elapsed > 2, event: bad, stop: true}}
"""


@pytest.fixture(scope="session")
def leaves() -> SkillCatalogue:
    programs = {name: ProgramTemplate(_PROGRAM.format(name=name)) for name in LEAVES}
    return SkillCatalogue(offline_catalogue(), programs, {})
