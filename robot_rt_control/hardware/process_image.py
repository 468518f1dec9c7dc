"""The process image of one device: its owner, its user, and the names of its numbers.

The driver owns an image and one executor attaches to it; both may die at any time. A private image, for a
driver in the executor's own process, is the same record in ordinary memory. `hardware.image` reads and
writes it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from robot_rt_control.hardware.interfaces import InterfaceDescription
from robot_rt_control.hardware.plugin import HardwareInfo
from robot_rt_control.memory.atomics import address_of, load_acquire, store_release
from robot_rt_control.memory.layout import IMAGE_LAYOUT, IMAGE_MAGIC, device_image_dtype, driver_dtype
from robot_rt_control.memory.shared_memory import Segment
from robot_rt_control.vocabulary.errors import ChannelError


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The names of an image's numbers, in their order."""

    device: str
    parts: tuple[str, ...]
    indices: tuple[int, ...]
    """Indices of the parts in the workcell, also those of their command modes."""
    state: tuple[str, ...]
    command: tuple[str, ...]

    @classmethod
    def of(
        cls, info: HardwareInfo, state: Sequence[InterfaceDescription], command: Sequence[InterfaceDescription]
    ) -> Manifest:
        return cls(
            device=info.name,
            parts=tuple(part.name for part in info.parts),
            indices=tuple(part.index for part in info.parts),
            state=tuple(interface.name for interface in state),
            command=tuple(interface.name for interface in command),
        )

    @property
    def n_modes(self) -> int:
        """Number of command modes in the image."""
        return max(self.indices, default=-1) + 1

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Manifest:
        values = json.loads(data)
        return cls(
            device=values["device"], **{name: tuple(values[name]) for name in ("parts", "indices", "state", "command")}
        )

    def require(self, expected: Manifest, what: str) -> None:
        """Raise ChannelError with the first difference if the two differ."""
        for field in ("device", "parts", "indices", "state", "command"):
            mine, theirs = getattr(expected, field), getattr(self, field)
            if mine == theirs:
                continue
            hint = "Driver and executor must read the same workcell"
            if field == "device":
                raise ChannelError(f"{what}: device", expected=repr(mine), got=repr(theirs), hint=hint)
            for i, (a, b) in enumerate(zip(mine, theirs, strict=False)):
                if a != b:
                    raise ChannelError(f"{what}: {field}[{i}]", expected=repr(a), got=repr(b), hint=hint)
            raise ChannelError(f"{what}: length of {field}", expected=str(len(mine)), got=str(len(theirs)), hint=hint)


def _claim(image: np.record, segment: Segment, what: str, expected: Manifest | None) -> Manifest:
    """Check an attached image and become its executor."""
    magic, layout = load_acquire(address_of(image)), int(image.layout)
    if magic != IMAGE_MAGIC:
        hint = "Wait until its driver has started, or check the name"
        raise ChannelError(f"{what}: magic number", expected=hex(IMAGE_MAGIC), got=hex(magic), hint=hint)
    if layout != IMAGE_LAYOUT:
        hint = "Run the same version of robot_rt_control in driver and executor"
        raise ChannelError(
            f"{what} has another layout", expected=f"{IMAGE_LAYOUT:x}", got=f"{layout:x}", hint=hint
        )
    start = device_image_dtype.itemsize
    manifest = Manifest.from_bytes(bytes(segment.buffer[start : start + int(image.manifest_size)]))
    if expected is not None:
        manifest.require(expected, what)
    if not segment.claim_user():
        raise ChannelError(
            f"{what}: the running process {int(image.executor_pid)} is attached already",
            expected="one executor",
            hint="Stop that process first",
        )
    image.executor_pid = os.getpid()
    image.command_enable = 0
    image.is_clock = 0  # until this executor's loop waits for the driver: the previous one's may have
    if image.command_sequence & 1:  # the previous executor died during a write
        image.command_sequence += 1
    return manifest


class ProcessImage:
    """An image and this process's role in it. Make one by `private`, `create` or `attach`."""

    def __init__(self, record: np.record, manifest: Manifest, segment: Segment | None, is_owner: bool) -> None:
        self.record, self.manifest = record, manifest
        self._segment, self._is_owner = segment, is_owner

    @classmethod
    def private(cls, manifest: Manifest) -> ProcessImage:
        """An image in this process's own memory."""
        image = cls(np.zeros(1, device_image_dtype)[0], manifest, None, True)
        image._initialize()
        return image

    @classmethod
    def create(cls, name: str, manifest: Manifest) -> ProcessImage:
        """The driver's side: an image in shared memory, owned by this process; a dead driver's is replaced.

        Raises:
            ChannelError: a living process owns that name.
        """
        names = manifest.to_bytes()
        segment = Segment.create(name, device_image_dtype.itemsize + len(names))
        np.frombuffer(segment.buffer, np.uint8)[device_image_dtype.itemsize :] = np.frombuffer(names, np.uint8)
        image = cls(np.frombuffer(segment.buffer, device_image_dtype, 1)[0], manifest, segment, True)
        image._initialize()
        return image

    def _initialize(self) -> None:
        image = self.record
        image.layout = IMAGE_LAYOUT
        image.epoch = time.time_ns()  # differs from that of every earlier driver
        image.driver_pid = os.getpid()
        image.manifest_size = len(self.manifest.to_bytes())
        image.n_state, image.n_command = len(self.manifest.state), len(self.manifest.command)
        image.n_parts = self.manifest.n_modes
        image.state[:] = np.nan
        store_release(self.address, IMAGE_MAGIC)  # last: from now on others may attach

    @classmethod
    def attach(cls, name: str, expected: Manifest | None = None) -> ProcessImage:
        """The executor's side. Commands start disabled: the driver rests until they are enabled.

        Args:
            name: the segment's name.
            expected: the required content of the image; default: any.

        Raises:
            ChannelError: there is no such image, it is another one than expected, its driver is dead, or
                another living executor is attached.
        """
        what = f"process image {name!r}"
        segment = Segment.attach(name, device_image_dtype.itemsize, tail=True)
        try:
            record = np.frombuffer(segment.buffer, device_image_dtype, 1)[0]
            manifest = _claim(record, segment, what, expected)
        except BaseException:
            segment.close()
            raise
        return cls(record, manifest, segment, False)

    @property
    def address(self) -> int:
        """Address of the record, for `device_dtype.image`; valid as long as this object exists."""
        return address_of(self.record)

    def executor_alive(self) -> bool:
        """Whether the process that writes the commands still runs; for a private image: yes."""
        return self._segment is None or self._segment.user_alive()

    def driver_alive(self) -> bool:
        """Whether the process that owns the image is alive; if not, attach to its successor."""
        return self._segment is None or self._segment.owner_alive()

    def connect_device(self, device: np.record) -> None:
        """Point a `device_dtype` record at this image: its ages and cycles restart, its commands are zero.

        For a device that no tick reads yet; under a running loop only the address may change (`pending_image`).
        """
        device.plugin = 0
        device.image = self.address
        device.n_state, device.n_command = len(self.manifest.state), len(self.manifest.command)
        device.n_parts = self.manifest.n_modes
        device.last_cycle = device.age = device.enabled = device.faulted = 0
        device.state[:] = np.nan
        for array in (device.command, device.incoming, device.mode):
            array[:] = 0

    def new_driver_side(self) -> np.record:
        """A `driver_dtype` record of the right sizes: the driver's memory beside the image."""
        side = np.zeros(1, driver_dtype)[0]
        side.n_state, side.n_command = len(self.manifest.state), len(self.manifest.command)
        side.n_parts = self.manifest.n_modes
        side.state[:] = np.nan
        return side

    def close(self) -> None:
        """Release the role: the owner removes the name, the executor frees its place. May be repeated.

        The memory stays mapped as long as this object or a view exists, so no thread has an invalid address.
        """
        if self._segment is None:
            return
        if not self._is_owner:
            self.record.command_enable = 0
        self._segment.close()
