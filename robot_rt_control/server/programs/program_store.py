"""Programs that can be used by name: those that users saved, and the library that comes with the package."""

from __future__ import annotations

from pathlib import Path

from robot_rt_control.definitions.definitions import ProgramDefinition
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.program.library import LIBRARY
from robot_rt_control.program.text_store import StoredText, TextStore, data_folder

StoredProgram = StoredText[ProgramTemplate]
"""One version of a program that has a name."""


def default_folder() -> Path:
    """Where programs are kept unless somebody says otherwise: `robot_rt_control/programs` in XDG's data home."""
    return data_folder("programs")


class ProgramStore(TextStore[ProgramTemplate]):
    """Keeps programs. All methods may be called from any thread, and several stores may share a folder.

    Args:
        folder: is made when the first program is saved; None: there is the library only.
        library: the programs that come with the package.
    """

    def __init__(self, folder: Path | None = None, *, library: Path = LIBRARY) -> None:
        super().__init__(folder, library=library, kind="program", owner="control server", read=self._of_text)

    def _of_text(self, text: str, source: str) -> ProgramTemplate:
        return ProgramTemplate(text, source=source, find=self.template)


def events_of(program: ProgramDefinition) -> list[str]:
    """Names of the events that a program emits, in its order."""
    reactions = [*(r for a in program.actions for r in a.reactions), *program.reactions]
    return list(dict.fromkeys(r.event for r in reactions if r.event))
