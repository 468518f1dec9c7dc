"""The libraries that draw plots, diagrams and animations: the extra `pictures`. Nothing else needs them."""

from __future__ import annotations

from importlib.util import find_spec

from robot_rt_control.vocabulary.errors import RobotControlError

LIBRARIES = {"matplotlib": "matplotlib", "PIL": "Pillow"}
"""Module → name."""
INSTALL = "pip install 'robot_rt_control[pictures]'"


def require_pictures() -> None:
    """Nothing, if they are installed; they are not imported, which would take a second.

    Raises:
        RobotControlError: one line with the command that installs them.
    """
    missing = [name for module, name in LIBRARIES.items() if find_spec(module) is None]
    if missing:
        raise RobotControlError(
            "a picture cannot be drawn",
            expected=" and ".join(LIBRARIES.values()),
            got=f"no {' and no '.join(missing)}",
            hint=f"Install them: {INSTALL}",
        )
