"""What the editor needs beside the package's other requirements: the extra `editor`, and its built page."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from robot_rt_control.vocabulary.errors import RobotControlError

PORT = 8420
"""Where browsers find it, unless another one is chosen."""
PAGE = Path(__file__).parent / "page"
"""The bundle: built from web/ by `./run web`."""


def require_editor() -> None:
    """Nothing, if all is there; nothing is imported.

    Raises:
        RobotControlError: one line with the command that installs or builds it.
    """
    if find_spec("aiohttp") is None:
        raise RobotControlError("the editor needs the package aiohttp", hint="pip install 'robot_rt_control[editor]'")
    if not (PAGE / "editor.js").is_file():
        raise RobotControlError(f"the page is not built: no editor.js in {PAGE}", hint="Build it: ./run web")
