"""The cyclic exchange: all drives' PDOs in one period, without an object for each signal.

Each motor has a record of commands and one of states. A PDO is a list of places in the bytes of these records, so that
one gather packs all RPDOs, and one scatter of 8 bytes unpacks a TPDO, whatever a drive's mapping is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import can
import numpy as np

from robot_rt_control.hardware.canopen.objects import COMMAND_RECORD, STATE_RECORD
from robot_rt_control.hardware.canopen.plan import DrivePlan, Pdo

SYNC = 0x80


@dataclass
class Counters:
    """Counters of each drive; int64 of shape (n,)."""

    age: np.ndarray
    """Exchanges since its last complete answer."""
    lost: np.ndarray
    late: np.ndarray
    repeated: np.ndarray
    corrupt: np.ndarray


class Exchange:
    """The records of all motors, and how they travel. One thread calls `send` and `receive` in turns.

    Args:
        plans: the drives, whose motors have consecutive records.
    """

    def __init__(self, plans: Sequence[DrivePlan]) -> None:
        n = sum(len(plan.modes) for plan in plans)
        self.commands = np.zeros(n, COMMAND_RECORD)
        self.states = np.zeros(n, STATE_RECORD)
        self.counters = Counters(*(np.zeros(len(plans), np.int64) for _ in range(5)))
        self.bus_errors = 0
        """Error frames, and frames that could not be sent."""
        # Places beyond a short PDO's end lead to one byte more, which means nothing.
        self._commands = np.zeros(self.commands.nbytes + 1, np.uint8)
        self._arrived = np.zeros(self.states.nbytes, np.uint8)
        self._gather = np.full((sum(len(plan.rpdos) for plan in plans), 8), self.commands.nbytes)
        self._frames = np.zeros(self._gather.shape, np.uint8)
        self._outgoing: list[tuple[can.Message, memoryview]] = []
        self._incoming: dict[int, int] = {}
        """COB-ID → number of the TPDO."""
        self._scatter: list[np.ndarray] = []
        self._drive_of: list[int] = []
        self._motors_of: list[slice] = []
        first = 0
        for d, plan in enumerate(plans):
            for pdo in plan.rpdos:
                self._add_rpdo(pdo, first)
            for pdo in plan.tpdos:
                self._incoming[pdo.cob_id] = len(self._scatter)
                self._scatter.append(_places(pdo, first, STATE_RECORD))
                self._drive_of.append(d)
            self._motors_of.append(slice(first, first + len(plan.modes)))
            first += len(plan.modes)
        self._came, self._missed = np.zeros((2, len(self._scatter)), bool)
        self._sync = can.Message(arbitration_id=SYNC, is_extended_id=False)
        self._most = 4 * len(self._scatter) + 4 * len(plans) + 16
        """Frames that one exchange takes from the bus: a node that babbles does not keep it."""
        self._expecting = False

    def _add_rpdo(self, pdo: Pdo, first: int) -> None:
        row, places = len(self._outgoing), _places(pdo, first, COMMAND_RECORD)
        self._gather[row, : pdo.size] = places
        message = can.Message(arbitration_id=pdo.cob_id, is_extended_id=False, data=bytes(pdo.size))
        self._outgoing.append((message, self._frames[row, : pdo.size].data))

    def send(self, bus: can.BusABC) -> None:
        """Send `commands` in RPDOs; then SYNC, with which all drives apply them and sample their states."""
        self._commands[:-1] = self.commands.view(np.uint8)
        np.take(self._commands, self._gather, out=self._frames)
        self._expecting = True
        try:
            for message, data in self._outgoing:
                message.data[:] = data
                bus.send(message)
            bus.send(self._sync)
        except can.CanError:  # then the drives' answers are missing, which `receive` counts
            self.bus_errors += 1

    def receive(self, bus: can.BusABC, bound_s: float, other: Callable[[int, bytearray], None]) -> None:
        """Take what has arrived, and wait for what is missing of the last `send`. Fills `states` and `counters`.

        The states of a drive change only if its answer is complete.

        Args:
            bus: the bus.
            bound_s: [s] the longest wait.
            other: gets COB-ID and data of all other frames.
        """
        self._came[:] = False
        missing = len(self._came) if self._expecting else 0
        deadline = time.monotonic() + bound_s
        wait = 0.0
        for _ in range(self._most):
            message = bus.recv(wait)
            if message is None:
                wait = deadline - time.monotonic()
                if missing == 0 or wait <= 0.0:
                    break
                continue
            if message.is_error_frame:
                self.bus_errors += 1
                continue
            number = self._incoming.get(message.arbitration_id)
            if number is None:
                other(message.arbitration_id, message.data)
            elif self._take(number, message):
                missing -= 1
                if missing == 0:
                    wait = 0.0
        if self._expecting:
            self._finish()
        self._expecting = False

    def _take(self, number: int, message: can.Message) -> bool:
        """Take a TPDO; True: the first one in this exchange."""
        drive, places = self._drive_of[number], self._scatter[number]
        if len(message.data) != len(places) or message.is_remote_frame:
            self.counters.corrupt[drive] += 1
            return False
        self._arrived[places] = np.frombuffer(message.data, np.uint8)
        if not self._came[number]:
            self._came[number] = True
            return self._expecting
        # A second one: of the exchange before, if that lacked it.
        if self._missed[number]:
            self.counters.late[drive] += 1
            self._missed[number] = False
        else:
            self.counters.repeated[drive] += 1
        return False

    def _finish(self) -> None:
        np.logical_not(self._came, out=self._missed)
        incomplete = {self._drive_of[number] for number in np.flatnonzero(self._missed)}
        arrived = self._arrived.view(STATE_RECORD)
        for d, motors in enumerate(self._motors_of):
            if d in incomplete:
                self.counters.age[d] += 1
                self.counters.lost[d] += 1
            else:
                self.counters.age[d] = 0
                self.states[motors] = arrived[motors]


def _places(pdo: Pdo, first: int, record: np.dtype) -> np.ndarray:
    """Indices of a PDO's bytes in the bytes of the motors' records."""
    assert record.fields is not None
    begin = (first + pdo.motor) * record.itemsize
    found = [begin + record.fields[m.field][1] + i for m in pdo.mapped for i in range(m.size)]
    return np.array(found)
