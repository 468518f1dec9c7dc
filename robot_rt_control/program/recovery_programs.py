"""The recovery programs of a workcell: their texts, once they are found to be valid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.text.document import Document
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.vocabulary.errors import DefinitionError


class Recovery(Protocol):
    """See `model.workcell.recovery.RecoveryDescription`."""

    @property
    def program(self) -> Document: ...

    @property
    def place(self) -> str: ...


def recovery_programs(recoveries: Mapping[str, Recovery]) -> dict[str, str]:
    """Part → the text of its program.

    Raises:
        DefinitionError, ProgramError: programs that are not valid, or start nothing; with file and line.
    """
    found, mistakes = {}, Mistakes()
    for part, recovery in recoveries.items():
        with mistakes.collect():
            template = ProgramTemplate.of(recovery.program)
            if not template.fill().definition.start:
                expected, got = "start: [id, …]", "a program that starts no action"
                raise DefinitionError(recovery.place, expected=expected, got=got)
            found[part] = template.text
    mistakes.raise_all()
    return found
