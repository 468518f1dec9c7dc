"""Motion groups: their ticks' compute time, stopped profilers, and a line of six arms at 500 µs on the wall clock."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np

from bench.cells import JOINTS, arms_cell, builtin_types, motions
from bench.disturbance import Disturbance
from bench.report import Goal, Options, Report, microseconds
from bench.stopped_profiler import PERIOD_S, stopped_profilers
from bench.tick_compute import in_realtime_thread
from bench.timed_ticks import Distribution, TickTimer, compile_loop
from bench.wakeup_lateness import Lateness, LoopUnderTest, of_cyclictest
from robot_rt_control.testing.server_bench import ServerBench

_ARMS = (2, 8, 32)
_STARTS = 1000
_DURATION_S = 0.8
_TICKS = 700
"""Of each motion, while it lasts."""
_BLOCK = 100
"""Ticks between two fillings of the queues, inside this process."""
_STOPS_S = (0.1, 1.0, 5.0)
_STOP_ROUNDS = 5
_LINE, _LINE_RATE = 6, 2000
_LINE_ROUNDS = 10
_LINE_SECONDS = 4


def time_groups(n: int, profile: str, starts: int) -> tuple[Distribution, Distribution]:
    """Durations of the ticks in which a group of n arms starts, and of those in which it runs."""
    with ServerBench(arms_cell(n), builtin_types(), gated=True) as bench:
        session = bench.server.open_session("bench", [f"arm_{i}" for i in range(n)], 0.0)
        groups = motions(n, profile=profile, duration=_DURATION_S)
        bench.server.define(session.id, groups)
        bench.step(10)
        timer = TickTimer(bench.executor)
        taken: list[int] = []
        profilers = bench.server.core.connection.at().profilers

        def run() -> None:
            for k in range(starts + 2):
                bench.server.start(session.id, [groups[k % 2].id])
                profilers.feed()
                taken.append(TickTimer(bench.executor).run_one())
                for _ in range(_TICKS // _BLOCK):
                    profilers.feed()
                    timer.run(_BLOCK, count=k >= 2)
                bench.step(round(_DURATION_S / 0.001) - _TICKS + 100)  # it arrives

        in_realtime_thread(run)
        arrived = len(bench.kinds("reaction_fired"))
        if arrived != starts + 2 or bench.kinds("command_refused", "motion_starved"):
            raise RuntimeError(f"expected {starts + 2} arrivals, got {arrived}; events: {bench.events[-3:]}")
    first = np.array(taken[2:])
    median, p99, p999 = map(float, np.percentile(first, (50, 99, 99.9)))
    return Distribution(len(first), median, p99, p999, float(first.max())), timer.distribution


def _ticks(options: Options, rows: list[list[str]], data: dict[str, Any]) -> dict[tuple[int, str], Distribution]:
    compile_loop()
    found = {}
    for n in _ARMS:
        for profile in ("realtime", "async"):
            start, running = time_groups(n, profile, options.amount(_STARTS // n))
            found[n, profile] = start
            for what, d in (("start", start), ("running", running)):
                numbers = (d.median, d.p99, d.p999, d.max)
                rows.append([f"{what}: {n} arms, {profile}", *map(microseconds, numbers), f"{d.ticks:,}"])
                names = ("median_s", "p99_s", "p999_s", "max_s")
                seconds = dict(zip(names, (x * 1e-9 for x in numbers), strict=True))
                data["ticks"].append({"tick": what, "arms": n, "profile": profile, "ticks": d.ticks, **seconds})
    return found


def _lateness_row(name: str, lateness: Lateness) -> list[str]:
    numbers = (*lateness.quantiles(), lateness.max_ns)
    return [name, *map(microseconds, numbers), f"{int(lateness.counts.sum()):,}"]


def _stops(options: Options, rows: list[list[str]], data: dict[str, Any]) -> tuple[list[Goal], list[str]]:
    seen = stopped_profilers(options.amount(_STOP_ROUNDS), _STOPS_S)
    undisturbed = seen[0.0].lateness.quantiles()[-1]
    goals, notes = [], []
    for stopped_s, its in seen.items():
        what = f"profilers stopped for {stopped_s:g} s" if stopped_s else "profilers run"
        rows.append(_lateness_row(f"lateness: {what}", its.lateness))
        ratio = its.lateness.quantiles()[-1] / undisturbed
        notes.append(
            f"{what}: {its.least * PERIOD_S:.2f} to {its.most * PERIOD_S:.2f} s in the queue, starved in "
            f"{its.starved} motions, at most {max(its.longer_s, 0.0):.1f} s longer"
        )
        data["stops"].append(
            {
                "stopped_s": stopped_s,
                "p999_ratio": ratio,
                "least_in_queue_s": its.least * PERIOD_S,
                "most_in_queue_s": its.most * PERIOD_S,
                "starved": its.starved,
                "longer_s": its.longer_s,
            }
        )
        if stopped_s:
            goals.append(
                Goal(
                    figure=f"lateness of the loop, p99.9, {what}",
                    aim="≤ 1.1 times",
                    measured=f"{ratio:.2f} times",
                    met=ratio <= 1.1,
                    beside=f"the same motions without a stop, {microseconds(undisturbed)} µs",
                )
            )
    return goals, notes


def _line(options: Options, rows: list[list[str]], data: dict[str, Any]) -> tuple[list[Goal], list[str]]:
    installed = shutil.which("cyclictest") is not None
    loop = LoopUnderTest(
        arms_cell(_LINE, period=1.0 / _LINE_RATE), motions(_LINE, profile="realtime", duration=1.0, repeat=True)
    )
    ours, reference = Lateness(), Lateness()
    with Disturbance() as disturbance:
        for _ in range(options.amount(_LINE_ROUNDS)):
            ours.add(*loop.lateness(_LINE_SECONDS))
            if installed:
                reference.add(*of_cyclictest(_LINE_RATE, _LINE_SECONDS))
    compute = Lateness(loop.compute, int(loop.executor.channel.memory.timing.max_compute_ns))
    loop.close()
    name = f"{_LINE} arms, {1e6 / _LINE_RATE:g} µs"
    rows += [_lateness_row(f"compute: {name}", compute), _lateness_row(f"lateness: {name}", ours)]
    data["line"] = {
        "lateness_s": [q * 1e-9 for q in ours.quantiles()],
        "compute_s": [q * 1e-9 for q in compute.quantiles()],
    }
    notes = [f"{name}: {loop.scheduling}. Meanwhile in the same process, {disturbance.description}."]
    if not installed:
        return [], [*notes, "cyclictest is not installed (Debian package rt-tests): nothing to compare with."]
    rows.append(_lateness_row(f"lateness: cyclictest, {_LINE_RATE} Hz", reference))
    mine, its = ours.quantiles()[-1], reference.quantiles()[-1]
    goal = Goal(
        figure=f"lateness of the loop, {name}, p99.9",
        aim="≤ 1.5 times",
        measured=f"{mine / its:.2f} times",
        met=mine <= 1.5 * its,
        beside=f"cyclictest, {microseconds(its)} µs",
    )
    return [goal], notes


def measure(options: Options) -> Report:
    rows: list[list[str]] = []
    data: dict[str, Any] = {"ticks": [], "stops": []}
    started = _ticks(options, rows, data)[_ARMS[-1], "realtime"]
    stop_goals, stop_notes = _stops(options, rows, data)
    line_goals, line_notes = _line(options, rows, data)
    crowd = Goal(
        figure=f"tick in which a group of {_ARMS[-1]} arms starts, p99.9",
        aim="≤ 500 µs",
        measured=f"{started.p999 / 1000:.0f} µs",
        met=started.p999 <= 500_000.0,
        beside="half of the period of 1 ms",
    )
    return Report(
        title=f"Motion groups, arms of {JOINTS} joints on mock hardware",
        columns=["of ticks", "median [µs]", "p99", "p99.9", "max", "ticks"],
        rows=rows,
        goals=[crowd, *stop_goals, *line_goals],
        notes=[*stop_notes, *line_notes],
        data=data,
    )
