"""The plugin `canopen`: drives with the profile CiA 402 on a CAN bus. Its configuration: model/workcell/canopen.py.

Each `write` sends all RPDOs and then SYNC, with which the drives apply them and sample their states. The next `read`
takes the TPDOs, which have arrived meanwhile; for missing ones it waits at most `exchange_bound`.
"""

from __future__ import annotations

import logging
import struct
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import can
import canopen
import numpy as np

from robot_rt_control.hardware.canopen import objects
from robot_rt_control.hardware.canopen.exchange import Exchange
from robot_rt_control.hardware.canopen.motors import Motors
from robot_rt_control.hardware.canopen.node import DriveNode
from robot_rt_control.hardware.canopen.plan import plan_drive
from robot_rt_control.hardware.drives.configure import configure_drives
from robot_rt_control.hardware.parameters import checked
from robot_rt_control.hardware.plugin import CallbackReturn, HardwareInfo, HardwarePlugin, HardwareReturn
from robot_rt_control.memory.layout import device_dtype
from robot_rt_control.model.workcell.canopen import CanopenDrives
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError
from robot_rt_control.vocabulary.motor_errors import NO_HEARTBEAT, motor_error_remedy, motor_error_text

_log = logging.getLogger(__name__)

logging.getLogger("canopen").setLevel(logging.WARNING)  # below, it logs each object that it writes

_BOOT_UP, _OPERATIONAL = 0, 5
_EMERGENCY = struct.Struct("<HB5s")


class CanopenPlugin(HardwarePlugin):
    """A joint's mode other than NONE enables its motor; NONE disables it, and its brake holds it."""

    def on_init(self, info: HardwareInfo) -> CallbackReturn:
        self.info = info
        where = f"hardware {info.name!r}, parameters of the canopen plugin"
        self._given = given = checked(CanopenDrives, info.parameters, where)
        self._bus: can.BusABC | None = None
        self._network: canopen.Network | None = None
        self._nodes: list[DriveNode] = []
        self._active = False
        self._modes = {
            f"{part.name}.{joint}": tuple(sorted(part.supported_modes - {CommandMode.NONE}))
            for part in info.parts
            for joint in part.joint_names
        }
        self._plans = [
            plan_drive(d, [self._modes[m.joint] for m in d.motors], Path(info.folder), given.measured_velocity)
            for d in given.drives
        ]
        self._bound_s = info.period_s / 4 if given.exchange_bound is None else given.exchange_bound
        self._heartbeat_periods = max(1, round(given.heartbeat / info.period_s))
        return CallbackReturn.SUCCESS

    # --- life cycle -------------------------------------------------------------------------------

    def on_configure(self) -> CallbackReturn:
        given, bus = self._given, self._given.network
        try:
            self._bus = can.Bus(channel=bus.channel, interface=bus.interface, **bus.options)
        except Exception as error:  # each adapter's driver raises its own
            raise HardwareError(
                f"hardware {self.info.name!r}: CAN bus {bus.interface!r}, channel {bus.channel!r}",
                expected="a bus that can be opened",
                got=f"{type(error).__name__}: {error}",
                hint="docs/canopen.md describes how an interface is set up",
            ) from None
        self._network = canopen.Network(self._bus)
        self._network.NOTIFIER_CYCLE = 0.02
        self._nodes = [DriveNode(plan, self._network, given) for plan in self._plans]
        with self._listening():
            for node in self._nodes:
                node.check_identity()
            for node in self._nodes:
                node.configure(self.info.period_s)
            rated, positions = self._of_motors(objects.RATED_TORQUE), self._of_motors(objects.POSITION_ACTUAL)
        self._exchange = Exchange(self._plans)
        self._places = configure_drives(np.zeros(1, device_dtype)[0], self.info, given)
        places = self._places.motors[: int(self._places.n_motors)]
        counts = np.array([motor.counts for drive in given.drives for motor in drive.motors])
        units = np.array([drive.velocity_unit for drive in given.drives for _ in drive.motors])
        self._motors = Motors(
            places,
            self._exchange,
            given,
            modes=[modes for plan in self._plans for modes in plan.modes],
            velocity=places["counts"] / units,
            torque=1e-6 * rated * 2 * np.pi * places["counts"] / counts,  # the rated torque is in mNm
            period_s=self.info.period_s,
        )
        self._motors.set_position_counts(positions)
        self._drive_of = np.repeat(np.arange(len(self._nodes)), [len(plan.modes) for plan in self._plans])
        self._heard = np.zeros(len(self._nodes), np.int64)
        self._cycles, self._quiet_until = 0, np.zeros(len(self._nodes))
        self._silent, self._restarted = np.zeros((2, len(self._nodes)), bool)
        self._other = {0x80 + node.drive.node: (self._on_emergency, d) for d, node in enumerate(self._nodes)}
        self._other |= {0x700 + node.drive.node: (self._on_heartbeat, d) for d, node in enumerate(self._nodes)}
        self._publish()
        return CallbackReturn.SUCCESS

    def _of_motors(self, index: int) -> np.ndarray:
        """The values of an object for all motors."""
        axes = ((node, objects.AXIS_STEP * k) for node in self._nodes for k in range(len(node.plan.modes)))
        return np.array([node.read(index + step) for node, step in axes])

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """The library's thread receives meanwhile, for answers to SDO requests. Outside, only `read` receives."""
        assert self._network is not None
        self._network.connect()
        try:
            yield
        finally:
            assert self._network.notifier is not None
            self._network.notifier.stop()
            self._network.notifier = None

    def on_activate(self) -> CallbackReturn:
        with self._listening():
            for node in self._nodes:
                node.watch(self._given.own_node)
        self._motors.hold()
        for node in self._nodes:
            node.set_nmt("OPERATIONAL")
        self._exchange.counters.age[:] = 1
        given_up = time.monotonic() + self._given.sdo_timeout
        while self._exchange.counters.age.any():
            if time.monotonic() > given_up:
                silent = self._nodes[int(np.flatnonzero(self._exchange.counters.age)[0])].drive
                raise HardwareError(
                    f"drive {silent.name!r} (node {silent.node})",
                    expected=f"TPDOs within {self._given.sdo_timeout:g} s of the NMT command to be operational",
                    got="none",
                )
            self._send()
            self._receive(max(self._bound_s, 0.01))
        for counter in (self._exchange.counters.lost, self._exchange.counters.late, self._exchange.counters.repeated):
            counter[:] = 0  # nodes become operational one after the other
        self._cycles, self._active = 0, True
        self._heard[:], self._silent[:], self._quiet_until[:] = 0, False, 0.0
        self._publish()
        return CallbackReturn.SUCCESS

    def on_deactivate(self) -> CallbackReturn:
        self._stop()
        for node in self._nodes:
            node.set_nmt("PRE-OPERATIONAL")
        with self._listening():
            for node, lost in zip(self._nodes, self._lost, strict=True):
                if not lost:  # one that is lost brakes by itself, and would be waited for
                    with suppress(HardwareError):
                        node.watch(0)
        return CallbackReturn.SUCCESS

    def _stop(self) -> None:
        """Bring all motors to rest by their quick stop."""
        self._active = False
        self._motors.quick_stop()
        given_up = time.monotonic() + self._given.enable_timeout
        while True:
            self._send()
            self._receive(self._bound_s)
            self._publish()
            if not self._motors.any_moving(self._motors_known) or time.monotonic() > given_up:
                break
            time.sleep(self.info.period_s)

    def close(self) -> None:
        if self._bus is None:
            return
        try:
            if self._active:
                self._stop()
            for node in self._nodes:
                node.set_nmt("PRE-OPERATIONAL")
        except can.CanError as error:
            _log.error("hardware %r: the drives could not be stopped by a command: %s", self.info.name, error)
        finally:
            self._active, self._nodes = False, []
            self._bus.shutdown()
            self._bus = None

    # --- cycle ------------------------------------------------------------------------------------

    def perform_command_mode_switch(self, modes: Mapping[str, tuple[CommandMode, ...]]) -> HardwareReturn:
        for m, motor in enumerate(motor for drive in self._given.drives for motor in drive.motors):
            part = motor.joint.partition(".")[0]
            if part in modes:
                self._motors.switch(m, modes[part][int(self._places.motors[m].joint)])
        return HardwareReturn.OK

    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        self._receive(self._bound_s)
        if self._active:
            self._watch()
        self._publish()
        return HardwareReturn.OK

    def write(self, time_s: float, period_s: float) -> HardwareReturn:
        if self._cycles % self._heartbeat_periods == 0:
            assert self._bus is not None
            with suppress(can.CanError):  # the same holds for the RPDOs of this period, which `send` counts
                self._bus.send(
                    can.Message(arbitration_id=0x700 + self._given.own_node, is_extended_id=False, data=[_OPERATIONAL])
                )
        self._cycles += 1
        self._send()
        return HardwareReturn.OK

    def _send(self) -> None:
        assert self._bus is not None
        self._motors.command(self.command)
        self._exchange.send(self._bus)

    def _receive(self, bound_s: float) -> None:
        assert self._bus is not None
        self._exchange.receive(self._bus, bound_s, self._take_other)

    def _take_other(self, cob_id: int, data: bytearray) -> None:
        found = self._other.get(cob_id)
        if found is not None:
            take, drive = found
            take(drive, bytes(data))

    @property
    def _answered(self) -> np.ndarray:
        return self._exchange.counters.age[self._drive_of] == 0

    @property
    def _motors_known(self) -> np.ndarray:
        return ~self._lost[self._drive_of]

    @property
    def _lost(self) -> np.ndarray:
        """The drives whose answers are too old, or mean something else since a restart: their mapping is gone."""
        return (self._exchange.counters.age >= defaults.DRIVE_MISSING_PACKETS) | self._restarted

    def _watch(self) -> None:
        """Give up the motors of drives that do not answer or have no heartbeat."""
        missed = self._cycles - self._heard > 3 * self._heartbeat_periods
        silent = missed | self._lost
        # A drive that comes and goes is reported once in a second.
        for d in np.flatnonzero(silent & ~self._silent & (self._cycles >= self._quiet_until)):
            self._quiet_until[d] = self._cycles + 1.0 / self.info.period_s
            drive, age = self._nodes[d].drive, self._exchange.counters.age[d]
            found = "no heartbeat" if missed[d] else f"{age} exchanges in a row without a complete answer"
            errors = self._exchange.bus_errors
            _log.error("drive %r (node %d): %s (errors of the bus so far: %d)", drive.name, drive.node, found, errors)
        for d in np.flatnonzero(silent):  # with an error: it is to be seen also if the drive answers again at once
            self._motors.drop(self._drive_of == d, NO_HEARTBEAT)
        self._silent = silent

    def _publish(self) -> None:
        self._motors.take(self.state, self._answered, self._motors_known)
        counters = self._exchange.counters
        for report in self._places.reports[: int(self._places.n_reports)]:
            d, k = int(report.drive), int(report.place)
            self.state[k : k + 5] = (
                counters.age[d],
                counters.lost[d],
                counters.late[d],
                counters.repeated[d],
                counters.corrupt[d],
            )

    # --- what nodes send beside TPDOs ---------------------------------------------------------------

    def _on_heartbeat(self, d: int, data: bytes) -> None:
        state = data[0] & 0x7F if data else _OPERATIONAL
        if state == _OPERATIONAL:
            self._heard[d] = self._cycles
        elif self._active:
            drive = self._nodes[d].drive
            found = "it was restarted: restart its driver" if state == _BOOT_UP else "it has left the state operational"
            _log.error("drive %r (node %d): %s", drive.name, drive.node, found)
            self._motors.drop(self._drive_of == d, NO_HEARTBEAT)
            self._restarted[d] |= state == _BOOT_UP

    def _on_emergency(self, d: int, data: bytes) -> None:
        if len(data) != _EMERGENCY.size:
            return
        code, register, _ = _EMERGENCY.unpack(data)
        motors, drive = self._drive_of == d, self._nodes[d].drive
        if code and code != self._motors.emergency[motors][0]:
            text = ". ".join(filter(None, (motor_error_text(code), motor_error_remedy(code))))
            _log.error("drive %r (node %d): %s; error register 0x%02x", drive.name, drive.node, text, register)
        self._motors.emergency[motors] = code
