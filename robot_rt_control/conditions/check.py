"""Checks condition programs before the tick may run them.

The evaluator trusts its program: it keeps its stack in two integers and reads memory at any offset that an
instruction contains. So tables from another process are checked here before they are installed.
"""

from __future__ import annotations

import numpy as np

from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import JOIN_AND, JOIN_OR, Operator

_LEFT = np.array([Operator.TRUTH <= op < Operator.AND for op in Operator])
"""Whether an operator reads variable `left`."""
_RIGHT = np.array([Operator.LESS <= op <= Operator.NOT_EQUAL or op == Operator.APPROX for op in Operator])
"""Whether an operator reads variable `right`."""
_TAKES = np.array([2 if op in (Operator.AND, Operator.OR) else int(op == Operator.NOT) for op in Operator])
"""How many values an operator takes from the stack; each leaves one."""


def find_fault(instructions: np.ndarray, lengths: np.ndarray) -> str:
    """Describe the first fault in the programs of some conditions; empty: there is none. Offsets are not checked.

    Args:
        instructions: of all programs, one after the other; array of `layout.instruction_dtype`, shape (n,).
        lengths: number of instructions of each program, shape (m,), sum n.
    """
    lengths = np.asarray(lengths, np.int64)
    if (lengths < 1).any() or int(lengths.sum()) != len(instructions):
        return f"lengths that do not divide {len(instructions)} instructions into programs"
    if not len(lengths):
        return ""
    codes = instructions["operator"].astype(np.int64)
    operators, joins = _split(codes)
    known = (codes >= 0) & (operators < len(Operator)) & np.isin(joins, (0, JOIN_AND, JOIN_OR))
    bad = np.flatnonzero(~known | ((joins != 0) & (operators >= Operator.AND)))
    if len(bad):
        return f"the operator {codes[bad[0]]} in instruction {bad[0]}"
    takes = np.where(joins != 0, 1, _TAKES[operators])
    ends = np.cumsum(lengths)
    # Values on the stack after each instruction, counted from the start of its own program.
    total = np.cumsum(1 - takes)
    behind = total - np.repeat(np.concatenate([[0], total[ends[:-1] - 1]]), lengths)
    before = behind - 1 + takes
    bad = np.flatnonzero(before < takes)
    if len(bad):
        return f"an empty stack at instruction {bad[0]}"
    bad = np.flatnonzero(behind > capacities.MAX_CONDITION_DEPTH)
    if len(bad):
        return f"a stack deeper than {capacities.MAX_CONDITION_DEPTH} (MAX_CONDITION_DEPTH) at instruction {bad[0]}"
    bad = np.flatnonzero(behind[ends - 1] != 1)
    if len(bad):
        return f"{behind[ends - 1][bad[0]]} values instead of one at the end of program {bad[0]}"
    if_true, if_false = find_skips(codes, ends)
    bad = np.flatnonzero((instructions["if_true"] != if_true) | (instructions["if_false"] != if_false))
    if len(bad):
        return f"the successor of instruction {bad[0]}"
    return ""


def find_skips(codes: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The fields `if_true` and `if_false` of all instructions: they skip what cannot change the value any more.

    Args:
        codes: the field `operator` of all instructions, shape (n,); the first instruction of each program combines
            nothing.
        ends: index after the last instruction of each program, shape (m,).
    """
    _, joins = _split(np.asarray(codes, np.int64))
    places = np.arange(len(joins))
    end = np.asarray(ends)[np.searchsorted(ends, places, side="right")]
    found = []
    for passed_over in (JOIN_OR, JOIN_AND):
        stops = np.append(np.flatnonzero(joins != passed_over), len(joins))
        next_stop = stops[np.searchsorted(stops, places, side="right")]
        joined = np.append(joins, 0)[next_stop] != 0
        found.append(np.where(next_stop == end, 0, np.where(joined, next_stop - places, -1)))
    return found[0], found[1]


def offsets_read(instructions: np.ndarray) -> np.ndarray:
    """Every offset that the instructions read; their operators must be valid. Returns int64, shape (k,)."""
    operators, _ = _split(instructions["operator"].astype(np.int64))
    left, right = instructions["left"][_LEFT[operators]], instructions["right"][_RIGHT[operators]]
    return np.concatenate([left, right]).astype(np.int64)


def _split(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split opcodes into operators and the flags that combine their values."""
    operators = codes % JOIN_AND
    return operators, codes - operators
