"""The layout of all memory that the loop touches, as NumPy record types.

Two blocks: the *world* (private memory of the executor: everything that the tick reads and writes)
and the *channel* (shared memory between executor and control server). Each is one record, so that
a compiled function takes one pointer, and one digest shows whether two processes agree.

A state variable is a float64 in the world; conditions and events refer to it by its *offset* in bytes
from the world's start. Unknown is NaN. Booleans are 0.0 and 1.0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from robot_rt_control.vocabulary import capacities as c


class Record(np.record):  # type: ignore[misc]  # NumPy's own types call a base of np.record final
    """A record whose fields are attributes under any name; np.record would prefer its own `size` or `mean`.

    So plain Python accesses the same data as compiled code. Only fields can be set.
    """

    def __getattribute__(self, name: str) -> Any:
        dtype = np.void.__getattribute__(self, "dtype")
        field = (dtype.fields or {}).get(name)
        if field is not None:
            return _read_field(self, field[0], field[1])
        if name == "data":
            # Numba asks for it in each call of compiled code. NumPy would describe all fields to it first: 0.3 ms.
            return _read_field(self, f"({dtype.itemsize},)u1", 0).data
        return np.void.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        field = _fields_of(self).get(name)
        if field is None:
            raise AttributeError(f"the record has no field {name!r}; it has: {', '.join(_fields_of(self))}")
        np.void.setfield(self, value, field[0], field[1])


_read_field = np.void.getfield


def _fields_of(record: np.void) -> Mapping[str, Any]:
    return np.void.__getattribute__(record, "dtype").fields or {}


def record(fields: list[tuple]) -> np.dtype:
    """An aligned record type whose elements are `Record`, also when it is nested in another type.

    Raises:
        ValueError: a field is called dtype; Numba and NumPy read that attribute of each record.
    """
    if any(field[0] == "dtype" for field in fields):
        raise ValueError("a field of a record may not be called 'dtype'; call it something else")
    return np.dtype((Record, np.dtype(fields, align=True)))


per_joint = ("f8", (c.MAX_JOINTS,))


def _joints(*names: str) -> list[tuple]:
    return [(name, "f8", (c.MAX_JOINTS,)) for name in names]


# --- robot model -------------------------------------------------------------------------------

REVOLUTE, PRISMATIC = 0, 1
"""Types of joints."""

chain_dtype = record(
    [
        ("n_joints", "i8"),
        ("joint_type", "i8", (c.MAX_JOINTS,)),  # 0 revolute or continuous, 1 prismatic
        ("origin", "f8", (c.MAX_JOINTS, 3, 4)),  # X_PJ: joint frame in the previous joint's frame, at q = 0
        ("axis", "f8", (c.MAX_JOINTS, 3)),  # unit vector, in the joint frame
        ("tool", "f8", (3, 4)),  # X_JT: tool frame in the last joint's frame
        ("base", "f8", (3, 4)),  # X_WB: the part's base frame in the world frame
        ("mass", "f8", (c.MAX_JOINTS,)),  # [kg] of everything rigidly attached between joint j and joint j+1
        ("center_of_mass", "f8", (c.MAX_JOINTS, 3)),  # [m] in the joint frame
        ("inertia", "f8", (c.MAX_JOINTS, 3, 3)),  # [kg m^2] about the center of mass, joint frame axes
        ("gravity", "f8", (3,)),  # [m/s^2] in the world frame
    ]
)
"""A serial chain from a part's base to its tool, fixed joints merged in."""

# --- parts -------------------------------------------------------------------------------------

_MEASURED = [
    ("dof", "i8"),
    ("dt", "f8"),  # [s] period, scaled by the speed override: the only time that actions see
    # measured in this tick; NaN if the device's data is missing or too old
    *_joints("position", "velocity", "effort"),  # [rad, rad/s, Nm] or [m, m/s, N]
    # the last command sent to the hardware, after the limits; always finite
    *_joints("commanded_position", "commanded_velocity", "commanded_acceleration", "commanded_effort"),
    ("tool_position", "f8", (3,)),  # p_WT [m]
    ("tool_orientation", "f8", (4,)),  # q_WT, x y z w
    ("tool_twist", "f8", (6,)),  # V_WT: linear [m/s], angular [rad/s]; world axes, at the tool
    ("wrench", "f8", (6,)),  # force [N], torque [Nm]; sensor frame
    ("force_norm", "f8"),  # [N] of the wrench
    ("torque_norm", "f8"),  # [Nm]
    *_joints("external_effort"),  # [Nm or N] measured effort without that against the weight; NaN unless asked for
    ("distance", "f8"),  # [m]
    ("inputs", "f8", (c.MAX_CHANNELS,)),  # io part: its inputs; sensor part: its values
    ("input_age", "f8", (c.MAX_CHANNELS,)),  # [s] since the value was received; only for sensor parts
    ("outputs", "f8", (c.MAX_CHANNELS,)),  # as the hardware reads them back
    ("commanded_outputs", "f8", (c.MAX_CHANNELS,)),  # the last command sent, after the limits; always finite
    ("age", "f8"),  # [ticks] since the device's data was taken
    ("at_rest", "f8"),
    ("operational_state", "f8"),  # OperationalState
    ("tool_number", "f8"),  # of the tool that is on, from 0 in the order of the workcell file; NaN: it lists none
    ("tool_confirmed", "f8"),  # 1: the sensors agree with that; 0: they do not; NaN: one of them is unknown
    ("tool_fits", "f8", (c.MAX_PART_TOOLS,)),  # of each tool, as `tool_confirmed`: whether sensors let it be put on
    # what drives report of their motors and of themselves; the last field, as snapshots omit what is unused
    ("drive_states", "f8", (c.MAX_DRIVE_STATES,)),
]

gravity_scratch_dtype = record(
    [
        ("J", "f8", (6, c.MAX_JOINTS)),
        ("first_moment", "f8", (c.MAX_JOINTS, 3)),  # [kg m] of each joint's body, world frame
    ]
)
"""Working memory of `gravity_torque`."""

measured_dtype = record(_MEASURED)
"""The first bytes of a part: everything that is measured or commanded; each snapshot contains this part of it."""

part_dtype = record(
    [
        *_MEASURED,
        # written by control(): the mode, and the array of that mode
        ("command_mode", "i8"),
        ("joint_modes", "i8"),  # joints with a mode of their own, see joint_modes.py; only `govern` writes it
        *_joints("position_command", "velocity_command", "effort_command"),
        ("output_command", "f8", (c.MAX_CHANNELS,)),
        ("tool_command", "f8"),  # number of the tool to put on at the end of this tick, if that can be; NaN: none
        # the motion at the end of the last command, in the action's time: the start of a plan
        *_joints("motion_velocity", "motion_acceleration"),
        *_joints("former_acceleration"),  # of the command before the last
        # [Nm or N] that holds the joint still against gravity; computed for laws that command efforts
        *_joints("gravity_effort"),
        # application limits: what an action plans with
        *_joints("position_lower", "position_upper", "velocity_limit", "acceleration_limit", "jerk_limit"),
        *_joints("effort_limit", "effort_rate_limit"),
        ("n_inputs", "i8"),
        ("n_outputs", "i8"),
        ("output_lower", "f8", (c.MAX_CHANNELS,)),  # range of each output, in its unit; a digital one: 0 to 1
        ("output_upper", "f8", (c.MAX_CHANNELS,)),
        ("chain", chain_dtype),
    ]
)
"""The part record that an action sees in each slot. Refreshed each tick; only the command fields are writable."""

COMMAND_FIELDS = (
    *("command_mode", "position_command", "velocity_command", "effort_command"),
    *("output_command", "tool_command"),
)
"""The fields of a part that an action's code may write."""

JOINT_FIELDS = (
    *("position", "velocity", "effort", "external_effort"),
    *("commanded_position", "commanded_velocity", "commanded_acceleration", "commanded_effort"),
    *("motion_velocity", "motion_acceleration", "gravity_effort"),
    *("position_lower", "position_upper", "velocity_limit", "acceleration_limit", "jerk_limit"),
    *("effort_limit", "effort_rate_limit"),
)
"""The fields of a part with one number for each joint, except the commands."""

degree_dtype = record(
    [
        *((name, "f8") for name in JOINT_FIELDS),
        ("command_mode", "i8"),
        *((name, "f8") for name in ("position_command", "velocity_command", "effort_command")),
    ]
)
"""A degree of freedom that an action type declares: laws see it as a joint. `sense` of the action fills the fields of
`JOINT_FIELDS`, with positions in m or rad; its `control` carries the laws' commands out. NONE: no law governs it."""

limits_dtype = record(
    [
        *_joints("position_lower", "position_upper", "velocity", "acceleration", "effort", "effort_rate"),
        *_joints("jerk"),  # 0: not limited
        ("position_tolerance", "f8"),  # measured position may exceed the limit by this much [rad or m]
        ("velocity_tolerance", "f8"),  # measured velocity may exceed the limit by this factor
        # monitors of the measured motion; 0: off. See realtime/tick/feedback.py
        *_joints("following"),  # [rad or m] that the joint may be away from its command ...
        ("following_lag", "f8"),  # [s] ... and how long it may lag behind one that moves
        ("following_ticks", "i8"),  # for which it may be more
        ("pace_kept", "f8"),  # fraction of the commanded speed that still counts a tick later
        ("following_kept", "f8"),  # fraction of the distance from an integrated velocity that still counts a tick later
        ("stall_ticks", "i8"),  # for which the joint may stand still under an effort near its limit
        *_joints("frozen_motion"),  # [rad or m] that is commanded while the measured state does not change
        ("frozen_ticks", "i8"),
        *_joints("jump", "jump_speed"),  # [rad or m], [rad/s or m/s]: most that a position changes from tick to tick
        ("supported_modes", "i8"),  # bit (1 << CommandMode)
        ("n_outputs", "i8"),
        ("output_lower", "f8", (c.MAX_CHANNELS,)),
        ("output_upper", "f8", (c.MAX_CHANNELS,)),
        ("output_digital", "i8", (c.MAX_CHANNELS,)),  # 1: only 0 and 1 are sent
        ("output_safe", "f8", (c.MAX_CHANNELS,)),  # value written after a failure; NaN: keep the value
        ("output_initial", "f8", (c.MAX_CHANNELS,)),  # if nothing is read back; simulated hardware starts with it
    ]
)
"""System limits of one part, out of the reach of action code."""

tool_dtype = record(
    [
        ("tool", "f8", (3, 4)),  # X_JT: as the chain's
        # of everything rigidly attached to the last joint, the tool included: as the chain's
        ("mass", "f8"),
        ("center_of_mass", "f8", (3,)),
        ("inertia", "f8", (3, 3)),
        *_joints("velocity_limit", "acceleration_limit", "jerk_limit"),  # as the part's
        *_joints("velocity", "acceleration", "jerk"),  # as the system limits'
        ("n_instructions", "i8"),  # 0: no sensor tells whether it is on
    ]
)
"""A tool of a part: what is written over the part's record and its system limits while it is on."""

feedback_dtype = record(
    [
        ("velocities", "i8"),  # bit j: the velocity of joint j was known when the part was enabled
        ("modes", "i8"),  # in which its joints were commanded in the tick before, see joint_modes.py
        ("age", "f8"),  # [ticks] of the states of the tick before
        ("now_ns", "i8"),  # of the tick before
        *_joints("position", "velocity"),  # measured in the tick before
        *_joints("error"),  # how far the joint is from its command; in effort mode: its speed when that began
        *_joints("pace"),  # commanded speed, which fades
        ("beyond", "i8", (c.MAX_JOINTS,)),  # [ticks] for which it has been too far
        ("stalled", "i8", (c.MAX_JOINTS,)),  # [ticks] for which it has stood still under an effort near its limit
        ("still", "i8", (c.MAX_JOINTS,)),  # [ticks] for which its state has been the same
        *_joints("motion"),  # commanded meanwhile
    ]
)
"""What the monitors of a part's measured motion remember."""

left_dtype = record(
    [
        ("modes", "i8"),  # of its joints, see joint_modes.py; 0: nothing has left
        *_joints("position", "velocity", "effort"),
    ]
)
"""The command of a part that left in the last tick."""

part_runtime_dtype = record(
    [
        ("kind", "i8"),
        ("device", "i8"),
        ("active_action", "i8"),  # action slot; -1: none, the loop itself brings the part to rest and holds it
        ("state", "i8"),  # OperationalState
        ("fault", "i8"),  # FaultReason
        ("fault_joint", "i8"),
        ("claimed_tick", "i8"),  # the last tick in which a switch claimed the part
        ("last_modes", "i8"),  # in which its joints were commanded last, see joint_modes.py
        ("written", "i8"),  # its command is sent in this tick
        ("fault_log", "i8"),  # number of the log of the last ticks before its fault, 0: none
        ("output_session", "i8"),  # identity of the session whose action commanded the part last; 0: none
        ("external_effort", "i8"),  # 1: it is computed
        ("gravity_tick", "i8"),  # the last tick in which `gravity_effort` was computed
        ("outputs_settling", "i8"),  # 1: its motion is disabled, but its safe values are not all sent yet
        ("snapshot_omits", "i8"),  # [bytes] at the end of `measured_dtype` that the part does not use
        ("enabling", "i8"),  # [ticks] left until the motors of its drives must be enabled; 0: it is not being enabled
        ("rest_wait", "i8"),  # [ticks] left in which it must come to rest, so that it is enabled; 0: it is not awaited
        ("rest_wait_ticks", "i8"),  # [ticks] for which that is awaited
        ("rest", "i8"),  # [ticks] for which it has been at rest; of a part with effort mode alone that is not enabled
        ("fault_code", "i8"),  # error code of the motor that faulted it; below 0: -1 - its MotorStatus
        ("first_tool", "i8"),  # of its tools in the world's `tools`
        ("n_tools", "i8"),  # 0: its tool cannot be changed
        ("held", "i8"),  # 1: since a protective stop nobody has asked for its motion; it takes no default action
        *_joints("target"),  # [rad or m] position command of the last tick; without one, what left
    ]
)

# --- hardware ----------------------------------------------------------------------------------

device_image_dtype = record(
    [
        ("magic", "u8"),
        ("layout", "u8"),
        ("epoch", "i8"),  # a restarted driver takes a new one
        ("driver_pid", "i8"),
        ("manifest_size", "i8"),  # [bytes] of the interfaces' names, which follow this record
        ("executor_pid", "i8"),  # who writes the commands, or did last
        ("n_state", "i8"),
        ("n_command", "i8"),
        ("n_parts", "i8"),  # words of command modes in use: the highest index of the device's parts, plus one
        ("driver_mode", "i8"),  # DriverMode: whether the driver follows the commands or rests
        ("is_clock", "i8"),  # 1: the driver's cycle drives the executor's loop, which waits for the bell
        ("wants_bell", "i8"),  # 1: the driver sleeps until commands are written, so the loop rings its bell
        ("late_cycles", "i8"),  # the driver's cycles that ended after the next one should have begun
        ("unanswered_cycles", "i8"),  # those in which no command came in time for the states just published
        ("driver_reason", "S256"),  # UTF-8: why `state_error` is not zero; not every driver gives a reason
        ("state_bell", "i4", (2,)),  # futex word: counts publications; the rest is padding
        ("state_time_ns", "i8"),  # CLOCK_MONOTONIC of the last publication, if the driver is the clock
        ("state_sequence", "i8"),  # odd while the driver writes
        ("state_cycle", "i8"),  # counts the driver's reads
        ("state_error", "i8"),  # non-zero: the device reports an error, see `ImageError`
        ("state", "f8", (c.MAX_DEVICE_INTERFACES,)),
        ("command_sequence", "i8"),  # odd while the loop writes
        ("command_cycle", "i8"),  # counts the loop's writes: the driver's watch on the executor
        ("command_state_cycle", "i8"),  # `state_cycle` of the states that the loop computed the commands from
        ("command_bell", "i4", (2,)),  # futex word: counts commands for a driver that wants it; the rest is padding
        ("command_clears", "i8"),  # counts the faults of the device's parts that people have cleared
        ("command_enable", "i8"),
        ("command_mode", "i8", (c.MAX_PARTS,)),  # of the joints of each part (joint_modes.py), by its workcell index
        ("command", "f8", (c.MAX_DEVICE_INTERFACES,)),
    ]
)
"""The process image of one device: shared with its driver process, or private when the driver is in-process.

Drivers in other languages see it as ros2_control_driver/include/robot_rt_control/process_image.h. A change of this
record needs a new IMAGE_VERSION."""

device_dtype = record(
    [
        ("plugin", "i8"),  # 0 process image, 1 mock (computed in the tick)
        ("image", "i8"),  # address of the device_image, 0: not attached
        ("drives", "i8"),  # address of its `drives_dtype` (memory/drive_layout.py), 0: it has no drives
        ("n_state", "i8"),
        ("n_command", "i8"),
        ("n_parts", "i8"),
        ("last_cycle", "i8"),
        ("age", "i8"),  # [ticks]
        ("max_age", "i8"),  # [ticks]
        ("enabled", "i8"),
        ("faulted", "i8"),  # the error that its image reports, see `ImageError`
        ("clears", "i8"),  # counts cleared faults of its parts
        ("mode", "i8", (c.MAX_PARTS,)),  # of the joints of each part (joint_modes.py), by its index; 0: all hold
        ("time_constant", "f8"),  # [s] of mock's first-order dynamics, 0: ideal
        ("inertia", "f8"),  # [kg m^2 or kg] of each mock joint in effort mode
        ("damping", "f8"),  # [Nms/rad or Ns/m] of each mock joint in effort mode
        ("state", "f8", (c.MAX_DEVICE_INTERFACES,)),
        ("command", "f8", (c.MAX_DEVICE_INTERFACES,)),
        ("incoming", "f8", (c.MAX_DEVICE_INTERFACES,)),  # scratch: a torn read must not reach `state`
        ("mock_source", "i8", (c.MAX_DEVICE_INTERFACES,)),  # mock: how each state follows, see hardware/mock_cycle.py
    ]
)

driver_dtype = record(
    [
        ("n_state", "i8"),
        ("n_command", "i8"),
        ("n_parts", "i8"),
        ("error", "i8"),  # to be published: non-zero, the device reports an error
        ("last_cycle", "i8"),  # of the last command taken
        ("for_state", "i8"),  # `state_cycle` from which that command was computed
        ("clears", "i8"),  # with that command: cleared faults
        ("enable", "i8"),
        ("mode", "i8", (c.MAX_PARTS,)),
        ("state", "f8", (c.MAX_DEVICE_INTERFACES,)),
        ("command", "f8", (c.MAX_DEVICE_INTERFACES,)),
        ("incoming", "f8", (c.MAX_DEVICE_INTERFACES,)),  # scratch: a torn read must not reach `command`
        ("incoming_mode", "i8", (c.MAX_PARTS,)),  # scratch likewise
    ]
)
"""The driver's own side of a process image: what it publishes, and the last whole command."""

link_dtype = record(
    [
        ("device", "i8"),
        ("interface", "i8"),
        ("part", "i8"),
        ("offset", "i8"),  # of the part's number, from the world's start
        ("place", "i8"),  # of the device's number, likewise: the loop derives no address for each link
        ("written", "i8"),  # of the part's `written`, likewise
    ]
)
"""A device's state or command, and the float64 of a part that it fills, or is filled from."""

# --- program tables ----------------------------------------------------------------------------

stream_dtype = record(
    [
        ("identity", "i8"),  # of its action
        ("action", "i4"),  # slot of its action
        ("is_output", "i4"),
        ("place", "i4"),  # of its ring and its runtime; stays when tables are exchanged
        ("method", "i4"),  # its index among the type's gap functions, -1: it has none
        ("n_values", "i4"),  # in each sample
        ("width", "i4"),  # number of values in its record in the state
        ("quaternion", "i4"),  # index of a unit quaternion x y z w among the values, -1: there is none
        ("reserved", "i4"),
        ("variables", "i8"),  # input: offset of its first state variable in the state record
        ("record", "i8"),  # offset of its own record in the state record
        ("settings", "i8"),  # input: offset of its settings in the parameter record
    ]
)
"""A stream input or output of one action."""

instruction_dtype = record(
    [
        ("operator", "i2"),
        # what follows if variable `left` is less than `constant`, equal, greater: the distance to the next instruction
        # that can change the value; 0: the condition is false; -1: it is true; -2: the stack is needed
        ("if_less", "i2"),
        ("if_equal", "i2"),
        ("if_greater", "i2"),
        ("left", "i4"),  # offset of a state variable; 0 if the operator reads none
        ("right", "i4"),  # offset of a state variable
        ("constant", "f8"),
        ("tolerance", "f8"),
    ]
)

reaction_dtype = record(
    [
        ("identity", "i8"),  # never used again
        ("first_instruction", "i4"),
        ("n_instructions", "i4"),
        ("owner", "i4"),  # action slot, -1: free-standing
        ("session", "i4"),
        ("n_starts", "i4"),
        ("flags", "i4"),  # ReactionFlag
        ("signal_action", "i4"),  # action slot, -1: none
        ("signal", "i4"),  # index among that action's signals
        ("runtime_slot", "i4"),  # index of its memory; unchanged when tables are exchanged
        ("n_captures", "i4"),
        ("captures", "i4", (c.MAX_CAPTURES,)),  # offsets of state variables
        ("starts", "i2", (c.MAX_ACTIONS_PER_COMMAND,)),  # slots of actions that start together; they share no part
        ("leaves", "i4"),  # index in its owner's `within` of a used program that ends in any case; -1: none
    ]
)

axis_dtype = record(
    [
        ("action", "i4"),  # slot of its action
        ("part", "i4"),
        ("joint", "i4"),  # of the part, or number among the degrees of freedom that the action declares
        ("first_strategy", "i4"),  # in order of priority; the last one has no condition
        ("n_strategies", "i4"),
        ("reserved", "i4"),
        ("state_offset", "i8"),  # of its `governed_dtype` in the state arena
        ("record_offset", "i8"),  # of its `degree_dtype` in its action's state; -1: it is a joint of the part
    ]
)
"""A degree of freedom that strategies of an action govern. Those of one action are adjacent."""

strategy_dtype = record(
    [
        ("type", "i4"),  # its law: index into the table of action types
        ("parts", "i4", (c.MAX_ACTION_SLOTS - 1,)),  # parts that the law only reads, in its slots after the axis
        ("first_instruction", "i4"),
        ("n_instructions", "i4"),  # of its condition; 0: it has none, and governs if no earlier one does
        ("n_inputs", "i4"),
        ("inputs", "i8", (c.MAX_LAW_INPUTS,)),  # offsets of the state variables bound to it; -1: none, unknown
        ("gravity", "i4"),  # 1: its law commands efforts, and so may need `gravity_effort`
        ("n_captures", "i4"),
        ("captures", "i4", (c.MAX_CAPTURES,)),  # offsets of the state variables that its event carries
        ("parameter_offset", "i8"),  # in the parameter arena
        ("parameter_size", "i8"),
        ("state_offset", "i8"),  # in the state arena
        ("state_size", "i8"),
    ]
)
"""A law for one degree of freedom, and when it governs."""

governed_dtype = record(
    [
        # its state variables
        ("strategy", "f8"),  # number of the governing strategy, from 0 in order of priority
        ("ticks", "f8"),  # since that strategy took over
        ("activation", "i8"),  # activation of its action to which the other fields belong
        ("entering", "i8"),  # the law's on_enter has yet to run
        ("chosen", "i8"),  # number of the strategy that is to govern from this tick on
        ("inputs", "f8", (c.MAX_LAW_INPUTS,)),  # of the governing law, as they were when it was selected
    ]
)
"""The loop's state of a degree of freedom; it lies in the state arena, so it is kept when tables are exchanged."""

motion_dtype = record(
    [
        # state variables
        *((name, "f8") for name in ("start_joint", "start_distance", "is_done", "is_settled", "progress")),
        *((name, "f8") for name in ("remaining_time", "starved", "is_stopping", "has_failed")),
        ("elapsed", "f8"),  # [s] of path time; the group's goes on after the end
        ("duration", "f8"),  # [s] that the member's own motion takes; its code writes it
        ("total", "f8"),  # [s] that it shall take
        ("rate", "f8"),  # of that time, 0 to 1
        ("change", "f8"),  # [1/s] of the rate
        # the member's motion per second of path time; its code writes it
        *_joints("path_velocity", "path_acceleration"),
        # the set points before and after `elapsed`, the fraction of a period since the former; set if it has a queue
        *((f"{which}_{what}", *per_joint) for which in ("before", "after") for what in ("q", "v", "a")),
        ("fraction", "f8"),
        # of the group
        ("cause", "i8"),  # StopCause, once it is stopping
        ("newest", "i8"),  # number of the newest set point in its queue; -1: there is none
    ]
)
"""The begin of a motion group's state, and of the state of each of its parts, which follow it."""

action_dtype = record(
    [
        ("identity", "i8"),  # never used again; 0: slot is free
        ("replaces", "i8"),  # identity of the action whose id and slot it took over; 0: none
        ("session", "i4"),
        ("rank", "i4"),  # global order: sessions by age, then actions as defined
        ("type", "i4"),  # index into the table of action types
        ("n_parts", "i4"),  # parts that it moves, and so claims
        ("parts", "i4", (c.MAX_PARTS,)),  # part of each slot; those that are only read come last
        ("parameter_offset", "i8"),  # in the parameter arena
        ("parameter_size", "i8"),
        ("state_offset", "i8"),  # in the state arena
        ("state_size", "i8"),
        ("n_signals", "i4"),  # float64 each, at the start of the state record
        ("n_variables", "i4"),  # float64 each, after the signals
        ("first_reaction", "i4"),
        ("n_reactions", "i4"),
        ("first_stream", "i4"),
        ("n_streams", "i4"),
        ("first_axis", "i4"),
        ("n_axes", "i4"),
        ("group", "i4"),  # GroupFlag; 0: an ordinary action
        ("queue", "i4"),  # group: of its set points among `motion_queues`; -1: its motions are planned in the loop
        ("queue_offset", "i8"),  # group with a queue: place of its first set point in `set_points` [bytes]
        ("queue_entries", "i8"),  # likewise: room
        ("n_points", "i8"),  # group with a queue: set points of the whole motion
        ("braking_rate", "f8"),  # [1/s] likewise: with which its path time can always be braked
        ("time_limit", "f8"),  # [s] of the action's time, 0: none
        ("within", "i8", (c.MAX_USE_DEPTH,)),  # numbers of the used programs that contain it, outermost first; 0: none
        ("name", f"S{c.MAX_LABEL_BYTES}"),  # for display in the executor's status
    ]
)

type_dtype = record(
    [
        ("key", "S64"),  # names the native code in the cache; hexadecimal digest; empty: the entry is free
        # addresses in the executor; the executor fills them in, 0: the type has no such function
        ("on_enter", "i8"),
        ("sense", "i8"),
        ("set_parameters", "i8"),
        ("control", "i8"),
        ("budget_ns", "i8"),  # time that an action's code may take in one tick, 0: unlimited
        ("gap", "i8", (c.MAX_ACTION_STREAMS,)),  # gap functions of the stream inputs, in their order
        ("name", f"S{c.MAX_LABEL_BYTES}"),  # for people; the executor fills it in
    ]
)

session_dtype = record(
    [
        ("identity", "i8"),
        ("rank", "i8"),
        ("detached", "i8"),  # [ticks] for which it goes on without client or server, 0: it ends with them
        ("suspended", "i8"),  # 1: it was opened before a protective stop was released, and not resumed since
        ("name", f"S{c.MAX_LABEL_BYTES}"),
    ]
)

tables_dtype = record(
    [
        ("version", "i8"),
        ("n_types", "i8"),
        ("n_sessions", "i8"),
        ("n_actions", "i8"),  # slots up to this number may be in use
        ("n_reactions", "i8"),
        ("n_free_reactions", "i8"),  # the first ones are free-standing, the older session first
        ("n_instructions", "i8"),
        ("n_streams", "i8"),
        ("n_axes", "i8"),
        ("n_strategies", "i8"),
        ("n_starts", "i8"),  # actions that start as the tick takes these tables; -1: active ones that are replaced
        ("starts", "i4", (c.MAX_ACTIONS_PER_COMMAND,)),  # their slots, all of one session
        ("default_action", "i4", (c.MAX_PARTS,)),  # action slot, -1: the loop's own braking and holding
        ("safety_action", "i4", (c.MAX_PARTS,)),
        ("types", type_dtype, (c.MAX_ACTION_TYPES,)),
        ("sessions", session_dtype, (c.MAX_SESSIONS,)),
        ("actions", action_dtype, (c.MAX_ACTIONS,)),
        ("reactions", reaction_dtype, (c.MAX_REACTIONS,)),
        ("instructions", instruction_dtype, (c.MAX_INSTRUCTIONS,)),
        ("streams", stream_dtype, (c.MAX_STREAMS,)),  # those of one action are adjacent
        ("axes", axis_dtype, (c.MAX_AXES,)),
        ("strategies", strategy_dtype, (c.MAX_STRATEGIES,)),
    ]
)
"""Everything defined: immutable for the tick, exchanged as a whole at a tick boundary."""

action_runtime_dtype = record(
    [
        ("identity", "i8"),  # of the action whose activation this is
        ("active", "i8"),
        ("entering", "i8"),  # on_enter has yet to run
        ("activation", "i8"),  # counts activations, never reset
        ("start_tick", "i8"),
        ("judged_from", "i8"),  # its reactions are evaluated from this tick
        ("judged_installs", "i8"),  # `installs` when its reactions' memories were last brought up to date
        ("ending", "i8"),  # StopCause with which it ends in the next tick; 0: it does not end by itself
        ("sensed_tick", "i8"),  # the last tick in which its sense ran
        ("controlled_tick", "i8"),  # the last tick in which its control ran
        ("status", "i8"),
        ("busy_ns", "i8"),  # time that its code took in this tick, if it is watched
        ("strikes", "i8"),  # ticks in a row above its time budget
        ("suspect", "i8"),  # 1: it was far above its budget: from then on its processor time is watched
        ("far_strikes", "i8"),  # ticks far above its time budget since far_tick
        ("far_tick", "i8"),
        ("reported_tick", "i8"),  # when that was last reported, 0: never
        # state variables, unknown while it is not active
        ("elapsed", "f8"),  # [s] since it began, in its own time
        ("timed_out", "f8"),  # 1: its time limit has been reached
    ]
)

reaction_runtime_dtype = record(
    [
        ("identity", "i8"),
        ("activation", "i8"),  # the owner's activation that memory and count belong to
        ("memory", "i8"),  # last known value of the condition
        ("fired", "i8"),  # count in this activation
    ]
)

per_value = ("f8", (c.MAX_STREAM_VALUES,))

stream_runtime_dtype = record(
    [
        ("identity", "i8"),  # of the action whose samples these are
        ("activation", "i8"),  # of that action, which the next three belong to
        ("start_time", "f8"),  # [s] when it began
        ("missed_before", "i8"),
        ("late_before", "i8"),
        ("clamped_before", "i8"),
        ("missed", "i8"),  # samples that never arrived, counted from gaps in the sequence
        ("late", "i8"),  # samples that arrived after the tick from which they should have been valid
        ("clamped", "i8"),  # samples with a value that was clamped to its range
        ("last_sequence", "i8"),
        ("fresh_tick", "i8"),  # the last tick in which a sample took effect
        # the window: past samples and the next ones, by time
        ("version", "i8"),  # counts its changes
        ("first", "i8"),  # number of its first sample, counted since the beginning
        ("count", "i8"),
        ("present", "i8"),  # index of the newest sample that has taken effect, -1: none
        ("ticks", "i8", (c.STREAM_WINDOW,)),  # tick from which they are valid
        ("times", "f8", (c.STREAM_WINDOW,)),  # [s] on the loop's clock
        ("made", "f8", (c.STREAM_WINDOW,)),  # [s] likewise: when their source made them
        ("values", "f8", (c.STREAM_WINDOW, c.MAX_STREAM_VALUES)),  # NaN: never given
        ("rates", "f8", (c.STREAM_WINDOW, c.MAX_STREAM_VALUES)),  # NaN: not given
        ("given", "i1", (c.STREAM_WINDOW, c.MAX_STREAM_VALUES)),  # 0: the value is that of the sample before
        ("used", "i8"),  # number of the newest sample that an activation has seen take effect, -1: none
        ("latency", "f8"),  # [s] how old the present sample was when it took effect, NaN: there is none
        ("not_before", "f8"),  # [s] samples that were made earlier are not used
        # the interpolation from one sample to the next
        ("way_end", "i8"),  # number of the sample at its end, -1: none
        ("way_time", "f8"),  # [s] its start
        ("way_value", *per_value),
        ("way_velocity", *per_value),
        ("end_velocity", *per_value),
        # the present values
        ("time", "f8"),  # [s] for which they were found
        ("value", *per_value),
        ("velocity", *per_value),  # per second of the loop's clock
        ("sent", "i8"),  # output: samples that the action has written
    ]
)
"""The loop's state of a stream, beside the tables."""

command_dtype = record(
    [
        ("command", "i8"),  # Command
        ("transaction", "i8"),  # comes back in the event that answers
        ("target_tick", "i8"),  # 0: the next tick
        ("session", "i8"),  # identity of the session
        ("part", "i8"),
        ("signal", "i8"),
        ("record_size", "i8"),  # SET_PARAMETERS: [bytes] of the new record, which lies beside the ring
        ("value", "f8"),
        ("n_actions", "i8"),
        ("actions", "i4", (c.MAX_ACTIONS_PER_COMMAND,)),  # action slots
        ("identities", "i8", (c.MAX_ACTIONS_PER_COMMAND,)),  # of those actions: a stale slot is refused
    ]
)

event_dtype = record(
    [
        ("kind", "i4"),  # EventKind
        ("reason", "i4"),  # Refusal, StopCause or FaultReason, by kind
        ("tick", "i8"),
        ("time_ns", "i8"),  # start of the tick: CLOCK_MONOTONIC, or simulated time
        ("transaction", "i8"),
        ("session", "i8"),  # identity
        ("reaction", "i8"),  # identity
        ("previous_action", "i8"),  # identity
        ("current_action", "i8"),  # identity
        ("part", "i4"),
        ("joint", "i4"),
        ("status", "i8"),
        ("log", "i8"),  # number of the log of the last ticks, 0: none
        ("n_values", "i8"),
        ("values", "f8", (c.MAX_CAPTURES,)),
    ]
)

# --- protective stops --------------------------------------------------------------------------

_STOP_TEXTS = [  # UTF-8, padded with zeros; as words, so that the loop compares and copies them
    ("source", "i8", (c.STOP_SOURCE_BYTES // 8,)),
    ("reason", "i8", (c.STOP_REASON_BYTES // 8,)),
    ("who", "i8", (c.STOP_WHO_BYTES // 8,)),
]

stop_request_dtype = record(
    [
        *_STOP_TEXTS,  # of a release: which one; no source: the only one; why, and who releases it
        ("digest", "i8", (4,)),  # SHA-256 of the secret that came with it; zeros: none
        ("needs_secret", "i8"),  # stop: 1: its release needs this secret
        ("further", "i8"),  # 1: the source is that of the last place
        ("everything", "i8"),  # release: all that need no secret
        ("authority", "i8"),  # release: Authority
    ]
)
"""What lies beside a PROTECTIVE_STOP and its release."""

stop_dtype = record(
    [
        *_STOP_TEXTS,
        ("digest", "i8", (4,)),
        ("needs_secret", "i8"),
        ("latched", "i8"),
        ("number", "i8"),  # counts latched stops since the executor's start; 0: the place was never used
        ("tick", "i8"),  # in which it was latched
        ("time_ns", "i8"),  # start of that tick
        ("asked_tick", "i8"),  # the last tick in which its source asked for it
        ("merged", "i8"),  # of the last place: stops of further sources that it stands for
        ("release_reason", "i8", (c.STOP_REASON_BYTES // 8,)),
        ("release_who", "i8", (c.STOP_WHO_BYTES // 8,)),
    ]
)
"""A protective stop of one source. A released one keeps its texts until its place is used again."""

# --- faults ------------------------------------------------------------------------------------

log_request_dtype = record(
    [
        ("number", "i8"),
        ("tick", "i8"),
        ("kind", "i8"),  # EventKind
        ("reason", "i8"),  # FaultReason of a fault
        ("part", "i8"),
        ("joint", "i8"),
        ("status", "i8"),  # of an action that failed
        ("action", "i8"),  # its slot, or that of the action that was active on the part; -1: none
    ]
)

recorder_dtype = record(
    [
        ("rows", "i8"),  # address of the ring: int64 tick, -1 while written, then the columns; 0: nothing is recorded
        ("columns", "i8"),  # address of the columns' addresses, int64: eight bytes each, float64 or int64
        ("n_columns", "i8"),
        ("n_rows", "i8"),
        ("last", "i8"),  # the last tick whose row is complete
        ("after", "i8"),  # [ticks] for which a log continues; failures in this time are in the same log
        ("opened", "i8"),  # logs that the loop has asked for: the number of the last one
        ("opened_tick", "i8"),
        ("written", "i8"),  # logs whose request the non-real-time side has taken
        ("requests", log_request_dtype, (c.LOG_REQUESTS,)),
    ]
)
"""The last ticks, and the requests to write them to a file."""

overrun_dtype = record(
    [
        ("policy", "i8"),  # OverrunPolicy
        ("missed", "i8"),  # set by the loop: deadlines missed since the last tick; the tick acts on it and clears it
        ("unreported", "i8"),
        ("reported_tick", "i8"),
        ("report_ticks", "i8"),  # at most one event per this many ticks
        ("limit", "i8"),  # policy FAULT: this many misses ...
        ("window", "i8"),  # ... within this many ticks
        ("count", "i8"),  # of misses under policy FAULT
        ("ticks", "i8", (c.MAX_OVERRUN_LIMIT,)),  # of the last ones
    ]
)

# --- the world ---------------------------------------------------------------------------------

world_dtype = record(
    [
        # system state variables: float64, so that conditions can read them
        ("time", "f8"),  # [s] since the first tick, in ticks times the period
        ("speed", "f8"),  # speed override, 0 to 1, on its way to speed_target
        ("protective_stop", "f8"),  # 1: all parts are held until it is released
        ("speed_target", "f8"),
        ("speed_rate", "f8"),  # [1/s] of `speed` in the last tick
        ("past_speeds", "f8", (3,)),  # at which the last commands were sent, the newest first
        ("tick", "i8"),
        ("now_ns", "i8"),  # set by the loop before each tick
        ("period", "f8"),  # [s]
        ("n_parts", "i8"),
        ("n_devices", "i8"),
        ("n_reads", "i8"),
        ("n_writes", "i8"),
        ("n_detached", "i8"),  # sessions whose `detached_until` is set
        ("server_lost", "i8"),  # set by the loop; the tick acts on it once and clears it
        ("active_tables", "i8"),
        ("pending_tables", "i8"),  # 1: the inactive tables are complete; the tick takes them and writes 0
        ("pending_image", "i8"),  # address of a device image to attach, 0: none; the tick takes it and writes 0
        ("pending_device", "i8"),  # the device that it belongs to
        ("pending_internal", "i8"),  # 1: `internal` is a command of the executor's own; the tick does it and writes 0
        ("internal", command_dtype),
        ("internal_stop", stop_request_dtype),  # what lies beside it
        ("internal_refusal", "i8"),  # Refusal of the last one; 0: it was done
        ("unnamed_stop", stop_request_dtype),  # all zeros: of a stop that brought no record
        ("stops", stop_dtype, (c.MAX_STOPS,)),  # the last place stands for all sources for which there is no other
        ("stop_count", "i8"),
        ("inside", "i8"),  # slot of the action whose code runs now, plus one; 0: the loop's own code
        ("loop_clock", "i8"),  # processor clock of the thread that ticks; 0: none yet
        ("watching", "i8"),  # 1: the time that each action's code takes is watched (wall-clock loop)
        ("budget_policy", "i8"),  # BudgetPolicy
        ("budget_report_ticks", "i8"),  # ticks between two reports of one action
        ("far_window", "i8"),  # ticks in which FAR_STRIKES count together
        ("next_activation", "i8"),
        ("installs", "i8"),  # how often tables were taken
        ("judged_installs", "i8"),  # as an action's, for the free-standing reactions
        ("n_active", "i8"),
        ("n_scheduled", "i8"),
        ("events_lost", "i8"),
        ("queues_latched", "i8"),  # 1: of motion queues the tick sees what these two say, not what is there by now
        ("queue_heads", "i8", (c.MAX_MOTION_QUEUES,)),
        ("queue_failures", "i8", (c.MAX_MOTION_QUEUES,)),
        ("overrun", overrun_dtype),
        ("recorder", recorder_dtype),
        ("parts", part_dtype, (c.MAX_PARTS,)),
        ("parts_runtime", part_runtime_dtype, (c.MAX_PARTS,)),
        ("feedback", feedback_dtype, (c.MAX_PARTS,)),
        ("left", left_dtype, (c.MAX_PARTS,)),
        ("gravity_scratch", gravity_scratch_dtype),
        ("limits", limits_dtype, (c.MAX_PARTS,)),
        ("tools", tool_dtype, (c.MAX_TOOLS,)),  # those of one part are adjacent
        ("tool_instructions", instruction_dtype, (c.MAX_TOOLS * c.MAX_SENSOR_INSTRUCTIONS,)),  # of their sensors
        ("devices", device_dtype, (c.MAX_DEVICES,)),
        ("reads", link_dtype, (c.MAX_INTERFACE_LINKS,)),
        ("writes", link_dtype, (c.MAX_INTERFACE_LINKS,)),
        ("active", "i4", (c.MAX_PARTS,)),  # active action slots, sorted by rank
        ("firings", "i4", (c.MAX_REACTIONS,)),  # scratch of the react step
        ("starting", "i4", (c.MAX_PARTS,)),  # scratch: slots of the actions that start with new tables
        ("ended_sessions", "i8", (c.MAX_SESSIONS,)),  # identities that ended in the loop: they cannot start actions
        ("detached_until", "i8", (c.MAX_SESSIONS,)),  # tick in which a lost session ends; 0: none
        ("known_sessions", "i8", (c.MAX_SESSIONS,)),  # identities that the tables have had at this index
        ("suspended_sessions", "i8", (c.MAX_SESSIONS,)),  # identities of which nothing starts until they resume
        ("session_variables", "f8", (c.MAX_SESSIONS, c.MAX_SESSION_VARIABLES)),  # written by applications; NaN: unknown
        ("scheduled", command_dtype, (c.MAX_SCHEDULED_COMMANDS,)),
        ("actions_runtime", action_runtime_dtype, (c.MAX_ACTIONS,)),
        ("reactions_runtime", reaction_runtime_dtype, (c.MAX_REACTIONS,)),
        ("streams_runtime", stream_runtime_dtype, (c.MAX_STREAMS,)),
        ("tables", tables_dtype, (2,)),
        ("parameter_arena", "f8", (c.PARAMETER_ARENA_BYTES // 8,)),
        ("state_arena", "f8", (c.STATE_ARENA_BYTES // 8,)),
        # a start is tried before other actions yield to it: the records its on_enter uses, and its result
        ("trial_parts", part_dtype, (c.MAX_ACTION_SLOTS,)),
        ("trial_state", "f8", (c.ACTION_STATE_BYTES // 8,)),
        ("trial_slot", "i8"),  # of the action whose start was refused
        ("trial_status", "i8"),  # what its on_enter returned
        ("trial_part", "i8"),  # of a motion group, whose on_enter returned it
        ("path_time", "f8", (48,)),  # scratch: a `profile_dtype`, how a motion group's path time goes on
        ("axis", part_dtype),  # the degree of freedom that the running law sees: a part with one joint
    ]
)

# --- the channel -------------------------------------------------------------------------------


def _ring(entry: np.dtype, entries: int) -> np.dtype:
    """Single producer, single consumer; head and tail never wrap and have their own cache lines."""
    return record(
        [
            ("head", "i8"),  # next to write
            ("head_padding", "i8", (15,)),
            ("tail", "i8"),  # next to read
            ("tail_padding", "i8", (15,)),
            ("entries", entry, (entries,)),
        ]
    )


command_ring_dtype = _ring(command_dtype, c.COMMAND_RING_ENTRIES)
event_ring_dtype = _ring(event_dtype, c.EVENT_RING_ENTRIES)

sample_dtype = record(
    [
        ("identity", "i8"),  # of the action
        ("sequence", "i8"),
        ("tick", "i8"),  # input: from which it holds, 0: the next one; output: which wrote it
        ("time", "f8"),  # [s] on the loop's clock, finer than ticks
        ("made", "f8"),  # [s] input: likewise, when its source made it, as far as that is known
        ("clamped", "i8"),  # input: whether a value was clamped to its range
        ("values", *per_value),  # not finite: not given
        ("rates", *per_value),  # likewise
    ]
)
stream_ring_dtype = _ring(sample_dtype, c.STREAM_RING_ENTRIES)
"""Samples of one stream: to the loop, or from it."""


motion_queue_dtype = record(
    [
        ("head", "i8"),  # set points written since the queue was set up
        ("head_padding", "i8", (15,)),
        ("tail", "i8"),  # set points taken or dropped
        ("run", "i8"),  # which run of the motion the loop takes set points of; it begins a new one after each end
        ("tail_padding", "i8", (14,)),
        ("failed", "i8"),  # 1: nobody writes any more; the server writes it
    ]
)
"""The counters of one motion group's queue. A set point is int64 run, int64 number, then q, v, a of all joints of the
group's first part, then of the next. Where they are, the tables say. One producer, a process beside the server; one
consumer, the loop."""


snapshot_part_dtype = record(
    [("measured", measured_dtype), ("active_action", "i8"), ("fault", "i8"), ("fault_log", "i8")]
)

snapshot_dtype = record(
    [
        ("sequence", "i8"),  # odd while the loop writes
        ("tick", "i8"),
        ("time_ns", "i8"),
        ("time", "f8"),
        ("speed", "f8"),
        ("protective_stop", "f8"),
        ("events_lost", "i8"),
        ("n_active", "i8"),
        ("active", "i8", (c.MAX_PARTS,)),  # identities of the active actions, in global order
        ("active_since", "i8", (c.MAX_PARTS,)),  # tick in which the active action started
        ("elapsed", "f8", (c.MAX_PARTS,)),
        ("timed_out", "f8", (c.MAX_PARTS,)),
        ("values", "f8", (c.MAX_PARTS, c.SNAPSHOT_VARIABLES)),  # state variables of each active action, in its order
        ("first_axis", "i8", (c.MAX_PARTS,)),  # of each active action that has strategies, its first one in `governed`
        ("governed", "f8", (c.MAX_AXES, 2)),  # the state variables of the degrees of freedom with strategies
        ("parts", snapshot_part_dtype, (c.MAX_PARTS,)),
    ]
)

timing_dtype = record(
    [
        ("ticks", "i8"),
        ("deadline_misses", "i8"),
        ("max_compute_ns", "i8"),
        ("max_lateness_ns", "i8"),
        # 16 bins in an octave: bin = 16 * log2(nanoseconds), see memory/histogram.py
        ("compute", "i8", (c.HISTOGRAM_BINS,)),
        ("lateness", "i8", (c.HISTOGRAM_BINS,)),
    ]
)

blob_dtype = record([("offset", "i8"), ("size", "i8")])

staging_dtype = record(
    [
        ("request", "i8"),  # counts requests; the server writes it last
        ("answer", "i8"),  # the request that was answered; the executor writes it last
        ("accepted", "i8"),
        ("reason", "S512"),  # UTF-8, why not
        ("n_blobs", "i8"),
        ("blobs", blob_dtype, (c.MAX_ACTIONS + c.MAX_STRATEGIES,)),  # changed regions of `parameters`
        ("tables", tables_dtype),
        ("parameters", "f8", (c.PARAMETER_ARENA_BYTES // 8,)),  # same offsets as the parameter arena
        ("n_names", "i8"),  # bytes of `names`
        ("names", "u1", (c.REACTION_NAMES_BYTES,)),  # what new reactions are called: recording/reaction_names.py
    ]
)
"""The server writes new tables here; the executor copies and checks them before the loop sees them."""

CHANNEL_MAGIC = 0x5254434F4E54524C  # "RTCONTRL"
IMAGE_MAGIC = 0x5254494D41474531  # "RTIMAGE1"
IMAGE_VERSION = 2
"""Of `device_image_dtype`, for people: processes compare the digest IMAGE_LAYOUT."""

channel_dtype = record(
    [
        ("magic", "u8"),
        ("layout", "u8"),
        ("workcell", "u8"),  # digest of the workcell; both sides must have read the same one
        ("epoch", "i8"),  # a restarted executor takes a new one
        ("executor_pid", "i8"),
        ("executor_start", "i8"),  # the process's start time, because a pid can be reused
        ("server_pid", "i8"),
        ("server_start", "i8"),
        ("server_epoch", "i8"),  # counts attachments
        ("server_gone", "i8"),  # the last epoch whose server detached or died
        ("detached_until", "i8"),  # the last tick of sessions that go on without client or server; 0: none does
        ("detached_session", f"S{c.MAX_LABEL_BYTES}"),  # id of the one that may go on longest
        ("gated", "i8"),  # 1: ticks run only on request, so no caller may wait for the next one
        ("simulated", "i8"),  # 1: `time_ns` of events and snapshots is simulated time, from 0 on
        ("period_ns", "i8"),
        ("loop_beat", "i8"),  # the loop, each tick
        ("executor_beat", "i8"),  # the executor's Python side
        ("server_native_beat", "i8"),  # a server thread without the GIL
        ("server_python_beat", "i8"),
        ("server_native_thread", "i8"),  # the system's id of the thread without the GIL
        ("event_bell", "i4", (16,)),  # futex word: rung after events; the rest is padding
        ("fault_files", "S512"),  # of `fault_log.told_logs`
        ("operator", "i8", (4,)),  # SHA-256 of the operator's secret; zeros: there is none
        ("guarded_sessions", "i8"),  # open sessions with a secret that hold parts; the server writes it
        ("stops_sequence", "i8"),  # odd while the loop writes `stops`
        ("stops", stop_dtype, (c.MAX_STOPS,)),  # a copy of the world's, whenever they have changed
        ("install_bell", "i4", (16,)),  # futex word: rung after a staging request
        ("commands", command_ring_dtype),
        # beside each entry of the command ring, the record that its SET_PARAMETERS carries
        # Those of a command that takes several places of the ring go on beyond its end.
        ("parameter_updates", "f8", (c.COMMAND_RING_ENTRIES + c.UPDATES_OF_COMMAND - 1, c.PARAMETER_UPDATE_BYTES // 8)),
        ("events", event_ring_dtype),
        ("samples_out", "i8"),  # counts the samples that actions have written to stream outputs
        ("samples_lost", "i8"),  # samples among these that were dropped because the ring was full
        ("streams", stream_ring_dtype, (c.MAX_STREAMS,)),
        ("motion_queues", motion_queue_dtype, (c.MAX_MOTION_QUEUES,)),
        ("snapshot", snapshot_dtype),
        ("timing", timing_dtype),
        ("staging", staging_dtype),
        # Last: only what queues use of it is in memory, see `Channel.commit_set_points`.
        ("set_points", "f8", (c.MOTION_QUEUE_BYTES // 8,)),
    ]
)


def _describe(dtype: np.dtype) -> str:
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return f"{_describe(base)}{shape}"
    if dtype.names is not None and dtype.fields is not None:
        inner = ",".join(f"{n}@{dtype.fields[n][1]}:{_describe(dtype.fields[n][0])}" for n in dtype.names)
        return f"{{{inner}}}{dtype.itemsize}"
    return dtype.str


def layout_digest(*dtypes: np.dtype) -> int:
    """A digest of 63 bits of all layouts; it changes when one of them changes."""
    text = ";".join(_describe(d) for d in dtypes)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1


CHANNEL_LAYOUT = layout_digest(channel_dtype, world_dtype)
IMAGE_LAYOUT = layout_digest(device_image_dtype)


def offset_of(dtype: np.dtype, *path: str | int) -> int:
    """Byte offset of a field: `offset_of(world_dtype, "parts", 2, "position", 0)`.

    Raises:
        KeyError, IndexError: the path does not exist.
    """
    offset = 0
    for step in path:
        if isinstance(step, str):
            if dtype.fields is None:
                raise KeyError(f"{step!r}: not a record")
            dtype, inner = dtype.fields[step][:2]
            offset += inner
        else:
            if dtype.subdtype is None:
                raise IndexError(f"[{step}]: not an array")
            base, shape = dtype.subdtype
            if not 0 <= step < shape[0]:
                raise IndexError(f"[{step}]: the array has {shape[0]} elements")
            dtype = np.dtype((base, shape[1:])) if len(shape) > 1 else base
            offset += step * dtype.itemsize
    return offset
