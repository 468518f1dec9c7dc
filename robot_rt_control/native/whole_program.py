"""Functions compiled by `RealtimeFunction`, and all that they call, as one optimized module of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from llvmlite import binding
from numba.core.registry import cpu_target

_COUNTING = re.compile(r"^define [^\n]*@NRT_(incref|decref)\([^\n]*\{\n.*?^\}", re.MULTILINE | re.DOTALL)
_COUNTED_TO_ZERO = "NRT_MemInfo_call_dtor"


def linked(entries: Mapping[str, Any], is_allowed: Callable[[str], bool], beside: str = "") -> Any:
    """Some compiled functions and all that they call, optimized, in a module that shows their symbols alone.

    Args:
        entries: symbol → a `RealtimeFunction` with one compiled version.
        is_allowed: which functions it may call from outside, by their symbols.
        beside: text of a module that is linked in; if given, it defines the symbols that are shown, and calls those of
            the entries with "_body" added.
    """
    merged: Any = None
    for symbol, entry in entries.items():
        (overload,) = entry.overloads.values()
        part = overload.library.linked()
        part.get_function(overload.fndesc.llvm_func_name).name = f"{symbol}_body" if beside else symbol
        if merged is None:
            merged = part
        else:
            merged.link_in(part)
    if beside:
        merged.link_in(binding.parse_assembly(beside))
    for value in [*merged.functions, *merged.global_variables]:
        if not value.is_declaration and value.name not in entries:
            value.linkage = "internal"
    _optimize(merged)
    merged = _without_counts(merged, is_allowed)
    _optimize(merged)
    merged.verify()
    return merged


def machine_code(module: Any) -> bytes:
    """The object file of a module."""
    return bytes(cpu_target.target_context.codegen()._tm.emit_object(module))


def _without_counts(module: Any, is_allowed: Callable[[str], bool]) -> Any:
    """A copy of a module without the counting of references, where nothing in it is counted.

    Numba counts references to arrays also where they lie in records. Those have no owner, and counting does
    nothing. Every owner comes from an allocation, and that is refused: so where none is, the counting can go.
    """
    text = str(module)
    refused = {f.name for f in module.functions if f.is_declaration and not is_allowed(f.name)}
    if refused <= {_COUNTED_TO_ZERO}:
        text = _COUNTING.sub(r"define internal void @NRT_\1(ptr %p) {\n  ret void\n}", text)
    copy = binding.parse_assembly(text)
    passes = binding.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    passes.run(copy, _pass_builder())
    return copy


def _pass_builder() -> Any:
    machine = cpu_target.target_context.codegen()._tm
    return binding.create_pass_builder(machine, binding.create_pipeline_tuning_options())


def _optimize(module: Any) -> None:
    passes, pass_builder = cpu_target.target_context.codegen()._module_pass_manager()
    passes.run(module, pass_builder)
