"""Writes a first version of an action type, its tests, and a program that runs it: working files, in Python or in C.

python -m robot_rt_control.command_line.new_action nod
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError
from robot_rt_control.vocabulary.names import check_name

TEMPLATES = Path(__file__).parent / "templates"
FILES = {"action.py.in": "{name}.py", "test_action.py.in": "test_{name}.py", "run_action.py.in": "run_{name}.py"}
"""Template → the file that is written from it."""
C_FILES = {
    "c_action.py.in": "{name}.py",
    "test_c_action.py.in": "test_{name}.py",
    "run_action.py.in": "run_{name}.py",
}
"""Likewise if the real-time methods are in C or C++. Their own file is made from action.c.in, valid in both."""
SUFFIXES = {"python": ".py", "c": ".c", "c++": ".cpp"}
"""Language of the real-time methods → suffix of their file."""


def write_action(name: str, folder: Path, language: str = "python") -> list[Path]:
    """Write the files of a new action type.

    Args:
        name: of the type and of its file: nod, push_button.
        folder: created if it does not exist.
        language: of its real-time methods, one of `SUFFIXES`.

    Returns:
        The files: the action type, its tests, a program that runs it, and the C or C++ file if there is one.

    Raises:
        DefinitionError: the name is not valid, or one of the files exists; nothing was written.
    """
    file = f"{{name}}{SUFFIXES[language]}"
    files = FILES if language == "python" else C_FILES | {"action.c.in": file}
    return write_files("action type", name, folder, TEMPLATES, files, **{"@file@": file})


def write_files(
    what: str, name: str, folder: Path, sources: Path, files: Mapping[str, str], **words: str
) -> list[Path]:
    """Write files from others, with @name@ and @Class@ filled in.

    Args:
        what: it is, for errors.
        sources: the folder of the others.
        files: file in `sources` → the file that is written from it, with {name}.
        words: of the files → what stands for them, with {name} and {Class}.

    Raises:
        DefinitionError: as `write_action`.
    """
    check_name(f"name of an {what}" if what[0] in "aeiou" else f"name of a {what}", name)
    class_name = "".join(word.capitalize() for word in name.split("_"))
    words = {"@name@": "{name}", "@Class@": "{Class}"} | words
    written = {folder / target.format(name=name): (sources / source).read_text() for source, target in files.items()}
    for file in written:
        if file.exists():
            raise DefinitionError(f"{file} exists", hint="Choose another name, or another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in written.items():
        for word, value in words.items():
            text = text.replace(word, value.format(name=name, Class=class_name))
        file.write_text(text)
    return list(written)


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(
        description="Write a first version of an action type, its tests, and a program that runs it."
    )
    parser.add_argument("name", help="name of the action type, such as push_button")
    parser.add_argument("--folder", type=Path, default=Path(), help="folder for the files (default: here)")
    arguments = parser.parse_args(argv)
    try:
        action, tests, program = write_action(arguments.name, arguments.folder)
    except (RobotControlError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{action}   the action type: begin here")
    print(f"{tests}   its tests: python -m pytest {tests}")
    print(f"{program}   runs it on a running workcell: python {program}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
