"""Logs of the last ticks: the files that the loop asks for. The loop never waits for it."""

from __future__ import annotations

import logging
import os
import re
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from robot_rt_control.memory.atomics import load_acquire, store_release
from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.layout import channel_dtype, log_request_dtype, offset_of, world_dtype
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.executor.tick_ring import TickRing
from robot_rt_control.recording.fault_log import log_path
from robot_rt_control.recording.kept_files import LOG, KeptFiles
from robot_rt_control.recording.tick_writer import TickWriter
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import EventKind, FaultReason
from robot_rt_control.vocabulary.fault_reasons import FAULTS

_log = logging.getLogger(__name__)

_OPENED = offset_of(world_dtype, "recorder", "opened")
_WRITTEN = offset_of(world_dtype, "recorder", "written")
ON_DEMAND = "saved on demand"
"""Kind of a log that somebody asked for."""


def default_folder(what: str = "faults") -> Path:
    """Folder of all logs ("recordings": of recordings): $ROBOT_RT_CONTROL_FAULTS (…RECORDINGS), else in the user's
    folder for program state; a user without a home has it in the folder for temporary files."""
    given = os.environ.get(f"ROBOT_RT_CONTROL_{what.upper()}")
    if given:
        return Path(given)
    base = os.environ.get("XDG_STATE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".local" / "state") / "robot_rt_control" / what
    except RuntimeError:
        return Path(tempfile.gettempdir()) / "robot_rt_control" / what


def file_word(name: str) -> str:
    """A workcell's name as part of a file's name."""
    return re.sub(r"\W+", "_", name)


def file_stem(name: str) -> str:
    """Begin of the names of this process's files, as of now."""
    return file_word(name) + time.strftime(f"_%Y%m%d-%H%M%S_{os.getpid()}")


class FaultRecorder:
    """Writes the logs that the loop asks for.

    A log is written as soon as it is asked for, and once more when the ticks after it are there. Files appear as a
    whole. One thread at a time calls `serve` and `save`.

    Args:
        ticks: before what failed.
        after: ticks that follow.
        files: logs of this workcell that are kept; the oldest give way.
        folder: made when the first log is written.
        epoch_ns: added to the loop's time for time stamps.
    """

    def __init__(
        self,
        world: World,
        channel: Channel,
        ring: TickRing,
        *,
        ticks: int,
        after: int,
        files: int,
        folder: Path,
        epoch_ns: int = 0,
    ) -> None:
        self._world, self._ring, self._epoch_ns = world, ring, epoch_ns
        self._ticks, self._after, self._folder = ticks, after, folder
        self._unfinished: np.record | None = None
        self._kept = KeptFiles(folder=folder, name=file_word(world.workcell.name), kind=LOG, files=files)
        self.prefix = str(folder.resolve() / file_stem(world.workcell.name))
        room = channel_dtype["fault_files"].itemsize
        if len(self.prefix.encode()) <= room:
            channel.memory.fault_files = self.prefix.encode()
        else:
            _log.warning("events name no logs: the path %s… has more than %d bytes", self.prefix[:100], room)

    def path(self, number: int) -> str:
        """The file of a log; empty: there is none."""
        return log_path(self.prefix, number)

    def serve(self, *, finish: bool = False) -> list[Path]:
        """Write what is asked for and what has become complete. Returns the files that were written.

        Args:
            finish: do not wait for the ticks after: there will be none.
        """
        world, found = self._world, []
        address, recorder = world.address, world.memory.recorder
        last = self._ring.last
        for number in range(load_acquire(address + _WRITTEN) + 1, load_acquire(address + _OPENED) + 1):
            request: np.record = recorder.requests[(number - 1) % capacities.LOG_REQUESTS].copy()
            if last < request.tick:
                break  # its tick is not over
            found += self._finish(last, True)
            found += self._write(request)
            store_release(address + _WRITTEN, number)
            self._unfinished = request if last < request.tick + self._after else None
        return found + self._finish(last, finish)

    def _finish(self, last: int, at_once: bool) -> list[Path]:
        request = self._unfinished
        if request is None or not (at_once or last >= request.tick + self._after):
            return []
        self._unfinished = None
        return self._write(request)

    def save(self) -> Path:
        """Write the last ticks now. Raises OSError: they cannot be written."""
        last = self._ring.last
        path = Path(f"{self.prefix}_tick_{last}.mcap")
        about = {"kind": ON_DEMAND, "reason": "", "part": "", "joint": "", "tick": last, "action": "", "status": 0}
        self._put(path, self._rows(last, last), about)
        return path

    def _rows(self, tick: int, last: int) -> np.ndarray:
        """The rows before and after a tick without a gap."""
        rows = self._ring.take(tick - self._ticks + 1, min(tick + self._after, last))
        gaps = np.flatnonzero(np.diff(rows[:, 0]) != 1)
        return rows[gaps[-1] + 1 :] if len(gaps) else rows

    def _write(self, request: Any) -> list[Path]:
        rows, path = self._rows(int(request.tick), self._ring.last), Path(self.path(int(request.number)))
        try:
            self._put(path, rows, self._about(request))
        except OSError as error:
            _log.error("the last ticks could not be written to %s: %s", path, error)
            return []
        _log.info("the last %d ticks are in %s", len(rows), path)
        return [path]

    def _put(self, path: Path, rows: np.ndarray, about: dict[str, Any]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        unfinished.unlink(missing_ok=True)
        workcell = self._world.workcell
        about = {
            "workcell": workcell.name,
            "period": workcell.period,
            **about,
            "parts": self._ring.parts(),
            "actions": self._ring.action_names(),
        }
        try:
            writer = TickWriter(unfinished, about, self._ring.columns, epoch_ns=self._epoch_ns)
            try:
                writer.rows(rows)
            finally:
                writer.end(reason=about["kind"])
            os.replace(unfinished, path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
        self._kept.give_way()

    def _about(self, request: Any) -> dict[str, Any]:
        """What the log is about. `request`: of `layout.log_request_dtype`."""
        assert request.dtype.names == log_request_dtype.names
        workcell = self._world.workcell
        part = workcell.parts[request.part] if request.part >= 0 else None
        kind = EventKind(int(request.kind))
        reason = FAULTS[FaultReason(int(request.reason))].text
        joint = part.joint_names[request.joint] if part is not None and request.joint >= 0 else ""
        identity, name = 0, ""
        if request.action >= 0:
            identity = int(self._world.memory.actions_runtime[int(request.action)].identity)
        if identity:
            name = self._ring.action_names().get(str(identity), f"action {identity}")
        return {
            "kind": kind.name.lower(),
            "reason": f"{reason} ({joint})" if joint else reason,
            "part": part.name if part is not None else "",
            "joint": joint,
            "tick": int(request.tick),
            "action": name,
            "status": int(request.status),
        }
