"""Exits of programs, as blueprints see them."""

from __future__ import annotations

import pytest

from robot_rt_control.program.check import check_program
from robot_rt_control.program.exits import exits_of
from robot_rt_control.program.file import ProgramTemplate, library_template
from robot_rt_control.program.library import library_programs
from robot_rt_control.vocabulary.errors import ProgramError

TEXT = """
exits: {contact: {}, nothing: {failure: true}}
start: go
actions:
  go:
    type: move
    parts: arm
    reactions: [{when: is_done, start: end, event: on_the_way}]
  end:
    type: stop
    parts: arm
    final: true
    reactions:
      - {when: is_done, stop: true, event: contact, capture: [arm.tool.x]}
      - {when: arm.age > 3, stop: true, event: not_found}
"""


@pytest.mark.parametrize("name", library_programs())
def test_N4_the_library_declares_its_exits(name: str) -> None:
    template = library_template(name)
    assert check_program(template.sample(), None) is not None  # warnings
    assert set(template.exits) == set(exits_of(template.sample().draft)) and template.exits["failed"]


def test_N4_exits_that_do_not_agree_with_the_events() -> None:
    with pytest.raises(ProgramError) as error:
        check_program(ProgramTemplate(TEXT).sample(), None)
    assert str(error.value) == (
        "program:2: exit 'nothing': the program never emits it; expected one of: contact, not_found; got 'nothing'\n"
        "program:2: exits: 'not_found' missing; expected all exits of the program, or none; got contact, nothing"
    )


def test_N4_without_final_states_every_event_is_an_exit() -> None:
    found = exits_of(ProgramTemplate(TEXT.replace("final: true", "manual: true")).sample().draft)
    assert found == {"on_the_way": (), "contact": ("arm.tool.x",), "not_found": ()}
