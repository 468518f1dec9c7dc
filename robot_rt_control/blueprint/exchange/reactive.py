"""Conditions in behavior trees: the leaf `holds`, and what ReactiveSequence and ReactiveFallback judge while they run.

A condition of ours may be unknown, one of a behavior tree succeeds or fails: `holds` fails if its condition is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from robot_rt_control.blueprint.exchange.elements import attribute, children_of, only
from robot_rt_control.blueprint.exchange.xml_reader import Element
from robot_rt_control.blueprint.graph.plan import Kind, Node
from robot_rt_control.blueprint.graph.results import DONE
from robot_rt_control.conditions.grammar import parse_condition
from robot_rt_control.conditions.tree import (
    Absolute,
    And,
    Approx,
    Boolean,
    Comparison,
    Condition,
    IsUnknown,
    Norm,
    Not,
    Operand,
    Or,
    Sum,
    Value,
    variables,
)
from robot_rt_control.vocabulary.errors import DefinitionError

HOLDS, CONDITION = "holds", "condition"
"""The leaf that succeeds if a condition over state variables is true now, and its port."""


@dataclass(frozen=True)
class Judged:
    """What an element made of conditions says: exactly one of the two is true at any moment.

    Args:
        yes: true when it succeeds.
        no: true when it fails.
    """

    yes: Condition
    no: Condition


def is_holds(element: Element) -> bool:
    """Whether it is the leaf `holds`."""
    named = element.attributes.get("ID") if element.tag in ("Action", "Condition") else element.tag
    return named == HOLDS


def judged(element: Element) -> Judged | None:
    """What is judged at once; None: something in it takes time.

    Raises:
        DefinitionError: a condition is not valid; with its line.
    """
    if is_holds(element):
        condition = condition_of(element)
        try:
            return Judged(condition, not_true(condition))
        except DefinitionError as error:
            raise element.located(error) from None
    if element.tag == "Inverter":
        only(element, ())
        (child,) = children_of(element, 1, 1)
        inner = judged(child)
        return None if inner is None else Judged(inner.no, inner.yes)
    if element.tag in ("Sequence", "Fallback"):
        only(element, ())
        found = [judged(child) for child in children_of(element, 1)]
        known = [each for each in found if each is not None]
        return all_or_any(known, any_of=element.tag == "Fallback") if len(known) == len(found) else None
    return None


def all_or_any(several: list[Judged], *, any_of: bool) -> Judged:
    """Several of them, as a Sequence or as a Fallback of them."""
    yes = _joined(Or if any_of else And, [each.yes for each in several])
    return Judged(yes, _joined(And if any_of else Or, [each.no for each in several]))


def condition_of(element: Element) -> Condition:
    """The condition of a leaf `holds`."""
    children_of(element, 0, 0)
    only(element, (CONDITION, *(["ID"] if element.tag != HOLDS else [])))
    try:
        return parse_condition(attribute(element, CONDITION), of=f"<{HOLDS}>")
    except DefinitionError as error:
        raise error if error.line else element.located(error) from None


def not_true(node: Condition) -> Condition:
    """True when a condition is false or unknown; never unknown itself."""
    return _not(node, True)


def _not(node: Condition, value: bool) -> Condition:
    """True when a condition has not this value."""
    match node:
        case Boolean(value=is_value):
            return Boolean(is_value != value)
        case IsUnknown():
            return Not(node) if value else node
        case Not(operand=inner):
            return _not(inner, not value)
        case And(operands=operands):
            return _joined(Or if value else And, [_not(operand, value) for operand in operands])
        case Or(operands=operands):
            return _joined(And if value else Or, [_not(operand, value) for operand in operands])
    if any(isinstance(each, Norm) for each in _values(node)):
        raise DefinitionError(
            f"condition '{node}'", expected="no norm(…), whose being unknown no condition can name", got="one"
        )
    unknown = [IsUnknown(variable) for variable in variables(node)]
    return _joined(Or, [Not(node) if value else node, *unknown])


def _values(node: Condition | Value) -> Iterator[Condition | Value]:
    """A comparison and all that is computed in it."""
    yield node
    match node:
        case Comparison(left=left, right=right) | Approx(left=left, right=right):
            inner: tuple[Operand, ...] = (left, right)
        case Absolute(value=value):
            inner = (value,)
        case Sum(terms=terms):
            inner = terms
        case _:
            inner = ()
    for each in inner:
        yield from _values(each)


def _joined(kind: type[And | Or], operands: list[Condition]) -> Condition:
    flat = [inner for one in operands for inner in (one.operands if isinstance(one, kind) else (one,))]
    return flat[0] if len(flat) == 1 else kind(tuple(flat))


def judges(node: Node) -> bool:
    """Whether a node does nothing but judge one condition."""
    then = node.then
    return (
        node.call.kind == Kind.SET
        and not node.call.arguments
        and not node.retry
        and not node.repeat
        and len(then) == 2
        and bool(then[0].when)
        and not then[1].when
        and all(candidate.takes(DONE, False) for candidate in then)
    )
