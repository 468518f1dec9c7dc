"""Where action types come from: a file, a module, or an entry point of an installed package.

    my_action.py                 all action types that the file defines
    my_action.py:Wave            one of them
    package.module:Wave          likewise in a module that can be imported
    package.module               all that the module defines
    gluing                       an entry point of the group `robot_rt_control.action_types`

A package offers entry points in its pyproject.toml:

    [project.entry-points."robot_rt_control.action_types"]
    gluing = "glue_robot.actions:Glue"
"""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass

from robot_rt_control.vocabulary.errors import CompileError, refuse_nul, unknown

ENTRY_POINTS = "robot_rt_control.action_types"
"""The group of entry points."""


def entry_points() -> dict[str, str]:
    """The entry points of installed packages: name → module."""
    points = importlib.metadata.entry_points(group=ENTRY_POINTS)
    return {point.name: point.value.partition(":")[0] for point in points}


@dataclass(frozen=True)
class Source:
    """A place with action types."""

    place: str
    """A file or a module."""
    class_name: str
    """Empty: all classes of the place."""
    origin: str
    """For people: a file, a module, or an entry point."""


def resolve(text: str) -> Source:
    """What a source's text means; no code is run.

    Raises:
        CompileError: it is none of the known forms, or there is no such entry point.
        DefinitionError: no path can be so.
    """
    refuse_nul(text, "source of action types")
    place, colon, name = text.rpartition(":")
    if not colon:
        place, name = text, ""
    words = [*place.split("."), *(name.split(".") if colon else [])]
    if place.endswith(".py") and (not colon or name):
        return Source(place, name, place)
    if not all(word.isidentifier() for word in words):
        raise CompileError(
            "source of action types",
            expected="file.py, file.py:Class, package.module:Class, package.module, or the name of an entry point",
            got=repr(text),
        )
    if colon or "." in place:
        return Source(place, name, place)
    points = importlib.metadata.entry_points(group=ENTRY_POINTS)
    for point in points:
        if point.name == text:
            place, _, name = point.value.partition(":")
            return Source(place, name, f"entry point {text} ({point.value})")
    raise CompileError(
        f"source of action types {text!r}",
        expected=unknown("entry point", text, entry_points()),
        got="no entry point of this name",
        hint=f"A package declares it in the group {ENTRY_POINTS!r}; for a file, give its path, ending in .py",
    )
