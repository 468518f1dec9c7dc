"""One person operates, the others watch. Taking over has to be meant, and is logged."""

from __future__ import annotations

import logging
import time
from collections import deque
from typing import Any

from robot_rt_control.editor.keys import Person

KEPT_S = 10.0
"""Who operates keeps that for so long after the last page of that browser went [s]: a page may be reloaded."""
_log = logging.getLogger(__name__)


class People:
    """Who is here, and who operates. For one thread."""

    def __init__(self) -> None:
        self.operator: Person | None = None
        self.here: dict[str, Person] = {}
        self._away_since: float | None = None
        """Since when the person who operates has no page open [s]; None: one is open."""
        self._log: deque[dict[str, Any]] = deque(maxlen=50)

    def may_operate(self, person: Person) -> bool:
        """Whether a person operates. If nobody does, one who may does from now on."""
        self.expire()
        if self.operator is None and person.may_operate:
            self._set(person, f"{person.name} operates")
        return self.operator is person

    def take(self, person: Person, instead_of: str) -> str:
        """Take over. Returns why not; empty: done.

        Args:
            instead_of: id of the person who operates, as the page showed it: it was meant.
        """
        if not person.may_operate:
            return "this link may only watch and stop"
        self.expire()
        if self.operator is person:
            return ""
        if self.operator is not None and self.operator.id != instead_of:
            return f"{self.operator.name} operates"
        was = f" instead of {self.operator.name}" if self.operator is not None else ""
        self._set(person, f"{person.name} operates{was}")
        return ""

    def give_back(self, person: Person) -> None:
        if self.operator is person:
            self._set(None, f"{person.name} operates no more")

    def came(self, person: Person) -> None:
        person.sockets += 1
        person.visits += 1
        self.here[person.id] = person
        if person is self.operator:
            self._away_since = None

    def left(self, person: Person) -> None:
        person.sockets -= 1
        if person.sockets <= 0:
            self.here.pop(person.id, None)
            if person is self.operator:
                self._away_since = time.monotonic()

    def expire(self) -> None:
        """Nobody operates any more if the pages of the person who did have been closed for KEPT_S."""
        if self.operator is not None and self._away_since is not None and time.monotonic() - self._away_since > KEPT_S:
            self.give_back(self.operator)

    def as_json(self) -> dict[str, Any]:
        return {
            "operator": self.operator.id if self.operator is not None else "",
            "operator_name": self.operator.name if self.operator is not None else "",
            "here": [
                {"id": p.id, "name": p.name, "may_operate": p.may_operate} for p in self.here.values()
            ],
            "log": list(self._log),
        }

    def _set(self, person: Person | None, text: str) -> None:
        self.operator = person
        self._away_since = None if person is None or person.sockets > 0 else time.monotonic()
        self._log.append({"time": time.time(), "text": text})
        _log.info("%s", text)
