"""How long one tick takes: arms, reactions, kinds of action. Timed in compiled code, tick by tick."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from bench.cells import JOINTS, arms_cell, builtin_types, never_firing, sine, twist
from bench.report import Goal, Options, Report, microseconds
from bench.timed_ticks import Distribution, TickTimer, clock_overhead, compile_loop
from robot_rt_control.definitions.definitions import ActionDefinition, ReactionDefinition
from robot_rt_control.realtime.executor.scheduling import make_realtime
from robot_rt_control.testing.server_bench import ServerBench
from robot_rt_control.vocabulary.capacities import MAX_ACTIONS_PER_COMMAND

Make = Callable[[int, Sequence[ReactionDefinition]], ActionDefinition]

PRIORITY = 80
_BLOCKS = 10


def active_arms(n: int, reactions: int, make: Make = sine) -> ServerBench:
    """A bench with n arms, each under an action with `reactions` reactions that never fire."""
    bench = ServerBench(arms_cell(n), builtin_types())
    session = bench.server.open_session("bench", [f"arm_{i}" for i in range(n)], 0.0)
    actions = [make(i, never_firing(reactions, i)) for i in range(n)]
    bench.server.define(session.id, actions)
    for first in range(0, n, MAX_ACTIONS_PER_COMMAND):
        bench.server.start(session.id, [a.id for a in actions[first : first + MAX_ACTIONS_PER_COMMAND]])
    bench.step(10)
    check_active(bench, n)
    return bench


def check_active(bench: ServerBench, n: int) -> None:
    """A measurement of something else must not pass for this one."""
    active = int(bench.executor.world.memory.n_active)
    if active != n or bench.fired("event_0"):
        raise RuntimeError(
            f"expected {n} active actions and no firing, got {active} active; events: {bench.events[-3:]}"
        )


def in_realtime_thread(function: Callable[[], None]) -> str:
    """Run a measurement in a thread under SCHED_FIFO, where permitted: others must not count as compute time.

    Returns:
        What the operating system granted.
    """
    granted = ""
    failed: list[BaseException] = []

    def run() -> None:
        nonlocal granted
        try:
            granted = make_realtime(priority=PRIORITY, cpu=-1, lock=False).description
            function()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="measurement")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return granted


def time_ticks(n: int, reactions: int, make: Make, ticks: int) -> tuple[Distribution, str]:
    """The distribution of the ticks' durations, and how the thread was scheduled."""
    with active_arms(n, reactions, make) as bench:
        timer = TickTimer(bench.executor)

        def run() -> None:
            timer.run(ticks // _BLOCKS, count=False)
            for _ in range(_BLOCKS):
                timer.run(ticks // _BLOCKS)

        granted = in_realtime_thread(run)
        check_active(bench, n)
    return timer.distribution, granted


def measure(options: Options) -> Report:
    compile_loop()
    cases: list[tuple[int, int, str, Make]] = [
        (n, reactions, "sine_wave", sine) for n, counts in _COUNTS for reactions in counts
    ]
    cases.insert(3, (1, 100, "velocity_move (tool)", twist))
    rows, data = [], []
    goal = crowd = 0.0
    granted = ""
    for n, reactions, name, make in cases:
        ticks = options.amount(400_000 // n // (1 + reactions // 200))
        d, granted = time_ticks(n, reactions, make, ticks)
        label = f"{n} arm{'s' if n > 1 else ''}, {name}"
        rows.append(
            [label, str(reactions), *[microseconds(x) for x in (d.median, d.p99, d.p999, d.max)], f"{d.ticks:,}"]
        )
        data.append(
            {
                "arms": n,
                "reactions_of_each": reactions,
                "action": name,
                "ticks": d.ticks,
                "median_s": d.median * 1e-9,
                "p99_s": d.p99 * 1e-9,
                "p999_s": d.p999 * 1e-9,
                "max_s": d.max * 1e-9,
            }
        )
        if (n, reactions, name) == (1, 100, "sine_wave"):
            goal = d.median
        if (n, reactions, name) == (32, 100, "sine_wave"):
            crowd = d.p999
    overhead = clock_overhead()
    return Report(
        title=f"Compute time of a tick, arms of {JOINTS} joints on mock hardware",
        columns=["active", "reactions of each", "median [µs]", "p99", "p99.9", "max", "ticks"],
        rows=rows,
        goals=[
            Goal(
                figure="tick of one arm with 100 reactions, median",
                aim="≤ 1 µs",
                measured=f"{goal / 1000:.2f} µs",
                met=goal <= 1000.0,
                beside=f"reading the clock, {overhead:.0f} ns of it",
            ),
            Goal(
                figure="tick of 32 arms with 100 reactions each, p99.9",
                aim="≤ 100 µs",
                measured=f"{crowd / 1000:.1f} µs",
                met=crowd <= 100_000.0,
                beside=f"reading the clock, {overhead:.0f} ns of it",
            ),
        ],
        notes=[
            f"Conditions have three terms and never hold. Thread: {granted}. "
            f"Reading the clock is part of each number: {overhead:.0f} ns."
        ],
        data={"rows": data, "clock_s": overhead * 1e-9},
    )


_COUNTS = ((1, (10, 100, 1000)), (8, (10, 100, 1000)), (32, (10, 100, 500)))
