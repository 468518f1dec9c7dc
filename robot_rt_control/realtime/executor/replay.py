"""Run a recorded session again and compare each tick: python -m robot_rt_control.realtime.executor.replay FILE."""

from __future__ import annotations

import argparse
import struct
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_rt_control.hardware.clocks import LOCKSTEP
from robot_rt_control.memory.layout import CHANNEL_LAYOUT
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.realtime.executor.event_fields import event_fields
from robot_rt_control.realtime.executor.executor import Executor, ExecutorOptions
from robot_rt_control.realtime.executor.mock_states import mock_setters
from robot_rt_control.realtime.executor.session_recorder import LOSSES, TICKS_AT_ONCE
from robot_rt_control.recording.columns import Column
from robot_rt_control.recording.inputs import InputKind, unpack_command, unpack_points, unpack_sample, unpack_tables
from robot_rt_control.recording.tick_reader import Input, TickFile, event_text
from robot_rt_control.recording.tick_writer import event_message
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import Command
from robot_rt_control.vocabulary.errors import RobotControlError

SAME, DIFFERS, REFUSED = 0, 1, 2
"""Exit codes."""


@dataclass(frozen=True)
class Difference:
    """Where a replay first differs from its recording."""

    tick: int
    variable: str
    """The column, such as arm.position[2]; or "event"."""
    recorded: str
    replayed: str

    def __str__(self) -> str:
        return f"tick {self.tick}: {self.variable}: recorded {self.recorded}, replayed {self.replayed}"


class Replay:
    """Runs a recording again, on the same hardware, without a control server.

    Args:
        file: a session recorded in lockstep from the first tick on.
        workcell: its file; None: where it was when it was recorded.

    Raises:
        RobotControlError: it cannot be run again, and why.
    """

    def __init__(self, file: TickFile, workcell: Path | None = None) -> None:
        self._file, about = file, file.about
        what = f"replay of {file.path}"
        if "clock" not in about:
            raise RobotControlError(what, expected="a recorded session", got="a log of the last ticks")
        if about["clock"] != LOCKSTEP:
            raise RobotControlError(what, expected=f"clock {LOCKSTEP}", got=about["clock"])
        if about["first_tick"] != 1:
            raise RobotControlError(
                what,
                expected="the session from tick 1 on",
                got=f"from tick {about['first_tick']} on",
                hint="Start the workcell with the executor's parameter `record`",
            )
        if about["layout"] != f"{CHANNEL_LAYOUT:x}":
            hint = f"It was recorded by version {about['version']}"
            raise RobotControlError(what, expected=f"layout {CHANNEL_LAYOUT:x}", got=about["layout"], hint=hint)
        read = load_workcell(workcell or about["workcell_file"], about["hardware"])
        if f"{read.digest:x}" != about["workcell_digest"]:
            raise RobotControlError(
                f"{what}: workcell file {read.path}",
                expected=f"digest {about['workcell_digest']}",
                got=f"{read.digest:x}",
                hint="It has changed since; the recording has its text attached. Give that file with --workcell",
            )
        end = file.end()
        lost = {kind: int(end.get(f"lost_{kind}", 0)) for kind in LOSSES}
        self.lost_events = lost.pop("events")
        """If any, events are not compared."""
        if any(lost.values()):
            got = ", ".join(f"{n} {name} lost" for name, n in lost.items() if n)
            raise RobotControlError(what, expected="all that came from outside", got=got)
        self.ticks = 0
        """How many were compared."""
        self._inputs: dict[int, list[Input]] = defaultdict(list)
        for given in file.inputs():
            self._inputs[given.tick].append(given)
        self._folder = tempfile.TemporaryDirectory(prefix="replay_")
        options = ExecutorOptions(clock=LOCKSTEP, real_time_factor=-1.0, fault_folder=Path(self._folder.name))
        self._executor = Executor(read, options, channel_name=None, image_name=lambda device: device)
        ring = self._executor.ring
        if [Column(name="tick", integer=True), *ring.columns] != file.columns:
            raise RobotControlError(what, expected="the columns of this version", got="others")
        self._columns = [
            (c.name if c.scalar else f"{c.name}[{i}]", c.integer) for c in file.columns for i in range(c.width)
        ]

    def run(self, progress: Callable[[str], object] = lambda _: None) -> Difference | None:
        """The first difference; None: all ticks are the same, bit for bit.

        Raises:
            RobotControlError: it cannot be run again, and why.
        """
        executor, epoch = self._executor, int(self._file.about["epoch_ns"])
        try:
            executor.configure(progress)
            assert executor.lockstep is not None
            executor.channel.feed = lambda: None  # the set points of motion groups are recorded
            self._set_state = mock_setters(executor)
            recorded = self._file.events()
            for rows in self._file.rows():
                while len(rows):
                    tick, n = int(rows[0, 0]), min(len(rows), TICKS_AT_ONCE)
                    for given in self._inputs.get(tick, ()):
                        self._put(given)
                    n = next((t - tick for t in range(tick + 1, tick + n) if t in self._inputs), n)
                    executor.lockstep.step(n)
                    self.ticks += n
                    found = [self._row_difference(rows[:n]), self._event_difference(recorded, epoch)]
                    differing = [difference for difference in found if difference is not None]
                    if differing:
                        return min(differing, key=lambda difference: difference.tick)
                    rows = rows[n:]
            if not self.ticks:
                hint = "Its writer was killed before the first chunk was full"
                raise RobotControlError(f"replay of {self._file.path}", expected="ticks", got="none", hint=hint)
            return None
        finally:
            executor.cleanup()
            self._folder.cleanup()

    def _put(self, given: Input) -> None:
        """Let something from outside take effect in the next tick."""
        executor, kind, data = self._executor, InputKind(given.kind), given.data
        memory, world = executor.channel.memory, executor.world.memory
        if kind == InputKind.TABLES:
            unpack_tables(data, memory.staging)
            executor.channel.request_install()
            executor.serve_installations()
            if not memory.staging.accepted:
                reason = bytes(memory.staging.reason).decode(errors="replace")
                raise RobotControlError(
                    f"replay of {self._file.path}: the definitions of tick {given.tick}",
                    got=reason,
                    hint="They name native code: run it where it was built, with the same version",
                )
        elif kind == InputKind.COMMAND:
            executor.channel.push_command(*unpack_command(data))
        elif kind == InputKind.INTERNAL:
            executor.put_internal(Command(data[0]), data[1:])
        elif kind == InputKind.SAMPLE:
            place, sample = unpack_sample(data)
            ring = memory.streams[place]
            ring.entries[int(ring.head) % capacities.STREAM_RING_ENTRIES] = sample
            ring.head += 1
        elif kind == InputKind.POINTS:
            unpack_points(data, memory)
        elif kind == InputKind.SERVER_LOST:
            world.server_lost = 1
        elif kind == InputKind.MISSES:
            executor.miss_deadlines(int.from_bytes(data, "little"))
        elif kind == InputKind.STATE:
            self._set_state[data[8:].decode()](struct.unpack_from("<d", data)[0])

    def _row_difference(self, recorded: np.ndarray) -> Difference | None:
        """The first number that differs."""
        first, last = int(recorded[0, 0]), int(recorded[-1, 0])
        replayed = self._executor.ring.take(first, last)
        found = np.argwhere(recorded != replayed)
        if not len(found):
            return None
        row, word = (int(i) for i in found[0])
        name, integer = self._columns[word]
        both = [rows[row : row + 1, word] for rows in (recorded, replayed)]
        texts = [repr((value if integer else value.view(np.float64)).tolist()[0]) for value in both]
        return Difference(first + row, name, *texts)

    def _event_difference(self, recorded: Iterator[bytes], epoch: int) -> Difference | None:
        """The first event that differs, of those since the last call."""
        events = self._executor.channel.take_events()
        if self.lost_events:
            return None
        actions = self._executor.ring.action_names() if len(events) else {}
        for event in events:
            tick, time = int(event["tick"]), int(event["time_ns"]) + epoch
            fields = event_fields(event, self._executor.world, actions)
            message, expected = event_message(tick, time, **fields), next(recorded, b"")
            if message != expected:
                return Difference(tick, "event", event_text(expected), event_text(message))
        return None


def main(argv: Sequence[str] | None = None) -> int:
    """Replay a file; exit code 0: the same, 1: it differs, 2: it could not be run again."""
    parser = argparse.ArgumentParser(prog="replay", description=__doc__)
    parser.add_argument("file", type=Path, help="a session recorded in lockstep from its first tick on (.mcap)")
    parser.add_argument("--workcell", type=Path, help="the workcell file; default: where it was")
    given = parser.parse_args(argv)
    try:
        file = TickFile(given.file)
        replay = Replay(file, given.workcell)
        found = replay.run(lambda text: print(text, file=sys.stderr))
    except RobotControlError as error:
        print(error, file=sys.stderr)
        return REFUSED
    if found is not None:
        print(f"the first difference is in {found}")
    else:
        beside = f"; events were not compared: {replay.lost_events} were lost" if replay.lost_events else ""
        print(f"all {replay.ticks} ticks are the same, bit for bit{beside}")
    return SAME if found is None else DIFFERS


if __name__ == "__main__":
    sys.exit(main())
