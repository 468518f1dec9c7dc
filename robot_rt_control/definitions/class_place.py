"""The location of a class, as a text with which another process on the same machine can load it."""

from __future__ import annotations

import inspect
from pathlib import Path

from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.vocabulary.errors import CompileError, refuse_nul


def spec_of(action_type: type[ActionType]) -> str:
    """The text that names a class: its module if that is part of a package, else its file.

    Raises:
        CompileError: the class was defined in a function, or not in a file at all.
    """
    name = action_type.__qualname__
    if "<locals>" in name:
        raise CompileError(
            f"action type {name}: the class is defined inside of a function",
            hint="Move it to the top level of its file: the builder loads it from there",
        )
    try:
        found = inspect.getsourcefile(action_type)
    except (TypeError, OSError):
        found = None
    if found is None or not Path(found).is_file():
        raise CompileError(f"action type {name}: its class does not come from a file", hint="Write it into a .py file")
    file = Path(found).resolve()
    # A file of a package may contain relative imports, so it must be loaded as part of the package.
    if "." in action_type.__module__ and (file.parent / "__init__.py").is_file():
        return f"{action_type.__module__}:{name}"
    return f"{file}:{name}"


def source_text(source: str | Path | type[ActionType]) -> str:
    """Make a source of action types (see server/types/action_sources.py) independent of the working directory.

    Raises:
        CompileError: the class has no file, or the file does not exist.
    """
    if isinstance(source, type):
        return spec_of(source)
    text = str(source)
    refuse_nul(text, "source of action types")
    place, colon, name = text.rpartition(":")
    if not colon:
        place, name = text, ""
    if not place.endswith(".py"):
        return text
    file = Path(place).expanduser().resolve()
    if not file.is_file():
        raise CompileError(f"{file}: no such file", hint="Give the path of the .py file that holds the action types")
    return f"{file}{colon}{name}"


def file_and_text(source: str | Path | type[ActionType]) -> tuple[str, str]:
    """The file of a source of action types, and its text, for a server on another computer.

    Raises:
        CompileError: it is no file as a whole and no class of a file, or the file does not exist.
    """
    if isinstance(source, type):
        spec_of(source)  # raises if it has no file
        file = Path(inspect.getsourcefile(source) or "").resolve()
    else:
        file = Path(source_text(source))
    if file.suffix != ".py":
        raise CompileError(
            f"upload of {str(source)!r}",
            expected="a file, or a class",
            got="a part of a file, a module or an entry point",
            hint="A text is loaded as a whole; a package must be installed on the server's machine",
        )
    return str(file), file.read_text(encoding="utf-8")
