"""The ring of the last ticks, which the loop writes and others copy: memory, columns, reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robot_rt_control.frames.link_frames import LinkFrames
from robot_rt_control.memory.atomics import address_of, load_acquire
from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.layout import channel_dtype, offset_of, snapshot_dtype, world_dtype
from robot_rt_control.model.robot.urdf_reader import parse_urdf
from robot_rt_control.model.workcell.catalogue import workcell_variables
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.tick.recorder import copy_rows
from robot_rt_control.recording.columns import TIME, Column
from robot_rt_control.recording.robot import Robot
from robot_rt_control.vocabulary.part_kinds import JOINT_QUANTITIES, PART_KINDS

_LAST = offset_of(world_dtype, "recorder", "last")
COMMANDS_TAKEN, EVENTS_WRITTEN = "commands_taken", "events_written"
"""Columns: counts of the command ring and of the event ring."""


@dataclass(frozen=True, kw_only=True)
class _Place(Column):
    address: int


class TickRing:
    """Sets the ring of a world up. The world's loop reads the channel and writes the ring: both live as long as it.

    Args:
        rows: ticks that it holds.
        after: ticks for which a log of a failure continues.
    """

    def __init__(self, world: World, channel: Channel, *, rows: int, after: int) -> None:
        self._world = world
        world.kept += [self, channel]
        places = _places(world, channel)
        self.columns = [Column(**{k: v for k, v in asdict(p).items() if k != "address"}) for p in places]
        self._addresses = np.array([p.address + 8 * i for p in places for i in range(p.width)], np.int64)
        self._rows = np.full((rows, 1 + len(self._addresses)), -1, np.int64)
        recorder = world.memory.recorder
        recorder.columns, recorder.n_columns = address_of(self._addresses), len(self._addresses)
        recorder.n_rows, recorder.after = rows, after
        recorder.rows = address_of(self._rows)
        self._robots: dict[tuple[float, ...], Robot] = {}

    @property
    def rows(self) -> int:
        """Ticks that it holds."""
        return len(self._rows)

    @property
    def last(self) -> int:
        """The last tick that is there; 0: none."""
        return load_acquire(self._world.address + _LAST)

    def word(self, name: str) -> int:
        """The place of a column in a row."""
        names = [column.name for column in self.columns]
        return 1 + sum(column.width for column in self.columns[: names.index(name)])

    def variables(self) -> dict[str, int]:
        """The state variables of system and parts that each row holds, by name → their place in it, as `word` has it.

        All of them are float64, but `operational_state` is an integer.
        """
        places = {int(address): 1 + i for i, address in enumerate(self._addresses)}
        workcell = self._world.workcell
        found = {
            variable.name: places[address]
            for variable in workcell_variables(workcell).values()
            if variable.length == 1 and (address := self._world.address + variable.offset) in places
        }
        return found | {f"{part.name}.operational_state": self.word(f"{part.name}.state") for part in workcell.parts}

    def take(self, first: int, last: int) -> np.ndarray:
        """The rows of these ticks, int64 of shape (n, 1 + all columns): those that are there and could be copied whole.

        `last` at most `self.last`. The loop may be writing meanwhile.
        """
        n_rows, n_words = self._rows.shape
        first = max(first, last - n_rows + 1, 0)
        count = max(last - first + 1, 0)
        found = np.empty((count, n_words), np.int64)
        begin = first % n_rows
        until_end = min(count, n_rows - begin)
        for start, n, target in ((begin, until_end, 0), (0, count - until_end, until_end)):
            if n > 0:
                copy_rows(
                    address_of(self._rows) + 8 * n_words * start, n, n_words, address_of(found) + 8 * n_words * target
                )
        return found[found[:, 0] == np.arange(first, last + 1)]

    def take_words(self, first: int, last: int, words: Sequence[int]) -> np.ndarray:
        """Some words of the rows that `take` would give, int64 of shape (n, len(words)); the others are not copied.

        Args:
            words: places, from `word`.
        """
        n_rows = len(self._rows)
        ticks = np.arange(max(first, last - n_rows + 1, 0), last + 1)
        found = self._rows[np.ix_(ticks % n_rows, np.array([0, *words]))]
        # What the loop may have begun to overwrite meanwhile does not count.
        return found[(found[:, 0] == ticks) & (ticks > self.last + 1 - n_rows), 1:]

    def parts(self) -> list[dict[str, Any]]:
        """The workcell's parts, for the metadata of files."""
        workcell = self._world.workcell
        names = workcell.joint_state_names()
        return [
            {
                "name": p.name,
                "kind": p.kind.name.lower(),
                "joints": p.joint_names,
                "units": p.units,
                "joint_states": list(names.get(p.name, ())),
            }
            for p in workcell.parts
        ]

    def robot(self, tools: tuple[float, ...]) -> Robot:
        """The workcell's robot_description and frames, for files; see `RobotWithTools`."""
        if tools not in self._robots:
            workcell = self._world.workcell
            with_tools = [part for part in workcell.parts if part.tools]
            names = {p.name: p.tool_name(number) for p, number in zip(with_tools, tools, strict=True)}
            text = workcell.robot_description(names)
            self._robots[tools] = Robot(text, LinkFrames(parse_urdf(text.encode(), Path("robot_description"))))
        return self._robots[tools]

    def action_names(self) -> dict[str, str]:
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


def _places(world: World, channel: Channel) -> list[_Place]:
    """What each row holds after its tick."""
    found = [
        _Place(name=name, address=channel.address + offset_of(channel_dtype, *path), integer=True)
        for name, path in (
            ("deadline_misses", ("timing", "deadline_misses")),
            (COMMANDS_TAKEN, ("commands", "tail")),
            (EVENTS_WRITTEN, ("events", "head")),
        )
    ]
    found.append(_Place(name=TIME, address=world.address + offset_of(world_dtype, "now_ns"), integer=True))
    found += [
        _Place(name=name, address=world.address + offset_of(world_dtype, name)) for name in ("speed", "protective_stop")
    ]
    snapshot = channel.address + offset_of(channel_dtype, "snapshot")
    for part in world.workcell.parts:
        runtime = world.address + offset_of(world_dtype, "parts_runtime", part.index)
        shown = snapshot + offset_of(snapshot_dtype, "parts", part.index)
        found += _of_part(part, world.address + offset_of(world_dtype, "parts", part.index))
        types = world_dtype["parts_runtime"].base, snapshot_dtype["parts"].base
        for name, address in (
            ("state", runtime + offset_of(types[0], "state")),
            ("fault", runtime + offset_of(types[0], "fault")),
            ("action", shown + offset_of(types[1], "active_action")),
        ):
            found.append(_Place(name=f"{part.name}.{name}", address=address, integer=True))
        if part.dof:
            address = runtime + offset_of(types[0], "last_modes")
            found.append(_Place(name=f"{part.name}.mode", address=address, integer=True, modes_of=part.dof))
    return found


def _of_part(part: PartDescription, base: int) -> list[_Place]:
    dtype = world_dtype["parts"].base
    outputs = len(part.outputs)
    widths = {
        **dict.fromkeys((q.field for q in JOINT_QUANTITIES), part.dof),
        **{field: dtype[field].shape[0] for field in PART_KINDS[part.kind].fields if dtype[field].shape},
        **{"inputs": len(part.inputs), "outputs": outputs, "commanded_outputs": outputs},
    }
    scalars = {"age": "age"} | {field: field for field in PART_KINDS[part.kind].fields if not dtype[field].shape}
    if part.tools:
        scalars["tool"] = "tool_number"
    found = [
        _Place(name=f"{part.name}.{name}", address=base + offset_of(dtype, name), width=width, scalar=False)
        for name, width in widths.items()
        if width
    ]
    return found + [
        _Place(name=f"{part.name}.{name}", address=base + offset_of(dtype, field)) for name, field in scalars.items()
    ]
