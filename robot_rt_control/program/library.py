"""The programs that come with the package: user-level actions that a person picks by name."""

from __future__ import annotations

from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[1] / "library"
"""One file for each program, called as the program is."""


def library_programs(folder: Path = LIBRARY) -> dict[str, Path]:
    """Name → file."""
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}
