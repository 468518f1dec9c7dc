"""Finding the real-time methods of an action type, and the syntax tree of any function."""

from __future__ import annotations

import ast
import functools
import inspect
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from robot_rt_control.definitions.action_type import ActionType, realtime_method_names
from robot_rt_control.server.builder.violation import Violation, refuse
from robot_rt_control.server.code.source import layouts_of
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import CapacityError, CompileError


@dataclass(frozen=True)
class FunctionSource:
    """A function with its syntax tree."""

    function: FunctionType
    node: ast.FunctionDef
    file: str

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the positional parameters."""
        code = self.function.__code__
        return code.co_varnames[: code.co_argcount]


def python_function(value: Any) -> FunctionType | None:
    """The Python function behind a function or a function compiled by Numba, None for anything else."""
    value = getattr(value, "py_func", value)
    return value if isinstance(value, FunctionType) else None


@functools.lru_cache(maxsize=64)
def _functions_of(text: str, file: str) -> dict[tuple[str, int], tuple[ast.FunctionDef, CodeType]]:
    """The functions of a source text by name and first line, as code objects count it (decorators included)."""
    nodes = {}
    for node in ast.walk(ast.parse(text, file)):
        if isinstance(node, ast.FunctionDef):
            nodes[node.name, min([node.lineno, *[d.lineno for d in node.decorator_list]])] = node
    found = {}
    waiting = [compile(text, file, "exec", dont_inherit=True)]
    while waiting:
        code = waiting.pop()
        waiting += [c for c in code.co_consts if isinstance(c, CodeType)]
        at = (code.co_name, code.co_firstlineno)
        if at in nodes:
            found[at] = (nodes[at], code)
    return found


def source_of(function: FunctionType) -> FunctionSource:
    """The syntax tree of a function that was defined by `def` in a file.

    Raises:
        CompileError: it comes from somewhere else, or its file has changed since it was imported.
    """
    code = function.__code__
    where = f"{code.co_filename}:{code.co_firstlineno}"
    try:
        text = Path(code.co_filename).read_text(encoding="utf-8")
        node, present = _functions_of(text, code.co_filename)[code.co_name, code.co_firstlineno]
    except (OSError, SyntaxError, KeyError) as error:
        raise CompileError(
            f"{where}: the source of {code.co_name!r} is not there",
            hint="Real-time functions are written with `def`, in a file that has not changed since it was imported",
        ) from error
    if present != code:
        # What would be checked must be what would be compiled: Python may have imported an outdated .pyc file.
        raise CompileError(
            f"{where}: {code.co_name!r} is not as it was imported",
            hint="Its file has changed in the meantime: save the file again and build again",
        )
    return FunctionSource(function, node, code.co_filename)


def check_sizes(action_type: type[ActionType]) -> None:
    """Check what the loop has room for, whatever language the real-time methods are written in.

    Raises:
        CapacityError: too many slots, or too large a state record.
    """
    state, _ = layouts_of(action_type)
    for what, most, unit, got in (
        ("slots", "MAX_ACTION_SLOTS", "", len(action_type.slots)),
        ("the state of an action", "ACTION_STATE_BYTES", " bytes", state.itemsize),
    ):
        limit = getattr(capacities, most)
        if got > limit:
            raise CapacityError(
                f"action type {action_type.name!r}: {what}",
                expected=f"at most {limit}{unit} ({most})",
                got=f"{got}{unit}",
            )


def realtime_methods(action_type: type[ActionType]) -> dict[str, FunctionSource]:
    """The real-time methods that an action type defines or inherits, in the order of `realtime_method_names`.

    Raises:
        CompileError: one is not a static method, or does not take state, params and one part for each slot.
        CapacityError: as `check_sizes`.
    """
    check_sizes(action_type)
    slots = tuple(s.name for s in action_type.slots)
    wanted = ", ".join(("state", "params", *slots))
    methods: dict[str, FunctionSource] = {}
    for name in realtime_method_names(action_type):
        attribute = inspect.getattr_static(action_type, name, None)
        if attribute is None:
            continue
        function = python_function(
            attribute.__func__ if isinstance(attribute, staticmethod | classmethod) else attribute
        )
        if function is None:
            raise CompileError(
                f"action type {action_type.name!r}: {name}", expected=f"a static method ({wanted})", got=repr(attribute)
            )
        source = source_of(function)
        code = function.__code__
        line = source.node.lineno
        if not isinstance(attribute, staticmethod):
            hint = f"Put @staticmethod above it and take ({wanted}): what it remembers lives in the state record"
            raise refuse([Violation(source.file, line, f"{name} is not a static method", hint)])
        star = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
        if code.co_argcount != 2 + len(slots) or code.co_kwonlyargcount or star or function.__defaults__:
            got = ", ".join(a.arg for a in [*source.node.args.args, *source.node.args.kwonlyargs])
            operation = f"{name} takes ({got}), expected ({wanted})"
            hint = "A real-time method takes state, params and one part for each slot, without defaults"
            raise refuse([Violation(source.file, line, operation, hint)])
        methods[name] = source
    return methods
