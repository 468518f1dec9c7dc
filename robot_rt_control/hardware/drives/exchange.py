"""One period of the drives of a device, in the loop: command values, packets, the network, actual values."""

import math

from robot_rt_control.hardware.drives.bus_exchange import do_tx_rx
from robot_rt_control.hardware.drives.cia402 import controlword, motor_status
from robot_rt_control.hardware.drives.packets import analyze_rx_packet, generate_tx_packet
from robot_rt_control.memory.joint_modes import mode_of
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import CommandMode, MotorStatus
from robot_rt_control.vocabulary.motor_errors import GENERIC_ERROR

OFF, FOLLOW, ENABLE = 0, 1, 2
"""What the motors of a part are to do: nothing; to follow commands, if they are enabled; to become enabled."""

ALL_ENABLED, NOT_ENABLED, IN_ERROR = 0, 1, 2
"""The motors of a part, taken together."""

_POSITION = int(CommandMode.POSITION)
_EFFORT = int(CommandMode.EFFORT)
_NONE = int(CommandMode.NONE)
_ENABLED = int(MotorStatus.ENABLED)
_FAULT_REACTION, _FAULT = int(MotorStatus.FAULT_REACTION), int(MotorStatus.FAULT)


@realtime
def exchange(drives, device, dt):
    """Exchange packets with all drives of a device if that is due, and write its states.

    Args:
        drives: record of `drives_dtype`; `on` and `clear` of each part are given.
        device: record of `device_dtype`: `command` and `mode` of the last tick; `state` is written.
        dt: [s] the real period of the loop.
    """
    drives.ticks += 1
    if drives.ticks >= drives.every:
        drives.ticks = 0
        generate_packets(drives, device)
        do_tx_rx(drives, dt)
        analyze_packets(drives, dt)
    write_states(drives, device)


@realtime
def generate_packets(drives, device):
    """One packet for each drive, with the command values of its motors."""
    for m in range(drives.n_motors):
        _set_command_values(drives, drives.motors[m], device)
    for d in range(drives.n_drives):
        generate_tx_packet(drives, d)


@realtime
def analyze_packets(drives, dt):
    """What has arrived, as actual values of the motors."""
    for d in range(drives.n_drives):
        analyze_rx_packet(drives, d, dt * drives.every)


@realtime
def _set_command_values(drives, motor, device):
    """The command values of a motor, as integers, from the command of its joint."""
    p = motor.part
    status, on = motor_status(motor.statusword), drives.on[p]
    motor.control = controlword(status, motor.control, on == FOLLOW, on == ENABLE, drives.clear[p] > 0)
    mode = mode_of(device.mode[p], motor.joint) if on == FOLLOW and status == _ENABLED else _NONE
    if mode == _NONE:
        # held where it is: the target stays once it is enabled, and so does not follow a load that pulls it away
        if status != _ENABLED or motor.mode != motor.holding_mode:
            motor.target = motor.count
        motor.mode = motor.holding_mode
        motor.target_velocity = 0
        motor.target_current = 0
        return
    k = motor.command
    motor.mode = mode
    motor.target = motor.count
    if mode == _POSITION:
        motor.target = math.floor((device.command[k] - motor.offset) * motor.counts + 0.5)
    motor.target_velocity = math.floor(device.command[k + 1] * motor.counts + 0.5)
    motor.target_current = math.floor(device.command[k + 2] * motor.milliamperes + 0.5) if mode == _EFFORT else 0


@realtime
def write_states(drives, device):
    """The actual values into the device's states; those that are too old are unknown."""
    _forget(drives)
    for d in range(drives.n_drives):
        drive = drives.drives[d]
        drive.age = drive.since * drives.every + drives.ticks
        for m in range(drive.first_motor, drive.first_motor + drive.n_motors):
            motor = drives.motors[m]
            known = motor.known == 1 and drive.age <= device.max_age
            status = motor_status(motor.statusword)
            error = _error_of(motor, status)
            _judge(drives, motor, status, error, drive.age)
            k = motor.state
            device.state[k] = motor.offset + motor.count / motor.counts if known else math.nan
            device.state[k + 1] = motor.velocity / motor.counts if known else math.nan
            device.state[k + 2] = motor.current / motor.milliamperes if known else math.nan
            k = motor.report
            device.state[k] = error if known else math.nan
            device.state[k + 1] = status if known else math.nan
            device.state[k + 2] = motor.acceleration if known else math.nan
    for i in range(drives.n_reports):
        report = drives.reports[i]
        drive, k = drives.drives[report.drive], report.place
        device.state[k] = drive.age
        device.state[k + 1] = drive.lost
        device.state[k + 2] = drive.late
        device.state[k + 3] = drive.repeated
        device.state[k + 4] = drive.corrupt


@realtime
def take_reports(drives, device):
    """Judge what a driver process reports of motors, as `exchange` does with the answers of drives.

    It reports unknown states of motors whose drive has missed too many exchanges. A status or an error code that
    cannot be one counts as unknown.
    """
    _forget(drives)
    for m in range(drives.n_motors):
        motor = drives.motors[m]
        error, status = device.state[motor.report], device.state[motor.report + 1]
        if 0.0 <= status <= _FAULT and 0.0 <= error <= 0xFFFF:
            _judge(drives, motor, int(status), int(error), device.age)
        else:
            _judge(drives, motor, 0, 0, device.max_age + 1)


@realtime
def _forget(drives):
    for i in range(drives.n_reports):
        p = drives.reports[i].part
        drives.age[p] = 0
        drives.part_state[p] = ALL_ENABLED
        drives.part_joint[p] = -1
        drives.silent_joint[p] = -1


@realtime
def _error_of(motor, status):
    """The error code of a motor, 0 without an error: drives keep the code of the last error after it was reset."""
    if status < _FAULT_REACTION:
        return 0
    return motor.error if motor.error != 0 else GENERIC_ERROR


@realtime
def _judge(drives, motor, status, error, age):
    """Note what a motor means for its part: an error comes before one that is not enabled; the oldest drive's age."""
    p = motor.part
    state = ALL_ENABLED
    if error != 0:
        state = IN_ERROR
    elif status != _ENABLED:
        state = NOT_ENABLED
    if state > drives.part_state[p]:
        drives.part_state[p] = state
        drives.part_joint[p] = motor.joint
        drives.part_code[p] = error if error != 0 else -1 - status
    if age > drives.age[p]:
        drives.age[p] = age
        drives.silent_joint[p] = motor.joint
