"""A recording as the browser sees it: what it is of, its events, the joints of a block of ticks. Without ROS."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from robot_rt_control.recording.columns import TIME, split_rows
from robot_rt_control.recording.reaction_names import NamedReaction, named_reactions
from robot_rt_control.recording.tick_index import TickIndex
from robot_rt_control.recording.tick_reader import RecordedEvent, TickFile, read_event
from robot_rt_control.vocabulary.enums import FaultReason
from robot_rt_control.vocabulary.errors import RobotControlError
from robot_rt_control.vocabulary.fault_reasons import FAULTS

Json = dict[str, Any]

MOST_EVENTS = 20_000
"""That a browser is shown."""
_BLOCK, _BLOCK_NUMBERS = 1000, 100_000
"""Ticks of a block, and joints' positions in it at most."""
_LEAST_BLOCK = 50
_STOPPING = ("part_faulted", "action_failed", "protective_stop")
_MISSING = 255
_FAULT_TEXTS = {reason: info.text for reason, info in FAULTS.items()}


class Recorded:
    """A recording. Any thread.

    Args:
        path: of its file.

    Raises:
        RobotControlError: it is none, of another format, or no tick of it can be read.
    """

    def __init__(self, path: Path) -> None:
        self.file = TickFile(path)
        self.index = TickIndex(self.file)
        about = self.file.about
        self.parts: list[Json] = list(about["parts"])
        self.jointed = [part for part in self.parts if part["joint_states"]]
        self.joints = [name for part in self.jointed for name in part["joint_states"]]
        self.block_ticks = min(_BLOCK, max(_LEAST_BLOCK, _BLOCK_NUMBERS // max(len(self.joints), 1)))
        self.descriptions = self.index.descriptions()
        first = self.index.rows(self.index.first, self.index.first)
        self._began_ns = int(split_rows(first, self.file.columns)[TIME][0])
        self._names: Mapping[str, str] = self.index.end.get("actions") or about.get("actions") or {}
        self._identities = np.array(sorted(int(identity) for identity in self._names), np.int64)

    def close(self) -> None:
        self.index.close()

    def about(self) -> Json:
        """What the page needs before all else.

        `joints`: names, in the order of `joints_of`; `actions`: names, likewise; `block`: ticks of a block. `first`,
        `last`: ticks. `period` [s]. `problems`: what cannot be shown, in words.
        """
        about, end = self.file.about, self.index.end
        lost = {name.removeprefix("lost_"): n for name, n in end.items() if name.startswith("lost_") and n}
        problems = list(self.index.problems)
        problems += [f"{n} {what} were lost while it was recorded." for what, n in lost.items()]
        if not self.descriptions:
            problems.append("The recording has no robot_description: there is nothing to draw.")
        return {
            "name": self.file.path.name,
            "workcell": str(about.get("workcell", "")),
            "hardware": str(about.get("hardware", "")),
            "clock": str(about.get("clock", "")),
            "version": str(about.get("version", "")),
            "period": float(about["period"]),
            "first": self.index.first,
            "last": self.index.last,
            "reason": str(end.get("reason", "")),
            "is_log": "kind" in about,
            "block": self.block_ticks,
            "joints": self.joints,
            "parts": [{"name": part["name"], "kind": part.get("kind", "")} for part in self.parts],
            "actions": [self._names[str(identity)] for identity in self._identities.tolist()],
            "faults": {int(reason): text for reason, text in _FAULT_TEXTS.items()},
            "problems": problems,
        }

    @cached_property
    def _reactions(self) -> Mapping[int, NamedReaction]:
        """By their identities; empty: the file is older than their names."""
        return named_reactions(self.index.definitions())

    # --- events ---------------------------------------------------------------------------------

    @cached_property
    def all_events(self) -> list[RecordedEvent]:
        """In order; those that are damaged are left out."""
        found = []
        for message in self.index.events():
            try:
                found.append(read_event(message))
            except (struct.error, UnicodeDecodeError):
                self.index.problems.append("An event that is damaged is not shown.")
        return found

    def events(self) -> Json:
        """`events`: as `_shown`. `stops`: `tick` and `text` of whatever stopped a part, the first one first.
        `left_out`: events that are not among them."""
        stops = self._stops()
        shown = self.all_events[:MOST_EVENTS]
        return {
            "events": [self._shown(event) for event in shown],
            "stops": stops,
            "left_out": len(self.all_events) - len(shown),
        }

    def _shown(self, event: RecordedEvent) -> Json:
        """As `RecordedEvent`, with what its reaction is called (`reaction`, `event`), and `values` by name: "value 1",
        ... if the file has no names."""
        known = self._reactions.get(event.reaction)
        captured = known.values if known is not None and len(known.values) == len(event.values) else ()
        names = captured or [f"value {i + 1}" for i in range(len(event.values))]
        words = {"reaction": known.name, "event": known.event} if known is not None else {"reaction": "", "event": ""}
        return {**asdict(event), **words, "values": dict(zip(names, event.values, strict=True))}

    def _stops(self) -> list[Json]:
        found = [(e.tick, _stop_text(e)) for e in self.all_events if e.kind in _STOPPING]
        about = self.file.about
        if about.get("kind") in _STOPPING and not any(tick == about["tick"] for tick, _ in found):
            words = " ".join(str(about[key]) for key in ("kind", "part", "action", "reason") if about.get(key))
            found.append((int(about["tick"]), words.replace("_", " ")))
        if not found:
            found = [(e.tick, "The control server was lost.") for e in self.all_events if e.kind == "server_lost"]
        return [{"tick": tick, "text": text} for tick, text in sorted(found)]

    # --- the robot ------------------------------------------------------------------------------

    def description_at(self, tick: int) -> int:
        """The number of the description that holds in a tick; -1: there is none."""
        held = [n for n, (first, _) in enumerate(self.descriptions) if first <= tick]
        return held[-1] if held else min(0, len(self.descriptions) - 1)

    def joints_of(self, block: int) -> bytes:
        """A block of ticks, little-endian: ticks n, joints, parts as uint32 and 4 bytes of nothing; then of each tick
        the time [s] since the first one as float64, NaN if the tick is missing; the positions [rad or m] as float32; of
        each part the number of its action as int32, -1: none, -2: its name is not known; its state and its fault as
        uint8.

        Raises:
            ValueError: there is no such block.
        """
        n, first = self.block_ticks, block * self.block_ticks
        if not self.index.first // n <= block <= self.index.last // n:
            raise ValueError(f"block {block}")
        rows = self.index.rows(first, first + n - 1)
        at = rows[:, 0] - first
        found = split_rows(rows, self.file.columns)
        time = np.full(n, np.nan)
        time[at] = (found[TIME] - self._began_ns) * 1e-9
        q = np.full((n, len(self.joints)), np.nan, "<f4")
        column = 0
        for part in self.jointed:
            width = len(part["joint_states"])
            q[at, column : column + width] = found[f"{part['name']}.position"]
            column += width
        actions = np.full((n, len(self.parts)), -1, "<i4")
        states, faults = (np.full((n, len(self.parts)), _MISSING, np.uint8) for _ in range(2))
        for i, part in enumerate(self.parts):
            actions[at, i] = self.action_numbers(found[f"{part['name']}.action"])
            states[at, i] = found[f"{part['name']}.state"]
            faults[at, i] = found[f"{part['name']}.fault"]
        head = struct.pack("<4I", n, len(self.joints), len(self.parts), 0)
        return head + b"".join(each.tobytes() for each in (time.astype("<f8"), q, actions, states, faults))

    def action_numbers(self, identities: np.ndarray) -> np.ndarray:
        """Of each identity: the number of its name; -1: no action, -2: its name is not known."""
        if not len(self._identities):
            return np.where(identities == 0, -1, -2)
        at = np.minimum(np.searchsorted(self._identities, identities), len(self._identities) - 1)
        return np.where(identities == 0, -1, np.where(self._identities[at] == identities, at, -2))


def _stop_text(event: RecordedEvent) -> str:
    action = event.previous_action or event.current_action
    if event.kind == "part_faulted":
        try:
            info = FAULTS[FaultReason[event.reason.upper()]]
        except KeyError:
            return f"{event.part} faulted: {event.reason}"
        return f"{event.part} faulted: {info.text}. The usual cause: {info.cause}. What to do: {info.remedy}."
    if event.kind == "action_failed":
        return f"Action {action!r} of session {event.session!r} failed with status {event.status}."
    return "A protective stop."


def opened(paths: Sequence[Path]) -> list[Recorded]:
    """Raises RobotControlError: one of them cannot be shown, or there are more than two; then none is open."""
    if len(paths) > 2:
        raise RobotControlError("recordings", expected="one, or two to compare", got=str(len(paths)))
    found: list[Recorded] = []
    try:
        found += map(Recorded, paths)
    except BaseException:
        for each in found:
            each.close()
        raise
    return found
