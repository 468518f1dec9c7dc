"""One drive while the bus is configured: identity, parameters and PDO mapping by SDO, and NMT commands.

The library `canopen` has the EDS parser, the SDO client, the sequence in which a mapping is written, and NMT.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import canopen
from canopen.pdo.base import PdoMaps
from canopen.sdo import SdoAbortedError, SdoCommunicationError

from robot_rt_control.hardware.canopen import objects
from robot_rt_control.hardware.canopen.plan import DrivePlan, Pdo, object_name
from robot_rt_control.model.workcell.canopen import CanopenDrive, CanopenDrives
from robot_rt_control.vocabulary.errors import HardwareError

_PDO_NOT_VALID = 1 << 31
_NO_REMOTE_FRAMES = 1 << 30
_ON_EACH_SYNC = 1


class DriveNode:
    """A drive's node on the network. Its methods block until the node answers; a thread of the network must listen.

    Raises (all methods):
        HardwareError: the node does not answer, refuses a value, or is not the configured drive.
    """

    def __init__(self, plan: DrivePlan, network: canopen.Network, settings: CanopenDrives) -> None:
        self.plan, self._settings = plan, settings
        self.drive: CanopenDrive = plan.drive
        self._what = f"drive {self.drive.name!r} (node {self.drive.node})"
        self._node: Any = network.add_node(self.drive.node, plan.dictionary)
        self._node.sdo.RESPONSE_TIMEOUT = settings.sdo_timeout

    @contextmanager
    def _access(self, index: int, sub: int, doing: str) -> Iterator[None]:
        what = f"{self._what}: {doing} object {object_name(index, sub)}"
        try:
            yield
        except SdoCommunicationError:
            raise HardwareError(
                what,
                expected="an answer",
                got=f"none within {self._settings.sdo_timeout:g} s",
                hint="Check supply, cable, termination, bit rate and node id",
            ) from None
        except SdoAbortedError as error:
            raise HardwareError(what, expected="an answer", got=f"refused by the drive: {error}") from None

    def _variable(self, index: int, sub: int) -> Any:
        found = self._node.sdo[index]
        return found if isinstance(found, canopen.sdo.base.SdoVariable) else found[sub]

    def read(self, index: int, sub: int = 0) -> int:
        """The value of an object."""
        with self._access(index, sub, "reading"):
            return int(self._variable(index, sub).raw)

    def write(self, index: int, value: int, sub: int = 0) -> None:
        """Set an object, and read it back."""
        with self._access(index, sub, "writing"):
            self._variable(index, sub).raw = value
        got = self.read(index, sub)
        if got != value:
            what = f"{self._what}: object {object_name(index, sub)} after it was written"
            raise HardwareError(what, expected=f"{value:#x}", got=f"{got:#x}")

    def check_identity(self) -> None:
        """Check that this node is the configured drive."""
        drive = self.drive
        kind = self.read(objects.DEVICE_TYPE)
        if kind & 0xFFFF != objects.PROFILE:
            expected = "a drive with the profile 402 (object 0x1000)"
            raise HardwareError(self._what, expected=expected, got=f"the profile {kind & 0xFFFF}")
        for sub, expected_value, name in ((1, drive.vendor, "vendor"), (2, drive.product, "product code")):
            got = self.read(objects.IDENTITY, sub)
            if got != expected_value:
                raise HardwareError(
                    f"{self._what}: {name} (object {object_name(objects.IDENTITY, sub)})",
                    expected=f"0x{expected_value:08X}",
                    got=f"0x{got:08X}",
                    hint="Is another drive connected, or another node id set at the drive?",
                )

    def configure(self, period_s: float) -> None:
        """Bring the node to pre-operational and write all its parameters and PDOs."""
        self.set_nmt("PRE-OPERATIONAL")
        dictionary = self.plan.dictionary
        for k, modes in enumerate(self.plan.modes):
            offset = objects.AXIS_STEP * k
            supported = self.read(objects.SUPPORTED_MODES + offset)
            for mode in modes:
                cyclic = objects.CYCLIC_MODES[mode]
                if not supported >> (cyclic - 1) & 1:
                    raise HardwareError(
                        f"{self._what}, motor {k + 1}: mode of operation {cyclic} for {mode.name.lower()} commands",
                        expected=f"a mode in object {object_name(objects.SUPPORTED_MODES + offset)}",
                        got=f"0x{supported:08X}",
                        hint="Leave this mode out of the part's command_modes",
                    )
            self.write(objects.MODE + offset, objects.CYCLIC_MODES[modes[0]])
            if objects.ABORT_CONNECTION + offset in dictionary:
                self.write(objects.ABORT_CONNECTION + offset, objects.QUICK_STOP_ON_LOSS)
            if objects.INTERPOLATION_PERIOD + offset in dictionary:
                value, exponent = interpolation_period(period_s, self._what)
                self.write(objects.INTERPOLATION_PERIOD + offset, value, 1)
                self.write(objects.INTERPOLATION_PERIOD + offset, exponent, 2)
        if objects.CYCLE_PERIOD in dictionary:
            self.write(objects.CYCLE_PERIOD, round(period_s * 1e6))
        for startup in self.drive.startup:
            self.write(startup.object, startup.value, startup.sub)
        self.write(objects.HEARTBEAT, round(self._settings.heartbeat * 1000))
        self._map(self._node.rpdo.map, self.plan.rpdos, objects.RPDO)
        self._map(self._node.tpdo.map, self.plan.tpdos, objects.TPDO)

    def _map(self, maps: PdoMaps, pdos: tuple[Pdo, ...], first: int) -> None:
        wanted = {pdo.communication - first + 1: pdo for pdo in pdos}
        for number, pdo_map in maps.items():
            pdo = wanted.get(number)
            if pdo is None:  # what is not used must not load the bus
                index = first + number - 1
                if not (present := self.read(index, 1)) & _PDO_NOT_VALID:
                    self.write(index, present | _PDO_NOT_VALID, 1)
                continue
            pdo_map.clear()
            pdo_map.rtr_allowed = not self.read(pdo.communication, 1) & _NO_REMOTE_FRAMES
            for index, bits in pdo.entries:
                pdo_map.add_variable(index, 0, bits)
            pdo_map.cob_id, pdo_map.trans_type, pdo_map.enabled = pdo.cob_id, _ON_EACH_SYNC, True
            with self._access(pdo.mapping, 0, "mapping by"):
                pdo_map.save()
            self._check_mapping(pdo)

    def _check_mapping(self, pdo: Pdo) -> None:
        """Some drives accept a mapping and keep another one."""
        count = self.read(pdo.mapping)
        got = [self.read(pdo.mapping, i + 1) for i in range(min(count, len(pdo.entries)))]
        expected = [index << 16 | bits for index, bits in pdo.entries]
        if count != len(expected) or got != expected:
            raise HardwareError(
                f"{self._what}: object {object_name(pdo.mapping)}, the mapping after it was written",
                expected=", ".join(f"0x{entry:08X}" for entry in expected),
                got=", ".join(f"0x{entry:08X}" for entry in got) + f" ({count} objects)",
            )

    def watch(self, node: int) -> None:
        """Let the drive brake if it misses the heartbeats of this node; 0: it watches none."""
        limit_ms = math.ceil(3000 * self._settings.heartbeat) if node else 0
        self.write(objects.CONSUMER_HEARTBEAT, node << 16 | limit_ms, 1)

    def set_nmt(self, state: str) -> None:
        """Send an NMT command to the node."""
        self._node.nmt.state = state


def interpolation_period(period_s: float, what: str) -> tuple[int, int]:
    """A period as object 0x60C2 takes it: value x 10^exponent seconds, of which the value has 8 bits.

    Raises:
        HardwareError: it cannot be written so.
    """
    for exponent in range(0, -7, -1):
        value = round(period_s * 10.0**-exponent)
        if 1 <= value <= 255 and math.isclose(value * 10.0**exponent, period_s, rel_tol=1e-9):
            return value, exponent
    raise HardwareError(
        f"{what}: object 0x60C2, interpolation period",
        expected="a period of 1 to 255 times a power of ten of seconds, at least 1 µs",
        got=f"{period_s:g} s",
    )
