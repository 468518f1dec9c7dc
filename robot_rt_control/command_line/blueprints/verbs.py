"""The table of verbs of `robot-rt-control-blueprint`."""

from __future__ import annotations

import importlib
from typing import cast

from robot_rt_control.command_line.verbs import Verb

GROUPS = {
    "files": ("new", "check", "draw", "expand", "schema"),
    "kept": ("list", "show", "save", "delete", "restore"),
    "running": ("run", "command"),
    "control": ("pause", "resume", "step", "breakpoints", "jump", "skip", "answer", "cancel", "arm", "disarm"),
    "logs": ("log",),
    "exchange": ("import", "export"),
    "editor": ("editor",),
}
"""Module → its verbs, each a class of that module: `Check` for `check`."""

VERBS = tuple(verb for verbs in GROUPS.values() for verb in verbs)
"""In the order of the help."""


def find_verb(name: str) -> Verb:
    """The class of a verb."""
    group = next(group for group, verbs in GROUPS.items() if name in verbs)
    return cast(Verb, getattr(importlib.import_module(f"{__package__}.{group}"), name.capitalize()))
