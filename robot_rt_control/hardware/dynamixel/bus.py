"""The serial bus, by the maker's SDK: acknowledged accesses, and exchanges with all servos that wait for nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from dynamixel_sdk import COMM_SUCCESS, PortHandler, Protocol2PacketHandler

from robot_rt_control.hardware.dynamixel.control_table import Register
from robot_rt_control.vocabulary.errors import HardwareError

_HEAD = 11
"""[bytes] of an answer, beside its data."""
_ID, _DATA = 4, 9
"""Places in an answer."""
_ALERT = 0x80
_POLL_S = 5e-5
_WRITE_S = 0.5
"""An adapter that takes nothing for so long is gone: without a bound, pyserial would try for ever."""
_TRIES = 3
"""Of an acknowledged access: single packets may be lost on a bus."""


class _Port(PortHandler):
    """A port whose time-out for acknowledgements is given."""

    answer_timeout_s: float

    def setPacketTimeout(self, packet_length: int) -> None:
        super().setPacketTimeout(packet_length)
        self.packet_timeout = 1e3 * self.answer_timeout_s + self.tx_time_per_byte * packet_length  # [ms]


class ServoBus:
    """An open port. One thread uses it.

    Args:
        port: /dev/ttyUSB0, or what a udev rule calls it.
        baud_rate: [bit/s]
        answer_timeout_s: [s] until an access that is not acknowledged is tried again.

    Raises:
        HardwareError: it cannot be opened.
    """

    def __init__(self, port: str, baud_rate: int, answer_timeout_s: float) -> None:
        self._port, self._packets = _Port(port), Protocol2PacketHandler()
        self._port.answer_timeout_s = answer_timeout_s
        try:
            opened = self._port.setBaudRate(baud_rate)
        except OSError as error:  # pyserial's own exception is one
            raise HardwareError(
                f"serial port {port!r}",
                expected="a port that can be opened",
                got=str(error),
                hint="Is the adapter plugged in, and are you in the group `dialout`?",
            ) from None
        if not opened:
            raise HardwareError(f"serial port {port!r}: baud rate", expected="one that the SDK has", got=str(baud_rate))
        self._port.ser.write_timeout = _WRITE_S

    def close(self) -> None:
        self._port.closePort()

    # --- acknowledged -----------------------------------------------------------------------------

    def ping(self, servo: int) -> int | None:
        """Its model number; None: no answer."""
        for _ in range(_TRIES):
            model, result, _ = self._packets.ping(self._port, servo)
            if result == COMM_SUCCESS:
                return int(model)
        return None

    def read(self, servo: int, register: Register, what: str) -> int:
        """A register's value. Raises: HardwareError, no or a bad answer."""
        data = self._read(servo, register.address, register.size, f"{what}: reading {register.name}")
        return int.from_bytes(data, "little", signed=register.is_signed)

    def write(self, servo: int, register: Register, value: int, what: str, tries: int = _TRIES) -> None:
        """Write a register. Raises: HardwareError, no or a bad answer, or the servo refuses the value."""
        what = f"{what}: writing {value} to {register.name}"
        self._write(servo, register.address, encoded(register, value), what, tries)

    def map(self, servo: int, first: int, addresses: Sequence[int], what: str) -> None:
        """Write Indirect Addresses, from the first one on. Raises: HardwareError, as `write`."""
        data = b"".join(address.to_bytes(2, "little") for address in addresses)
        self._write(servo, first, data, f"{what}: writing Indirect Addresses")

    def mapped(self, servo: int, first: int, n: int, what: str) -> list[int]:
        """Indirect Addresses as they are. Raises: HardwareError, as `read`."""
        data = self._read(servo, first, 2 * n, f"{what}: reading Indirect Addresses")
        return [int.from_bytes(data[2 * i : 2 * i + 2], "little") for i in range(n)]

    def _read(self, servo: int, address: int, size: int, what: str) -> bytes:
        for _ in range(_TRIES):
            data, result, error = self._packets.readTxRx(self._port, servo, address, size)
            if result == COMM_SUCCESS and len(data) >= size:
                break
        self._check(result, error, f"{what} ({address})", _TRIES)
        return bytes(data[:size])

    def _write(self, servo: int, address: int, data: bytes, what: str, tries: int = _TRIES) -> None:
        for _ in range(tries):
            result, error = self._packets.writeTxRx(self._port, servo, address, len(data), list(data))
            if result == COMM_SUCCESS:
                break
        self._check(result, error, f"{what} ({address})", tries)

    def _check(self, result: int, error: int, what: str, tries: int) -> None:
        if result != COMM_SUCCESS:
            raise HardwareError(
                f"{what}, {tries} times", expected="an answer", got=self._packets.getTxRxResult(result)
            )
        if error & ~_ALERT:  # the alert alone concerns the motor, not this access
            raise HardwareError(what, got=self._packets.getRxPacketError(error & ~_ALERT))

    # --- without waiting --------------------------------------------------------------------------

    def reboot(self, servo: int) -> None:
        """Restart a servo, which clears its hardware error. Nothing is waited for."""
        packet = [0] * 10
        packet[_ID], packet[5], packet[7] = servo, 3, 0x08
        self._send(packet)

    def write_all(self, register: Register, values: Mapping[int, int]) -> None:
        """Write one register of several servos by one packet, which is not answered."""
        if values:
            content = [b for servo, value in values.items() for b in (servo, *encoded(register, value))]
            self._packets.syncWriteTxOnly(self._port, register.address, register.size, content, len(content))

    def request(self, first: int, n: int, servos: Sequence[int]) -> None:
        """Ask servos for n bytes each; `receive` takes the answers. Older answers are dropped."""
        self._packets.syncReadTx(self._port, first, n, list(servos), len(servos), False)
        self._port.is_using = False  # the SDK would wait for the answers first

    def receive(self, n: int, bound_s: float, wanted: int) -> Iterator[tuple[int, bytes]]:
        """Servo and data of the answers that arrive; damaged ones are left out.

        Args:
            n: [bytes] of data in each.
            bound_s: how long to wait, at most.
            wanted: how many answers end the waiting.
        """
        given_up = time.monotonic() + bound_s
        while wanted > 0:
            if self._port.getBytesAvailable() < _HEAD + n:
                if time.monotonic() >= given_up:
                    return
                time.sleep(_POLL_S)
                continue
            self._port.setPacketTimeoutMillis(1.0)  # for the few bytes that an answer may have beyond that
            packet, result = self._packets.rxPacket(self._port, False)
            wanted -= 1
            if result == COMM_SUCCESS and len(packet) >= _HEAD + n:
                yield packet[_ID], bytes(packet[_DATA : _DATA + n])

    def _send(self, packet: list[int]) -> None:
        self._packets.txPacket(self._port, packet)
        self._port.is_using = False


def encoded(register: Register, value: int) -> bytes:
    """A register's bytes; a value that it cannot hold becomes the nearest one."""
    bits = 8 * register.size
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if register.is_signed else (0, (1 << bits) - 1)
    return min(max(value, low), high).to_bytes(register.size, "little", signed=register.is_signed)
