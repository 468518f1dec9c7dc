"""State variables of the introspection as JSON, as people write them: arm.position[0] is `.arm.position[0]`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

TOPIC = "/state_variables"
_NAME = re.compile(r"([^\[]+)(?:\[(\d{1,4})\])?")


class StateVariables:
    """Makes messages of values. It knows no names at first, and makes none then."""

    def __init__(self) -> None:
        self._version: int | None = None
        self._places: list[tuple[list[str], int | None]] = []

    def take_names(self, version: int, names: Sequence[str]) -> None:
        """Names of values to come.

        Args:
            version: of the names.
        """
        self._version, self._places = version, [_place(name) for name in names]

    def message(self, version: int, values: Sequence[float]) -> bytes | None:
        """Values by their names; those that are unknown are null.

        Args:
            version: of the names of these values.

        Returns:
            JSON; None: their names have not come.
        """
        if version != self._version or len(values) != len(self._places):
            return None
        found: dict[str, Any] = {}
        for (path, index), value in zip(self._places, values, strict=True):
            inside = found
            for key in path[:-1]:
                inner = inside.setdefault(key, {})
                if not isinstance(inner, dict):  # a variable that has parts of its own
                    inner = inside[key] = {"value": inner}
                inside = inner
            known = float(value) if math.isfinite(value) else None
            if index is None:
                inside[path[-1]] = known
            else:
                elements = inside.setdefault(path[-1], [])
                if isinstance(elements, list):
                    elements += [None] * (index + 1 - len(elements))
                    elements[index] = known
        return json.dumps(found, separators=(",", ":"), allow_nan=False).encode()


def schema() -> bytes:
    """The JSON schema of the messages: names belong to the workcell and to what runs."""
    inner = {"type": ["number", "null", "object", "array"]}
    return json.dumps({"type": "object", "title": "state_variables", "additionalProperties": inner}).encode()


def _place(name: str) -> tuple[list[str], int | None]:
    """Keys from the outermost one on, and the index of an element."""
    *outer, last = name.split(".")
    found = _NAME.fullmatch(last)
    if found is None:
        return [*outer, last], None
    return [*outer, found[1]], None if found[2] is None else int(found[2])
