"""Logs of the last ticks: the files that the loop asks for. The loop never waits for it."""

from __future__ import annotations

import logging
import os
import tempfile
import time
from pathlib import Path
from typing import IO, Any

import numpy as np

from robot_rt_control.memory.atomics import load_acquire, store_release
from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.layout import channel_dtype, log_request_dtype, offset_of, world_dtype
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.executor.tick_ring import TickRing
from robot_rt_control.recording.fault_log import log_path, told_logs
from robot_rt_control.recording.folders import file_stem, file_word
from robot_rt_control.recording.kept_files import LOG, KeptFiles
from robot_rt_control.recording.sink import RESERVE_BYTES
from robot_rt_control.recording.tick_writer import TickWriter
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import EventKind, FaultReason
from robot_rt_control.vocabulary.fault_reasons import FAULTS
from robot_rt_control.vocabulary.private_files import make_private

_log = logging.getLogger(__name__)

_OPENED = offset_of(world_dtype, "recorder", "opened")
_WRITTEN = offset_of(world_dtype, "recorder", "written")
_ROW_BYTES = 64
"""Bytes of a file's format, for each tick and topic; the topics of joints repeat a part of the row."""
_RETRY_S = 5.0
_NUMBER_BYTES = 20
ON_DEMAND = "saved on demand"
"""Kind of a log that somebody asked for."""


class FaultRecorder:
    """Writes the logs that the loop asks for.

    A log is written as soon as it is asked for, and once more when the ticks after it are there. Files appear as a
    whole. Room for the next one is held on the disk, by a file without a name; events name a log only while it is, so
    that none is named that cannot be written (L13). One thread at a time calls `serve` and `save`.

    Args:
        ticks: before what failed.
        after: ticks that follow.
        files: logs of this workcell that are kept; the oldest give way.
        folder: made if missing.
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
        self.prefix = str(folder.absolute() / file_stem(world.workcell.name))
        self._channel, self._failed = channel, 0
        self._room: IO[bytes] | None = None
        self._next_try, self._complaint = 0.0, ""
        longest = channel_dtype["fault_files"].itemsize - _NUMBER_BYTES
        self._named = len(self.prefix.encode()) <= longest
        self._good = self._last = 0
        """The last log that was written, and the last one that is named: it was written, or there is room for it."""
        if not self._named:
            _log.warning("events name no logs: the path %s… has more than %d bytes", self.prefix[:100], longest)
        self._hold_room()

    def path(self, number: int) -> str:
        """The file of a log; empty: there is none, or it could not be written."""
        return "" if number == self._failed or number > self._last else log_path(self.prefix, number)

    def close(self) -> None:
        """Give the room on the disk back."""
        if self._room is not None:
            self._room.close()
            self._room = None

    def _hold_room(self) -> None:
        """Hold room for one log. If there is none, events name no logs, and it is tried again after a while."""
        if self._room is not None or time.monotonic() < self._next_try:
            return
        self._next_try = time.monotonic() + _RETRY_S
        words = sum(column.width for column in self._ring.columns)
        size = 2 * (self._ticks + self._after) * (8 * words + _ROW_BYTES) + RESERVE_BYTES
        try:
            room = tempfile.TemporaryFile(dir=make_private(self._folder))  # noqa: SIM115  # held until it is needed
            try:
                os.posix_fallocate(room.fileno(), 0, size)
            except BaseException:
                room.close()
                raise
        except OSError as error:
            self._lack(str(error))
            return
        self._room, self._complaint = room, ""
        self._tell(load_acquire(self._world.address + _WRITTEN) + capacities.LOG_REQUESTS)

    def _tell(self, last: int) -> None:
        """Name logs up to this one."""
        self._last = last
        if self._named:
            self._channel.memory.fault_files = told_logs(self.prefix, last)

    def _lack(self, why: str) -> None:
        self._tell(self._good)
        if why != self._complaint:
            _log.error("events name no logs of the last ticks: there is no room for one in %s: %s", self._folder, why)
        self._complaint = why

    def serve(self, *, finish: bool = False) -> list[Path]:
        """Write what is asked for and what has become complete. Returns the files that were written.

        Args:
            finish: do not wait for the ticks after: there will be none.
        """
        world, found = self._world, []
        self._hold_room()
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
        rows, path = self._rows(int(request.tick), self._ring.last), Path(log_path(self.prefix, int(request.number)))
        try:
            self._put(path, rows, self._about(request))
        except OSError as error:
            _log.error("the last ticks could not be written to %s: %s", path, error)
            if not path.exists():  # else only the ticks after it are missing
                self._failed = int(request.number)
            return []
        self._good = int(request.number)
        if self._good == self._failed:
            self._failed = 0
        _log.info("the last %d ticks are in %s", len(rows), path)
        return [path]

    def _put(self, path: Path, rows: np.ndarray, about: dict[str, Any]) -> None:
        make_private(self._folder)
        self.close()
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
            writer = TickWriter(unfinished, about, self._ring.columns, epoch_ns=self._epoch_ns, robot=self._ring.robot)
            try:
                writer.rows(rows)
            finally:
                writer.end(reason=about["kind"])
            os.replace(unfinished, path)
        except BaseException as error:
            unfinished.unlink(missing_ok=True)
            self._next_try = time.monotonic() + _RETRY_S
            self._lack(str(error))
            raise
        self._kept.give_way(path)
        self._next_try = 0.0  # by the next `serve`, when this one counts as written

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
