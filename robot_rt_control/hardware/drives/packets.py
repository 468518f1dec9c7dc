"""The packets of the drives on a test bus: one for each drive with all of its motors, and its answer. Little endian.

=============  ==========================================================================
bytes          to the drive
=============  ==========================================================================
0, 1, 2-3      node, number of motors, number of the packet
4 + 16 k       of motor k: controlword (2), mode (1), 0 (1), target position (4),
               target velocity (4), target current (4)
last 2         CRC-16-CCITT of all that precedes, from 0xffff
=============  ==========================================================================

The answer has the number of the packet that it answers, and of each motor statusword (2), error code (2), position (4),
velocity (4) and current (4). Positions and velocities are encoder counts (per second), currents are in mA. Positions
wrap around at 32 bits; velocities and currents are cut to them. Control- and statuswords are those of CiA 402.
"""

import numpy as np

from robot_rt_control.native.realtime_code import realtime

HEAD = 4
MOTOR = 16
CRC = 2

_LARGEST = 2**31 - 1


def _crc_table() -> np.ndarray:
    table = np.zeros(256, np.int64)
    for i in range(256):
        crc = i << 8
        for _ in range(8):
            crc = (crc << 1) ^ (0x1021 if crc & 0x8000 else 0)
        table[i] = crc & 0xFFFF
    return table


_TABLE = _crc_table()


@realtime
def crc16(packet, size):
    """The checksum of a packet's first bytes."""
    crc = 0xFFFF
    for i in range(size):
        crc = ((crc << 8) & 0xFFFF) ^ _TABLE[((crc >> 8) ^ packet.bytes[i]) & 0xFF]
    return crc


@realtime
def put_2(packet, place, value):
    packet.bytes[place] = value & 0xFF
    packet.bytes[place + 1] = (value >> 8) & 0xFF


@realtime
def put_4(packet, place, value):
    """The lowest 32 bits."""
    put_2(packet, place, value & 0xFFFF)
    put_2(packet, place + 2, (value >> 16) & 0xFFFF)


@realtime
def take_2(packet, place):
    return np.int64(packet.bytes[place]) | (np.int64(packet.bytes[place + 1]) << 8)


@realtime
def take_4(packet, place):
    """As a signed number."""
    return wrapped(take_2(packet, place) | (take_2(packet, place + 2) << 16))


@realtime
def wrapped(value):
    """The signed number of 32 bits that equals an integer modulo 2^32."""
    return ((value + 0x80000000) & 0xFFFFFFFF) - 0x80000000


@realtime
def cut(value):
    """An integer cut to 32 bits."""
    return min(max(value, -_LARGEST), _LARGEST)


@realtime
def generate_tx_packet(drives, d):
    """The packet for a drive, with the command values of all its motors."""
    drive = drives.drives[d]
    packet = drive.tx
    drive.sequence = (drive.sequence + 1) & 0xFFFF
    drive.since += 1
    packet.bytes[0] = drive.node
    packet.bytes[1] = drive.n_motors
    put_2(packet, 2, drive.sequence)
    place = HEAD
    for m in range(drive.first_motor, drive.first_motor + drive.n_motors):
        motor = drives.motors[m]
        put_2(packet, place, motor.control)
        put_2(packet, place + 2, motor.mode)
        put_4(packet, place + 4, motor.target)
        put_4(packet, place + 8, cut(motor.target_velocity))
        put_4(packet, place + 12, cut(motor.target_current))
        place += MOTOR
    put_2(packet, place, crc16(packet, place))
    packet.size = place + CRC


@realtime
def _is_intact(drive, packet):
    """Whether a packet is one of this drive, as it left it."""
    size = HEAD + MOTOR * drive.n_motors + CRC
    if packet.size != size or packet.bytes[0] != drive.node or packet.bytes[1] != drive.n_motors:
        return False
    return take_2(packet, size - CRC) == crc16(packet, size - CRC)


@realtime
def analyze_rx_packet(drives, d, dt):
    """Check the packets that have arrived from a drive, count what is wrong, and take the newest one's actual values.

    Args:
        dt: [s] from one exchange to the next.
    """
    drive = drives.drives[d]
    for k in range(drive.n_rx):
        packet = drive.rx[k]
        behind = (drive.sequence - take_2(packet, 2)) & 0xFFFF  # exchanges since what it answers was sent
        if not _is_intact(drive, packet) or behind > 0x7FFF:
            drive.corrupt += 1
            drive.damaged += 1
        elif behind >= drive.since:
            drive.repeated += 1
        else:
            passed = drive.since - behind
            drive.lost += max(passed - 1 - drive.damaged, 0)
            drive.damaged = 0
            drive.since = behind
            if behind > 0:
                drive.late += 1
            place = HEAD
            for m in range(drive.first_motor, drive.first_motor + drive.n_motors):
                _set_actual_values(drives.motors[m], packet, place, dt * passed)
                place += MOTOR
    drive.n_rx = 0


@realtime
def _set_actual_values(motor, packet, place, dt):
    motor.statusword = take_2(packet, place)
    motor.error = take_2(packet, place + 2)
    raw, velocity = take_4(packet, place + 4), take_4(packet, place + 8)
    if motor.known == 1:
        motor.count += wrapped(raw - motor.count)
        motor.acceleration = (velocity - motor.velocity) / (motor.counts * dt)
    else:
        motor.count = raw
        motor.acceleration = 0.0
    motor.known = 1
    motor.velocity = velocity
    motor.current = take_4(packet, place + 12)
