"""What strategies add to a tick: three for each of seven joints, against the same action without them."""

from __future__ import annotations

from dataclasses import replace

from bench.cells import JOINTS, action, arms_cell, builtin_types
from bench.report import Goal, Options, Report, microseconds
from bench.tick_compute import check_active, in_realtime_thread
from bench.timed_ticks import TickTimer, compile_loop
from robot_rt_control.definitions.definitions import AxisDefinition, ParameterValue, StrategyDefinition
from robot_rt_control.testing.server_bench import ServerBench

EACH = 3
_BLOCKS = 50
_SLOW = 1e-5
"""[rad/s] It lasts for minutes."""


def _strategies(joint: int) -> AxisDefinition:
    """The last one governs; the conditions of the others have three terms and never hold."""
    slow = (ParameterValue(name="velocity", value=_SLOW, unit="rad/s"),)
    conditions = [
        f"arm_0.position[{joint}] > {10 + i} and rangefinder_0.distance < {0.1 / (1 + i)}"
        f" or arm_0.velocity[{joint}] > {5 + i}"
        for i in range(EACH - 1)
    ]
    return AxisDefinition(
        axis=f"joint[{joint}]",
        strategies=tuple(
            StrategyDefinition(name=f"s{i}", law="velocity", when=when, parameters=slow)
            for i, when in enumerate([*conditions, ""])
        ),
    )


def one_arm(*, with_strategies: bool) -> ServerBench:
    """An arm under `hold`, with or without strategies."""
    bench = ServerBench(arms_cell(1), builtin_types())
    session = bench.server.open_session("bench", ["arm_0"], 0.0)
    hold = action("hold_0", "hold", "arm_0", {})
    axes = tuple(map(_strategies, range(JOINTS))) if with_strategies else ()
    bench.server.define(session.id, [replace(hold, strategies=axes)])
    bench.server.start(session.id, ["hold_0"])
    bench.step(10)
    check_active(bench, 1)
    moving = bool(bench.executor.world.memory.parts[0].commanded_velocity[:JOINTS].all())
    if moving != with_strategies:
        raise RuntimeError(f"expected joints that {'move' if with_strategies else 'rest'}; events: {bench.events[-3:]}")
    return bench


def measure(options: Options) -> Report:
    compile_loop()
    ticks = options.amount(400_000) // _BLOCKS
    with one_arm(with_strategies=False) as without, one_arm(with_strategies=True) as governed:
        timers = {"without": TickTimer(without.executor), f"{JOINTS} x {EACH} strategies": TickTimer(governed.executor)}

        def run() -> None:
            for count in (False, *[True] * _BLOCKS):
                for timer in timers.values():
                    timer.run(ticks, count=count)

        in_realtime_thread(run)
        check_active(governed, 1)
    found = {name: timer.distribution for name, timer in timers.items()}
    plain, ruled = found.values()
    added = (ruled.median - plain.median) * 1e-3
    return Report(
        title=f"Strategies for each of {JOINTS} joints of one arm",
        columns=["", "median [µs]", "p99", "p99.9", "max"],
        rows=[[name, *[microseconds(x) for x in (d.median, d.p99, d.p999, d.max)]] for name, d in found.items()],
        goals=[
            Goal(
                figure=f"{EACH} strategies for each of {JOINTS} joints, added to a tick",
                aim="≤ 1.5 µs",
                measured=f"{added:.2f} µs",
                met=added <= 1.5,
                beside="the same action without strategies",
            )
        ],
        notes=["In alternating blocks of one run. All conditions but the defaults' are evaluated."],
        data={"added_s": added * 1e-6, "medians_s": {name: d.median * 1e-9 for name, d in found.items()}},
    )
