"""Does the wall-clock loop notice that a plan through contact is made beside it? Lateness in turns without and with;
and how soon planning ends that is cancelled at random moments."""

from __future__ import annotations

import os
import random
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from bench.cells import arms_cell, never_firing, sine
from bench.report import Goal, Options, Report, microseconds
from bench.wakeup_lateness import Lateness, LoopUnderTest
from robot_rt_control.planner.job import Job
from robot_rt_control.planner.planning_process import Outcome, PlanningProcess

_CELL = Path(__file__).resolve().parents[1] / "config" / "base_push.yaml"
_TASK = "push_box_by_base"
_TURNS, _TURN_S = 10, 4.0
_CANCELS = 30
_LONGEST_S = 5.0
"""[s] after which planning is cancelled, at most: this task takes longer."""


def _job(folder: Path, threads: int) -> Job:
    # A diagonal way on rough ground keeps the planner busy for minutes.
    ways = {"forward": (0.3, "m"), "left": (0.3, "m")}
    return Job(task=_TASK, parameters=ways, workcell=_CELL, plan_file=folder / "a.plan", threads=threads)


@contextmanager
def _planning(folder: Path, threads: int) -> Iterator[None]:
    """A plan is being made meanwhile."""
    over = threading.Event()
    process = PlanningProcess(_job(folder, threads), measure=lambda _: {})
    outcomes: list[Outcome] = []
    began = threading.Event()
    thread = threading.Thread(
        target=lambda: outcomes.append(process.run(report=lambda _: began.set(), cancelled=over.is_set))
    )
    thread.start()
    try:
        if not began.wait(60.0):
            raise RuntimeError("the planner has not begun")
        yield
    finally:
        over.set()
        thread.join()
    if not outcomes[0].cancelled:
        raise RuntimeError(f"planning ended by itself: {outcomes[0].message}")


def _is_past(end: float) -> bool:
    return time.monotonic() >= end


def _cancel_times(folder: Path, count: int, threads: int) -> list[float]:
    """[s] from a cancel to the outcome."""
    random.seed(1)
    found = []
    for _ in range(count):
        end = time.monotonic() + random.uniform(0.0, _LONGEST_S)
        process = PlanningProcess(_job(folder, threads), measure=lambda _: {})
        outcome = process.run(cancelled=partial(_is_past, end))
        found.append(time.monotonic() - end)
        if not outcome.cancelled:
            raise RuntimeError(f"planning ended by itself: {outcome.message}")
    return found


def measure(options: Options) -> Report:
    loop = LoopUnderTest(arms_cell(1, period=1e-3), [sine(0, never_firing(100, 0))])
    threads = max((os.cpu_count() or 1) - 1, 1)  # as the node does by default
    idle, busy = Lateness(), Lateness()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In turns: what else the machine does comes and goes, and is to meet both alike.
        for _ in range(options.amount(_TURNS)):
            idle.add(*loop.lateness(_TURN_S))
            with _planning(folder, threads):
                busy.add(*loop.lateness(_TURN_S))
        granted = loop.scheduling
        loop.close()
        cancels = np.sort(_cancel_times(folder, options.amount(_CANCELS), threads))
    rows = [
        [name, *map(microseconds, lateness.quantiles()), microseconds(lateness.max_ns), f"{lateness.counts.sum():,}"]
        for name, lateness in (("idle", idle), ("a plan is made", busy))
    ]
    ratio = busy.quantiles()[-1] / idle.quantiles()[-1]
    longest = float(cancels[-1])
    beside = "the turns without, in the same run"
    return Report(
        title="A loop beside the contact planner",
        columns=["1 kHz loop while", "median [µs]", "p99", "p99.9", "max", "wake-ups"],
        rows=rows,
        goals=[
            Goal(figure="p99.9 lateness while a plan is made : without", aim="1.1", measured=f"{ratio:.2f}",
                 met=ratio <= 1.1, beside=beside),
            Goal(figure="cancel of planning to its end, longest", aim="0.5 s", measured=f"{longest:.2f} s",
                 met=longest <= 0.5, beside=f"{len(cancels)} cancels at random moments"),
        ],
        notes=[
            f"{granted}. The planner has {threads} thread(s), a niceness of 10 and the policy for batches.",
            f"Cancel to the end of planning: median {np.median(cancels):.2f} s, longest {longest:.2f} s.",
        ],
        data={"ratio": ratio, "cancels_s": cancels.tolist()},
    )  # fmt: skip
