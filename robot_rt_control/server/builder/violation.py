"""What the checks find in real-time code, and the one error that reports it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robot_rt_control.vocabulary.errors import CompileError


@dataclass(frozen=True, order=True)
class Violation:
    """An operation that may not stand in real-time code."""

    file: str
    line: int
    operation: str
    hint: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.operation}; {self.hint}"


def refuse(violations: Sequence[Violation]) -> CompileError:
    """The error for these violations: one line each, `file:line: operation; hint`, in the order of the lines."""
    return CompileError("\n".join(str(v) for v in sorted(set(violations))))
