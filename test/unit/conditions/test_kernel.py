"""The evaluator, compiled and as plain Python."""

from __future__ import annotations

import itertools
import math
import re
import types
from collections.abc import Callable, Sequence

import numba
import numpy as np
import pytest

from robot_rt_control.conditions.check import find_skips
from robot_rt_control.conditions.kernel import FALSE, TRUE, UNKNOWN, evaluate
from robot_rt_control.memory.layout import instruction_dtype
from robot_rt_control.testing.interpreted_tick import interpreted
from robot_rt_control.vocabulary.enums import JOIN_AND, JOIN_OR, OF_NUMBERS, Operator

NAN, INF = math.nan, math.inf
Evaluate = Callable[[int, np.ndarray, int, int], int]
Run = Callable[[Sequence[tuple], Sequence[float]], int]


@pytest.fixture(params=["compiled", "interpreted"])
def run(request: pytest.FixtureRequest) -> Run:
    function: Evaluate = evaluate if request.param == "compiled" else interpreted(evaluate.__module__).evaluate

    def run(rows: Sequence[tuple], values: Sequence[float]) -> int:
        """Evaluate a program; its variables are indices into `values`. A frame of others surrounds it."""
        memory = np.array(values, np.float64)
        instructions = np.full(len(rows) + 2, -1, instruction_dtype)
        for entry, (operator, left, right, constant, tolerance) in zip(instructions[1:-1], rows, strict=True):
            entry["operator"], entry["left"], entry["right"] = operator, 8 * left, 8 * right
            entry["constant"], entry["tolerance"] = constant, tolerance
        own = instructions[1:-1]
        own["if_less"], own["if_equal"], own["if_greater"] = find_skips(own["operator"], np.array([len(rows)]))
        return function(memory.ctypes.data, instructions, 1, len(rows))

    return run


COMPARISONS = {
    Operator.LESS: lambda a, b: a < b,
    Operator.LESS_EQUAL: lambda a, b: a <= b,
    Operator.GREATER: lambda a, b: a > b,
    Operator.GREATER_EQUAL: lambda a, b: a >= b,
    Operator.EQUAL: lambda a, b: a == b,
    Operator.NOT_EQUAL: lambda a, b: a != b,
}
WITH_CONSTANT = {op: Operator[op.name + "_CONSTANT"] for op in COMPARISONS}


@pytest.mark.parametrize("operator", COMPARISONS)
def test_comparisons(run: Run, operator: Operator) -> None:
    for a, b in itertools.product([-INF, -1.0, -0.0, 0.0, 0.5, INF, NAN], repeat=2):
        expected = UNKNOWN if math.isnan(a) or math.isnan(b) else int(COMPARISONS[operator](a, b))
        assert run([(operator, 0, 1, 0, 0)], [a, b]) == expected, (a, b)
        assert run([(WITH_CONSTANT[operator], 0, 0, b, 0)], [a]) == expected, (a, b)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (1.0, 1.5, TRUE),
        (1.5, 1.0, TRUE),
        (1.0, 1.51, FALSE),
        (NAN, 1.0, UNKNOWN),
        (1.0, NAN, UNKNOWN),
        (INF, INF, FALSE),
        (INF, -INF, FALSE),
    ],
)
def test_approx(run: Run, a: float, b: float, expected: int) -> None:
    assert run([(Operator.APPROX, 0, 1, 0, 0.5)], [a, b]) == expected
    assert run([(Operator.APPROX_CONSTANT, 0, 0, b, 0.5)], [a]) == expected


@pytest.mark.parametrize(
    ("operator", "value", "expected"),
    [
        (Operator.IS_UNKNOWN, NAN, TRUE),
        (Operator.IS_UNKNOWN, 0.0, FALSE),
        (Operator.IS_UNKNOWN, INF, FALSE),
    ],
)
def test_single_variable(run: Run, operator: Operator, value: float, expected: int) -> None:
    assert run([(operator, 0, 0, 7.0, 0)], [value]) == expected


@pytest.mark.parametrize(("constant", "expected"), [(0.0, FALSE), (1.0, TRUE), (NAN, UNKNOWN)])
def test_constant(run: Run, constant: float, expected: int) -> None:
    assert run([(Operator.CONSTANT, 0, 0, constant, 0)], [0.0]) == expected


def test_numbers(run: Run) -> None:
    """What is computed, with every number below the operands still there."""
    for a, b in itertools.product([-INF, -1.0, 0.1, 0.7, INF, NAN], repeat=2):
        push = [(Operator.VARIABLE, i, 0, 0, 0) for i in range(2)]
        for operator, found in ((Operator.ADD, a + b), (Operator.SUBTRACT, a - b)):
            rows: list[tuple] = [*push, *push, (operator, 0, 0, 0, 0), (Operator.ABSOLUTE, 0, 0, 0, 0)]
            rows += [(Operator.LESS + OF_NUMBERS, 0, 0, 0, 0), (Operator.NUMBER, 0, 0, 0.5, 0)]
            rows += [(Operator.GREATER + OF_NUMBERS + JOIN_OR, 0, 0, 0, 0)]
            low = UNKNOWN if math.isnan(b) or math.isnan(found) else int(b < abs(found))
            high = UNKNOWN if math.isnan(a) else int(a > 0.5)
            assert run(rows, [a, b]) == OR_TABLE[low, high], (operator, a, b)


@pytest.mark.parametrize(
    ("values", "expected"), [([3.0, -4.0], TRUE), ([3.0, 4.1], FALSE), ([NAN, 4.0], UNKNOWN), ([INF, 0.0], FALSE)]
)
def test_norm(run: Run, values: list[float], expected: int) -> None:
    rows = [(Operator.NORM, 1, 2, 0, 0), (Operator.NUMBER, 0, 0, 5.0, 0), (Operator.APPROX + OF_NUMBERS, 0, 0, 0, 0.0)]
    assert run(rows, [100.0, *values, 100.0]) == expected


TRUTH = Operator.NOT_EQUAL_CONSTANT
VALUE = {0.0: FALSE, 1.0: TRUE, NAN: UNKNOWN}
AND_TABLE = {
    (a, b): FALSE if FALSE in (a, b) else UNKNOWN if UNKNOWN in (a, b) else TRUE for a in range(3) for b in range(3)
}
OR_TABLE = {
    (a, b): TRUE if TRUE in (a, b) else UNKNOWN if UNKNOWN in (a, b) else FALSE for a in range(3) for b in range(3)
}


def test_kleene_tables_with_values_below_untouched(run: Run) -> None:
    """Each table with every value below the two operands on the stack; it is brought up again by the last OR."""
    for (a, va), (b, vb), (below, v_below) in itertools.product(VALUE.items(), repeat=3):
        first, second = (TRUTH, 0, 0, 0, 0), (TRUTH, 1, 0, 0, 0)
        third = (TRUTH, 2, 0, 0, 0)
        for table, plain, join in ((AND_TABLE, Operator.AND, JOIN_AND), (OR_TABLE, Operator.OR, JOIN_OR)):
            expected = OR_TABLE[v_below, table[va, vb]]
            popped = [third, first, second, (plain, 0, 0, 0, 0), (Operator.OR, 0, 0, 0, 0)]
            joined = [third, first, (TRUTH + join, 1, 0, 0, 0), (Operator.OR, 0, 0, 0, 0)]
            assert run(popped, [a, b, below]) == expected, (plain, a, b, below)
            assert run(joined, [a, b, below]) == expected, (plain, a, b, below)


def test_not(run: Run) -> None:
    inverse = {FALSE: TRUE, TRUE: FALSE, UNKNOWN: UNKNOWN}
    for value, known in VALUE.items():
        rows = [(TRUTH, 0, 0, 0, 0), (Operator.NOT, 0, 0, 0, 0)]
        assert run(rows, [value]) == inverse[known]
        assert run([*rows, (Operator.NOT, 0, 0, 0, 0)], [value]) == known


def test_chains_of_comparisons(run: Run) -> None:
    """Programs that need no stack: every join of three comparisons, with every value of each."""
    inputs = {0.0: TRUE, 2.0: FALSE, NAN: UNKNOWN}
    for joins in itertools.product((JOIN_AND, JOIN_OR), repeat=2):
        rows = [(Operator.LESS_CONSTANT + join, i, 0, 1.0, 0) for i, join in enumerate((0, *joins))]
        for values in itertools.product(inputs, repeat=3):
            expected = inputs[values[0]]
            for value, join in zip(values[1:], joins, strict=True):
                expected = (AND_TABLE if join == JOIN_AND else OR_TABLE)[expected, inputs[value]]
            assert run(rows, values) == expected, (joins, values)


@pytest.mark.parametrize("top", [0.0, 1.0, NAN])
def test_full_stack(run: Run, top: float) -> None:
    """32 values: the deepest one still decides."""
    rows = [(TRUTH, 0, 0, 0, 0)] + [(TRUTH, 1, 0, 0, 0)] * 31 + [(Operator.OR, 0, 0, 0, 0)] * 31
    assert run(rows, [top, 0.0]) == (UNKNOWN if math.isnan(top) else int(top))


def test_no_allocation_and_no_python() -> None:
    """The machine code calls nothing but the square root: no memory management, no objects, no printing."""
    if numba.config.DISABLE_JIT:
        assert isinstance(evaluate, types.FunctionType)  # then there is no machine code
        return
    source = getattr(evaluate, "py_func", evaluate)
    bare = numba.njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(source)
    array = numba.types.Array(numba.from_dtype(instruction_dtype), 1, "C")
    bare.compile((numba.int64, array, numba.int64, numba.int64))
    code = "".join(bare.inspect_llvm().values())
    bodies = re.findall(r"^define [^\n]*conditions[^\n]*kernel[^\n]*\{.*?^}", code, re.MULTILINE | re.DOTALL)
    assert bodies
    calls = {call for body in bodies for call in re.findall(r"call [^@]*@([\w.]+)", body)}
    assert [c for c in calls if not c.startswith("llvm.") and c != "sqrt" and "evaluate_with_stack" not in c] == []
