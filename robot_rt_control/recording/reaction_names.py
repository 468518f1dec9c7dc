"""What reactions are called, as recordings have it: lines of JSON, which the control server writes with definitions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

VERSION = 1
"""Of a line. Lines of later versions are skipped by this one."""


@dataclass(frozen=True, kw_only=True)
class NamedReaction:
    """A reaction, as its user knows it."""

    identity: int
    name: str
    owner: str
    """Id of its action; empty: free-standing."""
    event: str
    """The user's name for it; empty: none."""
    condition: str
    starts: tuple[str, ...]
    """Ids of the actions that it starts."""
    values: tuple[str, ...]
    """Names of the state variables that its event carries."""

    def line(self) -> bytes:
        """Without a line break."""
        return json.dumps({"version": VERSION, **asdict(self)}, separators=(",", ":")).encode()


def named_reactions(texts: Iterable[str]) -> dict[int, NamedReaction]:
    """Identity → reaction, of lines by `line`; what is none is left out."""
    found = {}
    for line in (line for text in texts for line in text.splitlines()):
        try:
            each = _read(json.loads(line))
        except (KeyError, TypeError, ValueError, RecursionError):
            continue
        found[each.identity] = each
    return found


def _read(found: Any) -> NamedReaction:
    if found["version"] != VERSION:
        raise ValueError(found["version"])
    name, owner, event, condition = (str(found[key]) for key in ("name", "owner", "event", "condition"))
    starts, values = (tuple(map(str, found[key])) for key in ("starts", "values"))
    return NamedReaction(
        identity=int(found["identity"]), name=name, owner=owner, event=event, condition=condition, starts=starts,
        values=values,
    )  # fmt: skip
