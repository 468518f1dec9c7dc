"""The executor's devices: those computed in the tick, those in this process, and those behind a driver process."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeVar

from robot_rt_control.hardware.drives.cia402 import status_of_motor
from robot_rt_control.hardware.drives.network import Network, check_topology, open_network
from robot_rt_control.hardware.external_device import external_manifest
from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.process_image import ProcessImage
from robot_rt_control.memory.atomics import load_acquire, store_release
from robot_rt_control.memory.layout import offset_of, world_dtype
from robot_rt_control.model.workcell.workcell import COMPILED, EXTERNAL, DeviceDescription
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.vocabulary.enums import DriverMode, ImageError, MotorStatus
from robot_rt_control.vocabulary.errors import ChannelError, HardwareError
from robot_rt_control.vocabulary.waiting import Waiting

_log = logging.getLogger(__name__)

_PENDING_IMAGE = offset_of(world_dtype, "pending_image")
_RETRY_S = 0.1

_Enum = TypeVar("_Enum", bound=IntEnum)


def _one_of(kind: type[_Enum], number: int, otherwise: _Enum) -> _Enum:
    """A member: a foreign driver may write any number."""
    return kind(number) if number in list(kind) else otherwise


@dataclass(frozen=True, kw_only=True)
class ForeignDriver:
    """What is seen of the foreign driver of a device in its process image."""

    device: str
    alive: bool
    cycles: int
    late_cycles: int
    unanswered_cycles: int
    """Those in which no command came in time for the states that it had published."""
    mode: DriverMode
    error: ImageError
    reason: str
    age_ticks: int
    """Since its last states."""
    max_age_ticks: int


class Devices:
    """Opens all devices of a workcell and keeps them attached.

    Args:
        in_process: host Python plugins in this process (lockstep) rather than attach to their driver processes.
        image_name: device name → name of the driver's shared-memory image.
    """

    def __init__(self, world: World, *, in_process: bool, image_name: Callable[[str], str]) -> None:
        self._world, self._image_name = world, image_name
        python = [d for d in world.workcell.devices if d.plugin not in COMPILED]
        self._hosted = python if in_process else []
        self._driven = [] if in_process else python
        self.hosts: dict[str, Any] = {}
        self._images: dict[str, ProcessImage] = {}
        self.networks: dict[str, Network] = {}
        """Device → the network of its drives."""
        self._retired: list[ProcessImage] = []
        self.silent: set[str] = set()
        """Lockstep: hosted devices that publish no states, for tests of what follows."""

    def open(self, timeout_s: float, progress: Callable[[str], object]) -> None:
        """Start the plugins of this process, and wait for the driver processes of the others.

        Raises:
            HardwareError: a plugin failed, a driver did not come up in time, or other drives than those of the workcell
                file answer.
        """
        for name, record in self._world.drives.items():
            device = self._world.workcell.device(name)
            assert device.drives is not None
            progress(f"looking which drives of device {name!r} answer")
            self.networks[name] = open_network(record, hardware_info(self._world.workcell, device), device.drives)
            check_topology(name, device.drives, self.networks[name].scan())
        for device in self._hosted:
            from robot_rt_control.hardware.lockstep_host import LockstepHost

            progress(f"starting the hardware plugin {device.plugin!r} of device {device.name!r} in this process")
            host = LockstepHost(device.plugin, hardware_info(self._world.workcell, device))
            self.hosts[device.name] = host
            self._connect(device, host.image)
            host.activate()
        waiting = Waiting(progress, timeout_s)
        for device in self._driven:
            progress(f"waiting for the driver process of device {device.name!r}")
            self._images[device.name] = image = self._attach(device, waiting)
            self._connect(device, image)

    def _attach(self, device: DeviceDescription, waiting: Waiting) -> ProcessImage:
        foreign, last = device.plugin == EXTERNAL, ""
        # A foreign driver has read its description some time, perhaps of an older workcell.
        expected = external_manifest(hardware_info(self._world.workcell, device)) if foreign else None
        while True:
            try:
                return ProcessImage.attach(self._image_name(device.name), expected)
            except ChannelError as error:
                if str(error) != last and foreign:
                    last = str(error)
                    _log.warning("hardware_driver_%s: not attached yet: %s", device.name, last)
                if not waiting.goes_on(f"the driver process of device {device.name!r}"):
                    raise HardwareError(
                        f"device {device.name!r}: its driver process did not come up ({error})",
                        hint=f"Start it: ros2 run robot_rt_control {'external' if foreign else 'hardware'}_driver",
                    ) from error
            time.sleep(_RETRY_S)

    def _connect(self, device: DeviceDescription, image: ProcessImage) -> None:
        record = self._world.memory.devices[device.index]
        max_age = int(record.max_age)
        image.connect_device(record)
        record.max_age = max_age
        self._world.link_device(device.index, image.manifest)

    def run(self, periods: int, exchange: Callable[[int], int]) -> None:
        """Lockstep: run the hosted plugins for some periods.

        Args:
            periods: how many.
            exchange: runs a tick between reading and writing. Takes the devices that publish nothing, returns those
                with a new command; bit i is the i-th of `hosts`.
        """
        period = self._world.workcell.period
        hosts = [
            (1 << i, name, host.read_device, host.write_device) for i, (name, host) in enumerate(self.hosts.items())
        ]
        for _ in range(periods):
            silent = 0
            for bit, name, read, _write in hosts:
                if name in self.silent:
                    silent |= bit
                else:
                    read(0.0, period)
            new = exchange(silent)
            for bit, _name, _read, write in hosts:
                write(0.0, period, new & bit != 0)

    def motors_enabled(self) -> bool:
        """Whether a motor of any drive is still enabled, as far as is known."""
        return any(
            status_of_motor(int(motor.statusword)) == MotorStatus.ENABLED
            for record in self._world.drives.values()
            for motor in record.motors[: int(record.n_motors)]
        )

    def foreign_drivers(self) -> list[ForeignDriver]:
        """What is seen of the foreign drivers."""
        found = []
        for device in self._driven:
            image = self._images.get(device.name)
            if device.plugin != EXTERNAL or image is None:
                continue
            record, seen = image.record, self._world.memory.devices[device.index]
            found.append(
                ForeignDriver(
                    device=device.name,
                    alive=image.driver_alive(),
                    cycles=int(record.state_cycle),
                    late_cycles=int(record.late_cycles),
                    unanswered_cycles=int(record.unanswered_cycles),
                    mode=_one_of(DriverMode, int(record.driver_mode), DriverMode.HOLDING),
                    # Above these bits is the device's own code.
                    error=_one_of(ImageError, int(record.state_error) & 0xFF, ImageError.DEVICE),
                    reason=bytes(record.driver_reason).partition(b"\0")[0].decode(errors="replace"),
                    age_ticks=int(seen.age),
                    max_age_ticks=int(seen.max_age),
                )
            )
        return found

    def reattach(self) -> None:
        """Attach to the successors of driver processes that have died. The parts stay faulted until cleared."""
        for device in self._driven:
            image = self._images[device.name]
            if image.driver_alive():
                continue
            try:
                successor = ProcessImage.attach(self._image_name(device.name), image.manifest)
            except ChannelError:
                continue  # not up yet; until then the device's age shows it
            pending = self._world.address + _PENDING_IMAGE
            while load_acquire(pending):
                time.sleep(0.001)
            self._world.memory.pending_device = device.index
            store_release(pending, successor.address)
            self._images[device.name] = successor
            self._retired.append(image)  # its memory stays mapped: the loop may be reading it in this very tick
            _log.warning("device %r: attached to its restarted driver process", device.name)

    def close(self) -> None:
        """Shut the hosted plugins down, and detach from the drivers, which bring their devices to rest."""
        for network in self.networks.values():
            network.close()
        for host in self.hosts.values():
            host.shutdown()
        for image in self._images.values():
            image.close()
