"""What commands print: results on stdout, as text or JSON; progress, warnings and errors on stderr."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from robot_rt_control.vocabulary.errors import ProgramError, RobotControlError


class Output:
    """The output of one command.

    Args:
        as_json: print results and errors as JSON, each in one line on stdout, for other programs.
    """

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json
        self.out = Console() if sys.stdout.isatty() else Console(width=120, highlight=False)
        self.err = Console(stderr=True, highlight=False)

    def result(self, data: object, *shown: RenderableType) -> None:
        """A result: `data` as JSON (see `plain`), or what is `shown` for people."""
        if self.as_json:
            print(json.dumps(plain(data), allow_nan=False), flush=True)
            return
        for item in shown:
            self.out.print(Text(item) if isinstance(item, str) else item, soft_wrap=isinstance(item, str))

    def good(self, text: str) -> None:
        self.out.print(Text(text, style="green"), soft_wrap=True)

    def note(self, text: str) -> None:
        self.err.print(Text(text), soft_wrap=True)

    def warning(self, text: str) -> None:
        self.err.print(Text.assemble(("warning: ", "bold yellow"), text), soft_wrap=True)

    def error(self, error: RobotControlError) -> None:
        mistakes = mistakes_of(error)
        if self.as_json:
            self.result({"errors": [error_data(mistake) for mistake in mistakes]})
            return
        for mistake in mistakes:
            self.err.print(Text.assemble(("error: ", "bold red"), str(mistake)), soft_wrap=True)


def mistakes_of(error: RobotControlError) -> tuple[RobotControlError, ...]:
    """The single mistakes of an error."""
    return error.mistakes if isinstance(error, ProgramError) else (error,)


def error_data(error: RobotControlError) -> dict[str, str]:
    """An error for JSON."""
    return {
        "error": type(error).__name__,
        "text": str(error),
        "what": error.what,
        "expected": error.expected,
        "got": error.got,
        "hint": error.hint,
    }


def plain(value: Any) -> Any:
    """Messages, dataclasses and arrays as JSON has them. A number that is not finite (unknown, no limit) is null."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if hasattr(value, "get_fields_and_field_types"):  # a ROS message
        return {name: plain(getattr(value, name)) for name in value.get_fields_and_field_types()}
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Iterable):
        return [plain(item) for item in (value.tolist() if hasattr(value, "tolist") else value)]
    return str(value)


def table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> Table:
    """Rows of texts under their headings."""
    made = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        made.add_column(column, overflow="fold")
    for row in rows:
        made.add_row(*(Text(str(cell)) for cell in row))
    return made
