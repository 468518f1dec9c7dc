"""Laws of conditions, on random ones: text and tree, compiled and reference, and Kleene's logic."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.conditions.check import find_fault
from robot_rt_control.conditions.compiler import compile_condition
from robot_rt_control.conditions.evaluation import Values, evaluate_ast
from robot_rt_control.conditions.grammar import parse_condition
from robot_rt_control.conditions.kernel import evaluate
from robot_rt_control.conditions.tree import (
    COMPARISONS,
    Absolute,
    And,
    Approx,
    Boolean,
    Comparison,
    Condition,
    IsUnknown,
    Norm,
    Not,
    Number,
    Operand,
    Or,
    Sum,
    Variable,
    numbers_at_a_time,
    variables,
)
from robot_rt_control.conditions.types import VariableRef
from robot_rt_control.vocabulary.errors import DefinitionError

FLOATS = ("x", "arm.position[3]", "wrist.force.z", "_a1.b[0].c")
INTS = ("n", "gripper.count")
BOOLS = ("estop", "move_up.is_done", "io.inputs[12]")
NAMES = (*FLOATS, *INTS, *BOOLS)
VECTORS = {"wrist.force": 3, "error": 2}
REFS = {
    name: VariableRef(8 * (i + 1), "float" if name in FLOATS else "int" if name in INTS else "bool")
    for i, name in enumerate(NAMES)
} | {name: VariableRef(400 + 80 * i, length=n) for i, (name, n) in enumerate(VECTORS.items())}
NAN = math.nan

# Few distinct numbers, so that equal ones meet often; any other finite number, so that nothing is left out.
numbers = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 1e-9, 2.0]) | st.floats(allow_nan=False, allow_infinity=False)
whole = st.integers(-3, 3).map(float) | st.integers(-(2**53), 2**53).map(float)
order = st.sampled_from(COMPARISONS[:4])
equality = st.sampled_from(COMPARISONS[4:])


def variable(names: tuple[str, ...]) -> st.SearchStrategy[Variable]:
    return st.sampled_from(names).map(Variable)


def sides(one: st.SearchStrategy, other: st.SearchStrategy) -> st.SearchStrategy:
    """Two operands in either order."""
    return st.tuples(one, other) | st.tuples(other, one)


some_float, some_int, some_bool = variable(FLOATS), variable(INTS), variable(BOOLS)
norms = st.sampled_from(tuple(VECTORS)).map(lambda name: Norm(Variable(name)))


def computed(leaf: st.SearchStrategy) -> st.SearchStrategy:
    """A leaf, or what is computed from leaves, as deep as the loop can hold."""

    def deeper(inner: st.SearchStrategy) -> st.SearchStrategy:
        signed = st.lists(st.tuples(st.sampled_from("+-"), inner), min_size=2, max_size=4)
        sums = signed.map(lambda terms: Sum(("+", *(s for s, _ in terms[1:])), tuple(t for _, t in terms)))
        return inner.map(Absolute) | sums

    return st.recursive(leaf, deeper, max_leaves=6).filter(lambda value: numbers_at_a_time(value) < 4)


def varying(operands: tuple[Operand, Operand]) -> bool:
    return any(variables(operand) for operand in operands)


float_operand = some_float | numbers.map(Number) | computed(some_float | norms)
int_operand = some_int | whole.map(Number) | computed(some_int | whole.map(Number))
any_operand = computed(some_float | some_int | norms | numbers.map(Number))
bool_operand = some_bool | st.booleans().map(Boolean)
comparisons = st.one_of(
    st.builds(lambda op, s: Comparison(op, *s), order, sides(some_float, float_operand | int_operand)),
    st.builds(lambda op, s: Comparison(op, *s), order, sides(any_operand, any_operand).filter(varying)),
    st.builds(lambda op, s: Comparison(op, *s), order, sides(some_int, numbers.map(Number))),
    st.builds(lambda op, s: Comparison(op, *s), equality, sides(some_int, int_operand)),
    st.builds(lambda op, s: Comparison(op, *s), equality, sides(some_bool, bool_operand)),
    st.builds(lambda s, t: Approx(s[0], s[1], Number(abs(t))), sides(some_float, float_operand), numbers),
)
leaves = bool_operand | comparisons | variable(NAMES).map(IsUnknown)
conditions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        inner.map(Not),
        st.lists(inner, min_size=2, max_size=4).map(lambda o: And(tuple(o))),
        st.lists(inner, min_size=2, max_size=4).map(lambda o: Or(tuple(o))),
    ),
    max_leaves=12,
)
values = st.fixed_dictionaries(
    {
        **{name: numbers | st.sampled_from([NAN, math.inf, -math.inf]) for name in FLOATS},
        **{name: whole | st.just(NAN) for name in INTS},
        **{name: st.sampled_from([0.0, 1.0, NAN]) for name in BOOLS},
        **{
            name: st.lists(numbers | st.sampled_from([NAN, math.inf]), min_size=n, max_size=n)
            for name, n in VECTORS.items()
        },
    }
)


def kernel_value(tree: Condition, at: Values) -> bool | None:
    condition = compile_condition(str(tree), REFS.__getitem__)
    assert find_fault(condition.instructions, np.array([len(condition.instructions)])) == ""
    assert condition.variables == [v.name for v in variables(tree)]
    memory = np.full(100, 12345.0)
    for name, value in at.items():
        first = REFS[name].offset // 8
        memory[first : first + REFS[name].length] = value
    return (False, True, None)[evaluate(memory.ctypes.data, condition.instructions, 0, len(condition.instructions))]


@given(conditions)
def test_text_and_tree_round_trip(tree: Condition) -> None:
    assert parse_condition(str(tree)) == tree
    assert str(parse_condition(str(tree))) == str(tree)


@given(conditions, values)
@settings(max_examples=tries(75, whole=300))
def test_compiled_equals_reference(tree: Condition, at: Values) -> None:
    assert kernel_value(tree, at) is evaluate_ast(tree, at)


@given(st.lists(conditions, min_size=2, max_size=3), values)
def test_de_morgan(operands: list[Condition], at: Values) -> None:
    some = tuple(operands)
    negated = tuple(Not(operand) for operand in some)
    for value in (evaluate_ast, kernel_value):
        assert value(Not(And(some)), at) is value(Or(negated), at)
        assert value(Not(Or(some)), at) is value(And(negated), at)


@given(conditions, values)
def test_double_negation(tree: Condition, at: Values) -> None:
    for value in (evaluate_ast, kernel_value):
        assert value(Not(Not(tree)), at) is value(tree, at)


@given(st.permutations([0, 1, 2]), st.tuples(conditions, conditions, conditions), values)
def test_order_and_grouping_do_not_matter(
    permutation: list[int], operands: tuple[Condition, ...], at: Values
) -> None:
    a, b, c = operands
    shuffled = tuple(operands[i] for i in permutation)
    for join in (And, Or):
        expected = kernel_value(join(operands), at)
        assert kernel_value(join(shuffled), at) is expected
        assert kernel_value(join((a, join((b, c)))), at) is expected
        assert kernel_value(join((join((a, b)), c)), at) is expected


def _asks_for_unknown(tree: Condition) -> bool:
    match tree:
        case IsUnknown():
            return True
        case Not(operand=operand):
            return _asks_for_unknown(operand)
        case And(operands=operands) | Or(operands=operands):
            return any(_asks_for_unknown(operand) for operand in operands)
    return False


@given(conditions.filter(lambda tree: not _asks_for_unknown(tree)), values, st.sets(st.sampled_from(NAMES)))
@settings(max_examples=tries(50, whole=200))
def test_more_information_never_changes_what_is_known(
    tree: Condition, at: Values, forgotten: set[str]
) -> None:
    """Kleene's logic is monotone: what was known with less stays so with more. (`is_unknown` is no part of it.)"""
    less: Values = {name: NAN if name in forgotten else value for name, value in at.items()}
    known = kernel_value(tree, less)
    assert known is None or kernel_value(tree, at) is known


tokens = st.sampled_from(
    [
        "x",
        "n",
        "estop",
        "and",
        "or",
        "not",
        "(",
        ")",
        "<",
        "==",
        "0.2",
        "-",
        "m",
        "approx",
        "is_unknown",
        "abs",
        "norm",
        "+",
        ",",
        "true",
        "1e5",
        ".",
        "[",
    ]
)


@given(st.lists(tokens, max_size=12).map(" ".join) | st.text(max_size=30))
@settings(max_examples=tries(75, whole=300))
def test_any_text_is_a_condition_or_refused_with_a_message(text: str) -> None:
    try:
        tree = parse_condition(text)
    except DefinitionError as error:
        assert str(error)
    else:
        assert parse_condition(str(tree)) == tree
