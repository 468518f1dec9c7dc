"""Starts the foreign driver of a device: `python -m robot_rt_control.hardware.external_driver --help`.

It writes the device's description beside the process image and then becomes the driver: the supervisor, or launch,
watches the driver itself, and no process of Python is left.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from robot_rt_control.hardware.external_device import description_path, external_device, to_json
from robot_rt_control.memory.segment_names import image_name
from robot_rt_control.model.paths import find_executable
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError
from robot_rt_control.vocabulary.names import ROS2_CONTROL_DRIVER
from robot_rt_control.vocabulary.private_files import private


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="external_driver",
        description="Write the description of a device with a foreign driver, and become that driver. Its command gets "
        "the description's file as its first argument after those of the workcell file, then what follows here.",
    )
    parser.add_argument("workcell", help="the workcell's YAML file")
    parser.add_argument("device", help="name of the device in the workcell")
    parser.add_argument("--hardware", metavar="PLUGIN", help="as for the workcell; default: the workcell's")
    parser.add_argument("--namespace", default="", metavar="NAME", help="of the workcell's nodes")
    parser.add_argument("--image", default="", metavar="NAME", help="process image; default: that of the ROS domain")
    parser.add_argument("--print", action="store_true", dest="only_print", help="print the description; start nothing")
    return parser


def find_program(name: str, folder: Path) -> str:
    """The file of a driver's program: a path relative to the workcell file, of this package, or on PATH.

    Raises:
        DefinitionError: there is no such program.
    """
    if name == ROS2_CONTROL_DRIVER:
        path = find_executable("robot_rt_control", name)
        if path is not None:
            return str(path)
        raise DefinitionError(
            f"the driver {name!r}",
            expected="the executable in lib/robot_rt_control",
            got="none: it was left out, as this package was built without ros2_control",
            hint="Build this package where hardware_interface is installed (docs/foreign_drivers.md), or choose "
            "other hardware",
        )
    found = str((folder / name).resolve()) if os.sep in name else shutil.which(name)
    if found is None or not (Path(found).is_file() and os.access(found, os.X_OK)):
        hint = "Give a path relative to the workcell file, or a program on PATH"
        raise DefinitionError(f"the driver {name!r}", expected="an executable file", got="none", hint=hint)
    return found


def _write(path: Path, text: str) -> None:
    """Replace the file as a whole: a driver may be reading it."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    with open(part, "w", encoding="utf-8", opener=private) as written:
        written.write(text)
    part.replace(path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Become the driver. Returns 1 if that is not possible, with the reason on stderr; 0 after --print."""
    given, rest = _parser().parse_known_args(arguments)
    try:
        workcell: Workcell = load_workcell(given.workcell, given.hardware)
        device = workcell.device(given.device)
        image = given.image or image_name(given.namespace, os.environ.get("ROS_DOMAIN_ID", "0"), device.name)
        description = to_json(external_device(workcell, device, image))
        if given.only_print:
            print(description, end="")
            return 0
        command = device.driver_command
        if not command:
            raise DefinitionError(
                f"device {device.name!r}",
                expected="`external: {command: [PROGRAM, …]}` in the workcell file",
                got="none",
                hint="Start the driver by hand with the description that --print gives",
            )
        program = find_program(command[0], workcell.path.parent)
        path = description_path(image)
        _write(path, description)
        os.execv(program, [program, *command[1:], str(path), *rest])
    except RobotControlError as error:
        print(f"external_driver: {error}", file=sys.stderr)
    except OSError as error:
        print(f"external_driver: device {given.device!r}: its driver cannot be started: {error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
