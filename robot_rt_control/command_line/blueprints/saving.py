"""Saves skills that may call each other: in which order, and what became of each."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robot_rt_control.blueprint.skills.skill_library import called_by
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.command_line.blueprints import remote_blueprints
from robot_rt_control.command_line.output import Output, error_data, mistakes_of
from robot_rt_control.text.document import read_text
from robot_rt_control.vocabulary.capacities import MAX_PROGRAM_BYTES
from robot_rt_control.vocabulary.errors import DefinitionError, NoAnswer, Overtaken, RobotControlError

if TYPE_CHECKING:
    from robot_rt_control.blueprint.remote import Blueprints, SaveAnswer


@dataclass(frozen=True, kw_only=True)
class SkillText:
    """A file to save.

    Args:
        name: of the skill.
        calls: the skills that it calls, without versions.
    """

    file: Path
    text: str
    name: str
    calls: tuple[str, ...] = ()


def save_order(files: Iterable[Path]) -> list[SkillText]:
    """The files, called ones first, otherwise as given. Skills that call each other in a circle stay as given.

    Raises:
        DefinitionError: one cannot be read, or two have the same name.
    """
    found: dict[str, SkillText] = {}
    for file in files:
        text = read_text(file, MAX_PROGRAM_BYTES)
        read = SkillText(file=file, text=text, name=file.stem)
        with suppress(DefinitionError):  # what is no skill is refused by the robot, with all that is wrong
            template = SkillTemplate(text)
            calls = tuple(name.partition("@")[0] for name in called_by(template))
            read = SkillText(file=file, text=text, name=template.name or file.stem, calls=calls)
        if read.name in found:
            both = f"{found[read.name].file} and {file}"
            raise DefinitionError(f"skill {read.name!r} is in two files", expected="one file for each", got=both)
        found[read.name] = read
    ordered: list[SkillText] = []
    begun: set[str] = set()

    def add(name: str) -> None:
        if name in found and name not in begun:
            begun.add(name)
            for called in found[name].calls:
                add(called)
            ordered.append(found[name])

    for name in found:
        add(name)
    return ordered


def save_files(
    blueprints: Blueprints, files: Iterable[Path], output: Output, *, based_on: int = 0, draft: bool = False
) -> list[dict[str, Any]]:
    """Have the robot keep skills, the called ones first; each is kept or refused by itself.

    Returns:
        What became of each, for JSON; each is printed for people at once. The version of one that was refused is 0.

    Raises:
        DefinitionError: as `save_order`; nothing is kept.
        NoAnswer: the robot does not answer (any more).
    """
    skills = save_order(files)
    alone = len(skills) == 1
    told: list[dict[str, Any]] = []
    refused: set[str] = set()
    for skill in skills:
        one: dict[str, Any] = {"file": str(skill.file), "name": skill.name, "version": 0, "warnings": [], "errors": []}
        told.append(one)
        missing = [name for name in skill.calls if name in refused and not draft]
        try:
            if missing:  # else it would be kept with another version of what it calls than that of the file
                names = ", ".join(map(repr, missing))
                raise DefinitionError(f"skill {skill.name!r} is not tried: it calls {names}, which was not saved")
            saved = blueprints.save_skill(
                skill.text, based_on=based_on, draft=draft, source=remote_blueprints.source(), file=skill.file.name
            )
        except NoAnswer:  # so will all others
            raise
        except RobotControlError as error:
            refused.add(skill.name)
            one["errors"] = [error_data(mistake) for mistake in mistakes_of(error)]
            one |= {"overtaken": error.text} if isinstance(error, Overtaken) else {}
            if not output.as_json:
                _show_refused(output, "" if alone else f"{skill.file}: not saved", error)
            continue
        one |= {"name": saved.name, "version": saved.version, "warnings": saved.warnings}
        if not output.as_json:
            _show_saved(output, "" if alone else f"{skill.file}: ", saved)
    if not alone and not output.as_json:
        left = ", ".join(one["file"] for one in told if not one["version"])
        kept = sum(one["version"] > 0 for one in told)
        output.note(f"{kept} of {len(told)} saved" + (f"; not saved: {left}" if left else ""))
    return told


def _show_saved(output: Output, prefix: str, saved: SaveAnswer) -> None:
    for warning in saved.warnings:
        output.warning(warning)
    for mistake, node in saved.mistakes:
        output.warning(f"{mistake}" + (f" (node {node!r})" if node else ""))
    draft = ", a draft" if saved.mistakes else ""
    output.result(None, f"{prefix}saved as {saved.name}, version {saved.version}{draft}")


def _show_refused(output: Output, heading: str, error: RobotControlError) -> None:
    if heading:
        output.note(heading)
    output.error(error)
    if isinstance(error, Overtaken):
        output.note(f"the version that has come between:\n{error.text}")
