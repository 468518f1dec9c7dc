"""Finds a user's program, and converts its arguments from text."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import typing
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from robot_rt_control.vocabulary.errors import DefinitionError, unknown

_FORM = "file.py, file.py:function, package.module or package.module:function"
_DEFAULT_FUNCTION = "main"
_KINDS: dict[object, str] = {int: "a whole number", float: "a number", bool: "true or false"}
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def load_program(program: str) -> Callable[..., Any]:
    """The function of a user's program. Its module is imported; a file is executed at each call.

    Args:
        program: file.py, file.py:function, package.module or package.module:function; without a function, `main`.
            A file may import its neighbours.

    Raises:
        DefinitionError: there is no such file, module or function.
        Exception: any exception of the module itself.
    """
    source, colon, name = program.partition(":")
    name = name if colon else _DEFAULT_FUNCTION
    if not source or not name.isidentifier():
        raise DefinitionError(f"program {program!r}", expected=_FORM)
    module = _from_file(Path(source).expanduser(), program) if source.endswith(".py") else _from_path(source, program)
    found = getattr(module, name, None)
    if not callable(found):
        functions = [n for n, value in vars(module).items() if inspect.isfunction(value)]
        raise DefinitionError(
            f"program {program!r}: function {name!r}", expected=unknown("function", name, functions), got="no function"
        )
    return found


def _from_file(path: Path, program: str) -> ModuleType:
    path = path.resolve()
    if not path.is_file():
        raise DefinitionError(f"program {program!r}", expected="a file", got=f"nothing at {path}")
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    # Not the file's name: examples begin with a number, and `test` or `json` would hide other modules.
    name = f"robot_rt_control_program_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look up their module
    spec.loader.exec_module(module)
    return module


def _from_path(source: str, program: str) -> ModuleType:
    try:
        return importlib.import_module(source)
    except ModuleNotFoundError as error:
        if error.name is None or not (source == error.name or source.startswith(error.name + ".")):
            raise  # the module exists, but something that it imports does not
        raise DefinitionError(
            f"program {program!r}", expected=_FORM, got=str(error), hint="Check the spelling and PYTHONPATH"
        ) from error


def bind(function: Callable[..., Any], client: object, texts: Sequence[str]) -> tuple[Any, ...]:
    """The arguments of a program: the client, and texts converted by its annotations (int, float, bool; else str).

    Raises:
        DefinitionError: too many or too few arguments, or one that is not of its type.
    """
    what = f"program {function.__name__!r}"
    signature = inspect.signature(function)
    try:
        signature.bind(client, *texts)
    except TypeError as error:
        raise DefinitionError(
            f"{what}: its arguments", expected=f"client and those of {function.__name__}{signature}", got=str(error)
        ) from error
    types = typing.get_type_hints(function)
    places = [p for p in signature.parameters.values() if p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD)]
    values: list[Any] = [client]
    for i, text in enumerate(texts, start=1):
        place = places[min(i, len(places) - 1)]
        values.append(_converted(f"{what}, argument {place.name!r}", text, types.get(place.name, str)))
    return tuple(values)


def _converted(what: str, text: str, wanted: object) -> Any:
    try:
        if wanted is bool:
            return _TRUTH[text.lower()]
        if wanted in (int, float):
            return wanted(text)
    except (KeyError, ValueError):
        raise DefinitionError(what, expected=_KINDS[wanted], got=repr(text)) from None
    return text
