"""Actions that people start from the page: each in a session of its own, as `robot-rt start` does."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from robot_rt_control.editor.keys import Person
from robot_rt_control.editor.robot import Json, Robot
from robot_rt_control.text.values import typed_value
from robot_rt_control.vocabulary.errors import DefinitionError, InternalError, ProgramError, RobotControlError, unknown

MAX_RUNNING = 8
_KEPT = 5
"""Ended ones that are shown."""
_LONGEST_S = 86_400.0
_LONGEST_TEXT = 10_000
_ANSWER_S = 10.0
"""[s] after which an action that is not refused counts as begun."""


@dataclass(eq=False)
class Started:
    """An action that somebody has started."""

    id: int
    type: str
    parts: list[str]
    who: str
    begun: threading.Event = field(default_factory=threading.Event)
    """It runs, or has ended or was refused."""
    cancelled: threading.Event = field(default_factory=threading.Event)
    state: str = "starts"
    """starts, runs, done, failed or cancelled."""
    message: str = ""
    refused: RobotControlError | None = None

    def as_json(self) -> Json:
        """What pages show of it."""
        names = ("id", "type", "parts", "who", "state", "message")
        return {name: getattr(self, name) for name in names}


class Starts:
    """All of them. From any thread."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._all: dict[int, Started] = {}

    def as_json(self) -> list[Json]:
        """Those that run, and the last ones that have ended; the latest one first."""
        return [each.as_json() for each in reversed(list(self._all.values()))]

    def start(self, person: Person, body: Mapping[str, Any]) -> Json:
        """Start an action, and wait until it runs or was refused. The control server checks its values.

        Args:
            body: `type`; `parts`, slot → part; `values`, parameter → text; `until`, a condition; `limit` [s], 0: none.

        Returns:
            `start`: its number; if it was refused, `fields`: parameter or slot → what is wrong with it.

        Raises:
            DefinitionError: the request is malformed.
        """
        name, parts, texts = body.get("type"), _texts(body, "parts"), _texts(body, "values")
        until, limit = body.get("until", ""), body.get("limit", 0)
        if not isinstance(until, str) or len(until) > _LONGEST_TEXT:
            raise DefinitionError("start_action: until", expected="a condition")
        if type(limit) not in (int, float) or not 0 <= limit <= _LONGEST_S:
            raise DefinitionError("start_action: limit", expected=f"0 to {_LONGEST_S:g} s")
        types = {each["name"]: each for each in self._robot.action_types()}
        if not isinstance(name, str) or name not in types:
            raise DefinitionError(f"action type {name!r}", expected=unknown("action type", str(name), types))
        made = Started(0, name, [f"{slot}={part}" for slot, part in parts.items()], person.name)
        try:
            values = _values(types[name]["parameters"], texts)
            self._begin(made, values, until, float(limit))
        except RobotControlError as error:
            made.refused = error
        if made.refused is not None:
            named = [*parts, *(slot["name"] for slot in types[name]["slots"]), *texts,
                     *(parameter["name"] for parameter in types[name]["parameters"])]  # fmt: skip
            fields = _fields(made.refused, named)
            return {"success": False, "message": str(made.refused), "start": 0, "fields": fields}
        return {"success": True, "message": "", "start": made.id, "fields": {}}

    def end(self, number: object) -> None:
        """Cancel one: its part takes its default action.

        Raises:
            DefinitionError: there is none of this number.
        """
        made = self._all.get(number) if type(number) is int else None
        if made is None:
            raise DefinitionError("end_action: start", expected="the number of an action that was started here")
        made.cancelled.set()

    def _begin(self, made: Started, values: Mapping[str, Any], until: str, limit: float) -> None:
        with self._lock:
            if sum(each.state in ("starts", "runs") for each in self._all.values()) >= MAX_RUNNING:
                raise RobotControlError(f"{MAX_RUNNING} actions of this page run already")
            made.id = next(self._numbers)
            self._all[made.id] = made

        def run() -> None:
            try:
                outcome = self._robot.run_action(
                    made.type, made.parts, values, until=until, limit_s=limit, cancelled=made.cancelled,
                    on_progress=lambda: self._runs(made),
                )  # fmt: skip
                ended = "cancelled" if made.cancelled.is_set() else "failed"
                made.state, made.message = "done" if outcome["success"] else ended, outcome["message"]
            except Exception as failure:  # whatever it is, it has not begun, or has ended
                error = failure if isinstance(failure, RobotControlError) else InternalError.of(made.type, failure)
                if made.state == "starts":
                    made.refused = error
                made.state, made.message = "failed", str(error)
            finally:
                self._forget(made)  # first: who is answered sees what is left
                made.begun.set()

        threading.Thread(target=run, daemon=True, name=f"start {made.id}").start()
        made.begun.wait(_ANSWER_S)

    def _runs(self, made: Started) -> None:
        made.state = "runs"
        made.begun.set()

    def _forget(self, made: Started) -> None:
        """Keep the last ones; who was refused was told so."""
        with self._lock:
            if made.refused is not None:
                del self._all[made.id]
            ended = [each.id for each in self._all.values() if each.state not in ("starts", "runs")]
            for id in ended[:-_KEPT]:
                del self._all[id]


def _texts(body: Mapping[str, Any], key: str) -> dict[str, str]:
    found = body.get(key, {})
    if not isinstance(found, dict) or len(found) > 100:
        raise DefinitionError(f"start_action: {key}", expected="an object of texts")
    if not all(isinstance(text, str) and len(text) <= _LONGEST_TEXT for text in found.values()):
        raise DefinitionError(f"start_action: {key}", expected="an object of texts")
    return dict(found)


def _values(declared: list[Json], texts: Mapping[str, str]) -> dict[str, Any]:
    """Values of the parameters as they were typed. Raises DefinitionError: one is not valid."""
    kinds = {parameter["name"]: parameter["type"] for parameter in declared}
    return {
        name: text if kinds.get(name) == "text" else typed_value(name, text.strip()) for name, text in texts.items()
    }


def _fields(error: RobotControlError, names: list[str]) -> dict[str, str]:
    """Which of the names a refusal names in quotes → what it says."""
    found: dict[str, str] = {}
    for mistake in error.mistakes if isinstance(error, ProgramError) else (error,):
        for name in dict.fromkeys(names):
            if f"'{name}'" in mistake.what:
                found[name] = f"{found[name]}\n{mistake}" if name in found else str(mistake)
    return found
