"""Following records and their arrays through a function, and judging every write into them."""

from __future__ import annotations

import ast
from collections.abc import Callable

from robot_rt_control.server.builder.record_access import NOTHING, Data, least_writable

Report = Callable[[ast.AST, str, str], None]
"""Takes a violation: node, operation, hint."""
Written = Callable[[ast.AST, Data], None]
"""Takes what is written, and where."""


class RecordFlow:
    """Which names stand for which records and arrays, in one function. Names that mean nothing of that are absent."""

    def __init__(self, names: dict[str, Data | None], report: Report, written: Written) -> None:
        self.names = names
        self.report = report
        self.written = written

    def data(self, node: ast.expr) -> Data | None:
        """The record, array or number in a record that an expression stands for; None: something else."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            return self._field(node, self.data(node.value), node.attr)
        if isinstance(node, ast.Subscript):
            base = self.data(node.value)
            if base is None:
                return None
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                return self._field(node, base, node.slice.value)
            return self._element(node, base)
        if isinstance(node, ast.IfExp):
            return least_writable(self.data(node.body), self.data(node.orelse))
        return None

    def _field(self, node: ast.expr, base: Data | None, name: str) -> Data | None:
        if base is None or not base.is_record:
            return None
        found = base.field(name)
        if found is None:
            known = (
                "State and Params declare the fields of an action's records; a part's are those of layout.part_dtype"
            )
            self.report(node, f"uses a field that does not exist: {base.unknown_field(name)}", known)
        return found

    def _element(self, node: ast.Subscript, base: Data) -> Data | None:
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(indices) > len(base.shape):
            if base.is_array:
                operation = f"takes {len(indices)} indices of {base.label}, which has {len(base.shape)} dimensions"
                self.report(node, operation, "Count the dimensions in the declaration of the field")
            return None
        steps: list[int | None] = []
        for index, length in zip(indices, base.shape, strict=False):
            if isinstance(index, ast.Slice):
                steps.append(None)
                continue
            value = _constant_index(index)
            if value is not None and length >= 0 and not -length <= value < length:
                operation = f"takes element {value} of {base.label}, which has {length} elements"
                self.report(node, operation, f"Indices go from 0 to {length - 1}")
            indexing = self.data(index)
            if indexing is not None and indexing.is_array:
                self.report(node, f"indexes {base.label} by an array, which makes a new array", "Write a loop")
                return None
            steps.append(0)
        return base.indexed(steps, f"{base.label}[{', '.join(map(ast.unparse, indices))}]")

    # --- writing ---------------------------------------------------------------------------------

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        """`target = value`."""
        if isinstance(target, ast.Tuple | ast.List):
            if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
                for one, its in zip(target.elts, value.elts, strict=True):
                    self.assign(one, its)
            else:
                for one in target.elts:
                    self._write(one)
            return
        data = self.data(value)
        if isinstance(target, ast.Name):
            if data is not None and (data.is_array or data.is_record):
                self.names[target.id] = least_writable(self.names.get(target.id), data)
            return
        written = self._write(target)
        if written is None or data is None:
            return
        if written.is_record and not data.is_array:
            self.report(target, f"assigns the whole record {written.label}", "Assign its fields one by one")
        elif written.is_array and data.is_array and isinstance(target, ast.Subscript):
            operation = f"copies the array {data.label} into a slice, which makes a new array on the way"
            self.report(target, operation, "Write a loop, or assign the whole field without a slice")

    def augment(self, node: ast.AugAssign) -> None:
        """`target += value`."""
        if isinstance(node.target, ast.Name):
            data = self.names.get(node.target.id)
            if data is not None and data.is_array:
                self.require_writable(node, data)
        else:
            data = self._write(node.target)
        if data is not None and data.is_array:
            self.report(node, f"computes with the whole array {data.label}, which makes a new array", "Write a loop")

    def iterate(self, target: ast.expr, iterated: ast.expr) -> None:
        """`for target in iterated`."""
        data = self.data(iterated)
        if data is not None and data.is_array and isinstance(target, ast.Name):
            element = data.indexed([0], f"{data.label}[…]")
            if element.is_array or element.is_record:
                self.names[target.id] = least_writable(self.names.get(target.id), element)
        elif not isinstance(target, ast.Name):
            for one in target.elts if isinstance(target, ast.Tuple) else [target]:
                self._write(one)

    def _write(self, target: ast.expr) -> Data | None:
        """Judge a write to a field or element; returns what is written, None if it belongs to no record."""
        if isinstance(target, ast.Starred):
            target = target.value
        if not isinstance(target, ast.Attribute | ast.Subscript):
            return None
        data = self.data(target)
        if data is not None:
            self.require_writable(target, data)
        return data

    def require_writable(self, node: ast.AST, data: Data) -> None:
        """Report a write, and one to what an action may only read as a violation."""
        self.written(node, data)
        if data.writable == NOTHING:
            self.report(node, f"writes {data.label}, which an action may only read", data.write_hint)


def _constant_index(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _constant_index(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return int(node.value)
    return None
