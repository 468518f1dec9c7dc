"""Connects to a robot in a process of its own, which can be ended: the library's call has no time limit.

python -m robot_rt_control.hardware.franka.probe ADDRESS REALTIME
"""

from __future__ import annotations

import subprocess
import sys
import time

from robot_rt_control.hardware.franka.simulator import is_loopback
from robot_rt_control.processes.python import start
from robot_rt_control.vocabulary.errors import HardwareError

_TIMEOUT_S = 20.0


def require_robot(address: str, realtime: str) -> None:
    """Check that a robot answers at an address, that it speaks this library's protocol, and has no other client.

    Raises:
        HardwareError: which of these is not so, and what to do.
    """
    given_up = time.monotonic() + _TIMEOUT_S
    while (error := _try(address, realtime)) is not None:
        # A simulator that was started at the same time needs some seconds.
        if not (is_loopback(address) and "refused" in error.got and time.monotonic() < given_up):
            raise error
        time.sleep(0.2)


def _try(address: str, realtime: str) -> HardwareError | None:
    """Why a robot cannot be used; None: it can."""
    what = f"Franka at {address!r}"
    process = start(
        "robot_rt_control.hardware.franka.probe", address, realtime, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        found, errors = process.communicate(timeout=_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return HardwareError(
            what,
            expected=f"an answer within {_TIMEOUT_S:g} s",
            got="none",
            hint="Check address and cable, that the robot is on, and that no other program is connected to it (Desk "
            "shows who has control)",
        )
    if process.returncode == 0:
        return None
    lines = (found or errors).decode().strip().splitlines()
    return refusal(what, lines[-1] if lines else "no text")


def refusal(what: str, text: str) -> HardwareError:
    """The library's refusal of a connection as an error with what to do."""
    lower = text.lower()
    expected, hint = "a robot that lets this program control it", "See docs/franka.md"
    if "incompatible library version" in lower:
        expected = "an FR3 with the system version of libfranka 0.21"
        hint = (
            "A Panda (system versions up to 4, server versions up to 5) speaks an older protocol than pylibfranka: it "
            "cannot be used. Update the system of an FR3 in Desk"
        )
    elif "refused" in lower or "fci" in lower:
        expected, hint = "an active FCI", "Unlock the joints in Desk, then choose 'Activate FCI' in its menu"
    elif "timeout" in lower or "unreachable" in lower or "no route" in lower or "host not found" in lower:
        expected, hint = "a robot that answers", "Check address and cable, and that no other program is connected"
    elif "real-time" in lower or "realtime" in lower or "scheduling" in lower:
        expected = "a kernel and rights for real-time scheduling"
        hint = (
            "Install a PREEMPT_RT kernel, give the user rtprio (docs/realtime.md); `realtime: ignore` is for simulators"
        )
    return HardwareError(what, expected=expected, got=text, hint=hint)


def main(arguments: list[str]) -> int:
    """Connect once, print the library's text if it refuses. 0: the robot answered."""
    import pylibfranka

    address, realtime = arguments
    config = pylibfranka.RealtimeConfig.kEnforce if realtime == "enforce" else pylibfranka.RealtimeConfig.kIgnore
    try:
        pylibfranka.Robot(address, config).read_once()
    except Exception as error:  # each of the library's kinds
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
