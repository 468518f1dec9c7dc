"""Writes a first version of what a user makes; each is complete, passes its checks, and runs as it is.

./run new program look_down
./run new workcell my_cell --urdf my_arm.urdf
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from robot_rt_control.command_line.blueprints import main as blueprints
from robot_rt_control.command_line.new_action import TEMPLATES, write_action, write_files
from robot_rt_control.command_line.planning import main as planning
from robot_rt_control.model.paths import package_folder, resolve_path
from robot_rt_control.model.robot.urdf_reader import read_urdf
from robot_rt_control.model.workcell.from_urdf import workcell_from_urdf
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError
from robot_rt_control.vocabulary.names import check_name

KINDS = {
    "action": "an action type: Python in the loop, its tests, a program that runs it (docs/tutorial.md)",
    "driver": "a hardware driver, the device that it talks to (simulated), and their workcell (docs/drivers.md)",
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
    "driver": "python {0[1]} 4800, and beside it: robot-rt-control-workcell --workcell {0[2]}",
    "workcell": "robot-rt validate {0[0]}",
    "program": "robot-rt validate {0[0]} --workcell arm7",
}
_DRIVER = {
    "gantry_driver.py": "{name}.py",
    "gantry_controller.py": "{name}_controller.py",
    "gantry.yaml": "{name}.yaml",
}


def write(kind: str, name: str, folder: Path) -> list[Path]:
    """Write an action, driver, workcell or program. Returns its files.

    Raises:
        DefinitionError: the name is not valid, or one of the files exists; nothing was written.
    """
    if kind == "action":
        return write_action(name, folder)
    if kind == "program":
        return write_files(kind, name, folder, TEMPLATES, {"program.yaml.in": "{name}.yaml"})
    share = package_folder("robot_rt_control")
    if share is None:
        raise RobotControlError("examples of this package", expected="its share folder", got="no such folder")
    if kind == "driver":
        words = {"gantry_driver": "{name}", "GantryDriver": "{Class}", "gantry_controller": "{name}_controller"}
        return write_files(kind, name, folder, share / "examples/drivers", _DRIVER, gantry_cell="{name}_cell", **words)
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


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    shown = "\n".join(f"  {kind:<10} {text}" for kind, text in KINDS.items())
    parser = argparse.ArgumentParser(
        prog="new",
        description=f"Write a first version of one of these, which works:\n\n{shown}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("kind", choices=KINDS, metavar="KIND", nargs="?", help="what; without it, they are listed")
    parser.add_argument("name", nargs="?", help="of it and of its file, such as push_button")
    parser.add_argument("--folder", type=Path, default=Path(), help="for the files (default: here)")
    parser.add_argument("--workcell", help="that a blueprint or task is for: a file, or a name")
    robot = parser.add_argument_group("a workcell of your own robot")
    robot.add_argument("--urdf", metavar="FILE", help="its URDF or .xacro: a path, or package://PACKAGE/PATH")
    robot.add_argument("--base", default="", metavar="LINK", help="first link of the arm (default: the URDF's root)")
    robot.add_argument("--tip", default="", metavar="LINK", help="last link of the arm (default: a guess)")
    robot.add_argument(
        "--xacro", nargs="+", default=[], metavar="NAME=VALUE", help="arguments of a xacro file, such as ur_type=ur5e"
    )
    given = parser.parse_args(argv)
    if given.kind is None:
        parser.print_help()
        return 0
    if given.name is None:
        parser.error(f"the name of the {given.kind} is missing, for example: new {given.kind} {_EXAMPLES[given.kind]}")
    if given.kind in ("blueprint", "task"):
        tool, usual = (blueprints, "bench") if given.kind == "blueprint" else (planning, "push")
        return tool.main(["new", str(given.folder / f"{given.name}.yaml"), "--workcell", given.workcell or usual])
    if given.urdf is None and (given.base or given.tip or given.xacro):
        parser.error("--base, --tip and --xacro belong to --urdf FILE")
    if given.urdf is not None and given.kind != "workcell":
        parser.error(f"--urdf makes a workcell: new workcell {given.name} --urdf {given.urdf}")
    try:
        if given.urdf is not None:
            return _robot(given)
        files = write(given.kind, given.name, given.folder)
    except (RobotControlError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(map(str, files)))
    print("next: " + _NEXT[given.kind].format(files))
    return 0


def _robot(given: argparse.Namespace) -> int:
    arguments = dict(pair.partition("=")[::2] for pair in given.xacro)
    file, notes = write_robot(
        given.name, given.folder, given.urdf, base=given.base, tip=given.tip, xacro_arguments=arguments
    )
    print(file)
    for note in notes:
        print(f"note: {note}")
    print(f"next: robot-rt validate {file}, then robot-rt-control-workcell --workcell {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
