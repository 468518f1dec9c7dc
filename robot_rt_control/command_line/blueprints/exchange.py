"""Verbs for behavior trees of other tools (BehaviorTree.CPP, version 4): import, export."""

from __future__ import annotations

import argparse
from pathlib import Path

from robot_rt_control.command_line.blueprints.files import WORKCELL
from robot_rt_control.command_line.connection import add_workcell_arguments
from robot_rt_control.command_line.exit_codes import ExitCode


class Import:
    """Make blueprints of behavior trees, a file for each. What a blueprint cannot hold is refused with its line."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="behavior trees, .xml")
        parser.add_argument(
            "-o", "--output", type=Path, metavar="FOLDER",
            help="for the skills (default: that of FILE); skills in it can be leaves as well",
        )  # fmt: skip
        parser.add_argument("--workcell", metavar="FILE", help=WORKCELL)
        parser.add_argument("--force", action="store_true", help="overwrite existing files")
        parser.add_argument("--save", action="store_true", help="have the robot keep them, as `save` does")
        add_workcell_arguments(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        from robot_rt_control.blueprint.exchange.importer import import_trees
        from robot_rt_control.command_line.blueprints.offline_skills import offline_skills
        from robot_rt_control.command_line.blueprints.remote_blueprints import connected
        from robot_rt_control.command_line.blueprints.saving import save_files
        from robot_rt_control.command_line.output import Output
        from robot_rt_control.text.document import read_text
        from robot_rt_control.vocabulary.capacities import MAX_PROGRAM_BYTES
        from robot_rt_control.vocabulary.errors import DefinitionError

        output = Output(as_json=arguments.json)
        folder: Path = arguments.output or arguments.file.parent
        text = read_text(arguments.file, MAX_PROGRAM_BYTES)
        catalogue = offline_skills((), arguments.workcell, beside=[folder]).catalogue
        imported = import_trees(text, catalogue, source=arguments.file.name)
        files = {folder / f"{name}.yaml": template for name, template in imported.skills.items()}
        for file in files:
            if file.exists() and not arguments.force:
                what = f"file {str(file)!r}"
                raise DefinitionError(what, expected="a new file", got="an existing one", hint="See --force")
        warnings = imported.check(catalogue)
        folder.mkdir(parents=True, exist_ok=True)
        for file, template in files.items():
            file.write_text(template.text, encoding="utf-8")
        told = []
        if arguments.save:
            with connected(arguments) as blueprints:
                told = save_files(blueprints, files, output)
        data = {"main": imported.main, "files": [str(file) for file in files], "warnings": warnings, "saved": told}
        for warning in warnings:
            output.warning(warning)
        output.result(data, *map(str, files), f"{imported.main} is the outermost skill")
        return ExitCode.DONE if all(one["version"] for one in told) else ExitCode.FAILED


class Export:
    """Make behavior trees of a blueprint that has their shape, or a model of all skills for an editor of trees."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("skill", nargs="?", default="", metavar="SKILL", help="file, or name of a skill")
        parser.add_argument("--models", action="store_true", help="the TreeNodesModel of all skills instead")
        parser.add_argument("--workcell", metavar="FILE", help="whose action types there are too; a file or a name")
        parser.add_argument("--server", action="store_true", help="the skills that a robot keeps")
        parser.add_argument("-o", "--output", type=Path, metavar="FILE", help=".xml (default: stdout)")
        add_workcell_arguments(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        from robot_rt_control.blueprint.exchange.exporter import export_models, export_trees
        from robot_rt_control.blueprint.text.check import check_skill
        from robot_rt_control.blueprint.text.skill_file import SkillTemplate
        from robot_rt_control.command_line.blueprints.offline_skills import kept_skills, offline_skills
        from robot_rt_control.command_line.blueprints.remote_blueprints import connected
        from robot_rt_control.command_line.output import Output
        from robot_rt_control.vocabulary.errors import DefinitionError

        if bool(arguments.skill) == arguments.models:
            raise DefinitionError("what to export", expected="either SKILL or --models")
        file, name = Path(arguments.skill), arguments.skill
        if arguments.server:
            with connected(arguments) as blueprints:
                catalogue = kept_skills(blueprints.list_skills(with_text=True), arguments.workcell)
        else:
            known = offline_skills([name] if name else [], arguments.workcell)
            catalogue = known.catalogue
            name = known.asked[0].name or file.stem if name else ""
        if name:
            template = catalogue.find(name).template
            if isinstance(template, SkillTemplate):
                check_skill(template, catalogue)
            text = export_trees(name, catalogue)
        else:
            text = export_models(catalogue)
        output = Output(as_json=arguments.json)
        if arguments.output is not None:
            arguments.output.write_text(text, encoding="utf-8")
            output.result({"file": str(arguments.output)}, str(arguments.output))
        else:
            output.result({"text": text}, text.rstrip("\n"))
        return ExitCode.DONE
