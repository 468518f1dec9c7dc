"""What an external system asks for, as data, and as one line of JSON. Pure functions: any thread may call them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from robot_rt_control.client import MotionCommand
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError, RobotControlError, raise_all, unknown
from robot_rt_control.vocabulary.names import each_once

MAX_TAG_LENGTH = 64
"""Characters of the text by which a client recognizes the answers to a request."""
ALL = "all"

_COMMAND_KEYS = {"robot": "part", "to": "position"} | {
    f.name: f.name for f in fields(MotionCommand) if f.name not in ("part", "position", "trajectory")
}
"""Key of a request → field of a MotionCommand."""
_GROUP_KEYS = ("finish", "profile", "on_failure", "tolerance", "time_limit")
_KINDS = ("robot", "group", "cancel", "status", "cancel_on_disconnect")
"""Each request has one of these keys, which says what it is."""


@dataclass(frozen=True, kw_only=True)
class Move:
    """A group of motions: they begin in one tick, all or none.

    Args:
        commands: at least one.
        options: of the group: finish, profile, on_failure, tolerance, time_limit; see MotionGroup.
        replace: take parts that an earlier group still moves; that group then ends.
        tag: returned with each answer; empty: none.
    """

    commands: tuple[MotionCommand, ...]
    options: Mapping[str, Any]
    replace: bool = False
    tag: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(command.part for command in self.commands))


@dataclass(frozen=True, kw_only=True)
class Cancel:
    """Stop a group on its paths, or all (`id` None)."""

    id: int | None
    tag: str = ""


@dataclass(frozen=True, kw_only=True)
class Status:
    """Report robots and groups."""

    tag: str = ""


@dataclass(frozen=True, kw_only=True)
class OnDisconnect:
    """Whether the caller's groups stop on their paths when it disconnects."""

    cancel: bool
    tag: str = ""


Request = Move | Cancel | Status | OnDisconnect


def parse(line: bytes) -> Request:
    """The request in one line of JSON.

    Raises:
        DefinitionError: it is not valid; a ProgramError has all mistakes.
    """
    try:
        return request_of(_loaded(line))
    except RecursionError:
        raise DefinitionError("the request", expected="JSON of a few levels", got="too many levels") from None


def _loaded(line: bytes) -> Any:
    try:
        return json.loads(
            line.decode(), parse_constant=_finite, parse_float=_finite, parse_int=_whole, object_pairs_hook=_object
        )
    except UnicodeDecodeError as error:
        raise DefinitionError("the request", expected="text in UTF-8", got=str(error)) from None
    except json.JSONDecodeError as error:
        raise DefinitionError(
            f"the request, column {error.colno}: not valid JSON", expected="an object in one line", got=error.msg
        ) from None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise DefinitionError("a number of the request", expected="a finite number", got=text)
    return number


def _whole(text: str) -> int:
    _finite(text)
    return int(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    each_once("key", [key for key, _ in pairs])
    return dict(pairs)


def request_of(given: Any) -> Request:
    """The request in a JSON object.

    Raises:
        DefinitionError: it is not valid; a ProgramError has all mistakes.
    """
    request = _mapping("the request", given)
    tag = request.pop("tag", "")
    if not isinstance(tag, str) or len(tag) > MAX_TAG_LENGTH:
        raise DefinitionError("tag", expected=f"a text of at most {MAX_TAG_LENGTH} characters", got=repr(tag))
    kinds = [kind for kind in _KINDS if kind in request]
    if len(kinds) != 1:
        got = " and ".join(kinds) or f"the keys {sorted(request)}"
        raise DefinitionError("the request", expected=f"one of the keys {', '.join(_KINDS)}", got=got)
    (kind,) = kinds
    if kind in ("robot", "group"):
        return _move(request, tag)
    _known_keys("the request", request, [kind])
    value = request[kind]
    if kind == "cancel":
        if value != ALL and (isinstance(value, bool) or not isinstance(value, int)):
            raise DefinitionError("cancel", expected=f"the id of a request, or {ALL!r}", got=repr(value))
        return Cancel(id=None if value == ALL else value, tag=tag)
    if kind == "status":
        if value is not True:
            raise DefinitionError("status", expected="true", got=repr(value))
        return Status(tag=tag)
    return OnDisconnect(cancel=_truth(kind, value), tag=tag)


def _move(request: dict[str, Any], tag: str) -> Move:
    options = {key: request.pop(key) for key in _GROUP_KEYS if key in request}
    replace = _truth("replace", request.pop("replace", False))
    if "group" in request:
        _known_keys("the request", request, ["group"], _GROUP_KEYS, ["replace", "tag"])
        given = request["group"]
        if not isinstance(given, list) or not given:
            raise DefinitionError("group", expected="a list of motions", got=repr(given))
    else:
        _known_keys("the request", request, _COMMAND_KEYS, _GROUP_KEYS, ["replace", "tag"])
        given = [request]
    commands: list[MotionCommand] = []
    mistakes: list[DefinitionError] = []
    for i, motion in enumerate(given, start=1):
        try:
            commands.append(_command(f"motion {i}", motion))
        except DefinitionError as error:
            mistakes.append(error)
    raise_all(mistakes)
    return Move(commands=tuple(commands), options=options, replace=replace, tag=tag)


def _command(what: str, given: Any) -> MotionCommand:
    motion = _mapping(what, given)
    _known_keys(what, motion, _COMMAND_KEYS)
    if "robot" not in motion:
        raise DefinitionError(f"{what}: robot", expected="the name of a robot", got="none")
    if not isinstance(motion.get("via", []), list):
        raise DefinitionError(f"{what}: via", expected="a list of points", got=repr(motion["via"]))
    return MotionCommand(**{_COMMAND_KEYS[key]: value for key, value in motion.items()})


def _mapping(what: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise DefinitionError(what, expected="a JSON object", got=repr(given))
    return dict(given)


def _truth(what: str, given: Any) -> bool:
    if not isinstance(given, bool):
        raise DefinitionError(what, expected="true or false", got=repr(given))
    return given


def _known_keys(what: str, given: Iterable[str], *known: Iterable[str]) -> None:
    keys = [key for several in known for key in several]
    raise_all(
        DefinitionError(f"{what}: key {key!r}", expected=unknown("key", key, keys), got=repr(key))
        for key in given
        if key not in keys
    )


def mistakes_of(error: RobotControlError) -> list[dict[str, str]]:
    """An error as JSON: each mistake with what, expected, got and hint, if it has them."""
    several = error.mistakes if isinstance(error, ProgramError) else (error,)
    names = ("what", "expected", "got", "hint")
    return [{name: getattr(mistake, name) for name in names if getattr(mistake, name)} for mistake in several]
