"""Arguments of the launch file that it does not declare. ROS's launch accepts them in silence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

from robot_rt_control.bringup.bringup import PACKAGE
from robot_rt_control.vocabulary.errors import DefinitionError, raise_all, unknown

FILES = ("workcell.launch.py", "workcell.launch.xml")
_OF_LAUNCH = ("launch-prefix", "launch-prefix-filter")
"""`ros2 launch` passes these options on as arguments."""


def is_launched_itself(command_line: Sequence[str], folder: Path) -> bool:
    """Whether a command line launches this package's file. Otherwise another launch file includes it.

    Args:
        command_line: of the process: `ros2 launch robot_rt_control workcell.launch.py …`, or with the file's path.
        folder: of the package's launch files.
    """
    for before, word in zip(("", *command_line), command_line, strict=False):
        if Path(word).name in FILES and (before == PACKAGE or Path(word).resolve().parent == folder.resolve()):
            return True
    return False


def check_arguments(given: Iterable[str], known: Sequence[str]) -> None:
    """Refuse arguments that are not declared.

    Raises:
        DefinitionError: names the nearest declared one; ProgramError: there are several.
    """
    raise_all(
        DefinitionError(
            f"launch argument {name!r} is not known",
            expected=unknown("launch argument", name, known),
            hint="ros2 launch robot_rt_control workcell.launch.py --show-args describes them",
        )
        for name in sorted({*given} - {*known, *_OF_LAUNCH})
    )


def doubtful_arguments(given: Iterable[str], known: Sequence[str]) -> list[str]:
    """Warnings for an included launch file: its arguments cannot be distinguished from those of the files around it."""
    near = {name: get_close_matches(name, known, n=1, cutoff=0.8) for name in sorted({*given} - {*known})}
    return [f"launch argument {name!r}: did you mean {match[0]!r}?" for name, match in near.items() if match]
