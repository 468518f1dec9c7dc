"""Files of Python functions that the workcell names under `capabilities`."""

from __future__ import annotations

import ast
import functools
import importlib.util
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robot_rt_control.blueprint.makers.declaration import ATTRIBUTE, text_of
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.text.dump import dump
from robot_rt_control.vocabulary.errors import DefinitionError

_DECLARED = re.compile(r"^@(?:\w+\.)*skill\b[^\n]*(?:\n(?!def |async def |class ).*)*\ndef +(\w+)", re.MULTILINE)
"""A declared function in a file that is no Python."""


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What was found in the files.

    Args:
        templates: skill's name → its text; of a broken one with the reason among its mistakes.
        functions: skill's name → function.
    """

    templates: Mapping[str, SkillTemplate] = field(default_factory=dict)
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)


SHIPPED = (Path(__file__).parents[2] / "planner" / "push_to.py",)
"""Files of the package; they stand above blueprints."""


def capabilities_of(workcell: Workcell | Path) -> Capabilities:
    """Those of the package, and of the files that a workcell names, as `load_capabilities`; its own come first.

    Raises:
        DefinitionError: the workcell file is not valid.
    """
    own = load_capabilities((workcell if isinstance(workcell, Workcell) else load_workcell(workcell)).capabilities)
    shipped = load_capabilities(SHIPPED)
    return Capabilities(
        templates={**shipped.templates, **own.templates},
        functions={
            **{name: its for name, its in shipped.functions.items() if name not in own.templates}, **own.functions
        },
    )  # fmt: skip


def load_capabilities(files: Iterable[Path]) -> Capabilities:
    """Import files. One that cannot be imported is listed as broken; nothing is raised.

    A file is imported under its own name, as a script: it can import what is beside it.
    """
    templates: dict[str, SkillTemplate] = {}
    functions: dict[str, Callable[..., Any]] = {}
    for file in files:
        for name, template, function in _of_file(file):
            if name in templates:
                other = DefinitionError(f"{file.name}: skill {name!r} is in {templates[name].source} already")
                template = _broken(name, file, *templates[name].mistakes, other)
                function = None
            templates[name] = template
            if function is not None:
                functions[name] = function
            else:
                functions.pop(name, None)
    return Capabilities(templates=templates, functions=functions)


def _of_file(file: Path) -> Iterable[tuple[str, SkillTemplate, Callable[..., Any] | None]]:
    try:
        module = _import(file)
    except BaseException as error:  # also SystemExit: a file must not end the process
        if isinstance(error, KeyboardInterrupt):
            raise
        reason = DefinitionError(f"{where(error, file)}: the file cannot be imported: {shown(error)}")
        for name in _names(file) or (file.stem,):
            yield name, _broken(name, file, reason), None
        return
    for function in list(vars(module).values()):
        if not hasattr(function, ATTRIBUTE) or getattr(function, "__module__", "") != module.__name__:
            continue
        name = getattr(function, ATTRIBUTE)["name"]
        place = f"{file.name}:{function.__name__}"
        try:
            template = SkillTemplate(text_of(function, place), source=f"{file.name}:{_line(function)}")
        except (DefinitionError, TypeError, ValueError) as error:
            found = DefinitionError(f"{file.name}:{_line(function)}: {shown(error)}")
            yield name, _broken(name, file, found), None
        else:
            yield name, template, None if template.mistakes else function


def _import(file: Path) -> Any:
    name = f"robot_skills_{file.stem}_{abs(hash(str(file)))}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise DefinitionError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # annotations are looked up there
    sys.path.insert(0, str(file.parent))
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        sys.path.remove(str(file.parent))
    return module


def _line(function: Callable[..., Any]) -> int:
    return int(getattr(getattr(function, "__code__", None), "co_firstlineno", 0))


def _names(file: Path) -> tuple[str, ...]:
    """The skills that a broken file probably declares."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ()
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return tuple(_DECLARED.findall(text))
    return tuple(
        name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if (name := _declared(decorator, node.name))
    )


def _declared(decorator: ast.expr, function: str) -> str:
    """The skill's name, if this is `@skill(…)`."""
    if not isinstance(decorator, ast.Call):
        return ""
    called = decorator.func
    if (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) != "skill":
        return ""
    named = [k.value.value for k in decorator.keywords if k.arg == "name" and isinstance(k.value, ast.Constant)]
    return str(named[0]) if named else function


def _broken(name: str, file: Path, *reasons: DefinitionError) -> SkillTemplate:
    data = {"name": name, "level": "capability", "is": {"python": file.name}}
    template = SkillTemplate(dump(data), source=file.name)
    template.mistakes = (*template.mistakes, *reasons)
    return template


def where(error: BaseException, file: Path) -> str:
    """ "vision.py:12": the innermost line of a file that an error came from."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}:{error.lineno or 0}"
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if Path(f.filename) == file]
    return f"{file.name}:{lines[-1]}" if lines else file.name


def shown(error: BaseException) -> str:
    """An error in words."""
    if isinstance(error, DefinitionError):
        return str(error)
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


@functools.lru_cache(maxsize=64)
def file_of(function: Callable[..., Any]) -> Path:
    """Where a function is written."""
    return Path(getattr(getattr(function, "__code__", None), "co_filename", "?"))
