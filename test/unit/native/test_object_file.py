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


VARIABLES = """
target triple = "x86_64-unknown-linux-gnu"
@counter = internal global i64 3
@zeros = global [4 x i64] zeroinitializer
@shared = common global i64 0
@own = thread_local global i64 0
@table = constant [2 x i64] [i64 1, i64 2]
@places = constant [1 x ptr] [ptr @counter]
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 1, ptr @begin, ptr null }]
define internal void @begin() { ret void }
define weak i64 @count() {
  %n = load i64, ptr @counter
  store i64 %n, ptr @zeros
  ret i64 %n
}
"""


def test_variables_functions_and_what_runs_on_loading(code):
    assert object_symbols(code).functions == {"shown"}
    assert not object_symbols(code).writable and not object_symbols(code).at_start
    machine = cpu_target.target_context.codegen()._tm
    symbols = object_symbols(machine.emit_object(binding.parse_assembly(VARIABLES)))
    assert symbols.writable == {"counter", "zeros", "shared", "own"}, "not what the loader alone writes"
    assert symbols.functions == {"count"}
    assert symbols.at_start
