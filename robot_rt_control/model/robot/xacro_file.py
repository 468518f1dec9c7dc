"""Expands xacro files, by the library `xacro` of a ROS installation or from PyPI."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.parsers.expat import ExpatError

from robot_rt_control.model.paths import package_folder
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

SUFFIX = ".xacro"


class _Arguments(dict[str, str]):
    """The given arguments; `asked` has the names that the file declares or uses."""

    def __init__(self, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self.asked: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.asked.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return super().__getitem__(name)


def expand(path: Path, arguments: Mapping[str, str]) -> bytes:
    """The URDF that a xacro file describes.

    Args:
        path: of the file; files that it includes are found as xacro does.
        arguments: for its <xacro:arg>.

    Raises:
        DefinitionError: the library is not installed, an argument is unknown, or the file is not valid.
    """
    library = _library(path)
    asked = _Arguments(arguments)
    try:
        document = library.process_file(str(path), mappings=asked)
    except Exception as error:  # of the library, or of an expression in the file
        raise _located(error, path, library.filestack or []) from error
    finally:
        library.substitution_args_context["arg"] = {}
    for name in arguments:
        if name not in asked.asked:
            declared = sorted(asked.asked)
            raise DefinitionError(f"{path}: xacro argument {name!r}", expected=unknown("argument", name, declared))
    # Without the comments around it: they contain the file's path, on which no digest may depend.
    text: str = document.documentElement.toxml()
    return text.encode()


def _library(path: Path) -> Any:
    try:
        library = importlib.import_module("xacro")
        substitutions: Any = importlib.import_module("xacro.substitution_args")
    except ImportError as error:
        raise DefinitionError(
            f"xacro file {path}",
            expected="the Python library xacro",
            got=str(error),
            hint="Install it: pip install xacro, or on a ROS installation apt install ros-$ROS_DISTRO-xacro",
        ) from error
    # $(find …) as package://…: also this package in a source checkout, and packages that pip installed.
    substitutions._eval_find = _share
    return library


def _share(package: str) -> str:
    folder = package_folder(package)
    if folder is None:
        raise DefinitionError(
            f"$(find {package})",
            expected="a ROS package in one of the folders of AMENT_PREFIX_PATH",
            got="no such package",
            hint="Source the workspace that contains it",
        )
    return str(folder)


def _located(error: BaseException, path: Path, files: list[str]) -> DefinitionError:
    """The library's error with the file that was being read, and those that include it."""
    file = str(files[-1]) if files else str(path)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ExpatError):
            file = f"{file}:{cause.lineno}"
        if isinstance(cause, DefinitionError):
            break
        cause = getattr(cause, "exc", None) or cause.__cause__ or cause.__context__
    hint = "Included by " + ", ".join(map(str, files[-2::-1])) if len(files) > 1 else ""
    if isinstance(cause, DefinitionError):
        return DefinitionError(f"{file}: {cause.what}", expected=cause.expected, got=cause.got, hint=cause.hint)
    got = " ".join(str(error).split()) or type(error).__name__
    return DefinitionError(f"{file}: xacro", expected="a file that it can expand", got=got, hint=hint)
