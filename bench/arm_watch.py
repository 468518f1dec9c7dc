"""Watches an arm in shared memory, past all processes."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from robot_rt_control.hardware.process_image import Manifest
from robot_rt_control.memory.layout import channel_dtype, device_image_dtype
from robot_rt_control.memory.segment_names import channel_name, image_name
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.vocabulary import defaults

SHARED_MEMORY = Path("/dev/shm")


class ArmWatch:
    """Reads the speeds of the part `arm` where loop and driver write them; both may die while it looks.

    Args:
        workcell: which is watched.
        domain: its ROS domain.
        memory: folder of its machine's shared memory.
        driver: whether a driver process hosts the arm's device.
    """

    def __init__(self, workcell: Workcell, domain: str, memory: Path = SHARED_MEMORY, *, driver: bool = False) -> None:
        self._arm = workcell.part("arm")
        self._channel = memory / channel_name("", domain)
        self._image = memory / image_name("", domain, workcell.devices[0].name) if driver else None
        limits = np.array(self._arm.record.velocity_limit[: self._arm.dof])
        self._slow = defaults.REST_SPEED_FRACTION * limits

    def follow(self) -> Callable[[], float]:
        """Look at the segments that exist now. Returns a function: the largest speed; up to 1.0 counts as at rest."""
        channel = np.memmap(self._channel, channel_dtype, "r", shape=1)[0]
        measured = channel["snapshot"]["parts"][self._arm.index]["measured"]
        names = ("commanded_velocity", "velocity") if self._image is None else ("commanded_velocity",)

        def in_loop() -> list[np.ndarray]:
            lives = _alive(int(channel["executor_pid"]))
            return [np.array(measured[name][: self._arm.dof]) for name in names] if lives else []

        in_driver = (lambda: []) if self._image is None else self._follow_driver(self._image)

        def speed() -> float:
            seen = [float(np.nanmax(np.abs(v) / self._slow)) for v in in_loop() + in_driver()]
            return max(seen, default=0.0)

        return speed

    def _follow_driver(self, path: Path) -> Callable[[], list[np.ndarray]]:
        """The joints' speeds as the driver writes them; nothing if it is dead."""
        image = np.memmap(path, device_image_dtype, "r", shape=1)[0]
        size, start = int(image["manifest_size"]), device_image_dtype.itemsize
        with path.open("rb") as file:
            file.seek(start)
            state = Manifest.from_bytes(file.read(size)).state
        places = [state.index(f"arm/{joint}/velocity") for joint in self._arm.joint_names]
        return lambda: [np.array(image["state"][places])] if _alive(int(image["driver_pid"])) else []


def _alive(pid: int) -> bool:
    """Whether a process runs; one that has ended but was not yet waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):  # the second: it ended while it was looked at
        return False


def rest_after(speed: Callable[[], float], begin: float, watched_s: float) -> float:
    """[s] from `begin` (time.monotonic) until the arm was at rest, and stayed so; inf: it was not in that time."""
    last = 0.0
    while (now := time.monotonic() - begin) < watched_s:
        if speed() > 1.0:
            last = now
        time.sleep(0.001)
    return last if last < watched_s - 0.1 else float("inf")
