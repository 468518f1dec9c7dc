"""Checks condition programs before the tick may run them.

The evaluator trusts its program: it keeps its stack in two integers and reads memory at any offset that an
instruction contains. So tables from another process are checked here before they are installed.
"""

from __future__ import annotations

import numpy as np

from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import JOIN_AND, JOIN_OR, NEEDS_STACK, OF_NUMBERS, Operator

_COMPARES = np.array([Operator.LESS <= op <= Operator.NOT_EQUAL or op == Operator.APPROX for op in Operator])
"""Whether an operator compares two variables, or two numbers of the stack."""
_LEFT = np.array(
    [Operator.IS_UNKNOWN <= op < Operator.AND or op in (Operator.VARIABLE, Operator.NORM) for op in Operator]
)
"""Whether an operator reads variable `left`."""
_RIGHT = _COMPARES | np.array([op == Operator.NORM for op in Operator])
"""Whether an operator reads variable `right`."""
_TAKES = np.array([2 if op in (Operator.AND, Operator.OR) else int(op == Operator.NOT) for op in Operator])
"""How many truths an operator takes from the stack."""
_GIVES = np.array([int(op < Operator.NUMBER) for op in Operator])
"""How many truths it leaves there; likewise numbers."""
_TAKES_NUMBERS = np.array([2 if op >= Operator.ADD else int(op == Operator.ABSOLUTE) for op in Operator])
_GIVES_NUMBERS = 1 - _GIVES
_HOLDS = {
    Operator.LESS_CONSTANT: (True, False, False),
    Operator.LESS_EQUAL_CONSTANT: (True, True, False),
    Operator.GREATER_CONSTANT: (False, False, True),
    Operator.GREATER_EQUAL_CONSTANT: (False, True, True),
    Operator.EQUAL_CONSTANT: (False, True, False),
    Operator.NOT_EQUAL_CONSTANT: (True, False, True),
}
"""Whether a comparison holds if the variable is less than the constant, equal, greater."""


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
    operators, joins, of_numbers = _split(codes)
    known = (codes >= 0) & (codes < 2 * OF_NUMBERS) & (operators < len(Operator)) & (joins != JOIN_AND + JOIN_OR)
    operators = np.where(known, operators, 0)
    bad = np.flatnonzero(~known | ((joins != 0) & (operators >= Operator.AND)) | (of_numbers & ~_COMPARES[operators]))
    if len(bad):
        return f"the operator {codes[bad[0]]} in instruction {bad[0]}"
    ends = np.cumsum(lengths)
    truths = _stack_fault(
        np.where(joins != 0, 1, _TAKES[operators]), _GIVES[operators], lengths, "MAX_CONDITION_DEPTH", left=1
    )
    numbers = _stack_fault(
        np.where(of_numbers, 2, _TAKES_NUMBERS[operators]),
        _GIVES_NUMBERS[operators],
        lengths,
        "MAX_CONDITION_NUMBERS",
        left=0,
    )
    if truths or numbers:
        return truths or f"{numbers}, of numbers"
    for field, skips in zip(("if_less", "if_equal", "if_greater"), find_skips(codes, ends), strict=True):
        bad = np.flatnonzero(instructions[field] != skips)
        if len(bad):
            return f"what follows instruction {bad[0]}"
    left, right = instructions["left"].astype(np.int64), instructions["right"].astype(np.int64)
    unread = ~_LEFT[operators] | of_numbers  # the loop loads them before it decides
    elements = (right - left) // 8 + 1
    bad = np.flatnonzero(
        (unread & (left != 0))
        | (of_numbers & (right != 0))
        | ((operators == Operator.NORM) & ((elements < 1) | (elements > capacities.MAX_VECTOR_LENGTH)))
    )
    if len(bad):
        return f"the variable of instruction {bad[0]}"
    return ""


def _stack_fault(takes: np.ndarray, gives: np.ndarray, lengths: np.ndarray, capacity: str, left: int) -> str:
    """What is wrong with the stack; empty: nothing.

    Args:
        takes, gives: how much each instruction takes from the stack and leaves there, shape (n,).
        capacity: name of its depth in `capacities`.
        left: how much each program leaves there.
    """
    ends = np.cumsum(lengths)
    # On the stack after each instruction, counted from the start of its own program.
    total = np.cumsum(gives - takes)
    after = total - np.repeat(np.concatenate([[0], total[ends[:-1] - 1]]), lengths)
    bad = np.flatnonzero(after - gives < 0)
    if len(bad):
        return f"an empty stack at instruction {bad[0]}"
    depth = getattr(capacities, capacity)
    bad = np.flatnonzero(after > depth)
    if len(bad):
        return f"a stack deeper than {depth} ({capacity}) at instruction {bad[0]}"
    bad = np.flatnonzero(after[ends - 1] != left)
    if len(bad):
        return f"{after[ends - 1][bad[0]]} values instead of {'one' if left else 'none'} at the end of program {bad[0]}"
    return ""


def find_skips(codes: np.ndarray, ends: np.ndarray) -> list[np.ndarray]:
    """The fields `if_less`, `if_equal` and `if_greater` of all instructions: they skip what cannot change the value.

    Args:
        codes: the field `operator` of all instructions, shape (n,); the first of each program combines nothing.
        ends: index after the last instruction of each program, shape (m,).
    """
    operators, joins, _ = _split(np.asarray(codes, np.int64))
    places = np.arange(len(joins))
    end = np.asarray(ends)[np.searchsorted(ends, places, side="right")]
    follows = []  # a comparison that does not hold, one that holds
    for value, skipped in enumerate((JOIN_AND, JOIN_OR)):
        stops = np.append(np.flatnonzero(joins != skipped), len(joins))
        next_stop = stops[np.searchsorted(stops, places, side="right")]
        joined = np.append(joins, 0)[next_stop] != 0
        follows.append(np.where(next_stop == end, -value, np.where(joined, next_stop - places, NEEDS_STACK)))
    simple = np.isin(operators, list(_HOLDS))
    holds = np.array([_HOLDS.get(op, (False,) * 3) for op in Operator])[operators]
    return [np.where(simple, np.where(holds[:, i], follows[1], follows[0]), NEEDS_STACK) for i in range(3)]


def offsets_read(instructions: np.ndarray) -> np.ndarray:
    """Every offset that the instructions read; their operators must be valid. Returns int64, shape (k,)."""
    operators, _, of_numbers = _split(instructions["operator"].astype(np.int64))
    left = instructions["left"][_LEFT[operators] & ~of_numbers]
    right = instructions["right"][_RIGHT[operators] & ~of_numbers]
    return np.concatenate([left, right]).astype(np.int64)


def _split(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Split opcodes into operators, the flags that combine their truths, and whether they compare numbers."""
    return codes % JOIN_AND, codes & (JOIN_AND + JOIN_OR), codes & OF_NUMBERS != 0
