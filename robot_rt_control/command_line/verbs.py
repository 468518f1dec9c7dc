"""The table of verbs. `robot-rt` and `ros2 rt` both read it."""

from __future__ import annotations

import argparse
import importlib
from typing import Protocol, cast

VERBS = (
    "status",
    "parts",
    "actions",
    "sessions",
    "start",
    "stop",
    "release",
    "resume",
    "trace",
    "plot",
    "view",
    "record",
    "replay",
    "validate",
    "header",
    "doctor",
    "new",
)
"""In the order of the help. Each is a module beside this one. `pyproject.toml` names them for ros2cli."""


class Verb(Protocol):
    """What a verb's module has. What takes long to import belongs into `run`: help and completion must be quick."""

    __doc__: str | None
    """Its first line is the help text."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        """Declare its own arguments."""

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        """Do it. Returns the exit code: one of those in `exit_codes`.

        Raises:
            RobotControlError: it failed; `run_verb` prints it.
        """
        ...


def find_verb(name: str) -> Verb:
    """The module of a verb."""
    return cast(Verb, importlib.import_module(f"{__package__}.{name}"))


def summary(verb: Verb) -> str:
    """Its first sentence."""
    return (verb.__doc__ or "").partition("\n")[0].partition(". ")[0].rstrip(".")
