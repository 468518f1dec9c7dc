"""The programs that come with the package: user-level actions to pick by name."""

from __future__ import annotations

from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[1] / "library"
"""One file for each program, with its name."""


def library_programs(folder: Path = LIBRARY) -> dict[str, Path]:
    """Name → file."""
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}
