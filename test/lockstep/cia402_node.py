"""Servo drives for tests of the plugin `canopen`: nodes of the library `canopen`, with the states of CiA 402.

Nothing here comes from the plugin. In lockstep, all nodes handle a frame of the plugin before its `send` returns. So no
answer depends on how fast the machine is, and a missing one is missing at once.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

import can
import canopen

NOT_READY, DISABLED, READY, SWITCHED_ON, ENABLED, QUICK_STOP, REACTION, FAULT = range(8)
STATUSWORDS = [0x0000, 0x0250, 0x0231, 0x0233, 0x1237, 0x0217, 0x021F, 0x0218]


class Servo:
    """One drive with one motor; its counts follow targets at each SYNC.

    Args:
        network: the nodes' side of the bus.
        node: node id.
        eds: file of its dictionary.
        period_s: of SYNC.
        brake: SYNCs between `Enable operation` and the state Operation enabled.
    """

    def __init__(
        self, network: canopen.Network, node: int, eds: str, *, period_s: float = 0.002, brake: int = 3
    ) -> None:
        self.node: Any = canopen.LocalNode(node, eds)
        self.period_s, self.brake = period_s, brake
        self.values: dict[int, int] = {}
        """Objects that answer otherwise than the EDS file says."""
        self.state, self.error, self.stuck = DISABLED, 0, False
        self.position, self.speed, self.torque = 1000.0, 0.0, 0.0
        self.mode = 0
        self.fixed_mode = 0
        """The mode that it is in, whatever is asked for; 0: as asked."""
        self.ignores = False
        """It is enabled, and follows nothing."""
        self.hangs = DISABLED
        """A state that it does not leave, above DISABLED."""
        self.mute = 0
        """SYNCs that it ignores."""
        self.hold_back = 0
        """SYNCs whose TPDOs it sends at the next SYNC."""
        self.twice = self.short = False
        self.heartbeats = True
        self.states: list[int] = []
        """All states in their order."""
        self.written: list[tuple[int, int, bytes]] = []
        """SDO downloads: index, sub, data."""
        self._control, self._braked, self._syncs = 0, 0, 0
        self._mapped = False
        self._late: list[tuple[int, bytes]] = []
        network.add_node(self.node)
        self.node.add_read_callback(self._read)
        self.node.add_write_callback(lambda index, subindex, od, data: self.written.append((index, subindex, data)))
        network.subscribe(0x80, self._on_sync)
        self.node.nmt.state = "PRE-OPERATIONAL"

    def fault(self, code: int, stuck: bool = False, silent: bool = False) -> None:
        """Fault, with an emergency message unless it is silent; stuck: the cause stays, and no reset helps."""
        self._enter(REACTION)
        self.error, self.stuck = code, stuck
        if not silent:
            self.node.emcy.send(code, 0x21)

    def restart(self) -> None:
        """Lose everything, as after a loss of supply."""
        self._enter(DISABLED)
        self.node.nmt.state = "PRE-OPERATIONAL"
        self._mapped = False
        self.node.network.send_message(0x700 + self.node.id, bytes([0]))

    # --- the dictionary ---------------------------------------------------------------------------

    def _read(self, index: int, subindex: int, od: Any) -> Any:
        if (index << 8 | subindex) in self.values:
            return self.values[index << 8 | subindex]
        present = {
            0x6041: STATUSWORDS[self.state] & ~(0x1000 if self.ignores else 0),
            0x603F: self.error,
            0x6061: self.mode,
            0x6064: round(self.position),
            0x606C: round(self.speed),
            0x6077: round(self.torque),
        }
        return present.get(index)

    def _object(self, index: int) -> int:
        return int(self.node.sdo[index].raw)

    # --- PDOs -------------------------------------------------------------------------------------

    def _on_sync(self, can_id: int, data: bytearray, timestamp: float) -> None:
        if self.heartbeats and self._syncs % 10 == 0:
            state = {"OPERATIONAL": 5, "PRE-OPERATIONAL": 127, "STOPPED": 4}[self.node.nmt.state]
            self.node.network.send_message(0x700 + self.node.id, bytes([state]))
        self._syncs += 1
        if self.node.nmt.state != "OPERATIONAL":
            self._mapped = False
            return
        if not self._mapped:
            self.node.rpdo.read()
            self.node.tpdo.read()
            self._mapped = True
        if self.mute:
            self.mute -= 1
            return
        for pdo in self.node.rpdo.values():
            if pdo.enabled and pdo.is_received:
                for variable in pdo:
                    self.node.set_data(variable.index, variable.subindex, variable.data)
        self._step()
        answers = []
        for pdo in self.node.tpdo.values():
            if pdo.enabled and pdo.trans_type == 1:
                for variable in pdo:
                    variable.raw = self._object(variable.index)
                answers.append((pdo.cob_id, bytes(pdo.data)))
        late, self._late = self._late, []
        if self.hold_back:
            self.hold_back -= 1
            self._late, answers = answers, []
        for cob_id, content in late + answers * (2 if self.twice else 1):
            self.node.network.send_message(cob_id, content[:-1] if self.short else content)

    # --- the motor --------------------------------------------------------------------------------

    def _enter(self, state: int) -> None:
        self.state = state
        self.states.append(state)

    def _step(self) -> None:
        last, self._control = self._control, self._object(0x6040)
        self.mode = self.fixed_mode or self._object(0x6060)
        before = self.position
        if self.state == ENABLED and not self.ignores:
            if self.mode == 8:
                self.position = float(self._object(0x607A))
                self.speed = (self.position - before) / self.period_s
            elif self.mode == 9:
                self.speed = float(self._object(0x60FF))
                self.position += self.speed * self.period_s
            elif self.mode == 10:
                self.torque = float(self._object(0x6071))
                self.speed += 1000.0 * self.torque * self.period_s
                self.position += self.speed * self.period_s
        else:
            self.speed = self.torque = 0.0
        state = self._next(last, self._control)
        if state != self.state:
            self._enter(state)

    def _next(self, last: int, control: int) -> int:
        """The state that the controlword leads to (CiA 402-2, transitions 2 to 16)."""
        state = self.state
        if state == REACTION:
            return FAULT
        if state == FAULT:
            if control & 0x80 and not last & 0x80 and not self.stuck:
                self.error = 0
                self.node.emcy.reset()
                return DISABLED
            return FAULT
        if state == QUICK_STOP:
            return DISABLED
        if not control & 0x02:  # disable voltage
            return DISABLED
        if not control & 0x04:  # quick stop
            return QUICK_STOP if state == ENABLED else DISABLED
        low = control & 0x0F
        if self.hangs != DISABLED and state == self.hangs:
            return state
        if low == 0x06:
            return READY
        if state == READY and low in (0x07, 0x0F):
            return SWITCHED_ON
        if state == SWITCHED_ON and low == 0x0F:
            self._braked += 1
            if self._braked > self.brake:
                self._braked = 0
                return ENABLED
        if state == ENABLED and low == 0x07:
            return SWITCHED_ON
        return state


# --- a bus in lockstep ----------------------------------------------------------------------------

# As an entry point `can.interface` of an installed package would.
can.interface.BACKENDS["lockstep"] = (__name__, "LockstepBus")
can.util.VALID_INTERFACES = frozenset({*can.util.VALID_INTERFACES, "lockstep"})


_networks: dict[str, NodeNetwork] = {}


class _Periodic:
    def update(self, data: Any) -> None: ...

    def stop(self) -> None: ...


class NodeNetwork(canopen.Network):
    """The nodes' side of the bus `lockstep`, without threads. Heartbeats come with SYNC."""

    def __init__(self, channel: str) -> None:
        super().__init__()
        self.other: LockstepBus | None = None
        _networks[channel] = self

    def send_message(self, can_id: int, data: Any, remote: bool = False) -> None:
        if self.other is not None:
            self.other.put(can.Message(arbitration_id=can_id, data=bytes(data), is_extended_id=False))
        self.notify(can_id, bytearray(data), 0.0)

    def send_periodic(self, can_id: int, data: Any, period: float, remote: bool = False) -> Any:
        return _Periodic()


class LockstepBus(can.BusABC):
    """The plugin's side. In the thread that made it, `recv` never waits: what is not there will not come."""

    def __init__(self, channel: str, **_: Any) -> None:
        super().__init__(channel)
        self.channel_info = f"lockstep {channel}"
        self._owner, self._arrived, self._condition = (
            threading.current_thread(),
            deque[can.Message](),
            threading.Condition(),
        )
        if channel not in _networks:
            raise OSError(f"no such channel: {channel}")
        self._network = _networks[channel]
        self._network.other = self
        self.sent: list[can.Message] = []

    def put(self, message: can.Message) -> None:
        with self._condition:
            self._arrived.append(message)
            self._condition.notify()

    def send(self, msg: can.Message, timeout: float | None = None) -> None:
        self.sent.append(can.Message(arbitration_id=msg.arbitration_id, data=bytes(msg.data)))
        self._network.notify(msg.arbitration_id, bytearray(msg.data), 0.0)

    def recv(self, timeout: float | None = None) -> can.Message | None:
        with self._condition:
            if not self._arrived and threading.current_thread() is not self._owner:
                self._condition.wait(timeout)
            return self._arrived.popleft() if self._arrived else None
