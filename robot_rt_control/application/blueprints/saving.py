"""Saves skills that call each other: in which order, and what became of each."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robot_rt_control.application.blueprints import remote_blueprints
from robot_rt_control.application.command_line.exit_codes import ExitCode
from robot_rt_control.application.output import Output, error_data, mistakes_of
from robot_rt_control.blueprint.skill_file import SkillTemplate
from robot_rt_control.blueprint.skill_library import called_by
from robot_rt_control.text.document import read_text
from robot_rt_control.vocabulary.capacities import MAX_PROGRAM_BYTES
from robot_rt_control.vocabulary.errors import DefinitionError, NoAnswer, Overtaken, RobotControlError

if TYPE_CHECKING:
    from robot_rt_control.blueprint.remote import Blueprints


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


class Saving:
    """Saves one file after the other, and says what became of each.

    Args:
        alone: there is one file only: it needs no naming.
    """

    def __init__(
        self, blueprints: Blueprints, output: Output, *, based_on: int = 0, draft: bool = False, alone: bool
    ) -> None:
        self._blueprints, self._output = blueprints, output
        self._based_on, self._draft, self._alone = based_on, draft, alone
        self._refused: set[str] = set()
        self._told: list[dict[str, Any]] = []

    def save(self, skill: SkillText) -> None:
        """Save one, unless it calls one that was refused."""
        told: dict[str, Any] = {"file": str(skill.file), "name": skill.name, "version": 0, "warnings": [], "errors": []}
        self._told.append(told)
        try:
            self._check_calls(skill)
            saved = self._blueprints.save_skill(
                skill.text,
                based_on=self._based_on,
                draft=self._draft,
                source=remote_blueprints.source(),
                file=skill.file.name,
            )
        except NoAnswer:  # so will all others
            raise
        except RobotControlError as error:
            self._refused.add(skill.name)
            told["errors"] = [error_data(mistake) for mistake in mistakes_of(error)]
            self._show_refused(skill, error)
            if isinstance(error, Overtaken):
                told["overtaken"] = error.text
                self._note(f"the version that has come between:\n{error.text}")
            return
        told |= {"name": saved.name, "version": saved.version, "warnings": saved.warnings}
        if self._output.as_json:
            return
        for warning in saved.warnings:
            self._output.warning(warning)
        for mistake, node in saved.mistakes:
            self._output.warning(f"{mistake}" + (f" (node {node!r})" if node else ""))
        shown = f"saved as {saved.name}, version {saved.version}" + (", a draft" if saved.mistakes else "")
        self._output.result(None, shown if self._alone else f"{skill.file}: {shown}")

    def end(self) -> ExitCode:
        """Say what became of all. Returns the exit code."""
        kept = sum(told["version"] > 0 for told in self._told)
        if self._output.as_json:
            self._output.result(self._told[0] if self._alone else {"skills": self._told})
        elif not self._alone:
            left = ", ".join(told["file"] for told in self._told if not told["version"])
            self._note(f"{kept} of {len(self._told)} saved" + (f"; not saved: {left}" if left else ""))
        return ExitCode.DONE if kept == len(self._told) else ExitCode.FAILED

    def _check_calls(self, skill: SkillText) -> None:
        """Raises DefinitionError: it would be kept with another version of what it calls than the one beside it."""
        refused = [name for name in skill.calls if name in self._refused]
        if refused and not self._draft:
            names = ", ".join(map(repr, refused))
            raise DefinitionError(f"skill {skill.name!r} is not tried: it calls {names}, which was not saved")

    def _show_refused(self, skill: SkillText, error: RobotControlError) -> None:
        if self._output.as_json:
            return
        if not self._alone:
            self._note(f"{skill.file}: not saved")
        self._output.error(error)

    def _note(self, text: str) -> None:
        if not self._output.as_json:
            self._output.note(text)
