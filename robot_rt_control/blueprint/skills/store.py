"""Skills and blueprints that are kept by name and version, and those that come with the package."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.program.text_store import TextStore, data_folder
from robot_rt_control.vocabulary.errors import DefinitionError


def default_folder() -> Path:
    """Where skills are kept unless somebody says otherwise: `robot_rt_control/skills` in XDG's data home."""
    return data_folder("skills")


class SkillStore(TextStore[SkillTemplate]):
    """Keeps skills. All methods may be called from any thread, and several stores may share a folder.

    Args:
        folder: is made when the first skill is saved; None: there are those of the library only.
        library: skills that nobody can change; None: there are none.
    """

    def __init__(self, folder: Path | None = None, *, library: Path | None = None) -> None:
        super().__init__(
            folder,
            library=library,
            kind="skill",
            owner="executor",
            read=lambda text, source: SkillTemplate(text, source=source),
        )

    def templates(self) -> dict[str, SkillTemplate]:
        """The highest version of each skill that can be read, by name; for a look without a running workcell."""
        found: dict[str, SkillTemplate] = {}
        for name in self.names():
            with suppress(DefinitionError):  # listed as broken by `get`
                found[name] = self.template(name)
        return found
