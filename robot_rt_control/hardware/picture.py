"""Pictures of a simulated scene, taken without delaying its simulation."""

from __future__ import annotations

import os
import secrets
import select
import tempfile
import time
from pathlib import Path
from typing import NoReturn, Protocol

from robot_rt_control.hardware.plugin import HardwarePlugin
from robot_rt_control.vocabulary.errors import HardwareError


class Camera(Protocol):
    """The methods of a plugin with a camera, in addition to the contract."""

    @property
    def has_window(self) -> bool:
        """A window draws in threads of its own, so the process cannot be copied."""

    def take_picture(self, path: str | Path, width: int = 0, height: int = 0) -> object:
        """Write a PNG; 0: the size given by the parameters."""


def camera_of(plugin: HardwarePlugin) -> Camera:
    """Raises HardwareError: the plugin has no camera."""
    if not hasattr(plugin, "take_picture"):
        raise HardwareError(
            f"hardware {plugin.info.name!r} ({type(plugin).__name__}) has no camera",
            hint="Only simulated hardware has one, such as pybullet",
        )
    return plugin  # type: ignore[return-value]  # its attribute `simulated` guarantees it


def picture_path(path: str) -> Path:
    """The path of a picture; empty: a new file in the temporary folder."""
    if path:
        return Path(path).expanduser().absolute()
    return Path(tempfile.gettempdir()) / f"scene-{secrets.token_hex(4)}.png"


class PictureInCopy:
    """A picture that is being taken in a copy of this process, because drawing takes much longer than a control period.

    Create it in the thread that runs the plugin: the copy contains the scene as it is between two periods, and copying
    takes some milliseconds. Call `wait` from another thread.
    """

    def __init__(self, camera: Camera, path: Path, width: int, height: int) -> None:
        reader, writer = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            os.close(reader)
            _draw(camera, path, width, height, writer)
        os.close(writer)
        self._reader, self._path = reader, path

    def wait(self, timeout_s: float) -> None:
        """Wait until the file is written.

        Raises:
            HardwareError: it could not be written, or not in time.
        """
        deadline, answer = time.monotonic() + timeout_s, b""
        try:
            while select.select([self._reader], [], [], max(0.0, deadline - time.monotonic()))[0]:
                more = os.read(self._reader, 65536)
                answer += more
                if not more:
                    break
            else:
                raise HardwareError(f"picture {self._path} was not taken within {timeout_s:g} s")
        finally:
            os.close(self._reader)
            os.kill(self.process, 9)
            os.waitpid(self.process, 0)
        if answer != b"done":
            raise HardwareError(f"picture {self._path} was not taken", got=answer.decode() or "no answer")


def _draw(camera: Camera, path: Path, width: int, height: int, writer: int) -> NoReturn:
    """Runs in the copy, which has only one thread and must not touch anything else."""
    answer = "done"
    try:
        camera.take_picture(path, width, height)
    except BaseException as error:  # no exception may continue into the copied process
        answer = f"{type(error).__name__}: {error}"
    finally:
        os.write(writer, answer.encode())
        os._exit(0)
