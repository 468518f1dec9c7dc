"""Messages of any content: absurd, half right, or right but for one value."""

from __future__ import annotations

import importlib
import math
import re
from random import Random
from typing import Any

WORDS = ("", "a", "b", "left", "right", "left.x", "s1", "s999", "probe", "stop", "../x", "a\0b", "é" * 70, "x" * 4000)
NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e308, 5e-324, math.nan, math.inf, -math.inf)
_HUGE, _HUGE_TEXT = 20_000, 2_000_000
"""Items of a long sequence; characters of all of its texts."""


def type_of(name: str) -> Any:
    """The class of "package/msg/Name", "package/action/Name" or "package/Name"; also "package/Action_Feedback"."""
    package, *kind, name = name.split("/")
    action, _, part = name.partition("_")
    if part:
        found = type_of(f"{package}/action/{action}")
        return getattr(found, part, None) or getattr(found.Impl, part)
    return getattr(importlib.import_module(f"{package}.{kind[0] if kind else 'msg'}"), name)


def anything(random: Random, kind: str, known: tuple[str, ...], depth: int = 0, *, huge: bool = False) -> Any:
    """A value of a field of an interface.

    Args:
        known: words that mean something.
        huge: now and then a long sequence.
    """
    if kind.startswith("sequence<"):
        inner = kind[len("sequence<") : -1].partition(", ")[0]
        n = random.choice((0, 1, 1, 2, 3, 40)) if depth < 3 else 0
        if huge and "/" not in inner and random.random() < 0.05:
            value = anything(random, inner, known)
            return [value] * (min(_HUGE, _HUGE_TEXT // (len(value) + 1)) if isinstance(value, str) else _HUGE)
        return [anything(random, inner, known, depth + 1, huge=huge) for _ in range(n)]
    if kind.startswith("string"):
        return random.choice((*WORDS, *known))
    if kind == "boolean":
        return random.random() < 0.5
    if kind in ("double", "float"):
        return random.choice(NUMBERS if kind == "double" else [x for x in NUMBERS if abs(x) != 1e308])
    if match := re.fullmatch(r"(u?)int(\d+)", kind):
        most = 2 ** (int(match[2]) - (not match[1])) - 1
        return random.choice((0, 1, most) if match[1] else (-most - 1, -1, 0, 1, most))
    return message(random, type_of(kind), known, depth + 1, huge=huge)


def message(random: Random, kind: Any, known: tuple[str, ...], depth: int = 0, *, huge: bool = False) -> Any:
    """A message, some of whose fields have any value; the others their default."""
    fields = kind.get_fields_and_field_types()
    chosen = {name: type_ for name, type_ in fields.items() if "[" not in type_ and random.random() < 0.7}
    return kind(**{name: anything(random, type_, known, depth, huge=huge) for name, type_ in chosen.items()})


def spoil(random: Random, made: Any, known: tuple[str, ...]) -> None:
    """Give one value of a message another content."""
    fields = {name: kind for name, kind in made.get_fields_and_field_types().items() if "[" not in kind}
    if not fields:
        return
    name = random.choice(tuple(fields))
    value = getattr(made, name)
    inner = random.choice(value) if isinstance(value, list) and value and random.random() < 0.7 else value
    if hasattr(inner, "get_fields_and_field_types"):
        spoil(random, inner, known)
    elif fields[name].startswith("sequence<") and len(value) and random.random() < 0.7:
        kind = fields[name][len("sequence<") : -1].partition(", ")[0]
        changed = list(value)
        changed[random.randrange(len(changed))] = anything(random, kind, known)
        setattr(made, name, random.choice((changed, changed[1:], changed * 2, changed[::-1])))
    else:
        setattr(made, name, anything(random, fields[name], known, huge=True))
