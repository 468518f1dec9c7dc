"""Run a recorded session again and compare each tick: python -m robot_rt_control.realtime.executor.replay FILE."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_rt_control.realtime.executor.event_fields import event_fields
from robot_rt_control.realtime.executor.rerun import Rerun
from robot_rt_control.recording.tick_reader import TickFile, event_text
from robot_rt_control.recording.tick_writer import event_message
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


class Replay(Rerun):
    """Runs a recording again and compares; see `Rerun`."""

    def __init__(self, file: TickFile, workcell: Path | None = None) -> None:
        super().__init__(file, workcell)
        self._columns = [
            (c.name if c.scalar else f"{c.name}[{i}]", c.integer) for c in file.columns for i in range(c.width)
        ]

    def run(self, progress: Callable[[str], object] = lambda _: None) -> Difference | None:
        """The first difference; None: all ticks are the same, bit for bit.

        Raises:
            RobotControlError: it cannot be run again, and why.
        """
        epoch, recorded = int(self._file.about["epoch_ns"]), self._file.events()
        with contextlib.closing(self.steps(progress)) as steps:
            for rows in steps:
                found = [self._row_difference(rows), self._event_difference(recorded, epoch)]
                differing = [difference for difference in found if difference is not None]
                if differing:
                    return min(differing, key=lambda difference: difference.tick)
        return None

    def _row_difference(self, recorded: np.ndarray) -> Difference | None:
        """The first number that differs."""
        first, last = int(recorded[0, 0]), int(recorded[-1, 0])
        replayed = self.executor.ring.take(first, last)
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
        events = self.executor.channel.take_events()
        if self.lost_events:
            return None
        actions = self.executor.ring.action_names() if len(events) else {}
        for event in events:
            tick, time = int(event["tick"]), int(event["time_ns"]) + epoch
            fields = event_fields(event, self.executor.world, actions)
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
