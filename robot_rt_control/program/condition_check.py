"""Checks condition programs before the tick may run them.

The evaluator trusts its program: it reads memory at the offsets and keeps its stack in a register.
Whoever installs tables that came from another process checks them with this first.
"""

from __future__ import annotations

import numpy as np

from robot_rt_control.program import capacities
from robot_rt_control.program.vocabulary import JOIN_AND, JOIN_OR, Operator

_LEFT = np.array([op in range(Operator.TRUTH, Operator.AND) for op in Operator])
"""Whether an operator reads variable `left`."""
_RIGHT = np.array([op in range(Operator.LESS, Operator.APPROX_CONSTANT) or op == Operator.APPROX for op in Operator])
_EFFECT = np.array([-1 if op in (Operator.AND, Operator.OR) else 0 if op == Operator.NOT else 1 for op in Operator])
"""How an operator changes the number of values on the stack."""


def find_fault(instructions: np.ndarray, memory_bytes: int) -> str:
    """What is wrong with one condition's program, or an empty text.

    Args:
        instructions: array of `layout.instruction_dtype`, shape (n,).
        memory_bytes: size of the world; every offset must be that of a float64 in it.
    """
    if not len(instructions):
        return "the program is empty"
    codes = instructions["operator"].astype(np.int64)
    operators = codes % JOIN_AND
    joins = codes - operators
    bad = (
        (operators >= len(Operator))
        | ~np.isin(joins, (0, JOIN_AND, JOIN_OR))
        | ((joins != 0) & (operators >= Operator.AND))
    )
    if np.any(bad):
        index = int(np.argmax(bad))
        return f"instruction {index} has the unknown operator {codes[index]}"
    for side, reads in (("left", _LEFT), ("right", _RIGHT)):
        offsets = instructions[side].astype(np.int64)
        bad = reads[operators] & ((offsets < 0) | (offsets > memory_bytes - 8) | (offsets % 8 != 0))
        if np.any(bad):
            index = int(np.argmax(bad))
            return f"instruction {index} reads a variable at offset {offsets[index]} of {memory_bytes} bytes"
    depths = np.cumsum(np.where(joins != 0, 0, _EFFECT[operators]))
    if np.any(depths < 1):
        return f"instruction {int(np.argmax(depths < 1))} takes more values than there are"
    if depths[-1] != 1:
        return f"the program leaves {depths[-1]} values instead of one"
    if np.max(depths) > capacities.MAX_CONDITION_DEPTH:
        return f"the program needs a stack of {np.max(depths)}, MAX_CONDITION_DEPTH is {capacities.MAX_CONDITION_DEPTH}"
    return ""
