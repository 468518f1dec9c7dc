"""How many places of the command ring a command takes, by the bytes that it carries."""

from __future__ import annotations

from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.capacities import PARAMETER_UPDATE_BYTES, UPDATES_OF_COMMAND

MOST_BYTES = UPDATES_OF_COMMAND * PARAMETER_UPDATE_BYTES


def command_places(size: int) -> int:
    """For Python. Sizes that no command may have take one place: the loop refuses it."""
    if size <= PARAMETER_UPDATE_BYTES or size > MOST_BYTES:
        return 1
    return (size + PARAMETER_UPDATE_BYTES - 1) // PARAMETER_UPDATE_BYTES


places_of = realtime(command_places)
"""The same in real-time code. Called from Python it would load the compiler."""
