"""How long a tick of real-time code may take at most: its operations, each as often as the loops around it allow.

Nothing is measured, so a branch that no measurement takes counts as well. Of two branches the longer one counts.
"""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

_OPERATION_S = 1e-9
"""An operation, a read or write of a field or an element, a round of a loop."""
_DEAR_S = 1e-8
"""A function of math or numpy, a power."""
PACKAGE_CALL_S = 3e-7
"""A call of a function of this package."""
_OPERATIONS = (
    ast.Assign, ast.AugAssign, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Attribute, ast.Call,
)


@dataclass(frozen=True)
class Work:
    """What code takes at most."""

    seconds: float = 0.0
    longest: str = ""
    """Its longest loop: where it is, and how many rounds it makes; empty: it has no loop."""
    longest_s: float = 0.0

    def __add__(self, other: Work) -> Work:
        first = self if self.longest_s >= other.longest_s else other
        return Work(self.seconds + other.seconds, first.longest, first.longest_s)

    def longer(self, other: Work) -> Work:
        return self if self.seconds >= other.seconds else other

    def repeated(self, rounds: float, loop: str) -> Work:
        """A loop around it."""
        seconds = max(0.0, rounds) * (self.seconds + _OPERATION_S)
        return Work(seconds, loop, seconds)


def work_of(node: ast.AST) -> Work:
    """The work of a node of a syntax tree, without what is below it."""
    if not isinstance(node, _OPERATIONS):
        return Work()
    return Work(_DEAR_S if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) else _OPERATION_S)


def work_of_call(function: Any) -> Work:
    """The work of a function that is neither the user's nor this package's."""
    dear = getattr(function, "__module__", "") == math.__name__ or isinstance(function, np.ufunc)
    return Work(_DEAR_S) if dear else Work()
