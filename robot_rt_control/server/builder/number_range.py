"""In which range a whole number in real-time code lies, as far as that is known before the code runs."""

from __future__ import annotations

import ast
import enum
import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from robot_rt_control.server.builder.bounded_loops import Counting, countings, indexed, step_of
from robot_rt_control.server.builder.record_access import Data
from robot_rt_control.vocabulary.capacities import MAX_CHANNELS, MAX_JOINTS

Range = tuple[float, float]
ANYTHING: Range = (-math.inf, math.inf)
LONGEST = 1024.0
"""Stands for the length of an array that is not known here. All arrays in real-time code have a fixed size."""
_COUNTS = {"dof": MAX_JOINTS, "n_inputs": MAX_CHANNELS, "n_outputs": MAX_CHANNELS}


class NumberRanges:
    """Ranges of the expressions of one function.

    Args:
        function: its syntax tree.
        given: ranges of its parameters, as far as they are known.
        declared: declared parameters of the action type that reach the record unchanged → range.
        streams: names of the action type's stream inputs.
        data: the record or array that an expression stands for.
        resolve: whether a name is of the module, and its value.
    """

    def __init__(
        self,
        function: ast.FunctionDef,
        *,
        given: Mapping[str, Range],
        declared: Mapping[str, Range],
        streams: frozenset[str],
        data: Callable[[ast.expr], Data | None],
        resolve: Callable[[ast.expr], tuple[bool, Any]],
    ) -> None:
        self.given, self.declared, self.streams = given, declared, streams
        self.data, self.resolve = data, resolve
        self.used: dict[str, float] = {}
        """Parameters whose maximum was taken → the largest value that counts."""
        self._assigned = _assignments(function)
        self._open: set[str] = set()

    def of(self, node: ast.expr) -> Range:
        """The range of an expression; ANYTHING if it is not known."""
        if isinstance(node, ast.Constant):
            return (node.value, node.value) if isinstance(node.value, int | float) else ANYTHING
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            low, high = self.of(node.operand)
            return -high, -low
        if isinstance(node, ast.BinOp):
            return _computed(node.op, self.of(node.left), self.of(node.right))
        if isinstance(node, ast.IfExp):
            return _either(self.of(node.body), self.of(node.orelse))
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return 0.0, LONGEST
        return self._field(node)

    def rounds(self, arguments: list[ast.expr]) -> float:
        """How many rounds `for … in range(arguments)` makes at most; inf if that is not known."""
        start, stop, up = self._counted(arguments)
        way = stop[1] - start[0] if up else start[1] - stop[0]
        return max(0.0, math.ceil(way)) if math.isfinite(way) else math.inf

    def rounds_while(self, loop: ast.While) -> float:
        """How many rounds a `while` loop that counts makes at most; inf if that is not known."""
        return min((self._rounds_of(loop, found) for found in countings(loop)), default=math.inf)

    def _rounds_of(self, loop: ast.While, found: Counting) -> float:
        # A negative index counts from the end: each element may be met twice.
        longest = [2.0 * self.length(array) + 1.0 for array in indexed(loop, found.variable)]
        limit = self.of(found.bound)[1 if found.way > 0 else 0]
        way = (limit - self._start(found.variable, found.way) - found.offset) * found.way
        return min([max(0.0, math.ceil(way) + 1.0) if math.isfinite(way) else math.inf, *longest])

    def _start(self, counter: ast.expr, way: int) -> float:
        """The number farthest from its bound that a local variable has before it is counted up (way 1) or down."""
        side, nowhere = (0, -math.inf) if way > 0 else (1, math.inf)
        if not isinstance(counter, ast.Name):
            return nowhere  # a field keeps what an earlier tick has left
        values = [v for v in self._assigned.get(counter.id, []) if step_of(v, counter.id) * way <= 0]
        ranges = [self._assigned_range(v) for v in values]
        if counter.id in self.given:
            ranges.append(self.given[counter.id])
        if not ranges:
            return nowhere
        return min(r[0] for r in ranges) if side == 0 else max(r[1] for r in ranges)

    def _counted(self, arguments: list[ast.expr]) -> tuple[Range, Range, bool]:
        """Start and stop of `range(arguments)`, and whether it counts up. Steps are taken as one."""
        start = self.of(arguments[0]) if len(arguments) > 1 else (0.0, 0.0)
        stop = self.of(arguments[min(1, len(arguments) - 1)])
        return start, stop, len(arguments) < 3 or self.of(arguments[2])[0] > 0.0

    def length(self, node: ast.expr) -> float:
        """The most elements that an array or tuple has."""
        found, value = self.resolve(node)
        if found and isinstance(value, tuple | np.ndarray):
            return float(len(value))
        data = self.data(node)
        return float(data.shape[0]) if data is not None and data.is_array and data.shape[0] >= 0 else LONGEST

    def _call(self, node: ast.Call) -> Range:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        found = [self.of(a) for a in node.args]
        if name == "len" and len(node.args) == 1:
            return 0.0, self.length(node.args[0])
        if name in ("min", "max") and len(found) > 1:
            choose = min if name == "min" else max
            if name == "min":
                self._note_least(node.args, [f[1] for f in found])
            return choose(f[0] for f in found), choose(f[1] for f in found)
        if name == "abs" and found:
            low, high = found[0]
            return max(0.0, low, -high), max(abs(low), abs(high))
        if name in ("int", "round") and len(found) == 1:
            return math.floor(found[0][0]) if math.isfinite(found[0][0]) else -math.inf, found[0][1]
        return ANYTHING

    def _note_least(self, arguments: list[ast.expr], largest: list[float]) -> None:
        """Of `min(params.n, N)`: the parameter matters up to N."""
        for argument, largest_value in zip(arguments, largest, strict=True):
            data = self.data(argument)
            if math.isinf(largest_value) and math.isfinite(min(largest)) and data is not None and data.shape == ():
                self._note(data, min(largest))

    def _note(self, data: Data, value: float) -> None:
        _, _, name = data.label.partition(".")
        if data.root == "params" and data.dtype.kind in "iu" and "." not in name:
            self.used[name] = max(value, self.used.get(name, 0.0))

    def _name(self, node: ast.Name) -> Range:
        found, value = self.resolve(node)
        if found:
            return _exactly(value)
        if node.id in self._open:  # it is made of itself
            return ANYTHING
        self._open.add(node.id)
        ranges = [self._assigned_range(a) for a in self._assigned.get(node.id, [])]
        self._open.discard(node.id)
        if node.id in self.given:
            ranges.append(self.given[node.id])
        elif not ranges:
            return ANYTHING
        return min(r[0] for r in ranges), max(r[1] for r in ranges)

    def _assigned_range(self, value: ast.expr | None) -> Range:
        if value is None:
            return ANYTHING
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "range" and value.args:
            start, stop, up = self._counted(value.args)
            return (start[0], max(start[0], stop[1])) if up else (min(stop[0], start[1]), start[1])
        return self.of(value)

    def _field(self, node: ast.expr) -> Range:
        found, value = self.resolve(node)
        if found:
            return _exactly(value)
        data = self.data(node)
        if data is None or data.shape != () or data.dtype.kind not in "iub":
            return ANYTHING
        if data.root == "part":
            return 0.0, float(_COUNTS.get(data.label.rpartition(".")[2], LONGEST))
        if data.root == "params" and data.label.partition(".")[2] in self.declared:
            name = data.label.partition(".")[2]
            if math.isfinite(self.declared[name][1]):
                self._note(data, self.declared[name][1])
            return self.declared[name]
        if data.root == "state" and data.label.count(".") == 2 and data.label.split(".")[1] in self.streams:
            return 0.0, LONGEST  # of the window of samples, which the loop fills
        if data.dtype.kind == "b":
            return 0.0, 1.0
        limits = np.iinfo(data.dtype)
        return (float(limits.min), float(limits.max)) if data.dtype.itemsize < 4 else ANYTHING


def _exactly(value: Any) -> Range:
    """The range of a constant."""
    number = value.value if isinstance(value, enum.Enum) else value
    return (float(number), float(number)) if isinstance(number, int | float | np.integer | np.floating) else ANYTHING


def _either(one: Range, other: Range) -> Range:
    return min(one[0], other[0]), max(one[1], other[1])


def _computed(operator: ast.operator, left: Range, right: Range) -> Range:
    if isinstance(operator, ast.Add):
        return left[0] + right[0], left[1] + right[1]
    if isinstance(operator, ast.Sub):
        return left[0] - right[1], left[1] - right[0]
    known = all(map(math.isfinite, (*left, *right)))
    if isinstance(operator, ast.Mult) and known:
        ends = [a * b for a in left for b in right]
        return min(ends), max(ends)
    if isinstance(operator, ast.FloorDiv | ast.Div) and known and right[0] >= 1.0:
        return min(left[0], 0.0), max(left[1], 0.0)
    if isinstance(operator, ast.Mod) and right[0] > 0.0 and math.isfinite(right[1]):
        return 0.0, right[1]
    return ANYTHING


@functools.cache  # a function is checked once for each kind of its arguments
def _assignments(function: ast.FunctionDef) -> dict[str, list[ast.expr | None]]:
    """For each local variable, the expressions that it gets its values from; None: something else."""
    found: dict[str, list[ast.expr | None]] = {}

    def add(target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            found.setdefault(target.id, []).append(value)
        elif isinstance(target, ast.Tuple | ast.List):
            values = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts) else None
            for k, one in enumerate(target.elts):
                add(one, values[k] if values is not None else None)
        elif isinstance(target, ast.Starred):
            add(target.value, None)

    for node in [n for statement in function.body for n in ast.walk(statement)]:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                add(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
            add(node.target, node.value)
        elif isinstance(node, ast.AugAssign):
            add(node.target, ast.BinOp(node.target, node.op, node.value))
        elif isinstance(node, ast.For):
            called = node.iter.func if isinstance(node.iter, ast.Call) else None
            name = called.id if isinstance(called, ast.Name) else ""
            if name == "enumerate" and isinstance(node.target, ast.Tuple) and len(node.target.elts) == 2:
                add(node.target.elts[0], ast.Constant(0))
                add(node.target.elts[0], ast.Constant(LONGEST))
                add(node.target.elts[1], None)
            else:
                add(node.target, node.iter if name == "range" else None)
    return found
