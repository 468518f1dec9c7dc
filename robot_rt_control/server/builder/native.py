"""Third check and result: machine code of an action type's real-time methods, and what it would call.

Each method gets an entry `int64 entry(State*, Params*, Part*, Part*, Part*, Part*)` (see
realtime/tick/native_call.py). The final word on real-time safety are the functions that the optimized code
calls from outside: only those of mathematics and memory are allowed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numba import types

from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.memory.layout import part_dtype
from robot_rt_control.native.object_file import object_symbols
from robot_rt_control.native.realtime_compiler import RealtimeFunction
from robot_rt_control.native.whole_program import linked, machine_code
from robot_rt_control.server.builder.allowed_symbols import is_allowed, why_refused
from robot_rt_control.server.builder.call_lines import lines_calling
from robot_rt_control.server.builder.realtime_methods import FunctionSource
from robot_rt_control.server.builder.syntax_check import CheckedCode
from robot_rt_control.server.builder.type_check import OPTIONS, check_allocation, compile_function
from robot_rt_control.server.builder.violation import Violation, refuse
from robot_rt_control.server.code.source import layouts_of, user_modules
from robot_rt_control.vocabulary.capacities import MAX_ACTION_SLOTS
from robot_rt_control.vocabulary.errors import CompileError


@dataclass(frozen=True)
class MachineCode:
    """An object file with the entries of an action type."""

    code: bytes
    symbols: dict[str, str]
    """Real-time method → symbol of its entry."""
    needed: tuple[str, ...]
    """Functions that it calls from outside."""


def compile_action(action_type: type[ActionType], checked: CheckedCode, module: Any, key: str) -> MachineCode:
    """Compile the real-time methods of an action type.

    Args:
        action_type: the class.
        checked: its real-time code, as it passed `check_syntax`.
        module: the module of the class.
        key: the key of its native code; the symbols carry it.

    Raises:
        CompileError: one line for each violation: `file:line: operation; hint`.
    """
    state, parameters = layouts_of(action_type)
    records = {"state": state, "params": parameters, "part": part_dtype}
    arguments = tuple(numba.from_dtype(d) for d in records.values())
    n_slots = len(action_type.slots)
    own_arguments = (*arguments[:2], *[arguments[2]] * n_slots)
    names = _short_names(records)
    entries: dict[str, Any] = {}
    with _with_bounds_checks(checked, module) as helpers:
        for name, source in checked.methods.items():
            method = compile_function(source, own_arguments, names)
            check_allocation([method, *helpers])
            entries[name] = _compile_entry(source, method, n_slots, arguments)
        symbols = {name: f"robot_rt_control_{key[:24]}_{name}" for name in entries}
        merged = linked({symbols[name]: entry for name, entry in entries.items()}, is_allowed)
        if _strange_calls(merged):
            for name, source in checked.methods.items():
                _check_symbols(entries[name], source, own_arguments)
    code = machine_code(merged)
    # Object code may call what the module did not: LLVM turns intrinsics and loops into functions.
    needed = sorted(object_symbols(code).needed)
    strange = [n for n in needed if not is_allowed(n)]
    if strange:
        raise CompileError(f"action type {action_type.name!r}: its machine code calls {', '.join(strange)}")
    return MachineCode(code, symbols, tuple(needed))


def _short_names(records: dict[str, np.dtype]) -> dict[str, str]:
    """Numba's texts of record types (thousands of characters) → short names for messages."""
    names: dict[str, str] = {}

    def add(dtype: np.dtype, name: str) -> None:
        if dtype.fields is not None:
            names.setdefault(str(numba.from_dtype(dtype)), name)
            for field, (inner, *_) in dtype.fields.items():
                add(inner.subdtype[0] if inner.subdtype is not None else inner, f"{name}.{field}")

    for name, dtype in records.items():
        add(dtype, name)
    return names


@contextlib.contextmanager
def _with_bounds_checks(checked: CheckedCode, module: Any) -> Iterator[list[Any]]:
    """The user's own @realtime functions, compiled anew with bounds checks, wherever their modules name them."""
    replaced: list[tuple[Any, str, Any]] = []
    compiled = []
    try:
        for marked in {id(h): h for h in checked.helpers.values()}.values():
            anew = RealtimeFunction(marked.py_func, targetoptions=OPTIONS)
            compiled.append(anew)
            for used in user_modules(module):
                for name, value in list(vars(used).items()):
                    if value is marked:
                        replaced.append((used, name, value))
                        setattr(used, name, anew)
        yield compiled
    finally:
        for used, name, value in replaced:
            setattr(used, name, value)


_ENTRY = """
def entry(state, params, part_0, part_1, part_2, part_3):
    {call}
"""

_CALLS = {
    "nothing": "method({arguments})\n    return 0",
    "status": "return int(method({arguments}))",
    "either": "status = method({arguments})\n    if status is None:\n        return 0\n    return int(status)",
}


def _compile_entry(source: FunctionSource, method: Any, n_slots: int, arguments: tuple[Any, ...]) -> Any:
    """The entry of uniform signature that calls a compiled method."""
    (overload,) = method.overloads.values()
    returned = overload.signature.return_type
    kind = "either" if isinstance(returned, types.Optional) else "nothing" if returned == types.none else "status"
    inner = returned.type if isinstance(returned, types.Optional) else returned
    if kind != "nothing" and not isinstance(inner, types.Integer | types.IntEnumMember):
        operation = f"{source.node.name} returns {inner}, expected nothing or an int status"
        raise refuse([Violation(source.file, source.node.lineno, operation, "Values leave an action in its records")])
    passed = ", ".join(["state", "params", *[f"part_{i}" for i in range(n_slots)]])
    scope: dict[str, Any] = {"method": method}
    exec(_ENTRY.format(call=_CALLS[kind].format(arguments=passed)), scope)
    entry = RealtimeFunction(scope["entry"], targetoptions=OPTIONS)
    entry.compile(types.int64(*arguments, *[arguments[2]] * (MAX_ACTION_SLOTS - 1)))
    return entry


def _strange_calls(module: Any) -> list[str]:
    """What optimized code calls that is neither mathematics nor memory."""
    return [f.name for f in module.functions if f.is_declaration and not is_allowed(f.name)]


def _check_symbols(entry: Any, source: FunctionSource, arguments: tuple[Any, ...]) -> None:
    """Refuse a method whose optimized code calls anything but mathematics and memory."""
    called = _strange_calls(linked({"entry": entry}, is_allowed))
    if not called:
        return
    # Once more, with lines: what slipped through the other checks must still be found by the user.
    with_lines = numba.jit(**OPTIONS, debug=True)(source.function)
    with_lines.compile(arguments)
    (overload,) = with_lines.overloads.values()
    lines = lines_calling(str(overload.library._final_module), called, source.file)
    by_line: dict[int, list[str]] = {}
    for symbol in called:
        by_line.setdefault(lines.get(symbol, source.node.lineno), []).append(symbol)
    raise refuse(
        [
            Violation(source.file, line, f"{source.node.name} {operation}", hint)
            for line, symbols in by_line.items()
            for operation, hint in why_refused(symbols)
        ]
    )
