"""The memory of a device with drives, as NumPy record types: motors, drives, their network, and packets.

`drives_dtype` is one device. It is not part of the world: `device_dtype.drives` has its address.
"""

from __future__ import annotations

from robot_rt_control.memory.atomics import record_at
from robot_rt_control.memory.layout import device_dtype, record
from robot_rt_control.vocabulary import capacities as c

PACKET_BYTES = 160
"""Room for a packet; hardware/drives/packets.py describes its content."""

packet_dtype = record([("size", "i8"), ("bytes", "u1", (PACKET_BYTES,))])

motor_dtype = record(
    [
        # fixed
        ("part", "i8"),
        ("joint", "i8"),
        ("state", "i8"),  # place of its joint's position in the device's `state`; velocity and effort follow
        ("command", "i8"),  # likewise in `command`
        ("report", "i8"),  # place of its `error` in the device's `state`; status and acceleration follow
        ("counts", "f8"),  # [counts per rad or m] of the joint, negative if it turns against the motor
        ("offset", "f8"),  # [rad or m] position of the joint at count 0
        ("milliamperes", "f8"),  # [mA per Nm or N] of the joint, with the sign of `counts`
        ("holding_mode", "i8"),  # CommandMode in which it is held while nothing is commanded
        # command values
        ("control", "i8"),  # controlword of CiA 402
        ("mode", "i8"),  # CommandMode
        ("target", "i8"),  # [counts], not wrapped
        ("target_velocity", "i8"),  # [counts/s]
        ("target_current", "i8"),  # [mA]
        # actual values
        ("known", "i8"),  # 1: a packet has arrived
        ("count", "i8"),  # [counts], not wrapped
        ("velocity", "i8"),  # [counts/s]
        ("current", "i8"),  # [mA]
        ("statusword", "i8"),  # of CiA 402
        ("error", "i8"),  # error code of CiA 402, 0: none
        ("acceleration", "f8"),  # [rad/s^2 or m/s^2] of the joint: the change of velocity from packet to packet
    ]
)
"""A motor as the loop sees it (電機): command values on their way to the drive, actual values from it."""

drive_dtype = record(
    [
        ("node", "i8"),
        ("first_motor", "i8"),  # in `motors` of its device
        ("n_motors", "i8"),
        ("sequence", "i8"),  # number of the last packet that was sent, 16 bits
        ("since", "i8"),  # exchanges since the newest packet that it has answered was sent
        ("damaged", "i8"),  # corrupt answers since the last good one
        ("age", "i8"),  # [ticks] since the data of its last answer was taken
        # counters
        ("lost", "i8"),
        ("late", "i8"),
        ("repeated", "i8"),
        ("corrupt", "i8"),
        ("tx", packet_dtype),
        ("n_rx", "i8"),  # packets that have arrived in this exchange
        ("rx", packet_dtype, (c.MAX_DRIVE_ANSWERS,)),
    ]
)
"""A drive (驅動): the packet that it gets in an exchange, and those that have arrived from it."""

report_dtype = record([("drive", "i8"), ("part", "i8"), ("place", "i8")])
"""A drive and a part that it moves, and the place of its five states of this part in the device's `state`."""

sim_motor_dtype = record(
    [
        ("unit", "f8"),  # [rad or m] of the joint for a count, negative if it turns against the motor
        ("offset", "f8"),  # [rad or m]
        ("force", "f8"),  # [Nm or N] of the joint for 1 mA, with the sign of `unit`
        ("state", "i8"),  # MotorStatus
        ("error", "i8"),
        ("stuck", "i8"),  # 1: the cause of the error is still there, and it cannot be reset
        ("control", "i8"),  # the last controlword
        ("target", "f8", (3,)),  # position, velocity, effort of the joint, reached when the next packet is due
    ]
)

sim_drive_dtype = record(
    [
        ("silent", "i8"),  # 1: it is unplugged
        ("quiet", "i8"),  # exchanges since the last packet that it has accepted
        ("burst", "i8"),  # packets of it that are still to be lost
        ("answers", packet_dtype, (c.MAX_BUS_DELAY + 1,)),  # on their way; a ring
        ("again", packet_dtype),  # that arrives a second time in the next exchange; size 0: none
    ]
)

test_bus_dtype = record(
    [
        ("random", "i8"),  # state of its generator, 32 bits
        ("exchanges", "i8"),
        ("loss", "f8"),
        ("burst", "i8"),
        ("delay", "i8"),
        ("repetition", "f8"),
        ("corruption", "f8"),
        ("drives", sim_drive_dtype, (c.MAX_DRIVES,)),
        ("motors", sim_motor_dtype, (c.MAX_DRIVES * c.MAX_DRIVE_MOTORS,)),
        ("joints", device_dtype),  # a mock device whose parts are the drives: it moves the joints
    ]
)
"""The simulated network, with the drives' own side of it."""

drives_dtype = record(
    [
        ("n_drives", "i8"),
        ("n_motors", "i8"),
        ("n_reports", "i8"),
        ("every", "i8"),  # [ticks] from one exchange to the next
        ("ticks", "i8"),  # since the last exchange
        ("network", "i8"),  # kind of its network, see hardware/drives/network.py
        ("enable_ticks", "i8"),  # within which the motors of a part must be enabled
        ("on", "i8", (c.MAX_PARTS,)),  # what the motors of this part are to do: OFF, FOLLOW, ENABLE in exchange.py
        ("holding_modes", "i8", (c.MAX_PARTS,)),  # word of the modes in which this part is held while it is enabled
        ("clear", "i8", (c.MAX_PARTS,)),  # [ticks] left in which their errors are reset
        ("age", "i8", (c.MAX_PARTS,)),  # [ticks] of the oldest data of the part's drives
        ("part_state", "i8", (c.MAX_PARTS,)),  # its motors together: ALL_ENABLED, NOT_ENABLED, IN_ERROR in exchange.py
        ("part_joint", "i8", (c.MAX_PARTS,)),  # the first joint that is the reason of that
        ("part_code", "i8", (c.MAX_PARTS,)),  # its motor's error code; below 0: -1 - MotorStatus
        ("silent_joint", "i8", (c.MAX_PARTS,)),  # the first joint on the drive with the oldest data
        ("drives", drive_dtype, (c.MAX_DRIVES,)),
        ("motors", motor_dtype, (c.MAX_DRIVES * c.MAX_DRIVE_MOTORS,)),
        ("reports", report_dtype, (c.MAX_DRIVES * c.MAX_DRIVE_MOTORS,)),
        ("bus", test_bus_dtype),  # if that is its network
    ]
)
"""All drives of one device (驅動管理器)."""

drives_at = record_at(drives_dtype)
"""The record of drives at an address."""
