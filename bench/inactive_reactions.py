"""Reactions of inactive actions cost nothing."""

from __future__ import annotations

from bench.cells import arms_cell, builtin_types, never_firing, sine
from bench.report import Goal, Options, Report, microseconds
from bench.tick_compute import check_active, in_realtime_thread
from bench.timed_ticks import TickTimer, compile_loop
from robot_rt_control.testing.server_bench import ServerBench

FEW, MANY = 10, 10_000
_ACTIONS = 10
_BLOCKS = 50


def with_inactive(reactions: int) -> ServerBench:
    """One arm under an action with ten reactions; its inactive actions have `reactions` in all."""
    bench = ServerBench(arms_cell(1), builtin_types())
    session = bench.server.open_session("bench", ["arm_0"], 0.0)
    each = never_firing(reactions // _ACTIONS, 0)
    others = [sine(0, each, id=f"other_{i}") for i in range(_ACTIONS)]
    bench.server.define(session.id, [sine(0, never_firing(10, 0)), *others])
    bench.server.start(session.id, ["sine_0"])
    bench.step(10)
    check_active(bench, 1)
    return bench


def measure(options: Options) -> Report:
    compile_loop()
    ticks = options.amount(400_000) // _BLOCKS
    with with_inactive(FEW) as few, with_inactive(MANY) as many:
        timers = {FEW: TickTimer(few.executor), MANY: TickTimer(many.executor)}

        def run() -> None:
            for count in (False, *[True] * _BLOCKS):
                for timer in timers.values():
                    timer.run(ticks, count=count)

        in_realtime_thread(run)
        check_active(few, 1)
        check_active(many, 1)
    found = {n: timer.distribution for n, timer in timers.items()}
    ratio = found[MANY].median / found[FEW].median
    return Report(
        title="Reactions of actions that are not active, beside ten of an active one",
        columns=["inactive reactions", "median [µs]", "p99", "p99.9", "max"],
        rows=[[f"{n:,}", *[microseconds(x) for x in (d.median, d.p99, d.p999, d.max)]] for n, d in found.items()],
        goals=[
            Goal(
                figure=f"tick with {MANY:,} inactive reactions",
                aim="< 1.05 times",
                measured=f"{ratio:.3f} times",
                met=ratio < 1.05,
                beside=f"the same tick with {FEW}",
            )
        ],
        notes=["In alternating blocks of one run."],
        data={"ratio": ratio, "medians_s": {str(n): d.median * 1e-9 for n, d in found.items()}},
    )
