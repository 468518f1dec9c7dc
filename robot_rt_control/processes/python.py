"""Another Python that runs a module of this package: its command, its environment, its import path."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import robot_rt_control
from robot_rt_control.native.cache_folder import users_numba_folder
from robot_rt_control.vocabulary.errors import RobotControlError

MEMORY_BYTES = os.sysconf("SC_PHYS_PAGES") * resource.getpagesize() // 2
"""Memory of its own that such a process, and each that it forks, gets: half the machine's. The rest is for the loop."""
_PYTHON = (sys.executable, "-P", "-m")
"""Begin of a command that runs a module of this package: nothing is imported from the working directory (K19)."""
_main = getattr(sys.modules["__main__"], "__spec__", None)
_WORKING_DIRECTORY = (
    os.getcwd() if _main is not None and _main.name.startswith("robot_rt_control.") and not sys.flags.safe_path else ""
)
"""What Python has put in front of this process's path by itself, as it was started by `python -m`; empty: nothing."""


def import_path() -> list[str]:
    """Where another Python looks for modules of users: as this one, but not in its working directory."""
    return [entry for entry in sys.path if entry not in ("", _WORKING_DIRECTORY)]


def environment() -> dict[str, str]:
    """The environment in which another Python finds this package, and in which it may run code of users.

    Raises:
        RobotControlError: another user can have written Numba's cache.
    """
    root = str(Path(robot_rt_control.__file__).resolve().parents[1])
    given = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))  # an empty one means the working directory
    try:
        numba = users_numba_folder()
    except OSError as error:
        raise RobotControlError("Numba's cache cannot be made", got=str(error)) from error
    return {**os.environ, "PYTHONPATH": os.pathsep.join([root, *given]), "NUMBA_CACHE_DIR": str(numba)}


def start(module: str, *arguments: object, **options: Any) -> subprocess.Popen[bytes]:
    """Start a module of this package as a program, without input unless the options of Popen give it one."""
    command = [*_PYTHON, module, *map(str, arguments)]
    process = subprocess.Popen(command, env=environment(), **{"stdin": subprocess.DEVNULL, **options})
    _, hard = resource.prlimit(process.pid, resource.RLIMIT_DATA)
    most = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
    resource.prlimit(process.pid, resource.RLIMIT_DATA, (most, most))
    return process
