"""Verbs for the skills that a robot keeps: list, show, save, delete, restore."""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path
from typing import Any

from robot_rt_control.command_line.connection import add_workcell_arguments
from robot_rt_control.command_line.exit_codes import ExitCode

_LEVELS = ("capability", "meta_skill", "motion_skill", "behavior_skill", "blueprint")
_CATEGORIES = ("sensing", "analysis", "part_control", "path_planning")


class List:
    """List the skills that a robot has, value skills first; or all robots on the network that offer them."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name", nargs="?", default="", help="only this one")
        parser.add_argument("--level", choices=_LEVELS, default="", help="only those of this level")
        parser.add_argument("--category", choices=_CATEGORIES, default="", help="only capabilities of this category")
        parser.add_argument("--scenario", default="", metavar="NAME", help="only value skills for this scenario")
        parser.add_argument("--search", default="", metavar="WORDS", help="only those that these words describe")
        parser.add_argument("--robots", action="store_true", help="of all robots on the network, by their namespaces")
        parser.add_argument("--deleted", action="store_true", help="those in the bin instead, with the day of deletion")
        add_workcell_arguments(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        from robot_rt_control.command_line.blueprints.remote_blueprints import connected, of_all_robots
        from robot_rt_control.command_line.output import Output, table

        output = Output(as_json=arguments.json)
        only = {key: getattr(arguments, key) for key in ("level", "category", "scenario", "search")}
        if arguments.deleted:
            with connected(arguments) as blueprints:
                skills = blueprints.list_skills(arguments.name, deleted=True)
            bin = [(s.name, ", ".join(map(str, s.versions)), _day(s.saved.sec)) for s in skills]
            shown = table(("skill", "versions", "deleted"), bin) if bin else "the bin is empty"
            output.result({"skills": skills}, shown)
            return ExitCode.DONE
        if not arguments.robots:
            with connected(arguments) as blueprints:
                skills = sorted(blueprints.list_skills(arguments.name, **only), key=_order)
            output.result({"skills": skills}, table(_COLUMNS, map(_row, skills)) if skills else "no skills")
            return ExitCode.DONE
        found, silent = _of_robots(arguments, only, of_all_robots)
        for robot, error in silent.items():
            output.warning(f"{robot}: {error}")
        rows = [(robot, *_row(skill)) for robot, skills in found.items() for skill in skills]
        output.result(
            {"robots": [{"robot": robot, "skills": skills} for robot, skills in found.items()]},
            table(("robot", *_COLUMNS), rows) if rows else "no robot offers that",
        )
        return ExitCode.DONE


def _of_robots(
    arguments: argparse.Namespace, only: dict[str, str], of_all_robots: Any
) -> tuple[dict[str, list[Any]], dict[str, str]]:
    """The skills of each robot that has some, and why robots did not answer."""
    from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError

    found, silent = {}, {}
    with of_all_robots(arguments) as robots:
        for robot, blueprints in robots.items():
            try:
                skills = blueprints.list_skills(arguments.name, **only)
            except DefinitionError:  # it has none of this name
                continue
            except RobotControlError as error:
                silent[robot] = str(error)
                continue
            if skills:
                found[robot] = sorted(skills, key=_order)
    return found, silent


def _order(skill: Any) -> tuple[bool, int, str]:
    """Value skills first, then the higher levels."""
    level = _LEVELS.index(skill.level) if skill.level in _LEVELS else 0
    return not skill.scenarios, -level, skill.name


_COLUMNS = ("skill", "level", "scenarios", "needs", "takes", "ends with", "ran", "what it does")


def _row(skill: Any) -> tuple[str, ...]:
    name = f"{skill.name}@{skill.version}" if skill.version else skill.name
    ends = [*skill.results, *(f"{name} (failure)" for name in skill.failures if name not in _STANDARD)]
    ran = ""
    if skill.runs:
        took = "" if math.isnan(skill.duration) else f", {skill.duration:.3g} s"
        ran = f"{skill.succeeded} of {skill.runs}{took}"
    does = f"BROKEN: {skill.problem}" if skill.problem else skill.description
    takes = "\n".join(_parameter(p) for p in skill.parameters)
    level = skill.level.replace("_", " ") + (f", {skill.category}" if skill.category else "")
    return name, level, ", ".join(skill.scenarios), "\n".join(skill.parts), takes, ", ".join(ends), ran, does


_STANDARD = ("failed", "timeout", "cancelled")


def _parameter(info: Any) -> str:
    shown = info.name + (f" = {info.default_value}" if not info.required else "")
    return f"{shown} {info.unit}".strip()


class Show:
    """Print the text of a skill that a robot keeps."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name", help="name, or name@version")
        parser.add_argument("--expand", action="store_true", help="also list the skills that it is made of")
        add_workcell_arguments(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        import sys

        from rich.syntax import Syntax

        from robot_rt_control.command_line.blueprints.remote_blueprints import connected
        from robot_rt_control.command_line.output import Output
        from robot_rt_control.vocabulary.errors import DefinitionError

        output = Output(as_json=arguments.json)
        with connected(arguments) as blueprints:
            skills = blueprints.list_skills(arguments.name, with_text=True, expand=arguments.expand)
        if not skills:
            raise DefinitionError(f"unknown skill {arguments.name!r}", hint="`list` shows those that there are")
        skill, *parts = skills
        if output.as_json:
            output.result({"skill": skill, "made_of": parts})
            return ExitCode.DONE
        if sys.stdout.isatty():
            output.result(None, Syntax(skill.text, "yaml", background_color="default"))
        else:
            sys.stdout.write(skill.text)
        if not skill.text:
            output.note(f"{skill.name} is no text: {skill.level.replace('_', ' ')}, origin {skill.origin}")
        if skill.problem:
            output.warning(skill.problem)
        for part in parts:
            output.note(f"{part.name} ({part.level.replace('_', ' ')}): calls {', '.join(part.calls) or 'nothing'}")
        return ExitCode.DONE


class Save:
    """Check skills, and have the robot keep each as the next version of its name.

    Of several files, those that others call come first. Each is kept or refused by itself; one that calls a refused one
    is not tried.
    """

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="skill file; in any order")
        parser.add_argument(
            "--based-on", type=int, default=0, metavar="VERSION",
            help="of one file: the version that it was made from; it is refused if another one has come since "
            "(default: do not look)",
        )  # fmt: skip
        parser.add_argument("--draft", action="store_true", help="keep it although it has mistakes; it cannot run")
        add_workcell_arguments(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        from robot_rt_control.command_line.blueprints.remote_blueprints import connected
        from robot_rt_control.command_line.blueprints.saving import save_files
        from robot_rt_control.command_line.output import Output
        from robot_rt_control.vocabulary.errors import DefinitionError

        if arguments.based_on and len(arguments.files) > 1:
            raise DefinitionError("--based-on", expected="one file", got=str(len(arguments.files)))
        output = Output(as_json=arguments.json)
        with connected(arguments) as blueprints:
            told = save_files(
                blueprints, arguments.files, output, based_on=arguments.based_on, draft=arguments.draft
            )
        if output.as_json:
            output.result(told[0] if len(told) == 1 else {"skills": told})
        return ExitCode.DONE if all(one["version"] for one in told) else ExitCode.FAILED


def _day(seconds: int) -> str:
    """A time since the epoch [s], as people read it."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


class Restore:
    """Bring a deleted skill, or one version of it, back from the bin: list --deleted shows what is there."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name", help="name for all versions, or name@version")
        add_workcell_arguments(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        from robot_rt_control.command_line.blueprints.remote_blueprints import connected, source
        from robot_rt_control.command_line.output import Output

        with connected(arguments) as blueprints:
            remark = blueprints.restore_skill(arguments.name, source=source())
        Output(as_json=arguments.json).result({"message": remark}, remark)
        return ExitCode.DONE


class Delete:
    """Move a skill that a robot keeps, or one version of it, to the bin, where it stays for 30 days."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name", help="name for all versions, or name@version")
        add_workcell_arguments(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        from robot_rt_control.command_line.blueprints.remote_blueprints import connected, source
        from robot_rt_control.command_line.output import Output

        with connected(arguments) as blueprints:
            remark = blueprints.delete_skill(arguments.name, source=source())
        Output(as_json=arguments.json).result({"message": remark}, remark or f"{arguments.name} is deleted")
        return ExitCode.DONE
