# mypy: disable_error_code="attr-defined"
# The mark keeps a function's type for those who call it; what the compiler adds is looked at here alone.
"""Real-time functions are compiled once, as parts of whatever is entered from outside."""

import importlib.util
import os
import subprocess
import sys
import warnings
from typing import Any

import numba
import numpy as np
import pytest

from robot_rt_control.native.realtime_code import MARKED, inlined, realtime
from robot_rt_control.native.realtime_compiler import OPTIONS, RealtimeFunction


@realtime
def scaled(x, factor):
    return x * factor


@realtime
def sum_of_scaled(values):
    total = scaled(values[0], 1) + scaled(values[1], 2)
    return total + scaled(values[2], np.int32(3))


part: Any = scaled
entry: Any = sum_of_scaled


def test_python_and_compiled_code_call_the_same_function():
    values = np.array([1.0, 10.0, 100.0])
    assert scaled(3.0, 2) == 6.0
    assert sum_of_scaled(values) == 321.0
    assert scaled in MARKED and isinstance(scaled.dispatcher, RealtimeFunction)


def test_constants_and_narrow_integers_need_no_version_of_their_own():
    entry.compile((numba.float64[::1],))
    assert part.signatures == [(numba.float64, numba.int64)]


def test_a_record_with_more_fields_has_a_version_of_its_own_without_a_warning():
    @realtime
    def doubled(record):
        return 2.0 * record["x"]

    @realtime
    def called(record):
        return doubled(record)

    small = np.dtype([("x", np.float64)], align=True)
    large = np.dtype([("x", np.float64), ("y", np.float64)], align=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for dtype in (small, large):
            called.compile((numba.from_dtype(dtype),))
    assert [s[0] for s in doubled.signatures] == [numba.from_dtype(small), numba.from_dtype(large)]


def test_a_user_s_function_is_not_taken_from_a_cache_that_names_a_module_of_another_process(tmp_path):
    file = tmp_path / "user.py"
    file.write_text(
        "from robot_rt_control.native.realtime_code import realtime\n\n\n"
        "@realtime\ndef twice(x):\n    return 2.0 * x\n"
    )
    for name in ("loaded_by_one", "loaded_by_another"):  # neither is to be found by its name, as in another process
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert module.twice(3.0) == 6.0


def test_a_part_has_no_entries_and_is_not_optimized():
    entry.compile((numba.float64[::1],))
    (overload,) = entry.overloads.values()
    names = [f.name for f in overload.library.get_defined_functions()]
    assert not [n for n in names if n.startswith(("cfunc.", "_ZN7cpython"))]
    assert overload.library.get_pointer_to_function(overload.fndesc.llvm_func_name) == 0
    scaled_name = next(iter(part.overloads.values())).fndesc.llvm_func_name
    assert f"call i32 @{scaled_name}" in overload.library.get_llvm_str()


def test_a_part_is_linked_with_what_it_calls_only_where_it_is_used():
    entry.compile((numba.float64[::1],))
    (overload,) = entry.overloads.values()
    scaled_name = next(iter(part.overloads.values())).fndesc.llvm_func_name
    own, linked = overload.library.get_function(scaled_name), overload.library.linked().get_function(scaled_name)
    assert own.is_declaration and not linked.is_declaration


def test_the_text_of_a_record_type_is_made_once_and_not_kept_with_compiled_code():
    record = numba.from_dtype(np.dtype([("made_here", np.float64, (3,))], align=True))
    assert repr(record) is repr(record) and "made_here" in repr(record)
    assert repr(record) not in map(str, vars(record).values())


def test_an_entry_is_optimized_with_all_that_it_calls():
    compiled = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(entry.py_func)
    compiled.compile((numba.float64[::1],))
    (code,) = compiled.inspect_llvm().values()
    assert "call i32" not in code


@inlined
def doubled(x):
    return 2.0 * x


@realtime
def quadrupled(x):
    return doubled(doubled(x))


def test_inlined_functions_are_never_called():
    assert (doubled(1.5), quadrupled(1.5)) == (3.0, 6.0)
    compiled: Any = quadrupled
    compiled.compile((numba.float64,))
    (text,) = compiled.inspect_llvm().values()
    assert "alwaysinline" in text


def test_options_reach_the_compiler():
    @numba.njit
    def at(values, i):
        return inner(values, i)

    inner = RealtimeFunction(lambda values, i: values[i], targetoptions=OPTIONS | {"boundscheck": True})
    with pytest.raises(IndexError, match="index is out of bounds"):
        at(np.zeros(3), 3)
    with pytest.raises(IndexError, match="index is out of bounds"):
        inner(np.zeros(3), 3)


def test_without_compilation_the_function_stays_plain_python():
    code = (
        "from robot_rt_control.native.realtime_code import MARKED, realtime\n"
        "def f(x): return x\n"
        "assert realtime(f) is f and MARKED[-1] is f"
    )
    subprocess.run([sys.executable, "-c", code], env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, check=True)
