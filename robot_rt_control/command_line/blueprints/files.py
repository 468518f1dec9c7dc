"""Verbs that need files only: new, check, draw, expand, schema."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from robot_rt_control.command_line.connection import add_workcell_arguments
from robot_rt_control.command_line.exit_codes import ExitCode

WORKCELL = "check parts and state variables against it; a file, or a name such as bench"


def add_skill_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of a verb for one skill without a robot."""
    parser.add_argument("skill", metavar="SKILL", help="file, or name of a skill of the package")
    parser.add_argument("--workcell", metavar="FILE", help=WORKCELL)


class New:
    """Write a commented blueprint that is valid for a workcell, with calls of the skills that fit it as comments."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="to write, .yaml")
        parser.add_argument("--workcell", required=True, metavar="FILE", help="workcell file, or its name: bench")
        parser.add_argument("--force", action="store_true", help="overwrite an existing file")

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        from robot_rt_control.blueprint.text.check import check_skill
        from robot_rt_control.blueprint.text.skill_file import SkillTemplate
        from robot_rt_control.command_line.blueprints.new_blueprint import new_blueprint
        from robot_rt_control.command_line.blueprints.offline_skills import offline_skills
        from robot_rt_control.command_line.output import Output
        from robot_rt_control.vocabulary.errors import DefinitionError
        from robot_rt_control.vocabulary.names import check_name

        file: Path = arguments.file
        check_name("name of a blueprint", file.stem)
        if file.exists() and not arguments.force:
            what = f"file {str(file)!r}"
            raise DefinitionError(what, expected="a new file", got="an existing one", hint="See --force")
        catalogue = offline_skills((), arguments.workcell).catalogue
        text = new_blueprint(file.stem, arguments.workcell, catalogue)
        check_skill(SkillTemplate(text, source=file.name), catalogue)  # one that is not valid is an error of this verb
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        then = f"robot-rt-control-blueprint check {file} --workcell {arguments.workcell}"
        Output(as_json=arguments.json).result({"file": str(file)}, f"{file}\nnext: {then}")
        return ExitCode.DONE


class Check:
    """Report all mistakes in skills and blueprints, each with its line and node."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("skills", nargs="+", metavar="SKILL", help="file, or name of a skill of the package")
        parser.add_argument("--workcell", metavar="FILE", help=WORKCELL)
        parser.add_argument("--server", action="store_true", help="let the robot's node check them, with what it keeps")
        parser.add_argument("--strict-levels", action="store_true", help="a skill may call the next lower level only")
        parser.add_argument("--strict", action="store_true", help="also fail on warnings")
        add_workcell_arguments(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        from robot_rt_control.command_line.blueprints.remote_blueprints import connected
        from robot_rt_control.command_line.output import Output

        output = Output(as_json=arguments.json)
        if arguments.server:
            with connected(arguments) as blueprints:
                found = [
                    _checked(output, skill, partial(_by_server, blueprints, Path(skill).name))
                    for skill in arguments.skills
                ]
        else:
            found = [_checked(output, skill, lambda text: [], arguments) for skill in arguments.skills]
        if output.as_json:
            output.result({"skills": found})
        failed = any(not checked["valid"] or (arguments.strict and checked["warnings"]) for checked in found)
        return ExitCode.FAILED if failed else ExitCode.DONE


def _by_server(blueprints: Any, file: str, text: str) -> list[str]:
    return list(blueprints.save_skill(text, check_only=True, file=file).warnings)


def _checked(output: Any, skill: str, by_server: Any, arguments: argparse.Namespace | None = None) -> dict[str, Any]:
    from robot_rt_control.blueprint.text.check import check_skill
    from robot_rt_control.blueprint.text.skill_file import SkillTemplate
    from robot_rt_control.command_line.blueprints.offline_skills import offline_skills
    from robot_rt_control.command_line.output import error_data, mistakes_of
    from robot_rt_control.vocabulary.errors import RobotControlError

    checked: dict[str, Any] = {"skill": skill, "valid": True, "warnings": [], "errors": []}
    template: SkillTemplate | None = None
    try:
        if arguments is None:
            template = SkillTemplate.load(skill)
            checked["warnings"] = by_server(template.text)
        else:
            known = offline_skills([skill], arguments.workcell)
            (template,) = known.asked
            checked["warnings"] = check_skill(template, known.catalogue, strict=arguments.strict_levels)
    except RobotControlError as error:
        checked["valid"] = False
        mistakes = mistakes_of(error)
        nodes = [template.node_at(line_of(str(mistake))) if template else "" for mistake in mistakes]
        checked["errors"] = [
            {**error_data(mistake), "node": node} for mistake, node in zip(mistakes, nodes, strict=True)
        ]
        if not output.as_json:
            output.error(error)
        return checked
    if not output.as_json:
        for warning in checked["warnings"]:
            output.warning(warning)
        nodes_of = len(template.content.nodes) or 1
        output.good(f"{skill}: valid; {template.level.replace('_', ' ')}, {nodes_of} node{'s'[:nodes_of - 1]}")
    return checked


def line_of(mistake: str) -> int:
    """The line that a mistake names ("tour.yaml:7: …"); 0: none."""
    place = mistake.partition(": ")[0].rpartition(":")[2]
    return int(place) if place.isdigit() else 0


class Draw:
    """Draw a blueprint, or another skill made of nodes, as SVG or PNG."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        add_skill_arguments(parser)
        parser.add_argument(
            "-o", "--output", type=Path, action="append", metavar="FILE", help="picture, .svg or .png; may be repeated"
        )

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        from robot_rt_control.blueprint.text.diagram import blueprint_diagram
        from robot_rt_control.command_line.blueprints.offline_skills import offline_skills
        from robot_rt_control.command_line.output import Output
        from robot_rt_control.drawing.pictures import require_pictures

        require_pictures()
        from robot_rt_control.drawing.diagram_picture import draw

        known = offline_skills([arguments.skill], arguments.workcell)
        diagram = blueprint_diagram(known.asked[0], known.catalogue)
        files = [draw(diagram, file) for file in arguments.output or [Path(f"{Path(arguments.skill).stem}.svg")]]
        Output(as_json=arguments.json).result({"files": list(map(str, files))}, *map(str, files))
        return ExitCode.DONE


class Expand:
    """Show a skill with all that it calls, down to its capabilities."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("skill", metavar="SKILL", help="file, or name of any skill: a program, an action type")
        parser.add_argument("--workcell", metavar="FILE", help="whose action types there are too; a file or a name")

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        from robot_rt_control.blueprint.text.calls import Calls
        from robot_rt_control.command_line.blueprints.offline_skills import offline_skills
        from robot_rt_control.command_line.output import Output

        file = Path(arguments.skill)
        known = offline_skills([arguments.skill] if file.is_file() else [], arguments.workcell)
        name = (known.asked[0].name or file.stem) if known.asked else arguments.skill
        expanded = Calls(known.catalogue).expand(name)
        Output(as_json=arguments.json).result(expanded, "\n".join(expanded.lines()))
        return ExitCode.DONE


class Schema:
    """Print the path of the JSON Schema of blueprints and skills, for editors."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        pass

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        from robot_rt_control.blueprint.text.schema import SCHEMA_FILE
        from robot_rt_control.command_line.output import Output

        Output(as_json=arguments.json).result({"file": str(SCHEMA_FILE)}, str(SCHEMA_FILE))
        return ExitCode.DONE
