"""What timelines of browsers show: the last ticks of the loop, actions as bars, and what happened."""

from __future__ import annotations

import json
import logging
import math
import struct
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.editor.keys import Person
from robot_rt_control.editor.recent import Recent, stop_text
from robot_rt_control.editor.robot import Json, Robot, TimelineNews
from robot_rt_control.ros.tick_batches import TickBatch, TickNames
from robot_rt_control.vocabulary.errors import RobotControlError
from robot_rt_control.vocabulary.event_kinds import Kind

_FRESH_S = 0.02
"""Browsers that ask within this time [s] get the same ticks."""
_KEPT_TICKS = 3000
"""For browsers that are slower, or begin."""
_KEPT = 500
"""Marks, bars and samples that are kept for those."""
_MAGIC = 0xFFFFFFFF
"""The first word of a frame of ticks; of the joints' frames it is the version of a scene."""
_HEAD = struct.Struct("<IIdII")
_log = logging.getLogger(__name__)
_NOT_SHOWN = frozenset({Kind.COMMAND_DONE, Kind.TABLES_INSTALLED})


@dataclass(kw_only=True)
class Bar:
    """An action that was active on a part. Sent again when it has changed."""

    number: int
    """Of bars, from 1."""
    part: str
    identity: int
    action: str
    first: int
    last: int
    began: bool
    """It was active before `first` already."""
    session: str = ""
    is_open: bool = True
    change: int = 0
    """Number of its last change."""

    def as_json(self) -> Json:
        return {"number": self.number, "part": self.part, "action": self.action, "session": self.session,
                "first": self.first, "last": None if self.is_open else self.last, "began": self.began}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Fired:
    """A reaction that has fired."""

    session: str
    reaction: str
    owner: str
    """Id of the action that was active."""
    values: Mapping[str, float]
    """In that tick; NaN: unknown. Variables of actions only if the event has captured them."""


@dataclass(kw_only=True)
class TimelineReader:
    """What one browser has of it, and what it wants."""

    choice: int = 0
    """Its own number of the names; frames carry it."""
    names: tuple[str, ...] = ()
    rate: float = 0.0
    """[Hz]; 0: it shows no timeline."""
    _loop: int = -1
    _next: int = 0
    _marks: int = 0
    _bars: int = 0
    _samples: int = 0
    _layout: int = 0

    def choose(self, choice: int, names: Sequence[str]) -> None:
        """From now on these; the ticks that are still here come again, because new names lack them."""
        if (choice, tuple(names)) != (self.choice, self.names):
            self.choice, self.names = choice, tuple(names)
            self._next = self._samples = 0


class Timelines:
    """For the event loop's thread. Memory is bounded whatever comes.

    Args:
        robot: whose loop is shown.
    """

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self.recent = Recent()
        self._looked = -math.inf
        self._is_followed = False
        self._loop = 0
        """Counts executors: ticks of another one are others."""
        self._names: TickNames | None = None
        self._n_marks = self._n_bars = self._n_changes = self._n_samples = 0
        self._layouts = 1
        self._marks: deque[Json] = deque(maxlen=_KEPT)
        self._bars: deque[Bar] = deque(maxlen=_KEPT)
        self._open: dict[str, Bar] = {}
        self._fired: dict[int, dict[str, float]] = {}
        """Number of a mark of a reaction → values in its tick, of what comes with every tick."""
        self._sampled: tuple[str, ...] = ()
        self._columns: dict[str, int] = {}
        self._samples: deque[tuple[int, int, dict[str, int], Sequence[float]]] = deque(maxlen=_KEPT)
        self._problem = ""
        self._forget_ticks()

    def _forget_ticks(self) -> None:
        self._chunks: deque[tuple[NDArray[np.int64], NDArray[np.float64]]] = deque()
        self._n_ticks = self.last = 0
        for bar in self._open.values():
            bar.is_open = False
            self._change(bar)
        self._open.clear()
        self._samples.clear()

    def look(self) -> None:
        """Keep what has come for those who look back, if there is anybody."""
        if self.recent.is_followed:
            self._look()
        else:
            self.recent.forget()

    async def looked_back(self, person: Person, body: Json) -> Json:
        """What a page lacks that looks back: as `Recent.about`, `events` with numbers greater than `since`, and of each
        that stopped a part the words for it.

        Raises:
            RobotControlError: `body` is malformed.
        """
        numbers = [body.get(key, 0) for key in ("loop", "actions", "since")]
        if not all(type(number) is int and 0 <= number < 2**53 for number in numbers):
            raise RobotControlError("a look back", expected="whole numbers: loop, actions, since", got="others")
        loop, actions, since = numbers
        about = self.recent.about(loop, actions)
        self._look()
        events = [{**mark, "stop": stop_text(mark)} for mark in self._marks if mark["number"] > since]
        return {"success": True, "message": "", **about, "events": events}

    def rest(self) -> None:
        """Nobody looks. Marks and bars stay: a page that comes again has lost its ticks meanwhile, and nothing else."""
        if self._is_followed and not self.recent.is_followed:
            self._is_followed = False
            self._robot.forget_timeline()
            self._forget_ticks()

    @property
    def sessions(self) -> list[str]:
        """Those whose actions are active, as far as their variables are known."""
        return sorted({name.partition("/")[0] for name in self._sampled if "/" in name})

    def news(self, reader: TimelineReader) -> Iterator[bytes | str]:
        """What a browser lacks: frames of ticks, each without a gap, and a text {"timeline": {...}}."""
        self._look()
        if reader._loop != self._loop:
            reader._loop, reader._next = self._loop, 0
        text = self._text(reader)
        if text:
            yield json.dumps({"timeline": text}, allow_nan=False, separators=(",", ":"))
        yield from self._frames(reader)

    def fired(self, number: object) -> Fired | None:
        """The firing that a mark tells of; None: its values are not kept, or it is none of a reaction."""
        for mark in self._marks:
            if mark["number"] == number and number in self._fired:
                # Captured by the loop as it fired: these may also be of actions, which are not in every tick.
                captured = {name: math.nan if x is None else x for name, x in mark["values"].items()}
                return Fired(
                    session=mark["session"], reaction=mark["reaction"], owner=mark["previous"],
                    values=self._fired[mark["number"]] | captured,
                )  # fmt: skip
        return None

    # --- what comes -----------------------------------------------------------------------------

    def _look(self) -> None:
        now = time.monotonic()
        if now - self._looked < _FRESH_S:
            return
        self._looked, self._is_followed = now, True
        try:
            self._take(self._robot.timeline())
        except Exception as error:  # else nobody would be shown anything any more
            _log.warning("the loop's ticks cannot be read: %s: %s", type(error).__name__, error)

    def _take(self, news: TimelineNews) -> None:
        if news.names is not None and (self._names is None or news.names.version != self._names.version):
            self._forget_ticks()
            self._marks.clear()
            self._fired.clear()
            self._bars.clear()
            self._loop += 1
            self._names = news.names
            self._layouts += 1
        self._problem = news.problem
        for batch in news.batches:
            if self._names is not None and batch.version == self._names.version:
                self._take_ticks(batch, self._names)
        for event in news.events:
            self._take_event(event)
        self._keep_fired()
        if news.sampled is not None and tuple(news.sampled) != self._sampled:
            self._sampled = tuple(news.sampled)
            self._columns = {name: i for i, name in enumerate(self._sampled)}
            self._layouts += 1
        for tick, values in news.samples:
            if len(values) == len(self._sampled):
                self._n_samples += 1
                self._samples.append((self._n_samples, tick, self._columns, values))

    def _take_ticks(self, batch: TickBatch, names: TickNames) -> None:
        rows = batch.rows
        if rows.shape[1] != names.columns or rows[0, 0] <= self.last:
            return
        ticks = rows[:, 0].copy()
        values = rows.view(np.float64).copy()
        integers = sorted(names.integers)
        values[:, integers] = rows[:, integers]
        self._chunks.append((ticks, values))
        self._n_ticks += len(ticks)
        while self._n_ticks - len(self._chunks[0][0]) >= _KEPT_TICKS:
            self._n_ticks -= len(self._chunks.popleft()[0])
        self._take_bars(batch, names)
        if self.recent.is_followed:
            self.recent.take(batch, names)
        self.last = int(ticks[-1])

    def _take_bars(self, batch: TickBatch, names: TickNames) -> None:
        ticks = batch.rows[:, 0]
        follows = np.concatenate([[self.last > 0 and ticks[0] == self.last + 1], np.diff(ticks) == 1])
        for part, column in names.actions.items():
            identities = batch.rows[:, column]
            begins = [0, *(np.flatnonzero(~follows[1:] | (np.diff(identities) != 0)) + 1), len(ticks)]
            for begin, end in zip(begins, begins[1:], strict=False):
                identity, first, last = int(identities[begin]), int(ticks[begin]), int(ticks[end - 1])
                name = batch.action_names.get(identity, "")
                self._go_on(part, identity, name, first, last, bool(follows[begin]))

    def _go_on(self, part: str, identity: int, name: str, first: int, last: int, follows: bool) -> None:
        """An action is active on a part from one tick to another; 0: none.

        Args:
            follows: the tick before the first one was seen as well.
        """
        bar = self._open.get(part)
        if bar is not None:
            if bar.identity == identity and follows:
                bar.last = last
                return
            bar.is_open = False
            self._change(bar)
            del self._open[part]
        if identity:
            self._n_bars += 1
            bar = Bar(
                number=self._n_bars, part=part, identity=identity, action=name, first=first, last=last,
                began=not follows,
            )  # fmt: skip
            for mark in reversed(self._marks):
                self._name_session(bar, mark)
            self._open[part] = bar
            self._bars.append(bar)
            self._change(bar)

    def _change(self, bar: Bar) -> None:
        self._n_changes += 1
        bar.change = self._n_changes

    def _name_session(self, bar: Bar, mark: Json) -> None:
        """The loop's rows do not know sessions, but the event with which an action began does."""
        is_begin = mark["tick"] == bar.first or bar.began and mark["tick"] < bar.first
        if is_begin and not bar.session and mark["current"] == bar.action and bar.part in mark["part"].split(", "):
            bar.session = mark["session"]
            self._change(bar)

    def _keep_fired(self) -> None:
        """An event may come before its tick, or after it."""
        if self._names is None or not self._chunks:
            return
        for mark in reversed(self._marks):
            if mark["tick"] < self._chunks[0][0][0]:
                break
            if not mark["reaction"] or mark["number"] in self._fired:
                continue
            for ticks, values in reversed(self._chunks):
                i = int(np.searchsorted(ticks, mark["tick"]))
                if i < len(ticks) and ticks[i] == mark["tick"]:
                    row = values[i].tolist()
                    self._fired[mark["number"]] = {name: row[c] for name, c in self._names.variables.items()}
                    break
        if len(self._fired) > _KEPT:
            self._fired = {n: values for n, values in self._fired.items() if n >= self._marks[0]["number"]}

    def _take_event(self, event: Json) -> None:
        if event["kind"] in _NOT_SHOWN:
            return
        self._n_marks += 1
        values = {name: value if math.isfinite(value) else None for name, value in event["values"].items()}
        shown = {key: event[key] for key in ("tick", "kind", "session", "reaction", "event", "part", "reason")}
        shown |= {"previous": event["previous_action"], "current": event["current_action"], "values": values}
        self._marks.append({"number": self._n_marks, **shown})
        for bar in self._bars:
            self._name_session(bar, self._marks[-1])

    # --- what goes ------------------------------------------------------------------------------

    def _text(self, reader: TimelineReader) -> Json:
        found: Json = {}
        if reader._layout != self._layouts:
            reader._layout = self._layouts
            names = self._names
            found["layout"] = {
                "loop": names.version if names is not None else 0,
                "period": names.period if names is not None else 0.0,
                "parts": list(names.actions) if names is not None else [],
                "every_tick": sorted(names.variables) if names is not None else [],
                "sampled": sorted(set(self._sampled) - set(names.variables if names is not None else ())),
                "problem": self._problem,
            }
        marks = [mark for mark in self._marks if mark["number"] > reader._marks]
        if marks:
            found["marks"] = marks
            reader._marks = self._n_marks
        bars = [bar.as_json() for bar in self._bars if bar.change > reader._bars]
        if bars:
            found["bars"] = bars
            reader._bars = self._n_changes
        if samples := self._new_samples(reader):
            found["samples"] = samples
        return found

    def _new_samples(self, reader: TimelineReader) -> Json:
        found: Json = {}
        every_tick = self._names.variables if self._names is not None else {}
        wanted = [name for name in reader.names if name not in every_tick]
        for number, tick, columns, values in self._samples:
            if number > reader._samples:
                for name in wanted:
                    if name in columns:
                        value = float(values[columns[name]])
                        found.setdefault(name, []).append([tick, value if math.isfinite(value) else None])
        reader._samples = self._n_samples
        return found

    def _frames(self, reader: TimelineReader) -> Iterator[bytes]:
        """Ticks in a row: see web/src/timeline/wire.ts."""
        if self._names is None:
            return
        known = self._names.variables
        chosen = [i for i, name in enumerate(reader.names) if name in known]
        columns = [known[reader.names[i]] for i in chosen]
        for ticks, values in _joined(self._chunks, reader._next):
            reader._next = int(ticks[-1]) + 1
            head = _HEAD.pack(_MAGIC, reader.choice, float(ticks[0]), len(ticks), len(chosen))
            numbers = np.array([*chosen, *([0] * (len(chosen) % 2))], np.uint32)
            yield head + numbers.tobytes() + np.ascontiguousarray(values[:, columns].T).tobytes()


def _joined(
    chunks: Iterable[tuple[NDArray[np.int64], NDArray[np.float64]]], begin: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """The ticks from `begin` on, joined where they follow each other."""
    found = [(ticks, values) for ticks, values in chunks if ticks[-1] >= begin]
    if not found:
        return
    ticks, values = (np.concatenate([each[i] for each in found]) for i in (0, 1))
    kept = ticks >= begin
    ticks, values = ticks[kept], values[kept]
    cuts = [0, *(np.flatnonzero(np.diff(ticks) > 1) + 1), len(ticks)]
    for first, last in zip(cuts, cuts[1:], strict=False):
        yield ticks[first:last], values[first:last]


def wanted_timeline(found: Any, *, most: int, fastest: float) -> tuple[int, tuple[str, ...], float] | None:
    """Choice, names and rate [Hz] of {"choice": n, "names": [...], "rate": Hz}; None: it is malformed."""
    if not isinstance(found, dict):
        return None
    choice, names, rate = found.get("choice"), found.get("names"), found.get("rate")
    if type(choice) is not int or not 0 <= choice < 2**32:
        return None
    if not isinstance(names, list) or len(names) > most or len(set(map(str, names))) != len(names):
        return None
    if not all(isinstance(name, str) and 0 < len(name) < 200 for name in names):
        return None
    if not isinstance(rate, int | float) or isinstance(rate, bool) or not 0 <= rate <= fastest:  # NaN neither
        return None
    return choice, tuple(names), float(rate)
