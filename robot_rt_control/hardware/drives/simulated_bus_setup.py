"""Sets up the test bus from the workcell file, before the loop uses it."""

from __future__ import annotations

import math

import numpy as np

from robot_rt_control.hardware.info import HardwareInfo
from robot_rt_control.hardware.mock import OF_JOINT, joint_source
from robot_rt_control.model.workcell.drives import Drives
from robot_rt_control.vocabulary.enums import MotorStatus


def fill_test_bus(record: np.record, info: HardwareInfo, drives: Drives) -> None:
    """Set up the simulated network and motors; the joints are where their parts start.

    Args:
        record: `drives_dtype`, filled by `configure_drives`.
    """
    network, bus, joints = drives.network, record.bus, record.bus.joints
    bus.random = network.seed * 2654435761 & 0xFFFFFFFF or 1  # small seeds would begin with small numbers
    for name in ("loss", "burst", "delay", "repetition", "corruption"):
        bus[name] = getattr(network, name)
    joints.time_constant, joints.inertia, joints.damping = network.time_constant, network.inertia, network.damping
    joints.enabled = 1
    joints.n_state = 3 * int(record.n_motors)
    parts = {part.name: part for part in info.parts}
    m = 0
    for d, drive in enumerate(drives.drives):
        for k, motor in enumerate(drive.motors):
            name, _, joint = motor.joint.partition(".")
            part = parts[name]
            j = part.joint_names.index(joint)
            turns = motor.turns(part.units[j] == "m") * motor.direction
            sim = bus.motors[m]
            sim.unit, sim.offset = 1.0 / (motor.counts * turns), motor.offset
            sim.force = motor.torque_constant * 2 * math.pi * turns / 1000
            sim.state = MotorStatus.SWITCH_ON_DISABLED
            joints.state[3 * m] = joints.command[3 * m] = sim.target[0] = part.initial_position[j]
            joints.mock_source[3 * m] = joint_source(d, 3 * m, k)
            joints.mock_source[3 * m + 1 : 3 * m + 3] = OF_JOINT
            m += 1
