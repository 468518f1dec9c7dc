"""The connection to a hand, in a process of its own: the library keeps Python's interpreter while the hand moves.

python -m robot_rt_control.hardware.franka_hand.client ADDRESS

Prints a line `state WIDTH MAX_WIDTH IS_GRASPED TEMPERATURE` for each state, but not during a motion. Takes lines
`move WIDTH SPEED` and `grasp WIDTH SPEED FORCE`, one at a time, and prints `done 1` at their end, `done 0` if the hand
did not get there, or `failed TEXT`. `lost TEXT` is the last line.
"""

from __future__ import annotations

import os
import select
import sys
from typing import Any

_STATE_S = 0.01
"""[s] between two states: a simulator sends them faster than anybody reads."""
_ANY_WIDTH = 0.1
"""[m] By how much what is grasped may differ from the width at which it was looked for: more than the hand's range."""


def serve(gripper: Any, lost: type[Exception]) -> None:
    """Print states, and do as each line says, until the input ends. Raises `lost`."""
    while True:
        state = gripper.read_once()
        _say(f"state {state.width} {state.max_width} {int(state.is_grasped)} {state.temperature}")
        if select.select([sys.stdin], [], [], _STATE_S)[0]:
            asked = os.read(sys.stdin.fileno(), 4096).decode()
            if not asked:
                return
            name, *values = asked.split()
            _say(_done(gripper, name, [float(value) for value in values], lost))


def _say(line: str) -> None:
    try:
        os.write(sys.stdout.fileno(), line.encode() + b"\n")
    except BrokenPipeError:  # who reads it has ended
        os._exit(0)


def _done(gripper: Any, name: str, values: list[float], lost: type[Exception]) -> str:
    try:
        done = gripper.grasp(*values, _ANY_WIDTH, _ANY_WIDTH) if name == "grasp" else gripper.move(*values)
    except lost:
        raise
    except Exception as error:  # the hand refused it
        return "failed " + " ".join(str(error).split())
    return f"done {int(done)}"


def main(arguments: list[str]) -> None:
    """Connect and serve. What the library raises is the last line."""
    import pylibfranka

    (address,) = arguments
    try:
        serve(pylibfranka.Gripper(address), pylibfranka.NetworkException)
    except Exception as error:  # each of the library's kinds
        _say("lost " + " ".join(str(error).split()))


if __name__ == "__main__":
    main(sys.argv[1:])
