"""Symbols of object files that LLVM wrote."""

import pytest
from llvmlite import binding
from numba.core.registry import cpu_target

from robot_rt_control.native.object_file import object_symbols

MODULE = """
declare double @sin(double)
declare double @unused(double)
define internal double @hidden(double %x) noinline { ret double %x }
define double @shown(double %x) {
  %y = call double @sin(double %x)
  %z = call double @hidden(double %y)
  ret double %z
}
"""


@pytest.fixture(scope="module")
def code():
    machine = cpu_target.target_context.codegen()._tm
    return machine.emit_object(binding.parse_assembly(MODULE))


def test_defined_and_needed_symbols(code):
    symbols = object_symbols(code)
    assert "shown" in symbols.defined
    assert symbols.needed == {"sin"}


def test_what_is_no_object_is_refused(code):
    with pytest.raises(ValueError, match=r"not a 64-bit little-endian ELF object \(it begins with b'MZ'\)"):
        object_symbols(b"MZ")
    with pytest.raises(ValueError, match="damaged ELF object of 100 bytes"):
        object_symbols(code[:100])
