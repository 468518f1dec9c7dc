"""A disk and a memory that are full while an arm moves."""

from __future__ import annotations

import math
import resource
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

import numpy as np
import pytest

from bench.attack.attack import REPOSITORY, RULES, Attack
from bench.attack.small_disk import SmallDisk
from robot_rt_control.blueprint.runs.run_log import read_log
from robot_rt_control.client.actions import Action
from robot_rt_control.client.session import Session
from robot_rt_control.recording.tick_reader import TickFile
from robot_rt_control.server.offline_catalogue import offline_catalogue
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import RobotControlError

_TICKS = 3000
_ACTS = 20
_SIZE, _FILES = 32 << 20, 300
"""[bytes] of the small disk, and how many files it can have."""


@contextmanager
def _limited(what: int, size: int) -> Iterator[None]:
    before = resource.getrlimit(what)
    resource.setrlimit(what, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(what, before)


def _moving(cell: LockstepCell) -> Session:
    session = cell.session("left", "right")
    session.add(Action("a", "probe", parts="left", speed=0.2), Action("b", "probe", parts="right", speed=-0.2))
    session.start("a", "b")
    cell.step(50)
    return session


def _goes_on(cell: LockstepCell, session: Session, calls: float, tick: int) -> None:
    for part, action in (("left", "a"), ("right", "b")):
        assert cell.active(part) == action, f"{part!r} has {cell.active(part)!r} active"
    assert session.value("a.controls") - calls == cell.tick - tick, "it was not controlled in every tick"


class _Kept:
    """What a cell keeps on a small disk, and what has to hold of it whatever there is room for."""

    def __init__(self, random: Random, cell: LockstepCell, disk: SmallDisk) -> None:
        self.random, self.cell, self.disk = random, cell, disk
        self._recorded: Path | None = None
        self._first = 0
        self._texts: dict[str, str] = {}
        self.done = self.refused = 0

    def attempt(self, act: Callable[[], None]) -> None:
        try:
            act()
            self.done += 1
        except RobotControlError:
            self.refused += 1

    def record(self) -> None:
        """Begin or end a recording. Whether a caller or the disk ended it, it has all ticks from its first one on."""
        if self._recorded is None:
            self._recorded = self.cell.executor.record(True, self.disk.folder / "recordings")
            self._first = self.cell.tick + 1
            return
        path, self._recorded = self._recorded, None
        self.cell.executor.record(False)
        file = TickFile(path)
        ticks = file.arrays()["tick"]
        assert (ticks == self._first + np.arange(len(ticks))).all(), f"{path.name} lacks ticks: {ticks}"
        assert file.end(), f"{path.name} has no end"

    def save(self) -> None:
        name, lines = self.random.choice("abc"), self.random.choice((0, 10, 3000))
        text = f"name: {name}\nactions: {{a: {{type: hold, parts: left}}}}\nstart: a\n"
        text += "".join(f"# {self.random.random()}\n" for _ in range(lines))
        self._texts[f"{name}@{self.cell.server.programs.save(text)}"] = text

    def delete(self) -> None:
        reference = self.random.choice((*self._texts, "a@999"))
        self.cell.server.programs.delete(reference)
        del self._texts[reference]

    def save_ticks(self) -> None:
        assert self.cell.tick in TickFile(self.cell.executor.save_last_ticks()).arrays()["tick"]

    def fault(self) -> None:
        """A part faults, and comes to rest also if that cannot be written; an event names no log that is not there."""
        cell = self.cell
        cell.events.clear()
        cell.set_sensor("right/y/position", cell.part("right").position[0] + 0.5)
        cell.step(500)
        assert not cell.part("right").commanded_velocity[:1].any(), "a fault did not bring its part to rest"
        cell.executor.write_logs()
        (fault,) = cell.kinds("part_faulted")
        assert not fault.file or fault.tick in TickFile(fault.file).arrays()["tick"], f"there is no {fault.file}"
        cell.server.set_motion(["right"], "clear_faults")
        cell.server.set_motion(["right"], "enable")
        cell.step(500)

    def check(self) -> None:
        """Programs are kept as they were saved, all of them, and no others."""
        store = self.cell.server.programs
        kept = {f"{name}@{v}" for name in "abc" for v in store.kept().get(name, ())}
        assert kept == set(self._texts), f"kept {sorted(kept)}, saved {sorted(self._texts)}"
        broken = [reference for reference, text in self._texts.items() if store.get(reference).text != text]
        assert not broken, f"these are not as they were saved: {broken}"

    def finish(self) -> None:
        """There is room again: everything is possible, and nothing is left of what was not."""
        self.disk.clear()
        if self._recorded is not None:
            self.record()
        for act in (self.record, self.record, self.save, self.save_ticks, self.fault):
            act()
        self.check()
        left = [path for path in self.disk.folder.rglob("*") if path.suffix in (".tmp", ".unfinished")]
        assert not left, f"left on the disk: {left}"


def _room(random: Random, disk: SmallDisk) -> bool:
    """For nothing, a page, a text, a file's beginning or a log; or for no further file; or for all: False."""
    disk.clear()
    if random.random() < 0.2:
        disk.leave_files(random.randint(0, 2))
    elif random.random() < 0.8:
        disk.leave(random.choice((0, 0, 4096, 20_000, 100_000, 1 << 20, 5 << 20, 9 << 20)))
    else:
        return False
    return True


def _loop(random: Random, disk: SmallDisk) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(disk.folder))  # there the cell has its folder of programs and faults
        made = LockstepCell(RULES / "workcell.yaml")
    with made as cell:
        session = cell.session("left")
        session.add(Action("a", "probe", parts="left", speed=0.0))
        session.start("a")
        cell.step()
        kept, calls, tick = _Kept(random, cell, disk), session.value("a.controls"), cell.tick
        for _ in range(_ACTS):
            _room(random, disk)
            for act in random.choices((kept.record, kept.save, kept.delete, kept.save_ticks, kept.fault), k=3):
                kept.attempt(act)
                session.set("a", speed=math.copysign(random.uniform(0.0, 0.3), -cell.part("left").position[0]))
                cell.step(random.choice((0, 1, 60, 300)))
            assert session.ended is None and cell.active("left") == "a"
            assert session.value("a.controls") - calls == cell.tick - tick, "it was not controlled in every tick"
            kept.check()
        kept.finish()
        assert kept.refused and kept.done
        return kept.refused + kept.done


def _blueprints(random: Random, disk: SmallDisk, folder: Path) -> int:
    """Runs whose logs, and skills whose files, find no room: they are refused, or stand, and can be ended."""
    from executor_attack import SKILLS, Attacked, code_in

    bench = REPOSITORY / "test" / "lockstep" / "mock_bench.yaml"
    with LockstepClient(bench) as client:
        made = Attacked(client, offline_catalogue(bench), code_in(folder), disk.folder / "blueprints")
        names = tuple(SKILLS)
        acts = (
            lambda: made.start(random.choice(names), busy="replace", rehearse=random.random() < 0.3),
            lambda: made.save(random.choice(names)),
            lambda: made.say(random.choice(("swing", "open", "stop", "sing"))),
            lambda: made.control(random.choice(("resume", "cancel", "pause", "step")), random.randint(-1, 9)),
        )  # fmt: skip
        try:
            for _ in range(_ACTS):
                ended = {run.id for run in made.seen.values() if run.outcome is not None}
                limited = _room(random, disk)
                for _ in range(3):
                    with suppress(RobotControlError):
                        random.choice(acts)()
                    made.step(random.randint(1, 100), 5)
                made.full |= set(made.seen) - ended if limited else set()
            disk.clear()
            made.calm()
            made.cancel()
            made.check()
            for log in made.logs.glob("*.jsonl"):
                read_log(log)
        finally:
            made.executor.close()
    return 3 * _ACTS


def _disk(random: Random, folder: Path) -> int:
    (place := folder / "disk").mkdir()
    with SmallDisk(place, size=_SIZE, files=_FILES) as disk:
        return _loop(random, disk) + _blueprints(random, disk, folder)


def _memory(random: Random, folder: Path) -> int:
    with LockstepCell(RULES / "workcell.yaml") as cell:
        session = _moving(cell)
        calls, tick = session.value("a.controls"), cell.tick
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        ticks = 0
        with _limited(resource.RLIMIT_AS, pages * resource.getpagesize()):
            for _ in range(_TICKS // 100):
                with suppress(MemoryError):
                    cell.executor.step(100)
                    ticks += 100
                with suppress(MemoryError, RobotControlError):
                    bytearray(random.randint(1, 1 << 28))
                    session.set("a", speed=random.uniform(0.1, 0.3))
        cell.step(1)
        _goes_on(cell, session, calls, tick)
        assert ticks > 0
    return ticks


DISK = Attack(
    name="full_disk",
    promise="what finds no room is refused or ends whole, and what is kept stays; the loop goes on in every tick",
    round=_disk,
    unit="acts",
)
MEMORY = Attack(
    name="full_memory",
    promise="the loop allocates nothing: it goes on in every tick while no process gets memory",
    round=_memory,
    unit="ticks",
    share=0.5,
)
