"""An action type's source: its class, and its files."""

from __future__ import annotations

import functools
import hashlib
import importlib
import sys
import traceback
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import robot_rt_control
from robot_rt_control.definitions.action_type import ActionType, parameter_dtype, state_dtype
from robot_rt_control.definitions.class_place import spec_of
from robot_rt_control.native.module_digest import is_installed, module_digest
from robot_rt_control.vocabulary.errors import CompileError, DefinitionError, unknown

_PACKAGE = Path(robot_rt_control.__file__).resolve().parent


@dataclass(frozen=True)
class ActionSource:
    """An action type that has been loaded."""

    spec: str
    """Where it is: "path/file.py:Class" or "package.module:Class"."""
    action_type: type[ActionType]
    module: types.ModuleType
    file: Path

    @property
    def class_name(self) -> str:
        """The class's name within its module."""
        return self.action_type.__qualname__


def load_action_type(spec: str | type[ActionType]) -> ActionSource:
    """Load an action type.

    Args:
        spec: "path/file.py:Class", "package.module:Class", or the class itself.

    Raises:
        CompileError: no such file, module or class, it cannot be imported, or it is not an action type.
    """
    if not isinstance(spec, str):
        module = sys.modules[spec.__module__]
        return _checked(spec_of(spec), spec, module)
    place, separator, name = spec.rpartition(":")
    if not separator or not place or not name:
        raise CompileError("name of an action type", expected="file.py:Class or module:Class", got=repr(spec))
    module = _import(place)
    found: Any = module
    for step in name.split("."):
        if not hasattr(found, step):
            classes = [n for n, v in vars(module).items() if _is_action_type(v)]
            raise CompileError(f"{place}: no class {name!r}", expected=unknown("action type", name, classes))
        found = getattr(found, step)
    return _checked(spec, found, module)


def find_action_types(place: str) -> list[str]:
    """The specs of all action types that a file or module defines itself, in their order.

    Args:
        place: "path/file.py" or "package.module".

    Raises:
        CompileError: no such file or module, it cannot be imported, or defines none.
    """
    module = _import(place)
    own = [n for n, v in vars(module).items() if _is_action_type(v) and v.__module__ == module.__name__]
    names = list(dict.fromkeys(getattr(module, n).__qualname__ for n in own if hasattr(getattr(module, n), "name")))
    if not names:
        raise CompileError(
            f"{place}: no action type",
            expected="a class derived from robot_rt_control.definitions.action_type.ActionType, with a `name`",
            got=f"{len(own)} without a name" if own else "none",
        )
    return [f"{place}:{name}" for name in names]


_seen: dict[str, bytes] = {}
"""Modules that files of action types have brought along → digest of their files when they were imported."""


def _import(place: str) -> types.ModuleType:
    """Import a file or module, and anew what it uses of the user's own where that has changed."""
    _forget_changed(Path(place).resolve().parent if place.endswith(".py") else None)
    importlib.invalidate_caches()
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # a .pyc file may outlive an edit of its second
    try:
        module = _import_file(Path(place)) if place.endswith(".py") else _import_module(place)
    finally:
        sys.dont_write_bytecode = writes
    for used in user_modules(module):
        if used.__file__ and used.__name__ != "__main__" and _is_user_file(used.__file__):
            _seen.setdefault(used.__name__, _file_digest(used.__file__))
    return module


def _file_digest(file: str) -> bytes:
    try:
        return hashlib.sha256(Path(file).read_bytes()).digest()
    except OSError:
        return b""


def _forget_changed(folder: Path | None) -> None:
    """Forget modules whose files are not what they were when they were imported, and modules that use such.

    Args:
        folder: of the file that will be imported: of two modules of one name, it means the one beside it.
    """
    present = {name: sys.modules[name] for name in _seen if name in sys.modules}
    changed = {n for n, m in present.items() if not m.__file__ or _file_digest(m.__file__) != _seen[n]}
    if folder is not None:
        changed |= {n for n, m in present.items() if "." not in n and _is_another(m, folder)}
    for name, module in present.items():
        if changed & {m.__name__ for m in user_modules(module)}:
            del sys.modules[name], _seen[name]


def _is_another(module: types.ModuleType, folder: Path) -> bool:
    """Whether the module of this name in a folder is another one."""
    name, file = module.__name__, Path(module.__file__ or "").resolve()
    there = [f for f in (folder / f"{name}.py", folder / name / "__init__.py") if f.is_file()]
    return bool(there) and file not in there


def _is_action_type(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, ActionType) and value is not ActionType


def _checked(spec: str, found: Any, module: types.ModuleType) -> ActionSource:
    if not _is_action_type(found):
        raise CompileError(
            spec, expected="a class derived from robot_rt_control.definitions.action_type.ActionType", got=repr(found)
        )
    for attribute in ("name", "slots"):
        if not hasattr(found, attribute):
            raise CompileError(
                f"action type {found.__qualname__}: the class attribute {attribute!r} is missing",
                hint="Every action type has a name and slots",
            )
    file = getattr(module, "__file__", None)
    if file is None:
        raise CompileError(f"{spec}: the module does not come from a file", hint="Write the class into a .py file")
    return ActionSource(spec, found, module, Path(file).resolve())


def _import_file(file: Path) -> types.ModuleType:
    if not file.is_file():
        raise CompileError(f"{file}: no such file", hint="Give the path of the .py file that holds the action type")
    file = file.resolve()
    name = f"action_file_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}_{file.stem}"
    module = types.ModuleType(name)
    module.__file__ = str(file)
    # Its neighbours may be imported, as they may when Python runs the file itself.
    sys.path.insert(0, str(file.parent))
    sys.modules[name] = module
    try:
        # From its text: a .pyc file may be older than an edit of the same second.
        exec(compile(file.read_bytes(), str(file), "exec", dont_inherit=True), vars(module))
    except BaseException as error:  # `sys.exit()` ends the request, not the process that serves it
        del sys.modules[name]
        raise _import_failed(str(file), error) from error
    finally:
        sys.path.remove(str(file.parent))
    return module


def _import_module(name: str) -> types.ModuleType:
    try:
        return importlib.import_module(name)
    except BaseException as error:
        raise _import_failed(name, error) from error


def _import_failed(what: str, error: BaseException) -> CompileError:
    if isinstance(error, SyntaxError):
        return CompileError(f"{error.filename}:{error.lineno}: {error.msg}", hint="Python cannot read the file")
    frames = [f for f in traceback.extract_tb(error.__traceback__) if _is_user_file(f.filename)]
    where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else what
    return CompileError(
        f"{where}: importing failed with {type(error).__name__}: {error}",
        hint="The file of an action type must be importable by itself",
    )


@functools.cache  # each module that a type uses is asked about for each type
def _is_user_file(file: str) -> bool:
    return file.endswith(".py") and not is_package_file(file) and not is_installed(file)


@functools.cache
def is_package_file(file: str | Path) -> bool:
    """Whether a file belongs to robot_rt_control itself."""
    return Path(file).resolve().is_relative_to(_PACKAGE)


def user_modules(module: types.ModuleType) -> list[types.ModuleType]:
    """A module and all that it uses, directly or not, of the user's own code (not installed, not this package)."""
    seen: dict[str, types.ModuleType] = {}
    waiting = [module]
    while waiting:
        current = waiting.pop()
        if current.__name__ in seen:
            continue
        seen[current.__name__] = current
        for value in list(vars(current).values()):
            used = (
                value
                if isinstance(value, types.ModuleType)
                else sys.modules.get(getattr(value, "__module__", "") or "")
            )
            file = getattr(used, "__file__", None)
            if used is not None and file and _is_user_file(file):
                waiting.append(used)
    return [seen[name] for name in sorted(seen)]


def files_digest(module: types.ModuleType) -> str:
    """Digest of the code in a module's file, and in all files of the user's own that it uses.

    Args:
        module: imported.

    Returns:
        64 hexadecimal digits. Comments and docstrings do not count.
    """
    digests = [str(module_digest(m.__name__, imports=False)) for m in user_modules(module)]
    return hashlib.sha256("".join(digests).encode()).hexdigest()


def layouts_of(action_type: type[ActionType]) -> tuple[np.dtype, np.dtype]:
    """State and parameter record types, with their errors turned into the builder's."""
    try:
        return state_dtype(action_type), parameter_dtype(action_type)
    except DefinitionError as error:
        raise CompileError(error.what, expected=error.expected, got=error.got, hint=error.hint) from error
    except ValueError as error:  # a name that no record can have
        raise CompileError(f"{action_type.__name__}: {error}") from error
