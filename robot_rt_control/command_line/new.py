"""Write a first version of an action, driver, workcell, program, blueprint or task. It is complete and runs as it is.

new program look_down
new action push_button --language c++
new driver shuttle
new workcell my_cell --urdf my_arm.urdf
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from robot_rt_control.command_line.exit_codes import ExitCode
from robot_rt_control.command_line.new_action import SUFFIXES, TEMPLATES, write_action, write_files
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError
from robot_rt_control.vocabulary.names import check_name

KINDS = {
    "action": "an action type: Python in the loop, its tests, a program that runs it (docs/tutorial.md); with "
    "--language c or c++, C or C++ in the loop (docs/c_actions.md)",
    "driver": "a hardware driver, the device that it talks to (simulated), their workcell, the tests that every driver "
    "must pass (docs/drivers.md)",
    "workcell": "a workcell: an arm with gripper, sensors and channels on mock hardware (docs/cells.md); with --urdf a "
    "robot of your own (docs/your_robot.md)",
    "program": "a program: states and reactions, judged in each tick (docs/programs.md)",
    "blueprint": "a blueprint: what comes after what; --workcell, default bench (docs/blueprints.md)",
    "task": "a task for the planner; --workcell, default push (docs/planning.md)",
}
_EXAMPLES = {
    "action": "push_button",
    "driver": "shuttle",
    "workcell": "packing_cell",
    "program": "look_down",
    "blueprint": "tidy_up",
    "task": "push_box",
}
_NEXT = {
    "action": "python -m pytest {0[1]}",
    "driver": "python -m pytest {0[3]}; then python {0[1]} 4800, and beside it robot-rt-control-workcell --workcell "
    "{0[2]}",
    "workcell": "robot-rt validate {0[0]}",
    "program": "robot-rt validate {0[0]} --workcell arm7",
}
_NEXT_C = (
    "python -m pytest {0[1]}; robot-rt header {0[0]} for your editor; a workcell loads it if `trusted_native_code` "
    "names its folder"
)
_DRIVER = {
    "gantry_driver.py": "{name}.py",
    "gantry_controller.py": "{name}_controller.py",
    "gantry.yaml": "{name}.yaml",
    "test_gantry_driver.py": "test_{name}.py",
}
"""The gantry of docs/drivers.md: it runs from the first minute, and its protocol is replaced by the device's."""


def write(kind: str, name: str, folder: Path, language: str = "python") -> list[Path]:
    """Write an action, driver, workcell or program. Returns its files. `language`: of an action, see `write_action`.

    Raises:
        DefinitionError: the name is not valid, or one of the files exists; nothing was written.
    """
    if kind == "action":
        return write_action(name, folder, language)
    if kind == "program":
        return write_files(kind, name, folder, TEMPLATES, {"program.yaml.in": "{name}.yaml"})
    from robot_rt_control.model.paths import package_folder  # slow

    share = package_folder("robot_rt_control")
    if share is None:
        raise RobotControlError("examples of this package", expected="its share folder", got="no such folder")
    if kind == "driver":
        words = {"gantry_driver": "{name}", "GantryDriver": "{Class}", "gantry_controller": "{name}_controller"}
        words |= {"gantry.yaml": "{name}.yaml", "gantry_cell": "{name}_cell"}
        return write_files(kind, name, folder, share / "examples/drivers", _DRIVER, **words)
    robots = {": robots/": ": package://robot_rt_control/config/robots/"}
    return write_files(kind, name, folder, share / "config", {"arm7.yaml": "{name}.yaml"}, arm7_cell="{name}", **robots)


def write_robot(
    name: str, folder: Path, given: str, *, base: str = "", tip: str = "", xacro_arguments: Mapping[str, str]
) -> tuple[Path, list[str]]:
    """Write the workcell of a robot.

    Args:
        given: path of its URDF or xacro file, from here, or a package:// path.
        base, tip: links, see `workcell_from_urdf`.

    Returns:
        The file, and what to know about it.

    Raises:
        DefinitionError: the name or the URDF is not valid, or the file exists; nothing was written.
    """
    # slow
    from robot_rt_control.model.paths import resolve_path
    from robot_rt_control.model.robot.urdf_reader import read_urdf
    from robot_rt_control.model.workcell.from_urdf import workcell_from_urdf

    check_name("name of a workcell", name)
    file = resolve_path(given, Path(), "--urdf")
    urdf = read_urdf(file, xacro_arguments=xacro_arguments)
    place = given if "://" in given else os.path.relpath(file, folder.resolve())
    made = workcell_from_urdf(name, urdf, place, base=base, tip=tip, xacro_arguments=dict(xacro_arguments))
    written = folder / f"{name}.yaml"
    if written.exists():
        raise DefinitionError(f"{written} exists", hint="Choose another name, or another folder")
    folder.mkdir(parents=True, exist_ok=True)
    written.write_text(made.text)
    return written, made.notes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    parser.add_argument("kind", choices=KINDS, metavar="KIND", nargs="?", help="what; without it, they are listed")
    parser.add_argument("name", nargs="?", help="of it and of its file, such as push_button")
    parser.add_argument("--folder", type=Path, default=Path(), help="for the files (default: here)")
    parser.add_argument("--workcell", help="that a blueprint or task is for: a file, or a name")
    parser.add_argument("--language", choices=SUFFIXES, default="python", help="of an action's real-time methods")
    robot = parser.add_argument_group("a workcell of your own robot")
    robot.add_argument("--urdf", metavar="FILE", help="its URDF or .xacro: a path, or package://PACKAGE/PATH")
    robot.add_argument("--base", default="", metavar="LINK", help="first link of the arm (default: the URDF's root)")
    robot.add_argument("--tip", default="", metavar="LINK", help="last link of the arm (default: a guess)")
    robot.add_argument(
        "--xacro", nargs="+", default=[], metavar="NAME=VALUE", help="arguments of a xacro file, such as ur_type=ur5e"
    )
    shown = "\n".join(f"  {kind:<10} {text}" for kind, text in KINDS.items())
    parser.epilog = f"KIND is one of these:\n\n{shown}"
    parser.set_defaults(parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    given, parser = arguments, arguments.parser
    if given.kind is None:
        parser.print_help()
        return ExitCode.DONE
    if given.name is None:
        parser.error(f"the name of the {given.kind} is missing, for example: new {given.kind} {_EXAMPLES[given.kind]}")
    if given.urdf is None and (given.base or given.tip or given.xacro):
        parser.error("--base, --tip and --xacro belong to --urdf FILE")
    if given.urdf is not None and given.kind != "workcell":
        parser.error(f"--urdf makes a workcell: new workcell {given.name} --urdf {given.urdf}")
    if given.language != "python" and given.kind != "action":
        parser.error(f"--language is of actions: new action {given.name} --language {given.language}")
    if given.kind in ("blueprint", "task"):
        return _by_its_tool(given)
    notes: list[str] = []
    if given.urdf is not None:
        words = dict(pair.partition("=")[::2] for pair in given.xacro)
        file, notes = write_robot(
            given.name, given.folder, given.urdf, base=given.base, tip=given.tip, xacro_arguments=words
        )
        files, following = [file], "robot-rt validate {0[0]}, then robot-rt-control-workcell --workcell {0[0]}"
    else:
        files = write(given.kind, given.name, given.folder, given.language)
        following = _NEXT[given.kind] if given.language == "python" else _NEXT_C
    following = following.format(files)
    if getattr(given, "json", False):
        print(json.dumps({"files": [str(file) for file in files], "notes": notes, "next": following}))
    else:
        print("\n".join([*map(str, files), *(f"note: {note}" for note in notes), f"next: {following}"]))
    return ExitCode.DONE


def _by_its_tool(given: argparse.Namespace) -> int:
    """Let the command line of blueprints or of the planner write it."""
    words = ["new", str(given.folder / f"{given.name}.yaml"), "--workcell"]
    if given.kind == "blueprint":
        from robot_rt_control.command_line.blueprints import main as blueprints  # slow

        return blueprints.main([*words, given.workcell or "bench"])
    from robot_rt_control.command_line.planning import main as planning  # slow

    return planning.main([*words, given.workcell or "push"])


def main(argv: Sequence[str] | None = None) -> int:
    """As `robot-rt new`, without ROS. Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="new", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_arguments(parser)
    try:
        return run(parser.parse_args(argv))
    except (RobotControlError, OSError) as error:
        print(error, file=sys.stderr)
        return ExitCode.FAILED


if __name__ == "__main__":
    sys.exit(main())
