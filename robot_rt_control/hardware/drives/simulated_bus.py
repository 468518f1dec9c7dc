"""The test bus: a simulated network with simulated drives, which decode packets on their own and move mock joints.

Packets get lost, also several in a row, are delayed, repeated or damaged, as the workcell file says. All of it
comes from one generator of random numbers, so each run with the same seed and commands is the same to the last bit.

A drive reaches a set point when the next packet is due: between two exchanges it interpolates linearly. Without a new
packet it keeps its last set point; after QUIET_EXCHANGES its motors have the error NO_COMMANDS. A motor that is not
enabled has closed brakes. Time passes between two exchanges: an answer shows where the motion has led until then.
"""

import math

import numpy as np

from robot_rt_control.hardware.drives.packets import CRC, HEAD, MOTOR, crc16, cut, put_2, put_4, take_2, take_4
from robot_rt_control.hardware.mock_cycle import mock_cycle
from robot_rt_control.memory.joint_modes import mode_of, with_mode
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.capacities import MAX_DRIVE_ANSWERS
from robot_rt_control.vocabulary.enums import CommandMode, MotorStatus
from robot_rt_control.vocabulary.motor_errors import NO_COMMANDS

QUIET_EXCHANGES = 10
"""Exchanges without a packet after which a drive gives up."""

_READY, _SWITCHED_ON = int(MotorStatus.READY_TO_SWITCH_ON), int(MotorStatus.SWITCHED_ON)
_DISABLED, _ENABLED = int(MotorStatus.SWITCH_ON_DISABLED), int(MotorStatus.ENABLED)
_FAULT = int(MotorStatus.FAULT)
_POSITION = int(CommandMode.POSITION)
_EFFORT = int(CommandMode.EFFORT)


@realtime
def exchange_on_test_bus(drives, dt):
    """Move the motors since the last exchange; then let each drive take its packet and answer it."""
    bus = drives.bus
    for i in range(drives.every):
        _interpolate(drives, 1.0 / (drives.every - i))
        mock_cycle(bus.joints, dt)
    bus.exchanges += 1
    for d in range(drives.n_drives):
        sim = bus.drives[d]
        answer = sim.answers[bus.exchanges % (bus.delay + 1)]
        answer.size = 0
        drive = drives.drives[d]
        if sim.silent == 0 and not _is_lost(bus, sim):
            _damage(bus, drive.tx)
            _take_packet(drives, d, sim, answer)
        else:
            _miss_packet(drives, d, sim)
        _deliver(bus, sim, sim.answers[(bus.exchanges + 1) % (bus.delay + 1)], drive)


# --- the network ------------------------------------------------------------------------------------


@realtime
def _random(bus):
    """A number from 0 to 1 (Marsaglia's xorshift with 32 bits)."""
    x = bus.random
    x ^= (x << 13) & 0xFFFFFFFF
    x ^= x >> 17
    x ^= (x << 5) & 0xFFFFFFFF
    bus.random = x
    return x / 4294967296.0


@realtime
def _is_lost(bus, sim):
    if sim.burst > 0:
        sim.burst -= 1
        return True
    if bus.loss > 0.0 and _random(bus) < bus.loss:
        sim.burst = bus.burst - 1
        return True
    return False


@realtime
def _damage(bus, packet):
    """Sometimes, turn one bit over."""
    if bus.corruption > 0.0 and packet.size > 0 and _random(bus) < bus.corruption:
        bit = math.floor(_random(bus) * packet.size * 8)
        packet.bytes[bit // 8] = np.int64(packet.bytes[bit // 8]) ^ (1 << (bit % 8))


@realtime
def _copy(packet, to):
    to.size = packet.size
    for i in range(packet.size):
        to.bytes[i] = packet.bytes[i]


@realtime
def _arrive(drive, packet):
    if packet.size > 0 and drive.n_rx < MAX_DRIVE_ANSWERS:
        _copy(packet, drive.rx[drive.n_rx])
        drive.n_rx += 1


@realtime
def _deliver(bus, sim, answer, drive):
    """What arrives in this exchange: an answer a second time, and the one whose time has come."""
    _arrive(drive, sim.again)
    sim.again.size = 0
    if answer.size == 0 or sim.silent == 1 or _is_lost(bus, sim):
        return
    if bus.repetition > 0.0 and _random(bus) < bus.repetition:
        _copy(answer, sim.again)
    _damage(bus, answer)
    _arrive(drive, answer)


# --- the drives -------------------------------------------------------------------------------------


@realtime
def _interpolate(drives, fraction):
    """Go on to the set points by this fraction of what is left."""
    bus = drives.bus
    for m in range(drives.n_motors):
        for i in range(3):
            command = bus.joints.command[3 * m + i]
            target = bus.motors[m].target[i]
            bus.joints.command[3 * m + i] = target if fraction == 1.0 else command + fraction * (target - command)


@realtime
def _take_packet(drives, d, sim, answer):
    drive, joints = drives.drives[d], drives.bus.joints
    packet = drive.tx
    end = packet.size - CRC
    n = (end - HEAD) // MOTOR
    if (
        packet.bytes[0] != drive.node
        or packet.bytes[1] != n
        or n != drive.n_motors
        or take_2(packet, end) != crc16(packet, end)
    ):
        _miss_packet(drives, d, sim)
        return
    sim.quiet = 0
    place = HEAD
    for k in range(n):
        m = drive.first_motor + k
        motor = drives.bus.motors[m]
        mode, position = take_2(packet, place + 2) & 0xFF, joints.state[3 * m]
        # the position nearest to the set point that has these 32 bits
        count = math.floor((motor.target[0] - motor.offset) / motor.unit + 0.5)
        off = (take_4(packet, place + 4) - count) & 0xFFFFFFFF
        count += off if off < 0x80000000 else off - 0x100000000
        motor.target[0] = motor.offset + count * motor.unit
        motor.target[1] = take_4(packet, place + 8) * motor.unit
        motor.target[2] = take_4(packet, place + 12) * motor.force
        before = motor.state
        _obey(motor, take_2(packet, place))
        if motor.state != _ENABLED:
            mode = 0
        if motor.state != before or mode != mode_of(joints.mode[d], k):
            joints.command[3 * m] = position
            joints.command[3 * m + 1] = joints.state[3 * m + 1]
            joints.command[3 * m + 2] = joints.state[3 * m + 2]
        joints.mode[d] = with_mode(joints.mode[d], k, mode)
        place += MOTOR
    _answer(drives, d, take_2(packet, 2), answer)


@realtime
def _obey(motor, control):
    """The state machine of CiA 402, on the side of the drive."""
    reset = control & 0x80 != 0 and motor.control & 0x80 == 0
    motor.control = control
    if motor.error != 0:
        motor.state = _FAULT
    if motor.state == _FAULT:
        if reset and motor.stuck == 0:
            motor.error = 0
            motor.state = _DISABLED
        return
    if control & 0x02 == 0 or control & 0x04 == 0:
        motor.state = _DISABLED  # no voltage, or a quick stop
    elif control & 0x01 == 0:
        motor.state = _READY
    elif control & 0x08 == 0:
        motor.state = _SWITCHED_ON if motor.state >= _READY else motor.state
    elif motor.state == _SWITCHED_ON:
        motor.state = _ENABLED


@realtime
def _miss_packet(drives, d, sim):
    sim.quiet += 1
    if sim.quiet <= QUIET_EXCHANGES:
        return
    drive = drives.drives[d]
    for m in range(drive.first_motor, drive.first_motor + drive.n_motors):
        motor = drives.bus.motors[m]
        if motor.state == _ENABLED:
            motor.error = NO_COMMANDS
            motor.state = _FAULT
    drives.bus.joints.mode[d] = 0


@realtime
def _statusword(state):
    if state == _ENABLED:
        return 0x0237
    if state == _SWITCHED_ON:
        return 0x0233
    if state == _READY:
        return 0x0231
    return 0x0218 if state == _FAULT else 0x0250


@realtime
def _answer(drives, d, number, answer):
    drive, joints = drives.drives[d], drives.bus.joints
    answer.bytes[0] = drive.node
    answer.bytes[1] = drive.n_motors
    put_2(answer, 2, number)
    place = HEAD
    for m in range(drive.first_motor, drive.first_motor + drive.n_motors):
        motor = drives.bus.motors[m]
        put_2(answer, place, _statusword(motor.state))
        put_2(answer, place + 2, motor.error)
        put_4(answer, place + 4, math.floor((joints.state[3 * m] - motor.offset) / motor.unit + 0.5))
        put_4(answer, place + 8, cut(math.floor(joints.state[3 * m + 1] / motor.unit + 0.5)))
        put_4(answer, place + 12, cut(math.floor(joints.state[3 * m + 2] / motor.force + 0.5)))
        place += MOTOR
    put_2(answer, place, crc16(answer, place))
    answer.size = place + CRC
