"""Which browser the tests drive."""

from __future__ import annotations

import shutil

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
NOT_RUN = "BROWSER TESTS WERE NOT RUN: no Chromium or Chrome is installed (Debian, Ubuntu: apt install chromium)"


def browser_path() -> str | None:
    """The installed one; None: there is none."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)
