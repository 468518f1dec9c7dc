"""What an element of a behavior tree has to have: attributes, children, numbers, entries of the blackboard."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from robot_rt_control.blueprint.exchange.ports import ENTRY
from robot_rt_control.blueprint.exchange.xml_reader import Element
from robot_rt_control.vocabulary.names import NAME_PATTERN

# All raise DefinitionError with the line of the element.

WITHOUT_MEANING = ("name", "_description", "_uid", "_fullpath")
"""Attributes that change nothing."""


def attribute(element: Element, name: str) -> str:
    """An attribute that has to be there."""
    if not element.attributes.get(name):
        raise element.mistake(f"<{element.tag}>", expected=f"the attribute {name}", got="none")
    return element.attributes[name]


def only(element: Element, names: Iterable[str]) -> None:
    """Refuse attributes other than these."""
    for name in element.attributes:
        if name not in (*names, *WITHOUT_MEANING):
            raise element.mistake(
                f"<{element.tag}> has no port {name!r}", expected=", ".join(names) or "no ports"
            )


def children_of(element: Element, least: int, most: int | None = None) -> list[Element]:
    """The children, if there are as many as there have to be; `most`: None: any number."""
    count = len(element.children)
    if count < least or (most is not None and count > most):
        wanted = f"{least}" if least == most else f"at least {least}" if most is None else f"{least} or {most}"
        raise element.mistake(f"<{element.tag}>", expected=f"{wanted} elements in it", got=str(count))
    return element.children


def integer(
    element: Element, name: str, low: int, high: int, *, or_minus_one: bool = False, default: int | None = None
) -> int:
    """An attribute that is a whole number from `low` to `high`."""
    text = element.attributes.get(name, "" if default is None else str(default)).strip()
    value = int(text) if re.fullmatch(r"-?[0-9]{1,10}", text) else None
    if value is None or not (low <= value <= high or (or_minus_one and value == -1)):
        expected = f"{name}: a number from {low} to {high}" + (", or -1" if or_minus_one else "")
        raise element.mistake(f"<{element.tag}>", expected=expected, got=repr(text))
    return value


def flag(element: Element, text: str) -> bool:
    """Whether `_autoremap` is on."""
    if text not in ("true", "false", "1", "0"):
        raise element.mistake("_autoremap", expected="true or false", got=repr(text))
    return text in ("true", "1")


def parts_of(element: Element, text: str) -> dict[str, str]:
    """Role → part, of the port `parts`."""
    found = {}
    for piece in filter(None, (piece.strip() for piece in text.split(";"))):
        role, equals, part = piece.partition("=")
        if not equals:
            raise element.mistake("port 'parts'", expected="role=part, separated by ;", got=repr(text))
        found[role.strip()] = part.strip()
    return found


def entries_of(element: Element) -> Iterator[str]:
    """All entries of the blackboard in a tree or a part of one."""
    for each in element.all():
        for name, text in each.attributes.items():
            found = ENTRY.fullmatch(text.strip())
            if found is not None and name not in ("name", "ID"):
                yield found[1]
            elif each.tag == "SetBlackboard" and name == "output_key":
                yield text.strip()


def identifier(text: str) -> str:
    """A text as a name of ours."""
    found = re.sub(r"[^A-Za-z0-9_]", "_", text)
    return found if re.fullmatch(NAME_PATTERN, found) else f"n_{found}"


def free(name: str, taken: frozenset[str]) -> str:
    """The name, with a number if it is taken."""
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    return found
