"""The non-real-time side of the recorder: its ring, and the files that it writes. The loop never waits for it."""

from __future__ import annotations

import json
import logging
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robot_rt_control.memory.atomics import address_of, load_acquire, store_release
from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.fault_log import FORMAT, log_path
from robot_rt_control.memory.joint_modes import split_modes
from robot_rt_control.memory.layout import log_request_dtype, offset_of, snapshot_dtype, world_dtype
from robot_rt_control.model.part_description import PartDescription
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.tick.recorder import copy_rows
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import EventKind, FaultReason
from robot_rt_control.vocabulary.fault_reasons import FAULTS
from robot_rt_control.vocabulary.part_kinds import JOINT_QUANTITIES, PART_KINDS

_log = logging.getLogger(__name__)

_LAST = offset_of(world_dtype, "recorder", "last")
_OPENED = offset_of(world_dtype, "recorder", "opened")
_WRITTEN = offset_of(world_dtype, "recorder", "written")


def default_folder() -> Path:
    """Folder of all logs: $ROBOT_RT_CONTROL_FAULTS, else in the user's folder for program state."""
    given = os.environ.get("ROBOT_RT_CONTROL_FAULTS")
    if given:
        return Path(given)
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "robot_rt_control" / "faults"


@dataclass(frozen=True)
class _Column:
    """An array of the log: `width` words from an address on."""

    name: str
    address: int
    width: int
    integer: bool = False
    scalar: bool = True
    modes_of: int = 0
    """It is one word with the modes of so many joints, see joint_modes.py."""


class FaultRecorder:
    """Sets up the ring of a world, and writes the logs that its loop asks for.

    A log is written as soon as it is asked for, and once more when the ticks after it are there. Files appear as a
    whole. One thread at a time calls `serve`.

    Args:
        ticks: before what failed.
        after: ticks that follow.
        files: logs of this workcell that are kept; the oldest give way.
        folder: made when the first log is written.
    """

    def __init__(self, world: World, channel: Channel, *, ticks: int, after: int, files: int, folder: Path) -> None:
        self._world, self._ticks, self._after, self._files, self._folder = world, ticks, after, files, folder
        self._columns = _columns(world, channel)
        addresses = [c.address + 8 * i for c in self._columns for i in range(c.width)]
        self._addresses = np.array(addresses, np.int64)
        # Room for what the loop does while a log waits to be copied, and is being copied.
        self._rows = np.full((ticks + after + ticks // 4 + 500, 1 + len(addresses)), -1, np.int64)
        self._copy = self._rows.copy()
        self._unfinished: np.record | None = None
        self._name = re.sub(r"\W+", "_", world.workcell.name)
        stamp = time.strftime("%Y%m%d-%H%M%S")
        self._prefix = str(folder.resolve() / f"{self._name}_{stamp}_{os.getpid()}")
        channel.memory.fault_files = self._prefix.encode()
        recorder = world.memory.recorder
        recorder.columns, recorder.n_columns = address_of(self._addresses), len(addresses)
        recorder.n_rows, recorder.after = len(self._rows), after
        recorder.rows = address_of(self._rows)

    def path(self, number: int) -> str:
        """The file of a log; empty: there is none."""
        return log_path(self._prefix, number)

    @property
    def columns(self) -> int:
        """Numbers in a row of the ring."""
        return len(self._addresses)

    def serve(self, *, finish: bool = False) -> list[Path]:
        """Write what is asked for and what has become complete. Returns the files that were written.

        Args:
            finish: do not wait for the ticks after: there will be none.
        """
        world, found = self._world, []
        address, recorder = world.address, world.memory.recorder
        last = load_acquire(address + _LAST)
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

    def take(self, last_tick: int) -> np.ndarray:
        """The rows up to a tick without a gap, int64 of shape (n, 1 + columns): those that could be copied whole."""
        n_rows, n_words = self._rows.shape
        copy_rows(address_of(self._rows), n_rows, n_words, address_of(self._copy))
        ticks = self._copy[:, 0]
        rows = self._copy[(ticks >= 0) & (ticks <= last_tick)]
        rows = rows[np.argsort(rows[:, 0])]
        gaps = np.flatnonzero(np.diff(rows[:, 0]) != 1)
        return rows[gaps[-1] + 1 :] if len(gaps) else rows

    def _write(self, request: Any) -> list[Path]:
        rows = self.take(int(request.tick) + self._after)
        rows = rows[rows[:, 0] > request.tick - self._ticks]
        arrays: dict[str, np.ndarray] = {"tick": rows[:, 0]}
        place = 1
        for column in self._columns:
            block = rows[:, place : place + column.width]
            values = block if column.integer else block.view(np.float64)
            if column.modes_of:
                values = split_modes(values, column.modes_of)
            arrays[column.name] = values[:, 0] if column.scalar and not column.modes_of else values
            place += column.width
        path = Path(self.path(int(request.number)))
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(".unfinished")
            with unfinished.open("wb") as file:
                np.savez(file, about=np.array(json.dumps(self._about(request))), **arrays)  # type: ignore[arg-type]  # arrays by name
            os.replace(unfinished, path)
            self._drop_old()
        except OSError as error:
            _log.error("the last ticks could not be written to %s: %s", path, error)
            return []
        _log.info("the last %d ticks are in %s", len(rows), path)
        return [path]

    def _drop_old(self) -> None:
        kept = sorted(self._folder.glob(f"{self._name}_*.npz"), key=lambda file: file.stat().st_mtime_ns)
        for file in kept[: -self._files]:
            file.unlink(missing_ok=True)

    def _about(self, request: Any) -> dict[str, Any]:
        """What the log is about. `request`: of `layout.log_request_dtype`."""
        assert request.dtype.names == log_request_dtype.names
        workcell = self._world.workcell
        part = workcell.parts[request.part] if request.part >= 0 else None
        kind = EventKind(int(request.kind))
        reason = FAULTS[FaultReason(int(request.reason))].text
        joint = part.joint_names[request.joint] if part is not None and request.joint >= 0 else ""
        names = self._action_names()
        w = self._world.memory
        identity = 0
        if request.action >= 0:
            identity = int(w.actions_runtime[int(request.action)].identity)
        return {
            "format": FORMAT,
            "workcell": workcell.name,
            "period": workcell.period,
            "kind": kind.name.lower(),
            "reason": f"{reason} ({joint})" if joint else reason,
            "part": part.name if part is not None else "",
            "joint": joint,
            "tick": int(request.tick),
            "action": names.get(str(identity), f"action {identity}") if identity else "",
            "status": int(request.status),
            "parts": [
                {"name": p.name, "kind": p.kind.name.lower(), "joints": p.joint_names, "units": p.units}
                for p in workcell.parts
            ],
            "actions": names,
        }

    def _action_names(self) -> dict[str, str]:
        """Identity → id, of the actions in both tables: also of such that have just been removed."""
        found: dict[str, str] = {}
        for tables in self._world.memory.tables:
            for action in tables.actions[: int(tables.n_actions)]:
                if action["identity"]:
                    name = bytes(action["name"]).decode(errors="replace")
                    found[str(int(action["identity"]))] = name or "an action of the system"
            for what in ("default", "safety"):
                for part in self._world.workcell.parts:
                    slot = int(tables[f"{what}_action"][part.index])
                    if slot >= 0:
                        found[str(int(tables.actions[slot].identity))] = f"{what} action"
        return found


def _columns(world: World, channel: Channel) -> list[_Column]:
    """What each row holds after its tick."""
    found = [_Column(name, world.address + offset_of(world_dtype, name), 1) for name in ("speed", "protective_stop")]
    snapshot = channel.address + offset_of(channel.memory.dtype, "snapshot")
    for part in world.workcell.parts:
        base = world.address + offset_of(world_dtype, "parts", part.index)
        runtime = world.address + offset_of(world_dtype, "parts_runtime", part.index)
        shown = snapshot + offset_of(snapshot_dtype, "parts", part.index)
        found += _of_part(part, base)
        types = world_dtype["parts_runtime"].base, snapshot_dtype["parts"].base
        for name, address in (
            ("state", runtime + offset_of(types[0], "state")),
            ("fault", runtime + offset_of(types[0], "fault")),
            ("action", shown + offset_of(types[1], "active_action")),
        ):
            found.append(_Column(f"{part.name}.{name}", address, 1, integer=True))
        if part.dof:
            address = runtime + offset_of(types[0], "last_modes")
            found.append(_Column(f"{part.name}.mode", address, 1, integer=True, modes_of=part.dof))
    return found


def _of_part(part: PartDescription, base: int) -> list[_Column]:
    dtype = world_dtype["parts"].base
    outputs = len(part.outputs)
    widths = {
        **dict.fromkeys((q.field for q in JOINT_QUANTITIES), part.dof),
        **{field: dtype[field].shape[0] for field in PART_KINDS[part.kind].fields if dtype[field].shape},
        **{"inputs": len(part.inputs), "outputs": outputs, "commanded_outputs": outputs},
    }
    scalars = ["age", *(field for field in PART_KINDS[part.kind].fields if not dtype[field].shape)]
    found = [
        _Column(f"{part.name}.{name}", base + offset_of(dtype, name), width, scalar=False)
        for name, width in widths.items()
        if width
    ]
    return found + [_Column(f"{part.name}.{name}", base + offset_of(dtype, name), 1) for name in scalars]
