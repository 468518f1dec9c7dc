"""Pictures of a simulated scene, taken without delaying its simulation."""

from __future__ import annotations

import itertools
import os
import re
import select
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn, Protocol

from robot_rt_control.hardware.plugin import HardwarePlugin
from robot_rt_control.recording.folders import file_stem, state_folder
from robot_rt_control.vocabulary.capacities import MAX_PICTURES
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError, HardwareError
from robot_rt_control.vocabulary.private_files import make_private, private

_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}(\.png)?")


class Camera(Protocol):
    """The methods of a plugin with a camera, in addition to the contract."""

    @property
    def has_window(self) -> bool:
        """A window draws in threads of its own, so the process cannot be copied."""

    def take_picture(self, path: str | Path, width: int = 0, height: int = 0) -> object:
        """Write a PNG into a file, which is there and empty; 0: the size given by the parameters."""


def camera_of(plugin: HardwarePlugin) -> Camera:
    """Raises HardwareError: the plugin has no camera."""
    if not hasattr(plugin, "take_picture"):
        raise HardwareError(
            f"hardware {plugin.info.name!r} ({type(plugin).__name__}) has no camera",
            hint="Only simulators have one",
        )
    return plugin  # type: ignore[return-value]  # its attribute `simulated` guarantees it


class PictureFolder:
    """The pictures of one run, in a folder of its own for this user alone: `<workcell>_<time>_<process>` in
    $ROBOT_RT_CONTROL_PICTURES, else in `pictures` of the user's folder for program state.

    Args:
        workcell: its name.
    """

    def __init__(self, workcell: str) -> None:
        self._stem = file_stem(workcell)
        self._folder: Path | None = None
        """Made for the first picture."""
        self._unnamed = itertools.count(1)
        self._lock = threading.Lock()

    @contextmanager
    def new(self, name: str) -> Iterator[Path]:
        """The path of a new file. It exists, so that no other picture gets its name, until the block fails.

        Args:
            name: letters, digits, "_" and "-", with or without ".png"; empty: made from the time. If there are
                MAX_PICTURES, the oldest of those that were named so gives way.

        Raises:
            DefinitionError: the name is not valid, or there is a picture of this name.
            CapacityError: there are too many.
            HardwareError: the file cannot be made.
        """
        if name and not _NAME.fullmatch(name):
            raise DefinitionError(
                "name of a picture",
                expected="at most 80 letters, digits, _ and -, with or without .png",
                got=repr(name),
                hint="The simulator writes pictures into the folder of its run. `copy_to` of the client copies one",
            )
        with self._lock:
            path = self._made(name.removesuffix(".png"))
        try:
            yield path
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def _made(self, name: str) -> Path:
        try:
            folder = self._folder = self._folder or self._new_folder()
            self._make_room(make_private(folder))
            path = folder / f"{name or time.strftime('at.%Y%m%d-%H%M%S.') + format(next(self._unnamed), '06')}.png"
            try:
                os.close(private(str(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            except FileExistsError as error:
                raise DefinitionError(
                    f"there is a picture {path.name!r} in this run", expected="another name", got=str(path)
                ) from error
        except OSError as error:
            raise HardwareError("the file of a picture cannot be made", got=str(error)) from error
        return path

    def _new_folder(self) -> Path:
        """Another run of this process may have begun within the same second."""
        base = make_private(state_folder("pictures"))
        for number in itertools.count(1):
            folder = base / (self._stem if number == 1 else f"{self._stem}-{number}")
            with suppress(FileExistsError):
                folder.mkdir(mode=0o700)
                return folder.resolve()
        raise AssertionError("there is always a next number")

    def _make_room(self, folder: Path) -> None:
        files = sorted(os.listdir(folder))
        if len(files) >= MAX_PICTURES:
            unnamed = [name for name in files if name.startswith("at.")]
            if not unnamed:
                raise CapacityError(
                    "too many pictures in one run",
                    expected=f"at most {MAX_PICTURES} (MAX_PICTURES)",
                    got=str(len(files)),
                    hint=f"Move some out of {folder}",
                )
            (folder / unnamed[0]).unlink(missing_ok=True)


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
