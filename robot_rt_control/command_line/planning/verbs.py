"""The table of verbs of `robot-rt-control-plan`."""

from __future__ import annotations

import importlib
from typing import cast

from robot_rt_control.command_line.verbs import Verb

VERBS = ("new", "check", "solve", "show", "compare", "export", "replay", "run", "schema")
"""In the order of the help. Each is a module beside this one."""


def find_verb(name: str) -> Verb:
    """The module of a verb."""
    return cast(Verb, importlib.import_module(f"{__package__}.{name}"))
