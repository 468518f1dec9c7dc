"""What the editor and the server for Foxglove need beside the package's other requirements: extras, a built page."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from robot_rt_control.vocabulary.errors import RobotControlError

PORT = 8420
"""Where browsers find it, unless another one is chosen."""
FOXGLOVE_PORT = 8765
"""Where the application Foxglove looks for a server."""
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


def require_foxglove() -> None:
    """Nothing, if all is there; nothing is imported.

    Raises:
        RobotControlError: one line with the command that installs it.
    """
    if find_spec("foxglove") is None:
        hint = "pip install 'robot_rt_control[foxglove]'"
        raise RobotControlError("the server for Foxglove needs the package foxglove-sdk", hint=hint)
