"""Elements of a behavior tree that is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from xml.sax.saxutils import quoteattr

from robot_rt_control.blueprint.exchange.reactive import CONDITION, HOLDS, not_true
from robot_rt_control.conditions.grammar import parse_condition


@dataclass
class Xml:
    """An element to be written."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Xml] = field(default_factory=list)

    def lines(self, indent: str = "") -> Iterator[str]:
        given = "".join(f" {name}={quoteattr(value)}" for name, value in self.attributes.items())
        if not self.children:
            yield f"{indent}<{self.tag}{given}/>"
            return
        yield f"{indent}<{self.tag}{given}>"
        for child in self.children:
            yield from child.lines(indent + "  ")
        yield f"{indent}</{self.tag}>"

    def count(self) -> int:
        return 1 + sum(child.count() for child in self.children)


def series(tag: str, first: Xml, rest: Xml) -> Xml:
    """Sequence or Fallback, without one directly in the other."""
    children = [*(first.children if first.tag == tag else [first]), *(rest.children if rest.tag == tag else [rest])]
    return Xml(tag, {}, children)


def merged(tree: Xml) -> Xml:
    """Without a condition that the reactive element after it judges first anyway."""
    children: list[Xml] = []
    for child in map(merged, tree.children):
        if children and tree.tag == _SERIES.get(child.tag):
            head = _judged_first(children[-1], child)
            if head is not None:
                children[-1] = replace(child, children=[head, *child.children[1:]])
                continue
        children.append(child)
    if len(children) == 1 < len(tree.children):
        return children[0]
    return replace(tree, children=children)


_SERIES = {"ReactiveSequence": "Sequence", "ReactiveFallback": "Fallback"}


def _judged_first(before: Xml, reactive: Xml) -> Xml | None:
    """The condition of both, if an element before a reactive one judges what that judges."""
    judged = reactive.children[0]
    own, inner = judged.attributes.get(CONDITION, ""), judged.children
    earlier = before.attributes.get(CONDITION, "") if before.attributes.get("ID") == HOLDS else ""
    if not earlier:
        return None
    if not inner:
        return before if own == earlier else None
    watched = inner[0].attributes.get(CONDITION, "")
    if str(not_true(parse_condition(earlier))) == watched:
        return before
    return judged if str(not_true(parse_condition(watched))) == earlier else None
