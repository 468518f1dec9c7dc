"""docs/documents.md leads to files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "documents.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("place", sorted(set(re.findall(r"`([\w./]+/[\w.]*)`", PAGE))))
def test_named_files_exist(place: str) -> None:
    assert (ROOT / place).exists()
