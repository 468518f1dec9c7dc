"""Second check of real-time code: Numba types and compiles it; its errors in the user's words.

Then a walk through the typed code for what would allocate: arrays, lists and text made on the way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import FunctionType
from typing import Any

from numba.core import ir
from numba.core import types as numba_types
from numba.core.errors import NumbaError

from robot_rt_control.native.realtime_compiler import RealtimeFunction
from robot_rt_control.server.builder.realtime_methods import FunctionSource, python_function
from robot_rt_control.server.builder.violation import Violation, refuse

types: Any = numba_types  # Numba lists only some of its types where checkers look

OPTIONS: dict[str, Any] = {
    "nopython": True,
    "nogil": True,
    "boundscheck": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
"""How code of users is compiled: indices checked, no way back into Python."""

_HINTS = (
    ("Untyped global name", "Use numbers, tuples and NumPy arrays of numbers at the top of the file"),
    ("Unknown attribute", "Use fields of the records, functions of math, and functions marked @realtime"),
    ("No implementation of function", "This operation does not exist for these types: use numbers, loops and math"),
    ("No conversion", "Give every variable and field values of its own type"),
    ("Cannot unify", "Give a variable one type: the same kind of number on every path"),
    ("Cannot infer the type of variable", "Give a variable one type: the same kind of number on every path"),
    ("is not defined", "Assign the variable on every path before it is used"),
    ("referenced before assignment", "Assign the variable on every path before it is used"),
    ("Cannot assign", "Give every field values of its own type"),
    ("missing a required argument", "Call the function with the arguments that it takes"),
    ("too many positional arguments", "Call the function with the arguments that it takes"),
)
_OTHER_HINT = "Use numbers, loops over fixed fields, math, and functions marked @realtime"


def compile_function(source: FunctionSource, arguments: tuple[Any, ...], names: dict[str, str]) -> Any:
    """Compile a method of the user for records.

    Args:
        source: the method.
        arguments: Numba types of its arguments.
        names: how to call Numba's long texts of record types in messages.

    Returns:
        The compiled function (a Numba dispatcher) with this one overload.

    Raises:
        CompileError: `file:line: what Numba says; hint`.
    """
    compiled = RealtimeFunction(source.function, targetoptions=OPTIONS)
    try:
        compiled.compile(arguments)
    except Exception as error:  # Numba also lets KeyError and others of its own code escape
        raise refuse([_violation(error, source, names)]) from error
    return compiled


def _violation(error: Exception, source: FunctionSource, names: dict[str, str]) -> Violation:
    text = str(error)
    for long, short in sorted(names.items(), key=lambda item: -len(item[0])):
        text = text.replace(long, short)
    file, line = _place(text, source)
    message = _essence(text) if isinstance(error, NumbaError) else f"{type(error).__name__}: {text}"
    hint = next((hint for start, hint in _HINTS if start in message), _OTHER_HINT)
    return Violation(file, line, f"does not compile: {message}", hint)


def _place(text: str, source: FunctionSource) -> tuple[str, int]:
    """File and line of the user's code that an error is about: the innermost one that Numba names."""
    for file, line in re.findall(r"(?:at|File) \"?([^\"\n]+?\.py)\"?(?: \(|, line )(\d+)", text):
        if file == source.file:
            return file, int(line)
    outside = re.findall(r"During: .* at ([^\n]+?\.py) \((\d+)\)", text)
    for file, line in outside:
        if "/numba/" not in file and "/numpy/" not in file:
            return file, int(line)
    return source.file, source.node.lineno


def _essence(text: str) -> str:
    """Of Numba's long message, what a user needs: its first sentence, on one line."""
    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()]
    lines = [
        line for line in lines if line and not line.startswith(("Failed in nopython", "Failed in full", "During:"))
    ]
    if not lines:
        return "no reason given"
    kept = [lines[0]]
    for line in lines[1:]:
        if line.startswith((">>>", "Rejected", "TypingError", "NumbaTypeError")):
            kept.append(line.removeprefix(">>> "))
        if len(kept) == 2 or line.startswith(("There are", "File", "This error")):
            break
    message = re.sub(r"'(\w+)\.\d+'", r"'\1'", " ".join(kept))  # Numba counts what a name is given
    message = re.sub(r", defined at .*", "", message)
    return message if len(message) <= 300 else message[:297] + "..."


# --- what the typed code makes -------------------------------------------------------------------

_CONTAINERS = (
    (types.Array, "makes a new array", "Write a loop over the elements, into a field of the state record"),
    ((types.List, types.ListType, types.LiteralList), "makes a list", "Use a tuple or a field of fixed size"),
    ((types.Set, types.DictType, types.LiteralStrKeyDict), "makes a container", "Use fields of fixed size"),
    (types.UnicodeType, "makes text", "Real-time code has numbers only"),
)

_MAKING = (
    "call",
    "binop",
    "inplace_binop",
    "unary",
    "arrayexpr",
    "build_list",
    "build_set",
    "build_map",
    "build_string",
)


def check_allocation(functions: Sequence[Any]) -> None:
    """Refuse what makes arrays, lists or text, at the line where it stands.

    Args:
        functions: compiled functions of the user (Numba dispatchers).

    Raises:
        CompileError: one line for each violation.
    """
    violations: list[Violation] = []
    for compiled in functions:
        for overload in compiled.overloads.values():
            annotation = overload.type_annotation
            function = python_function(compiled)
            assert function is not None  # a dispatcher always has one
            for block in annotation.blocks.values():
                for statement in block.body:
                    found = _judge(statement, annotation.typemap)
                    if found is not None:
                        violations.append(Violation(_file(function), statement.loc.line, *found))
    if violations:
        raise refuse(violations)


def _file(function: FunctionType) -> str:
    return function.__code__.co_filename


def _judge(statement: Any, typemap: dict[str, Any]) -> tuple[str, str] | None:
    """(operation, hint) if a typed statement allocates, prints or raises."""
    if isinstance(statement, ir.Print):
        return "prints", "Make it a state variable: conditions, events and users can read it"
    if isinstance(statement, ir.Raise | ir.StaticRaise | ir.DynamicRaise):
        return "raises an exception", "Return a non-zero status: it is the action's failure"
    if isinstance(statement, ir.SetItem | ir.StaticSetItem):
        value = typemap.get(statement.value.name)
        whole = isinstance(statement, ir.StaticSetItem) and isinstance(statement.index, slice)
        if isinstance(statement, ir.SetItem):
            index = typemap.get(statement.index.name)
            parts = index.types if isinstance(index, types.BaseTuple) else (index,)
            whole = any(isinstance(p, types.SliceType | types.Array) for p in parts)
        if whole and isinstance(value, types.Array):
            hint = "Write a loop, or assign the whole field without a slice"
            return "copies an array into a slice, which makes a new array on the way", hint
        return None
    if not isinstance(statement, ir.Assign) or not isinstance(statement.value, ir.Expr):
        return None
    expression, made = statement.value, typemap.get(statement.target.name)
    fancy = expression.op == "getitem" and isinstance(typemap.get(expression.index.name), types.Array)
    if expression.op not in _MAKING and not fancy:
        return None
    if expression.op == "call" and isinstance(typemap.get(expression.func.name), types.Dispatcher):
        return None  # its own code is judged by itself
    for kinds, operation, hint in _CONTAINERS:
        if isinstance(made, kinds):
            return operation, hint
    return None
