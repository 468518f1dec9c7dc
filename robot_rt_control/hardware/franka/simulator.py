"""The command of franky-sim, a simulator by others that speaks the protocol of a Franka's control over the network."""

from __future__ import annotations

import ipaddress
import os
import shutil
from pathlib import Path

from robot_rt_control.vocabulary.errors import HardwareError

VARIABLE = "FRANKY_SIM"
"""Its program, as ./run sets it; else it is looked for on the path."""
READY = "franky-sim is ready"
"""What it prints once it takes connections."""


def is_loopback(address: str) -> bool:
    """Whether an address stays on this machine."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def simulator_command(address: str) -> tuple[str, ...]:
    """The command that simulates a Franka at a loopback address, such as 127.0.0.1.

    Raises:
        HardwareError: the address is elsewhere, or the program is missing.
    """
    if not is_loopback(address):
        raise HardwareError(
            f"the simulator of a Franka at {address!r}",
            expected="a loopback address, such as 127.0.0.1, as `address` in the workcell file",
            got=repr(address),
        )
    program = os.environ.get(VARIABLE, "")
    found = shutil.which(program or "franky-sim")
    if found is None:
        raise HardwareError(
            "the simulator of a Franka",
            expected="the program franky-sim",
            got=f"nothing at {program!r}" if program else "none on the path",
            hint=f"`./run shell workcell --workcell fr3 --simulated` installs it. Elsewhere, install franky-sim with "
            f"mujoco<4 into an environment of its own, and set {VARIABLE}",
        )
    python = Path(found).resolve().with_name("python")
    if not python.exists():
        raise HardwareError(
            f"the simulator of a Franka, {found}",
            expected="the Python of its environment beside it",
            got=f"no {python}",
            hint="Install franky-sim into an environment of its own, by venv or pipx",
        )
    return (str(python), str(Path(__file__).with_name("run_simulator.py")), address)
