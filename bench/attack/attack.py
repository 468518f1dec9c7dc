"""What an attack is: a promise, and rounds of hostile input that may not break it. Each has a file beside this one."""

from __future__ import annotations

import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest

from robot_rt_control.realtime.executor.executor import Executor
from robot_rt_control.testing.border_watch import BorderWatch

REPOSITORY = Path(__file__).resolve().parents[2]
RULES = REPOSITORY / "test" / "lockstep" / "rules"


class NotRun(Exception):
    """The machine does not permit an attack; the text says why."""


@dataclass
class Seen:
    """What came of an attack."""

    count: int = 0
    """How much was sent, in the attack's unit."""
    commands: int = 0
    """Commands of one joint each that left at the hardware's border."""
    rounds: int = 0
    seconds: float = 0.0
    violations: list[tuple[int, str]] = field(default_factory=list)
    """Seed of the round, and what was violated."""
    not_run: str = ""
    """Why the machine did not permit it: nothing is known of the promise then."""

    @property
    def held(self) -> bool:
        return not self.violations and not self.not_run


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One kind of attack.

    Attributes:
        round: one round, from its own random numbers, in a folder of its own; returns how much it sent. Raises
            AssertionError: the promise was broken.
        unit: of what it sends.
        share: of the time of all attacks.
        processes: it starts processes of a workcell, takes minutes, and is left out of the short form.
    """

    name: str
    promise: str
    round: Callable[[Random, Path], int]
    unit: str = "commands"
    share: float = 1.0
    processes: bool = False


def carry_out(attack: Attack, seed: int, seconds: float, tell: Callable[[Seen], object] = lambda _: None) -> Seen:
    """Attack in rounds until the time is over, or a promise is broken; at least once, if the machine permits it.

    Args:
        seed: of the first round; the others have the following ones.
        tell: is told after each round.
    """
    seen, begin = Seen(), time.monotonic()
    while seen.held and (not seen.rounds or time.monotonic() - begin < seconds):
        number = seed + seen.rounds
        with tempfile.TemporaryDirectory(prefix="attack-") as folder, watched_border() as watches:
            try:
                seen.count += attack.round(Random(number), Path(folder))
            except NotRun as error:
                seen.not_run = str(error)
            except Exception as error:  # whatever it is, it was not promised
                last = traceback.extract_tb(error.__traceback__)[-1]
                where = f"{Path(last.filename).name}:{last.lineno}"
                said = f"{type(error).__name__} at {where}: {error}"
                seen.violations.append((number, "\n".join((said, *getattr(error, "__notes__", ())))))
            seen.violations += [(number, watch.violation) for watch in watches if watch.violation]
            seen.commands += sum(watch.commands for watch in watches)
        seen.rounds += 1
        seen.seconds = time.monotonic() - begin
        tell(seen)
    return seen


@contextmanager
def watched_border() -> Iterator[list[BorderWatch]]:
    """Every executor in lockstep that is configured meanwhile is watched, from its first tick on."""
    configure, watches = Executor.configure, list[BorderWatch]()

    def watched(self: Executor, *arguments: Any, **options: Any) -> None:
        configure(self, *arguments, **options)
        if self.lockstep is not None:
            watches.append(BorderWatch(self))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Executor, "configure", watched)
        yield watches


def use_tests_helpers() -> None:
    """Let attacks import what tests share."""
    for folder in ("test/lockstep", "test/lockstep/blueprint", "test/lockstep/system"):
        path = str(REPOSITORY / folder)
        if path not in sys.path:
            sys.path.insert(0, path)


use_tests_helpers()
