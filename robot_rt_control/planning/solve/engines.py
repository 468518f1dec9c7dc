"""The libraries that planning needs and that nothing else does: the extra `planning`."""

from __future__ import annotations

from importlib.util import find_spec

from robot_rt_control.vocabulary.errors import RobotControlError

ENGINES = {"mujoco": "MuJoCo", "piqp": "PIQP"}
"""Module → name."""


def require_engines() -> None:
    """Nothing, if they are installed; they are not imported.

    Raises:
        RobotControlError: one line with the command that installs them.
    """
    missing = [name for module, name in ENGINES.items() if find_spec(module) is None]
    if missing:
        raise RobotControlError(
            "planning",
            expected="MuJoCo and PIQP",
            got=f"no {' and no '.join(missing)}",
            hint="Install them: pip install 'robot_rt_control[planning]'",
        )
