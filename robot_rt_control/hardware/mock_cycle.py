"""The mock device: states follow commands. Computed inside the tick, without a process or a simulator.

Each joint is independent and follows its mode:

==========  ==========================================================================================
POSITION    position follows the command with first-order dynamics; velocity is its change; no effort
VELOCITY    velocity follows the command with first-order dynamics; position integrates it; no effort
EFFORT      effort is the command, on an inertia with viscous damping; velocity and position integrate
NONE        the joint does not move, as with closed brakes
==========  ==========================================================================================

First order, time constant T: x += (command - x) (1 - exp(-dt / T)); T = 0 follows at once. There is no
load, no gravity and no joint limit. Sensors keep their given values; outputs read back at once, and an
input may be wired to an output.

`mock_source` has one int64 for each state interface: bits 0 to 7 are its type (`_CONSTANT` …), bits 8 to 15 the part's
index, bits 16 to 31 the index of the command, the rest the joint's index in its part.
"""

import math

from robot_rt_control.memory.joint_modes import mode_of
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import CommandMode

MOCK_PLUGIN = 1
"""Value of `device_dtype.plugin`."""

_CONSTANT = 0
OUTPUT = 1
"""Equals a command: an output, and an input that is wired to one."""
_JOINT = 2
"""Position of a joint; velocity and effort are the next two states, and likewise for its commands."""
OF_JOINT = 3
"""Velocity or effort: computed together with the joint's position."""
AGE = 4
"""Age of a sensor's value, which is another state: 0, or unknown if the value is unknown."""

_POSITION = int(CommandMode.POSITION)
_VELOCITY = int(CommandMode.VELOCITY)
_EFFORT = int(CommandMode.EFFORT)
_NONE = int(CommandMode.NONE)


def joint_source(part: int, command: int, joint: int) -> int:
    """`mock_source` of the position of a joint. That of its velocity and effort is OF_JOINT."""
    return _JOINT | part << 8 | command << 16 | joint << 32


@realtime
def mock_cycle(device, dt):
    """Advance the states by one period under the last commands: the `read` of a mock device.

    Args:
        device: record of `layout.device_dtype`. Joints whose mode is NONE do not move; while `enabled` is 0 no part
            moves and outputs keep their values.
        dt: [s] the real period (the speed override does not slow down hardware).

    Returns:
        1: new data, as `read_state` does.
    """
    follow = 1.0
    if device.time_constant > 0.0:
        follow = 1.0 - math.exp(-dt / device.time_constant)
    i = 0
    while i < device.n_state:
        source = device.mock_source[i]
        kind = source & 0xFF
        k = (source >> 16) & 0xFFFF
        if kind == OUTPUT and device.enabled != 0:
            device.state[i] = device.command[k]
        elif kind == AGE:
            device.state[i] = math.nan if math.isnan(device.state[k]) else 0.0
        elif kind == _JOINT:
            mode = mode_of(device.mode[(source >> 8) & 0xFF], source >> 32) if device.enabled != 0 else _NONE
            position = device.state[i]
            velocity = 0.0
            effort = 0.0
            if mode == _POSITION:
                # the last step is exact, so an ideal mock reports its command to the last bit
                moved = device.command[k] if follow == 1.0 else position + follow * (device.command[k] - position)
                velocity = (moved - position) / dt
                position = moved
            elif mode == _VELOCITY:
                velocity = device.state[i + 1] + follow * (device.command[k + 1] - device.state[i + 1])
                position += dt * velocity
            elif mode == _EFFORT:
                effort = device.state[i + 2] + follow * (device.command[k + 2] - device.state[i + 2])
                # implicit in the damping: stable for any period
                velocity = (device.state[i + 1] + dt * effort / device.inertia) / (
                    1.0 + dt * device.damping / device.inertia
                )
                position += dt * velocity
            device.state[i] = position
            device.state[i + 1] = velocity
            device.state[i + 2] = effort
            i += 2
        i += 1
    return 1
