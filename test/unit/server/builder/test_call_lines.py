"""Lines of calls, read off a module compiled with debug information."""

import numba
import numpy as np

from robot_rt_control.server.builder.call_lines import lines_calling
from robot_rt_control.server.builder.type_check import OPTIONS


def example(values, out):
    out[0] = 1.0
    out[1] = np.max(values)
    out[2:4] = values[:2]


def test_direct_and_indirect_calls_are_found():
    array = numba.types.Array(numba.float64, 1, "A")
    compiled = numba.jit(**OPTIONS, debug=True)(example)
    compiled.compile((array, array))
    (overload,) = compiled.overloads.values()
    symbols = ("numba_attempt_nocopy_reshape", "NRT_Allocate", "absent")
    found = lines_calling(str(overload.library._final_module), symbols, __file__)
    first = example.__code__.co_firstlineno
    assert found["NRT_Allocate"] == first + 3
    assert "absent" not in found
    assert lines_calling(str(overload.library._final_module), symbols, "/another/file.py") == {}
