"""Loading machine code into this process, by LLVM's linker; Numba is loaded only if the code needs its helpers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from robot_rt_control.native.object_file import object_symbols

_engines: list[Any] = []


class LinkError(ValueError):
    """Machine code that cannot be loaded; `missing` and `absent` say why."""

    def __init__(self, missing: Iterable[str], absent: Iterable[str]) -> None:
        self.missing, self.absent = sorted(missing), sorted(absent)
        super().__init__(f"missing {self.missing}, absent {self.absent}")


def link(code: bytes, symbols: Iterable[str]) -> dict[str, int]:
    """Load an object file, for the life of this process. Returns the address of each wanted symbol.

    Raises:
        ValueError: it is damaged.
        LinkError: it calls what this process does not have, or lacks a wanted symbol. LLVM would end the process.
    """
    from llvmlite import binding  # 7 MB, and only here: many processes that import this never call native code

    def missing_of(names: Iterable[str]) -> list[str]:
        return [name for name in names if not binding.address_of_symbol(name)]

    found = object_symbols(code)
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    # Before the look for symbols: it opens the process's own ones to LLVM.
    engine = binding.create_mcjit_compiler(
        binding.parse_assembly(""), binding.Target.from_default_triple().create_target_machine(jit=True)
    )
    missing = missing_of(found.needed)
    if missing:
        # Creating the target makes Numba register its helpers of the math library with the linker.
        from numba.core.registry import cpu_target

        _ = cpu_target.target_context
        missing = missing_of(missing)
    absent = set(symbols) - found.defined
    if missing or absent:
        raise LinkError(missing, absent)
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    return {symbol: int(engine.get_function_address(symbol)) for symbol in symbols}
