"""A recorded session run again in simulated time: hardware, loop, and in each tick what came from outside."""

from __future__ import annotations

import struct
import tempfile
from collections import defaultdict
from collections.abc import Callable, Generator
from pathlib import Path

import numpy as np

from robot_rt_control.hardware.clocks import LOCKSTEP
from robot_rt_control.memory.layout import CHANNEL_LAYOUT
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.realtime.executor.executor import Executor, ExecutorOptions
from robot_rt_control.realtime.executor.mock_states import mock_setters
from robot_rt_control.realtime.executor.session_recorder import LOSSES, TICKS_AT_ONCE
from robot_rt_control.recording.columns import Column
from robot_rt_control.recording.inputs import InputKind, unpack_command, unpack_points, unpack_sample, unpack_tables
from robot_rt_control.recording.tick_reader import Input, TickFile
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import Command
from robot_rt_control.vocabulary.errors import RobotControlError


def recorded_workcell(file: TickFile, workcell: Path | None = None) -> Workcell:
    """The workcell of a session that can be run again.

    Args:
        file: a session recorded in lockstep from the first tick on.
        workcell: its file; None: where it was when it was recorded.

    Raises:
        RobotControlError: it cannot be run again, and why.
    """
    about = file.about
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
    layout = str(about.get("layout", "none"))
    if layout != f"{CHANNEL_LAYOUT:x}":
        hint = f"It was recorded by version {about.get('version', 'unknown')}"
        raise RobotControlError(what, expected=f"layout {CHANNEL_LAYOUT:x}", got=layout, hint=hint)
    read = load_workcell(workcell or about["workcell_file"], about["hardware"])
    if f"{read.digest:x}" != about["workcell_digest"]:
        raise RobotControlError(
            f"{what}: workcell file {read.path}",
            expected=f"digest {about['workcell_digest']}",
            got=f"{read.digest:x}",
            hint="It has changed since; the recording has its text attached. Give that file with --workcell",
        )
    lost = {kind: n for kind, n in losses(file).items() if kind != "events" and n}
    if lost:
        got = ", ".join(f"{n} {name} lost" for name, n in lost.items())
        raise RobotControlError(what, expected="all that came from outside", got=got)
    return read


def losses(file: TickFile) -> dict[str, int]:
    """How many ticks, commands, events, … were lost while it was recorded."""
    end = file.end()
    return {kind: int(end.get(f"lost_{kind}", 0)) for kind in LOSSES}


class Rerun:
    """Runs a recording again, on the same hardware, without a control server.

    Args:
        file, workcell: see `recorded_workcell`.
        edit: is given definitions (`staging_dtype`) before they are taken, and may change them.

    Raises:
        RobotControlError: it cannot be run again, and why.
    """

    def __init__(
        self, file: TickFile, workcell: Path | None = None, edit: Callable[[np.record], object] = lambda _: None
    ) -> None:
        self._file, self._edit = file, edit
        what = f"replay of {file.path}"
        read = recorded_workcell(file, workcell)
        self.lost_events = losses(file)["events"]
        """If any, the file does not have all events."""
        self.ticks = 0
        """How many were run."""
        self._inputs: dict[int, list[Input]] = defaultdict(list)
        for given in file.inputs():
            self._inputs[given.tick].append(given)
        self._folder = tempfile.TemporaryDirectory(prefix="replay_")
        options = ExecutorOptions(clock=LOCKSTEP, real_time_factor=-1.0, fault_folder=Path(self._folder.name))
        self.executor = Executor(read, options, channel_name=None, image_name=lambda device: device)
        ring = self.executor.ring
        if [Column(name="tick", integer=True), *ring.columns] != file.columns:
            raise RobotControlError(what, expected="the columns of this version", got="others")

    def steps(self, progress: Callable[[str], object] = lambda _: None) -> Generator[np.ndarray, None, None]:
        """Run all ticks, some at a time: the recorded rows of those that have just run.

        Raises:
            RobotControlError: it cannot be run again, and why.
        """
        executor = self.executor
        try:
            executor.configure(progress)
            assert executor.lockstep is not None
            executor.channel.feed = lambda: None  # the set points of motion groups are recorded
            self._set_state = mock_setters(executor)
            for rows in self._file.rows():
                while len(rows):
                    tick, n = int(rows[0, 0]), min(len(rows), TICKS_AT_ONCE)
                    for given in self._inputs.get(tick, ()):
                        self._put(given)
                    n = next((t - tick for t in range(tick + 1, tick + n) if t in self._inputs), n)
                    executor.lockstep.step(n)
                    self.ticks += n
                    yield rows[:n]
                    rows = rows[n:]
            if not self.ticks:
                hint = "Its writer was killed before the first chunk was full"
                raise RobotControlError(f"replay of {self._file.path}", expected="ticks", got="none", hint=hint)
        finally:
            executor.cleanup()
            self._folder.cleanup()

    def _put(self, given: Input) -> None:
        """Let something from outside take effect in the next tick."""
        executor, kind, data = self.executor, InputKind(given.kind), given.data
        memory, world = executor.channel.memory, executor.world.memory
        if kind == InputKind.TABLES:
            unpack_tables(data, memory.staging)
            self._edit(memory.staging)
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
