"""Writing recorded ticks as MCAP, see docs/recording.md."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from mcap.writer import Writer

from robot_rt_control.recording.cdr import HEADER, Cdr
from robot_rt_control.recording.columns import TICK, TIME, Column, field_names
from robot_rt_control.recording.robot import (
    DESCRIPTION,
    TF,
    TF_MESSAGE,
    TF_NS,
    TF_STATIC,
    RobotWithTools,
    offered,
    tf_message,
)
from robot_rt_control.recording.sink import Sink

FORMAT = 3
ABOUT, END = "robot_rt_control", "robot_rt_control end"
"""Names of the metadata: what the file is about, and how it ended; values that are no texts are JSON."""
TICKS, EVENTS, INPUTS, DEFINITIONS = "/ticks", "/events", "/inputs", "/definitions"
STATES, COMMANDS = "/joint_states", "/joint_commands"
_CHUNK_BYTES = 256 << 10
_STAMP = slice(len(HEADER), len(HEADER) + 8)
_TIME_SCHEMA = "=" * 80 + "\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
_JOINT_STATE = (
    "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n"
    + "=" * 80
    + "\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n"
)
_EVENT = """\
builtin_interfaces/Time stamp
int64 tick
string kind
string reason
string part
string session
string previous_action
string current_action
int64 reaction
int64 status
float64[] values
"""
_INPUT = "builtin_interfaces/Time stamp\nint64 tick\nstring kind\nuint8[] data\n"


class TickWriter:
    """A file of ticks. One thread at a time.

    Args:
        path: of the file; it must not exist.
        about: what the file is about. `parts` lists each part's `name` and `joint_states`, the names of its joints on
            the topic joint_states; parts without are not on the topics.
        columns: of a row after the tick; among them the tick's start, `TIME`, on the loop's clock [ns]. A part that
            lists tools has the number of the one that is on as `<part>.tool`.
        epoch_ns: added to it for time stamps: 0 in simulated time.
        texts: name → text of a file that is attached.
        robot: what tools show at the recorded positions; None: nothing.

    Raises:
        OSError: the file cannot be written.
    """

    def __init__(
        self,
        path: Path,
        about: Mapping[str, Any],
        columns: Sequence[Column],
        *,
        epoch_ns: int = 0,
        texts: Mapping[str, bytes] | None = None,
        robot: RobotWithTools | None = None,
    ) -> None:
        columns = [Column(name=TICK, integer=True), *columns]
        places = dict(zip((c.name for c in columns), np.cumsum([0, *(c.width for c in columns)]), strict=False))
        self._time, self._epoch = int(places[TIME]), epoch_ns
        self.path, self._sink = path, Sink(path)
        try:
            self._writer = Writer(self._sink, chunk_size=_CHUNK_BYTES)  # type: ignore[arg-type]  # it writes and tells
            self._writer.start(profile="ros2", library="robot_rt_control")
            self._metadata(ABOUT, {"format": FORMAT, **about, "columns": [asdict(c) for c in columns]})
            for name, text in (texts or {}).items():
                self._writer.add_attachment(0, 0, name, "text/plain", text)
        except BaseException:
            self._sink.close()
            path.unlink(missing_ok=True)  # nothing in it can be read
            raise
        names = field_names(columns)
        fields = "".join(
            f"{'int64' if c.integer else 'float64'}{'' if c.scalar else f'[{c.width}]'} {name}\n"
            for c, name in zip(columns, names, strict=True)
        )
        fields = f"builtin_interfaces/Time stamp\n{fields}"
        self._ticks = self._channel(TICKS, "robot_rt_control/msg/RecordedTick", fields)
        self._events = self._channel(EVENTS, "robot_rt_control/msg/RecordedEvent", _EVENT)
        self._inputs = self._channel(INPUTS, "robot_rt_control/msg/RecordedInput", _INPUT)
        self._definitions = self._channel(DEFINITIONS, "std_msgs/msg/String", "string data\n", latched=True)
        jointed = [part for part in about["parts"] if part["joint_states"]]
        self._joints = [
            (self._channel(topic, "sensor_msgs/msg/JointState", _JOINT_STATE), *_joint_message(jointed, places, prefix))
            for topic, prefix in ((STATES, ""), (COMMANDS, "commanded_"))
            if jointed
        ]
        self._robot, self._shown_ns = robot, -TF_NS
        tools = [f"{part['name']}.tool" for part in about["parts"]]
        self._tools = [int(places[name]) for name in tools if name in places]
        self._shown_tools: tuple[float, ...] | None = None
        if robot is not None:
            self._described = self._channel(DESCRIPTION, "std_msgs/msg/String", "string data\n", latched=True)
            self._tf_static = self._channel(TF_STATIC, "tf2_msgs/msg/TFMessage", TF_MESSAGE, latched=True)
            self._tf = self._channel(TF, "tf2_msgs/msg/TFMessage", TF_MESSAGE)
            self._joint_names = [name for part in jointed for name in part["joint_states"]]
            first = [(int(places[f"{part['name']}.position"]), len(part["joint_states"])) for part in jointed]
            self._positions = [place + i for place, n in first for i in range(n)]

    def _channel(self, topic: str, schema: str, text: str, latched: bool = False) -> int:
        number = self._writer.register_schema(schema, "ros2msg", (text + _TIME_SCHEMA).encode())
        return self._writer.register_channel(topic, "cdr", number, offered(1 if latched else 10, latched))

    def _metadata(self, name: str, values: Mapping[str, Any]) -> None:
        texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in values.items()}
        self._writer.add_metadata(name, texts)

    @property
    def failure(self) -> OSError | None:
        """Why the file should be ended; None: there is room."""
        return self._sink.failure

    @property
    def size(self) -> int:
        """[bytes] of the file."""
        return self._sink.tell()

    def rows(self, rows: np.ndarray) -> None:
        """Write ticks: int64 of shape (n, 1 + width of all columns). Raises OSError: they cannot be written."""
        if not len(rows):
            return
        times = rows[:, self._time] + self._epoch
        if self._robot is not None:
            self._show(self._robot, rows, times)
        stamps = np.stack([times // 10**9, times % 10**9], axis=1).astype(np.uint32).view(np.uint8)
        blocks = [(self._ticks, np.concatenate([_repeat(HEADER, len(rows)), stamps, _bytes(rows)], axis=1))]
        for channel, template, places in self._joints:
            block = _repeat(template, len(rows))
            block[:, _STAMP] = stamps
            for place, first, n in places:
                block[:, place : place + 8 * n] = _bytes(rows[:, first : first + n])
            blocks.append((channel, block))
        for i, (tick, time) in enumerate(zip(rows[:, 0].tolist(), times.tolist(), strict=True)):
            for channel, block in blocks:
                self._writer.add_message(channel, time, block[i].tobytes(), time, tick & 0xFFFFFFFF)

    def _show(self, robot_with: RobotWithTools, rows: np.ndarray, times: np.ndarray) -> None:
        for row, time in zip(rows, times.tolist(), strict=True):
            if 0 <= time - self._shown_ns < TF_NS:
                continue
            tools = tuple(row[self._tools].view(np.float64).tolist())
            robot = robot_with(tools)
            moving = robot.frames.at(self._joint_names, row[self._positions].view(np.float64).tolist())
            found = [(self._tf, tf_message(moving, time))]
            if tools != self._shown_tools:  # first here, as files begin with their first message for players
                static = tf_message(robot.frames.fixed, time)
                found = [(self._described, Cdr().text(robot.description).finish()), (self._tf_static, static), *found]
            self._shown_ns, self._shown_tools = time, tools
            for channel, message in found:
                self._writer.add_message(channel, time, message, time, int(row[0]) & 0xFFFFFFFF)

    def event(self, tick: int, time_ns: int, kind: str, **fields: Any) -> None:
        """Write an event; fields as those of `event_message`. Raises OSError: it cannot be written."""
        time = time_ns + self._epoch
        message = event_message(tick, time, kind, **fields)
        self._writer.add_message(self._events, time, message, time, tick & 0xFFFFFFFF)

    def input(self, tick: int, time_ns: int, kind: str, data: bytes) -> None:
        """Write what came from outside the loop and took effect in a tick. Raises OSError: it cannot be written."""
        time = time_ns + self._epoch
        message = Cdr().stamp(time).number("q", tick).text(kind).data(data).finish()
        self._writer.add_message(self._inputs, time, message, time, tick & 0xFFFFFFFF)

    def definitions(self, tick: int, time_ns: int, text: str) -> None:
        """Write what reactions are called from a tick on: `reaction_names`. Raises OSError: it cannot be written."""
        time = time_ns + self._epoch
        self._writer.add_message(self._definitions, time, Cdr().text(text).finish(), time, tick & 0xFFFFFFFF)

    def end(self, **how: Any) -> None:
        """Write how it ended, and the index. Raises OSError: that was not possible; all whole chunks can be read."""
        try:
            self._metadata(END, how)
            self._writer.finish()
        finally:
            self._sink.close()


def event_message(
    tick: int,
    time_ns: int,
    kind: str,
    *,
    reason: str = "",
    part: str = "",
    session: str = "",
    previous_action: str = "",
    current_action: str = "",
    reaction: int = 0,
    status: int = 0,
    values: Sequence[float] = (),
) -> bytes:
    """A message on /events. `time_ns`: its time stamp."""
    message = Cdr().stamp(time_ns).number("q", tick)
    for text in (kind, reason, part, session, previous_action, current_action):
        message.text(text)
    return message.number("q", reaction).number("q", status).floats(values).finish()


def _bytes(rows: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(rows).view(np.uint8)


def _repeat(data: bytes, n: int) -> np.ndarray:
    return np.tile(np.frombuffer(data, np.uint8), (n, 1))


def _joint_message(
    parts: Sequence[Mapping[str, Any]], places: Mapping[str, int], prefix: str
) -> tuple[bytes, list[tuple[int, int, int]]]:
    """A JointState of all joints without their values, and (place in it, first word of a row, number of words)."""
    names = [name for part in parts for name in part["joint_states"]]
    message, found = Cdr().stamp(0).text("").texts(names), []
    for quantity in ("position", "velocity", "effort"):
        message.number("I", len(names)).align(8)
        for part in parts:
            n = len(part["joint_states"])
            found.append((message.align(8), int(places[f"{part['name']}.{prefix}{quantity}"]), n))
            for _ in range(n):
                message.number("d", 0.0)
    return message.finish(), found
