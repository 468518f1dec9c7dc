"""A disk and a memory that are full while an arm moves."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

from bench.attack.attack import RULES, Attack
from robot_rt_control.client.actions import Action
from robot_rt_control.client.session import Session
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import RobotControlError

_TICKS = 3000


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


def _disk(random: Random, folder: Path) -> int:
    with LockstepCell(RULES / "workcell.yaml") as cell:
        session = _moving(cell)
        calls, tick = session.value("a.controls"), cell.tick
        assert cell.executor.record(True, folder / "ticks.mcap") is not None
        with _limited(resource.RLIMIT_FSIZE, random.randint(0, 200_000)):
            cell.step(_TICKS)
            with suppress(RobotControlError):
                cell.executor.record(False)
        cell.step(100)
        _goes_on(cell, session, calls, tick)
        cell.server.set_motion(["left"], "disable")
        with _limited(resource.RLIMIT_FSIZE, 0):
            cell.set_sensor("right/y/position", 0.5)  # a fault, whose log cannot be written
            cell.step(500)
            cell.executor.write_logs()
        assert not cell.part("right").commanded_velocity[:2].any(), "a fault without a log did not bring it to rest"
    return _TICKS


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
    promise="recordings and logs of faults may end; the loop goes on in every tick, and faults bring parts to rest",
    round=_disk,
    unit="ticks",
    share=0.5,
)
MEMORY = Attack(
    name="full_memory",
    promise="the loop allocates nothing: it goes on in every tick while no process gets memory",
    round=_memory,
    unit="ticks",
    share=0.5,
)
