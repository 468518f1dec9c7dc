"""Which `while` loops end for a reason that can be seen: they count. How far, `number_range` knows.

    while n < N and …:       the counter below (or above) a bound that does not change in the loop,
        …
        n += 1               and one step towards it in every round

Counter and bound may be variables, fields of records, numbers, and sums of these with a number.
"""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass

MOST_ROUNDS = 10_000_000
"""All nested loops together, in one tick: some milliseconds at the least. The time budget asks for far less."""

_UP, _DOWN = 1, -1
_STEADY = ("len", "min", "max", "abs")
"""Functions whose result stays while their arguments do."""


@dataclass(frozen=True)
class Counting:
    """A comparison that counting makes false at last."""

    variable: ast.expr
    """The variable or field that each round steps."""
    offset: float
    """What the comparison adds to it."""
    way: int
    """1: up, -1: down."""
    bound: ast.expr


def countings(loop: ast.While) -> list[Counting]:
    """How a loop counts towards a bound in every round; empty: it does not."""
    if _skips(loop.body):
        return []
    return [found for test in _conjuncts(loop) for found in _counts(test, loop.body)]


def indexed(loop: ast.While, variable: ast.expr) -> list[ast.expr]:
    """Arrays that the test of a loop indexes with its counter in every round.

    An index out of range fails the action: so the loop cannot count farther than such an array is long.
    """
    found = []
    for test in _conjuncts(loop):
        nodes = list(ast.walk(test))
        if any(isinstance(n, ast.BoolOp | ast.IfExp) for n in nodes):
            continue  # a part of it may be left out
        for node in nodes:
            if isinstance(node, ast.Subscript):
                index = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
                if ast.unparse(_without_number(index)) == ast.unparse(variable):
                    found.append(node.value)
    return found


def step_of(value: ast.expr | None, name: str) -> int:
    """By how much `name = value` counts up or down; 0: it does something else."""
    if not isinstance(value, ast.BinOp) or ast.unparse(value.left) != name:
        return 0
    if not isinstance(value.right, ast.Constant) or type(value.right.value) is not int:
        return 0
    step = value.right.value
    return step if isinstance(value.op, ast.Add) else -step if isinstance(value.op, ast.Sub) else 0


def _conjuncts(loop: ast.While) -> list[ast.expr]:
    return loop.test.values if isinstance(loop.test, ast.BoolOp) and isinstance(loop.test.op, ast.And) else [loop.test]


def _counts(test: ast.expr, body: list[ast.stmt]) -> list[Counting]:
    """The sides of a comparison that counts."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return []
    left, right = test.left, test.comparators[0]
    if isinstance(test.ops[0], ast.Lt | ast.LtE):
        sides = ((left, _UP, right), (right, _DOWN, left))
    elif isinstance(test.ops[0], ast.Gt | ast.GtE):
        sides = ((left, _DOWN, right), (right, _UP, left))
    else:
        return []
    return [
        Counting(_without_number(counter), _number_beside(counter), way, bound)
        for counter, way, bound in sides
        if _steps(counter, way, body) and _stays(bound, body)
    ]


def _steps(counter: ast.expr, way: int, body: list[ast.stmt]) -> bool:
    """Whether each round makes exactly one step of this variable, in this direction."""
    variable = _without_number(counter)
    if not isinstance(variable, ast.Name | ast.Attribute):
        return False
    name = ast.unparse(variable)
    written, passed = _changed(body)
    if written.count(name) != 1 or _root(variable) in passed and isinstance(variable, ast.Attribute):
        return False
    return any(_step_of(statement, name) * way >= 1 for statement in body)


def _step_of(statement: ast.stmt, name: str) -> int:
    """By how much a statement counts a variable up or down; 0: it does not."""
    if isinstance(statement, ast.AugAssign) and ast.unparse(statement.target) == name:
        return step_of(ast.BinOp(statement.target, statement.op, statement.value), name)
    if isinstance(statement, ast.Assign) and [ast.unparse(t) for t in statement.targets] == [name]:
        return step_of(statement.value, name)
    return 0


def _stays(bound: ast.expr, body: list[ast.stmt]) -> bool:
    """Whether nothing in the loop changes a bound."""
    if any(isinstance(n, ast.Call) and ast.unparse(n.func) not in _STEADY for n in ast.walk(bound)):
        return False
    written, passed = _changed(body)
    for node in ast.walk(bound):
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and ast.unparse(node) in written:
            return False
        if isinstance(node, ast.Attribute | ast.Subscript) and _root(node) in passed:
            return False
    return True


def _without_number(node: ast.expr) -> ast.expr:
    """x of x + 1 and x - 1."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) and isinstance(node.right, ast.Constant):
        return node.left
    return node


def _number_beside(node: ast.expr) -> float:
    """1 of x + 1, -1 of x - 1, 0 of x."""
    if _without_number(node) is node or not isinstance(node, ast.BinOp) or not isinstance(node.right, ast.Constant):
        return 0.0
    number = float(node.right.value) if isinstance(node.right.value, int | float) else math.inf
    return number if isinstance(node.op, ast.Add) else -number


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return ast.unparse(node)


def _changed(body: list[ast.stmt]) -> tuple[list[str], set[str]]:
    """What a block writes, each as often as it does, with all that it is a part of; and names it hands to functions."""
    written: list[str] = []
    passed: set[str] = set()
    for node in [n for statement in body for n in ast.walk(statement)]:
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = list(node.targets)
        elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For | ast.NamedExpr):
            targets = [node.target]
        elif isinstance(node, ast.Call):
            given = [*node.args, *[k.value for k in node.keywords]]
            passed |= {a.id for a in given if isinstance(a, ast.Name)}
        while targets:
            target = targets.pop()
            if isinstance(target, ast.Tuple | ast.List):
                targets += target.elts
            elif isinstance(target, ast.Subscript):
                written += [ast.unparse(target), ast.unparse(target.value)]
            else:
                written.append(ast.unparse(target))
    return written, passed


def _skips(body: list[ast.stmt]) -> bool:
    """Whether a `continue` of this loop may leave out what follows it."""
    for statement in body:
        if isinstance(statement, ast.Continue):
            return True
        if isinstance(statement, ast.For | ast.While):
            continue
        inner = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
        if any(_skips(block) for block in inner if isinstance(block, list)):
            return True
    return False
