"""Servos on a serial bus for tests of the plugin `dynamixel`: a thread that speaks Protocol 2.0 on a pseudo-terminal.

Written from the public description of protocol and control tables; nothing here comes from the plugin or the SDK.
"""

from __future__ import annotations

import math
import os
import select
import struct
import threading
import time
import tty
from collections.abc import Callable, Iterator

PING, READ, WRITE, REBOOT, SYNC_READ, SYNC_WRITE, STATUS = 0x01, 0x02, 0x03, 0x08, 0x82, 0x83, 0x55
BROADCAST = 0xFE
RESULT_FAIL, INSTRUCTION_ERROR, CRC_ERROR, RANGE_ERROR, ACCESS_ERROR, ALERT = 1, 2, 3, 4, 7, 0x80
HEADER = b"\xff\xff\xfd\x00"
VELOCITY_UNIT = 0.229 * 4096 / 60
"""[pulses/s]"""
TOP_SPEED = 4096.0
"""[pulses/s]"""


def crc16(data: bytes) -> int:
    """CRC with the polynomial 0x8005, from the first bit on, beginning at 0."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x8005 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def packet(number: int, content: bytes) -> bytes:
    """A packet of an id, with instruction and parameters, stuffed and with its CRC."""
    stuffed = content.replace(b"\xff\xff\xfd", b"\xff\xff\xfd\xfd")
    head = HEADER + bytes([number]) + (len(stuffed) + 2).to_bytes(2, "little")
    return head + stuffed + crc16(head + stuffed).to_bytes(2, "little")


class Servo:
    """One servo: its control table, and a motor that follows its goals.

    Attributes:
        mute: it neither hears nor answers.
        garbles: it answers with a wrong CRC this many times.
        deaf_for: it ignores this many writes of Torque Enable.
        persists: its hardware error comes back after a reboot.
    """

    def __init__(self, number: int, model: int, position: int, firmware: int = 45) -> None:
        self.number, self.model, self.firmware = number, model, firmware
        self.mute, self.garbles, self.deaf_for, self.persists = False, 0, 0, False
        self.reboots = 0
        self.position, self.speed = float(position), 0.0
        self.table = bytearray(1024)
        self.clock: Callable[[], float] = time.monotonic
        self.heard = self._moved = 0.0
        self._eeprom = {7: (number, 1), 9: (250, 1), 10: (0, 1), 11: (3, 1), 38: (1193, 2), 44: (265, 4), 48: (4095, 4)}
        for address, (value, size) in self._eeprom.items():
            self.put(address, value, size)
        self.start()

    def start(self) -> None:
        """Power on: RAM as it is from the factory."""
        self.table[64:] = bytes(len(self.table) - 64)
        self.put(0, self.model, 2)
        self.put(6, self.firmware, 1)
        self.put(68, 2, 1)
        for i in range(56):
            place, default = (168 + 2 * i, 224 + i) if i < 28 else (578 + 2 * (i - 28), 634 + i - 28)
            self.put(place, default, 2)
        self.put(116, round(self.position), 4)

    def put(self, address: int, value: int, size: int) -> None:
        self.table[address : address + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")

    def get(self, address: int, size: int, signed: bool = True) -> int:
        return int.from_bytes(self.table[address : address + size], "little", signed=signed)

    @property
    def torque(self) -> bool:
        return bool(self.table[64])

    def fail(self, status: int, persists: bool = False) -> None:
        """A hardware error, which switches the torque off; persists: also after a reboot."""
        self.table[70], self.table[64], self.persists = status, 0, persists

    def restart(self) -> None:
        """As after a loss of supply."""
        self.speed = 0.0
        self.start()

    # --- instructions -----------------------------------------------------------------------------

    def read(self, address: int, size: int) -> tuple[int, bytes]:
        self.move()
        data = bytes(self.table[self._real(address + i)] for i in range(size))
        return 0, data

    def _real(self, address: int) -> int:
        if 224 <= address < 252:
            return self.get(168 + 2 * (address - 224), 2, False)
        return address

    def write(self, address: int, data: bytes) -> int:
        """Returns an error number."""
        self.move()
        if address < 64 and self.torque:
            return ACCESS_ERROR
        if address in (0, 2, 6, 70) or 120 <= address < 168:
            return ACCESS_ERROR
        value = int.from_bytes(data, "little", signed=True)
        if address in (100, 102, 104, 116) and self.table[98] == 0xFF:
            return RANGE_ERROR
        if address == 102 and (self.model == 1060 or abs(value) > self.get(38, 2)):
            return ACCESS_ERROR if self.model == 1060 else RANGE_ERROR
        if address == 104 and abs(value) > self.get(44, 4):
            return RANGE_ERROR
        if address == 116 and self.table[11] == 3 and not self.get(52, 4) <= value <= self.get(48, 4):
            return RANGE_ERROR
        if address == 64 and data[0] and (self.table[70] or self.deaf_for):
            self.deaf_for = max(self.deaf_for - 1, 0)
            return ACCESS_ERROR
        if address == 64 and data[0] and not self.torque:
            self.speed = 0.0
        self.table[address : address + len(data)] = data
        if address == 11:
            self.put(116, round(self.position), 4)
            self.put(104, 0, 4)
            self.put(102, 0, 2)
        return 0

    # --- the motor --------------------------------------------------------------------------------

    def move(self) -> None:
        """Move on to the present time."""
        now = self.clock()
        limit = self.table[98]
        if self.torque and 0 < limit < 0x80 and now - self.heard > 0.02 * limit:
            self._advance(self.heard + 0.02 * limit)  # until then it moved
            self.table[98], self.speed = 0xFF, 0.0
        self._advance(now)
        self.put(126, self.get(102, 2) if self.torque and self.table[11] == 0 else 0, 2)
        self.put(128, round(self.speed / VELOCITY_UNIT), 4)
        self.put(132, round(self.position) + self.get(20, 4), 4)

    def _advance(self, now: float) -> None:
        dt, self._moved = max(now - self._moved, 0.0), max(now, self._moved)
        mode, stopped = self.table[11], self.table[98] == 0xFF
        if dt == 0.0:
            return
        if not self.torque:
            self.speed = 0.0
            return
        if stopped:
            self.speed = 0.0  # where it is: its goals stay as they were
        elif mode in (3, 4):
            away = self.get(116, 4) - self.get(20, 4) - self.position
            lag = 1.0 - math.exp(-dt / 0.03)
            self.speed = max(-TOP_SPEED, min(TOP_SPEED, lag * away / dt))
        elif mode == 1:
            self.speed = self.get(104, 4) * VELOCITY_UNIT
        elif mode == 0:
            self.speed = self.get(102, 2) * 2.0
        self.position += self.speed * dt


class ServoLine:
    """The bus: `port` is the pseudo-terminal's name. Use it in a `with` statement: it runs in a thread.

    Args:
        period_s: time passes by this with each request for all states; 0: it is the wall clock's.

    Attributes:
        bad_packets: how many packets came with a wrong CRC.
    """

    def __init__(self, *servos: Servo, period_s: float = 0.0) -> None:
        self.servos = {servo.number: servo for servo in servos}
        self.sent, self._waited = 0, 0
        """Requests for all states that were sent, as a test counts them; and those that were waited for."""
        self._requests, self._idle, self._answered = 0, 0, threading.Condition()
        self._clock: Callable[[], float] = time.monotonic
        if period_s > 0.0:
            self._clock = lambda: (self._requests + self._idle) * period_s
        for servo in servos:
            servo.clock = self._clock
            servo.heard = servo._moved = self._clock()
        self._own, self._other = os.openpty()
        tty.setraw(self._own)
        tty.setraw(self._other)
        self.port = os.ttyname(self._other)
        self.bad_packets = 0
        self.cut = False
        """Nothing passes the cable."""
        self._stop, self._wake = threading.Event(), os.pipe()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> ServoLine:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        os.write(self._wake[1], b"x")
        self._thread.join()
        for handle in (self._own, self._other, *self._wake):
            os.close(handle)

    def wait(self, _plugin: object = None) -> None:
        """Until all requests that were sent are answered, or lost in the cable; without a new one, time passes."""
        with self._answered:
            self._idle += self.sent == self._waited
            assert self._answered.wait_for(lambda: self._requests >= self.sent, 20.0), "requests do not arrive"
            self._waited = self.sent

    def pull(self) -> None:
        self.cut = True

    def plug(self) -> None:
        self.cut = False

    def _serve(self) -> None:
        arrived = b""
        while not self._stop.is_set():
            ready, _, _ = select.select([self._own, self._wake[0]], [], [], 0.05)
            for servo in self.servos.values():
                servo.move()
            if self._own not in ready:
                continue
            arrived += os.read(self._own, 4096)
            while (found := self._first(arrived)) is not None:
                number, content, arrived = found
                if content and not self.cut:
                    self._obey(number, content)
                if content[:1] == bytes([SYNC_READ]):
                    with self._answered:
                        self._requests += 1
                        self._answered.notify_all()

    def _first(self, data: bytes) -> tuple[int, bytes, bytes] | None:
        """Id, instruction with parameters, and the rest; no content: it was damaged."""
        begin = data.find(HEADER)
        if begin < 0 or len(data) < begin + 7:
            return None
        data = data[begin:]
        size = 7 + int.from_bytes(data[5:7], "little")
        if len(data) < size:
            return None
        whole, rest = data[:size], data[size:]
        if crc16(whole[:-2]) != int.from_bytes(whole[-2:], "little"):
            self.bad_packets += 1
            return 0, b"", rest
        return whole[4], whole[7:-2].replace(b"\xff\xff\xfd\xfd", b"\xff\xff\xfd"), rest

    def _hearing(self) -> Iterator[Servo]:
        for servo in self.servos.values():
            if not servo.mute:
                servo.move()
                servo.heard = self._clock()
                yield servo

    def _obey(self, number: int, content: bytes) -> None:
        hearing = {servo.number: servo for servo in self._hearing()}
        instruction, given = content[0], content[1:]
        if instruction == SYNC_WRITE:
            address, size = struct.unpack("<HH", given[:4])
            for i in range(4, len(given), size + 1):
                if given[i] in hearing:
                    hearing[given[i]].write(address, given[i + 1 : i + 1 + size])
        elif instruction == SYNC_READ:
            address, size = struct.unpack("<HH", given[:4])
            for each in given[4:]:
                if each in hearing:
                    self._answer(hearing[each], *hearing[each].read(address, size))
        elif number in hearing:
            servo = hearing[number]
            if instruction == PING:
                self._answer(servo, 0, servo.model.to_bytes(2, "little") + bytes([servo.firmware]))
            elif instruction == READ:
                self._answer(servo, *servo.read(*struct.unpack("<HH", given[:4])))
            elif instruction == WRITE:
                self._answer(servo, servo.write(int.from_bytes(given[:2], "little"), given[2:]), b"")
            elif instruction == REBOOT:
                self._answer(servo, 0, b"")
                error = servo.table[70] if servo.persists else 0
                servo.restart()
                servo.table[70] = error
                servo.reboots += 1
            else:
                self._answer(servo, INSTRUCTION_ERROR, b"")

    def _answer(self, servo: Servo, error: int, data: bytes) -> None:
        alert = ALERT if servo.table[70] else 0
        content = packet(servo.number, bytes([STATUS, error | alert]) + data)
        if servo.garbles:
            servo.garbles -= 1
            content = content[:-1] + bytes([content[-1] ^ 1])
        os.write(self._own, content)
