"""The process image of one device: who has it, and what its numbers are called.

The driver owns an image and one executor attaches to it; both may die at any time. A private image, for a
driver in the executor's own process, is the same record in ordinary memory. Reading and writing is in
`image_access`.
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
from robot_rt_control.program.atomics import address_of
from robot_rt_control.program.errors import ChannelError
from robot_rt_control.program.layout import IMAGE_LAYOUT, IMAGE_MAGIC, device_image_dtype, driver_dtype
from robot_rt_control.program.shared_segment import Segment, attach_segment, create_segment, is_alive, process_start


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What the numbers of an image mean: names in the order of their places."""

    device: str
    parts: tuple[str, ...]
    state: tuple[str, ...]
    command: tuple[str, ...]

    @classmethod
    def of(
        cls, info: HardwareInfo, state: Sequence[InterfaceDescription], command: Sequence[InterfaceDescription]
    ) -> Manifest:
        return cls(
            device=info.name,
            parts=tuple(part.name for part in info.parts),
            state=tuple(interface.name for interface in state),
            command=tuple(interface.name for interface in command),
        )

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Manifest:
        values = json.loads(data)
        return cls(
            device=values["device"], **{name: tuple(values[name]) for name in ("parts", "state", "command")}
        )

    def require(self, expected: Manifest, what: str) -> None:
        """Raises: ChannelError, with the first difference, unless both are the same."""
        for field in ("device", "parts", "state", "command"):
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


def _fill(image: np.record, manifest: Manifest) -> None:
    pid = os.getpid()
    image.magic, image.layout = IMAGE_MAGIC, IMAGE_LAYOUT
    image.epoch = time.time_ns()  # differs from that of every earlier driver
    image.driver_pid, image.driver_start = pid, process_start(pid)
    image.n_state, image.n_command, image.n_parts = len(manifest.state), len(manifest.command), len(manifest.parts)
    image.manifest_size = len(manifest.to_bytes())
    image.state[:] = np.nan


def _owner(image: np.record) -> tuple[int, int]:
    return int(image["driver_pid"]), int(image["driver_start"])


class ProcessImage:
    """An image and this process's role in it. Make one by `private`, `create` or `attach`."""

    def __init__(self, record: np.record, manifest: Manifest, segment: Segment | None, is_owner: bool) -> None:
        self.record, self.manifest = record, manifest
        self._segment, self._is_owner = segment, is_owner

    @classmethod
    def private(cls, manifest: Manifest) -> ProcessImage:
        """An image in this process's own memory."""
        memory = np.zeros(1, device_image_dtype)
        _fill(memory[0], manifest)
        return cls(memory[0], manifest, None, True)

    @classmethod
    def create(cls, name: str, manifest: Manifest) -> ProcessImage:
        """The driver's side: an image in shared memory, owned by this process.

        Raises:
            ChannelError: a living process owns that name.
        """
        segment = create_segment(
            name,
            device_image_dtype,
            IMAGE_MAGIC,
            lambda image: _fill(image, manifest),
            _owner,
            what=f"process image of hardware {manifest.device!r}",
            tail=manifest.to_bytes(),
        )
        return cls(segment.record, manifest, segment, True)

    @classmethod
    def attach(cls, name: str, expected: Manifest | None = None) -> ProcessImage:
        """The executor's side. Commands start disabled: the driver rests until they are enabled.

        Args:
            name: the segment's name.
            expected: what the image must hold; default: whatever it holds.

        Raises:
            ChannelError: there is no such image, it is another one than expected, its driver is dead, or
                another living executor is attached.
        """
        what = f"process image {name!r}"
        segment = attach_segment(name, device_image_dtype, IMAGE_MAGIC, IMAGE_LAYOUT, what=what)
        image = segment.record
        manifest = Manifest.from_bytes(segment.tail[: int(image.manifest_size)].tobytes())
        if expected is not None:
            manifest.require(expected, what)
        with segment.locked():
            if not is_alive(*_owner(image)):
                raise ChannelError(
                    f"{what}: its driver, process {int(image.driver_pid)}, is dead", hint="Start the driver again"
                )
            executor = int(image.executor_pid)
            if is_alive(executor, int(image.executor_start)):
                raise ChannelError(
                    f"{what}: the living process {executor} is attached already",
                    expected="one executor",
                    hint="Stop that process first",
                )
            image.command_enable = 0
            if image.command_sequence & 1:  # the executor before this one died while it wrote
                image.command_sequence += 1
            image.executor_pid, image.executor_start = os.getpid(), process_start(os.getpid())
        return cls(image, manifest, segment, False)

    @property
    def address(self) -> int:
        """Of the record, for `device_dtype.image`; valid for as long as this object lives."""
        return address_of(self.record)

    def driver_alive(self) -> bool:
        """Whether the driver that owns the image lives and the name still leads to it; else attach anew."""
        current = self._segment is None or self._segment.is_current()
        return current and is_alive(*_owner(self.record))

    def connect_device(self, device: np.record) -> None:
        """Point a `device_dtype` record at this image; its ages and cycles start anew, its commands are zero."""
        device.plugin = 0
        device.image = self.address
        device.n_state, device.n_command = len(self.manifest.state), len(self.manifest.command)
        device.n_parts = len(self.manifest.parts)
        device.last_cycle = device.age = 0
        device.state[:] = np.nan
        for array in (device.command, device.incoming, device.mode):
            array[:] = 0

    def new_driver_side(self) -> np.record:
        """A `driver_dtype` record of the right sizes: the driver's memory beside the image."""
        side = np.zeros(1, driver_dtype)[0]
        side.n_state, side.n_command = len(self.manifest.state), len(self.manifest.command)
        side.n_parts = len(self.manifest.parts)
        side.state[:] = np.nan
        return side

    def close(self) -> None:
        """Give the role back: the owner removes the name, the executor frees its place. May be repeated."""
        if self._segment is None:
            return
        if self._is_owner:
            self._segment.unlink()
            return
        with self._segment.locked():
            if int(self.record.executor_pid) == os.getpid():
                self.record.command_enable = 0
                self.record.executor_pid = self.record.executor_start = 0
