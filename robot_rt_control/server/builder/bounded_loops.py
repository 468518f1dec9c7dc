"""Which `while` loops end for a reason that can be seen: they count.

    while n < N and …:       the counter below (or above) a bound that does not change in the loop,
        …
        n += 1               and one step towards it in every round

Counter and bound may be variables, fields of records, numbers, and sums of these with a number.
"""

from __future__ import annotations

import ast

MOST_ROUNDS = 10_000_000
"""Of all nested loops together, in one tick: some milliseconds at the least. The time budget asks for far less."""

_UP, _DOWN = 1, -1
_STEADY = ("len", "min", "max", "abs")
"""Functions whose result stays while their arguments do."""


def ends(loop: ast.While) -> bool:
    """Whether a loop counts towards a bound in every round."""
    tests = loop.test.values if isinstance(loop.test, ast.BoolOp) and isinstance(loop.test.op, ast.And) else [loop.test]
    return not _skips(loop.body) and any(_counts(test, loop.body) for test in tests)


def _counts(test: ast.expr, body: list[ast.stmt]) -> bool:
    """Whether a comparison holds for so many rounds only."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    left, right = test.left, test.comparators[0]
    if isinstance(test.ops[0], ast.Lt | ast.LtE):
        sides = ((left, _UP, right), (right, _DOWN, left))
    elif isinstance(test.ops[0], ast.Gt | ast.GtE):
        sides = ((left, _DOWN, right), (right, _UP, left))
    else:
        return False
    return any(_steps(counter, way, body) and _stays(bound, body) for counter, way, bound in sides)


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
        operator, value = statement.op, statement.value
    elif (
        isinstance(statement, ast.Assign)
        and [ast.unparse(t) for t in statement.targets] == [name]
        and isinstance(statement.value, ast.BinOp)
        and ast.unparse(statement.value.left) == name
    ):
        operator, value = statement.value.op, statement.value.right
    else:
        return 0
    if not isinstance(value, ast.Constant) or type(value.value) is not int:
        return 0
    return value.value if isinstance(operator, ast.Add) else -value.value if isinstance(operator, ast.Sub) else 0


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
