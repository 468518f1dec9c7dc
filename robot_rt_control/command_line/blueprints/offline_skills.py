"""The skills that there are without a running workcell: of the package, beside a file, and in given files."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from robot_rt_control.blueprint.makers.capability_files import capabilities_of
from robot_rt_control.blueprint.skills.store import SkillStore
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.command_line.offline_catalogue import offline_catalogue
from robot_rt_control.command_line.program import find_template
from robot_rt_control.model.paths import find_workcell
from robot_rt_control.program.file import ProgramTemplate, library_template
from robot_rt_control.program.library import library_programs
from robot_rt_control.text.document import Document, read_text
from robot_rt_control.vocabulary.capacities import MAX_PROGRAM_BYTES
from robot_rt_control.vocabulary.errors import DefinitionError, unknown


@dataclass(frozen=True, kw_only=True)
class OfflineSkills:
    """The skills, and those that were asked for."""

    catalogue: SkillCatalogue
    asked: tuple[SkillTemplate, ...]


def offline_skills(skills: Iterable[str], workcell: str | None, *, beside: Iterable[Path] = ()) -> OfflineSkills:
    """Read files, or find skills of the package.

    A skill can call what is in files beside its own, under their names, and what comes with the package.

    Args:
        skills: files, or names of skills of the package.
        workcell: file or name; None: parts and state variables may have any name.
        beside: folders whose skills and programs can be called as well.

    Raises:
        DefinitionError, ProgramError: a file cannot be read, or is no skill; or the workcell is not valid.
    """
    place = None if workcell is None else find_workcell(workcell)
    known = offline_catalogue(place)
    made = {} if place is None else capabilities_of(place).templates
    programs = {name: library_template(name) for name in library_programs()}
    kept = dict(SkillStore().templates())
    files = [Path(name) for name in skills]
    for folder in dict.fromkeys([*beside, *(file.parent for file in files if file.exists())]):
        _read_beside(folder, programs, kept)
    asked = []
    for name, file in zip(skills, files, strict=True):
        if not file.exists() and name not in kept:
            known_names = [n for n in kept if "@" not in n]
            raise DefinitionError(
                f"{name!r} is neither a file nor a skill of the package",
                expected=unknown("skill", name, known_names) if known_names else "",
                hint=f"Of one that a robot keeps: `show {name} > {name}.yaml` writes the file",
            )
        template = SkillTemplate.load(file) if file.exists() else kept[name]
        kept[template.name or file.stem] = template
        asked.append(template)
    return OfflineSkills(catalogue=SkillCatalogue(known, programs, kept, made=made), asked=tuple(asked))


def kept_skills(infos: Iterable[Any], workcell: str | None) -> SkillCatalogue:
    """The skills that a robot keeps.

    Args:
        infos: msg/SkillInfo of all skills, with their texts.
        workcell: file or name; None: its own action types are not known.
    """
    programs = {name: library_template(name) for name in library_programs()}
    skills: dict[str, SkillTemplate] = {}
    known = offline_catalogue(workcell)
    for info in infos:
        with suppress(DefinitionError):
            data = Document(info.text, info.name, max_bytes=MAX_PROGRAM_BYTES).data if info.text else None
            if isinstance(data, dict) and ("nodes" in data or "is" in data):
                skills[info.name] = SkillTemplate(info.text, source=info.name)
            elif isinstance(data, dict) and info.name not in programs:
                programs[info.name] = ProgramTemplate(info.text, source=info.name)
    return SkillCatalogue(known, programs, skills)


def _read_beside(folder: Path, programs: dict[str, ProgramTemplate], skills: dict[str, SkillTemplate]) -> None:
    """Programs and skills in the files of a folder that can be read and have the name of their file."""
    for file in sorted(folder.glob("*.yaml")):
        with suppress(DefinitionError):
            text = read_text(file, MAX_PROGRAM_BYTES)
            data = Document(text, file.name, max_bytes=MAX_PROGRAM_BYTES).data
            if not isinstance(data, dict) or data.get("name", file.stem) != file.stem:
                continue
            if "nodes" in data or "is" in data:
                skills[file.stem] = SkillTemplate(text, source=file.name)
            elif "actions" in data and file.stem not in programs:
                programs[file.stem] = ProgramTemplate(text, source=file.name, find=partial(_used, folder))


def _used(folder: Path, program: str) -> ProgramTemplate:
    return find_template(program if program in library_programs() else str(folder / f"{program}.yaml"))
