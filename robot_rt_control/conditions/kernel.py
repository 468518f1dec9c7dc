"""Evaluates a condition's program: the innermost loop of the tick."""

from __future__ import annotations

import math

import numpy as np

from robot_rt_control.memory.atomics import address_of, record_at
from robot_rt_control.memory.layout import instruction_dtype
from robot_rt_control.memory.plain_access import load_f8
from robot_rt_control.native.realtime_code import inlined, realtime
from robot_rt_control.vocabulary.enums import JOIN_AND, JOIN_OR, NEEDS_STACK, OF_NUMBERS, Operator

FALSE, TRUE, UNKNOWN = 0, 1, 2
"""What `evaluate` returns."""

_IS_UNKNOWN, _APPROX_CONSTANT, _APPROX = int(Operator.IS_UNKNOWN), int(Operator.APPROX_CONSTANT), int(Operator.APPROX)
_CONSTANT, _LESS_VARIABLE = int(Operator.CONSTANT), int(Operator.LESS)
_AND, _OR, _NOT = int(Operator.AND), int(Operator.OR), int(Operator.NOT)
_NUMBER, _VARIABLE = int(Operator.NUMBER), int(Operator.VARIABLE)
_ABSOLUTE, _ADD = int(Operator.ABSOLUTE), int(Operator.ADD)
# Comparisons with a variable follow those with a constant, in the same order.
_LESS, _LESS_EQUAL = int(Operator.LESS_CONSTANT), int(Operator.LESS_EQUAL_CONSTANT)
_GREATER, _GREATER_EQUAL = int(Operator.GREATER_CONSTANT), int(Operator.GREATER_EQUAL_CONSTANT)
_EQUAL, _NOT_EQUAL = int(Operator.EQUAL_CONSTANT), int(Operator.NOT_EQUAL_CONSTANT)
_TO_CONSTANT = int(Operator.LESS) - int(Operator.LESS_CONSTANT)


instruction_at = record_at(instruction_dtype)
_SIZE = instruction_dtype.itemsize


@inlined
def evaluate(base_address: int, instructions: np.ndarray, first: int, count: int) -> int:
    """The value of the condition whose program is `instructions[first : first + count]`, count >= 1.

    Nearly all conditions compare variables with constants and combine each result with the previous one: `a > 1 and
    b < 2 or c >= 3`. While all values are known, such a program needs neither stack nor operators: each instruction
    says what follows if its variable is less than, equal to or greater than its constant. In a tick with many
    reactions this loop takes the most time.

    Args:
        base_address: start of the world; the offsets of variables are relative to it.
        instructions: array of `layout.instruction_dtype`, checked by `conditions.check.find_fault`.

    Returns:
        FALSE, TRUE or UNKNOWN.
    """
    start = address_of(instructions) + first * _SIZE
    address = start
    while True:
        row = instruction_at(address)
        value = load_f8(base_address + int(row.left))
        constant = row.constant
        if value < constant:
            skip = int(row.if_less)
        elif value > constant:
            skip = int(row.if_greater)
        elif value == constant:
            skip = int(row.if_equal)
        else:
            break
        if skip <= 0:
            if skip == NEEDS_STACK:
                break
            return -skip
        address += skip * _SIZE
    return evaluate_with_stack(base_address, start, count)


@inlined
def _norm(first: int, last: int) -> float:
    """Norm of the float64 from one address to the other."""
    squares = 0.0
    for address in range(first, last + 8, 8):
        element = load_f8(address)
        squares += element * element
    return math.sqrt(squares)


@realtime
def evaluate_with_stack(base_address: int, start: int, count: int) -> int:
    """As `evaluate`, for any program; it begins at address `start`.

    Kleene's logic with two bits for each value on the stack: "known to be true" and "known to be false"; if
    neither is set, it is unknown. Two integers store the two bits of all values, so a depth of 32 needs no memory.
    The stack of numbers is in four variables, `top` and those below it (MAX_CONDITION_NUMBERS).
    """
    top = second = third = fourth = 0.0
    trues = 0  # bit 0 belongs to the top of the stack
    falses = 0
    for index in range(count):
        row = instruction_at(start + index * _SIZE)
        code = int(row.operator)
        operator = code & (JOIN_AND - 1)
        join = code & (JOIN_AND | JOIN_OR)
        if operator >= _AND:
            if operator == _AND:
                trues = (trues >> 1) & (trues | -2)
                falses = (falses >> 1) | (falses & 1)
            elif operator == _OR:
                trues = (trues >> 1) | (trues & 1)
                falses = (falses >> 1) & (falses | -2)
            elif operator == _NOT:
                differs = (trues ^ falses) & 1
                trues ^= differs
                falses ^= differs
            elif operator == _ABSOLUTE:
                top = abs(top)
            elif operator >= _ADD:
                top = second + top if operator == _ADD else second - top
                second, third = third, fourth
            else:
                second, third, fourth = top, second, third
                if operator == _NUMBER:
                    top = float(row.constant)
                elif operator == _VARIABLE:
                    top = load_f8(base_address + int(row.left))
                else:
                    top = _norm(base_address + int(row.left), base_address + int(row.right))
            continue

        if operator == _CONSTANT:
            is_true, is_false = row.constant == 1.0, row.constant == 0.0
        else:
            value = load_f8(base_address + int(row.left))
            other = float(row.constant)
            if operator >= _LESS_VARIABLE and operator != _APPROX_CONSTANT:
                other = load_f8(base_address + int(row.right))
                if code >= OF_NUMBERS:
                    value, other = second, top
                    top, second = third, fourth
                if operator != _APPROX:
                    operator -= _TO_CONSTANT
            # Any comparison with NaN is false: an unknown value sets neither.
            if operator == _LESS:
                is_true, is_false = value < other, value >= other
            elif operator == _LESS_EQUAL:
                is_true, is_false = value <= other, value > other
            elif operator == _GREATER:
                is_true, is_false = value > other, value <= other
            elif operator == _GREATER_EQUAL:
                is_true, is_false = value >= other, value < other
            elif operator == _EQUAL:
                is_true, is_false = value == other, (value < other) | (value > other)
            elif operator == _NOT_EQUAL:
                is_true, is_false = (value < other) | (value > other), value == other
            elif operator == _IS_UNKNOWN:
                is_true, is_false = value != value, value == value
            else:
                near = abs(value - other) <= row.tolerance
                known = (value == value) & (other == other)
                is_true, is_false = known & near, known & (not near)

        if join == 0:
            trues = (trues << 1) | int(is_true)
            falses = (falses << 1) | int(is_false)
        elif join == JOIN_AND:
            trues &= int(is_true) | -2
            falses |= int(is_false)
        else:
            trues |= int(is_true)
            falses &= int(is_false) | -2
    return (trues & 1) | (UNKNOWN * (1 - ((trues | falses) & 1)))
