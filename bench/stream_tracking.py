"""How well streams are followed, with jitter, loss and stalls and without; and what a stream costs in a tick."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench.cells import JOINTS, arms_cell, builtin_types
from bench.report import Goal, Options, Report, microseconds
from bench.tick_compute import check_active, in_realtime_thread, sine, time_ticks
from bench.timed_ticks import Distribution, TickTimer, clock_overhead, compile_loop
from robot_rt_control.definitions.definitions import ActionDefinition, ParameterValue, ReactionDefinition
from robot_rt_control.testing.server_bench import ServerBench
from robot_rt_control.testing.stream_source import StreamSource, tracking_error

RATES = (10.0, 50.0, 125.0, 500.0)
GAPS = ("hold", "linear", "cubic", "extrapolate")
AMPLITUDE, FREQUENCY = 0.2, 0.4
"""[rad], [Hz] of the way that is streamed."""
_DT = 0.001
_SETTLED_S = 1.0
_TICKS = 40_000
_AHEAD = 100
"""Ticks between two batches of samples, while ticks are timed."""


def follower(i: int, gap: str, reactions: Sequence[ReactionDefinition] = ()) -> ActionDefinition:
    """follow_joint_stream for arm i."""
    return ActionDefinition(
        id=f"follow_{i}",
        type="follow_joint_stream",
        parts=(f"arm_{i}",),
        parameters=(ParameterValue(name="goal_gap", value=gap), ParameterValue(name="report_interval", value=0.0)),
        reactions=tuple(reactions),
    )


def way(t: np.ndarray | float) -> np.ndarray:
    """[rad] at t [s]; begins at rest."""
    t = np.asarray(t, np.float64)
    return AMPLITUDE * np.sin(2 * np.pi * FREQUENCY * t) * np.minimum(t, 1.0) ** 2


def run(source: StreamSource, gap: str, duration: float) -> tuple[np.ndarray, float]:
    """Commanded positions of the first joint from the start on, and the largest share of a limit that was used."""
    with ServerBench(arms_cell(1), builtin_types(), gated=True) as bench:
        session = bench.server.open_session("bench", ["arm_0"], 0.0)
        bench.server.define(session.id, [follower(0, gap)])
        bench.server.start(session.id, ["follow_0"])
        bench.step(2)
        part = bench.executor.world.memory.parts[0]
        start = part.commanded_position[:JOINTS].copy()
        begin, sent, samples, positions = int(bench.executor.world.memory.tick), 0, source.samples(duration), []
        for k in range(round(duration / _DT)):
            while sent < len(samples) and samples[sent][1] <= k * _DT:
                goal = start.copy()
                goal[0] += float(way(samples[sent][0]))
                bench.server.write_stream(session.id, "follow_0", "goal", goal, time=begin * _DT + samples[sent][0])
                sent += 1
            bench.executor.step(1)
            positions.append(float(part.commanded_position[0] - start[0]))
        check_active(bench, 1)
        found = np.array(positions)
        used = [
            float(np.abs(np.diff(found, order)).max() / _DT**order / limit[0])
            for order, limit in ((1, part.velocity_limit), (2, part.acceleration_limit), (3, part.jerk_limit))
        ]
    return found, max(used)


def error_of(found: np.ndarray) -> tuple[float, float, float]:
    """Delay [s], RMS and largest error [rad] once it has settled."""
    time = np.arange(len(found)) * _DT
    first = round(_SETTLED_S / _DT)
    return tracking_error(time[first:], found[first:], way(time)[first:], longest_delay=0.6)


def time_stream(gap: str, ticks: int) -> Distribution:
    """Ticks of one arm that follows a stream of 100 Hz."""
    with ServerBench(arms_cell(1), builtin_types(), gated=True) as bench:
        session = bench.server.open_session("bench", ["arm_0"], 0.0)
        bench.server.define(session.id, [follower(0, gap)])
        bench.server.start(session.id, ["follow_0"])
        bench.step(2)
        start = bench.executor.world.memory.parts[0].commanded_position[:JOINTS].copy()
        timer = TickTimer(bench.executor)
        timer.run(_AHEAD, count=False)

        def run() -> None:
            for _ in range(ticks // _AHEAD):
                tick = int(bench.executor.world.memory.tick)
                for ahead in range(10, _AHEAD + 1, 10):
                    goal = start + way((tick + ahead) * _DT)
                    bench.server.write_stream(session.id, "follow_0", "goal", goal, tick=tick + ahead)
                timer.run(_AHEAD)

        in_realtime_thread(run)
        check_active(bench, 1)
    return timer.distribution


def measure(options: Options) -> Report:
    compile_loop()
    duration = 3.0 if options.quick else 8.0
    rows: list[list[str]] = []
    data: dict[str, list[dict[str, float | str]]] = {"tracking": [], "compute": []}
    highest = worst = 0.0
    for rate in RATES[1::2] if options.quick else RATES:
        for gap in GAPS:
            clean, used = run(StreamSource(rate=rate), gap, duration)
            source = StreamSource(rate=rate, jitter=0.5 / rate, loss=0.05, stall_every=1.7, stall=0.03)
            rough, used_rough = run(source, gap, duration)
            (clean_delay, clean_rms, _), (delay, rms, largest) = error_of(clean), error_of(rough)
            highest = max(highest, used, used_rough)
            if gap == "cubic":
                worst = max(worst, rms)
            numbers = [clean_rms, clean_delay, rms, largest, delay]
            rows.append([f"{rate:g} Hz, {gap}", *[f"{x * 1e3:.2f}" for x in numbers]])
            names = ("clean_rms_rad", "clean_delay_s", "rms_rad", "largest_rad", "delay_s")
            data["tracking"].append({"rate": rate, "gap": gap, **dict(zip(names, numbers, strict=True))})
    ticks = options.amount(_TICKS)
    idle, _ = time_ticks(1, 0, sine, ticks)
    for name, d in [("sine_wave, no stream", idle), *[(f"stream, {gap}", time_stream(gap, ticks)) for gap in GAPS]]:
        rows.append([f"tick [µs], {name}", *[microseconds(x) for x in (d.median, d.p99, d.p999, d.max)], ""])
        data["compute"].append({"active": name, "median_s": d.median * 1e-9, "p99_s": d.p99 * 1e-9})
    return Report(
        title=f"Streams: a way of {AMPLITUDE:g} rad at {FREQUENCY:g} Hz, followed by follow_joint_stream",
        columns=["source", "no jitter: RMS [mrad]", "delay [ms]", "rough: RMS [mrad]", "max", "delay [ms]"],
        rows=rows,
        goals=[
            Goal(
                figure="streamed motion, largest part of a limit",
                aim="< 1.001",
                measured=f"{highest:.3f}",
                met=highest < 1.001,
                beside="the joint's limits",
            ),
            Goal(
                figure="error of a cubic stream, worst source, RMS",
                aim="< 10 mrad",
                measured=f"{worst * 1e3:.1f} mrad",
                met=worst < 0.01,
                beside="the goal itself; 5 % of its amplitude",
            ),
        ],
        notes=[
            "Rough: jitter of half an interval, 5 % lost, 30 ms of silence every 1.7 s. The delay is no error.",
            f"Of ticks: median, p99, p99.9, max; reading the clock is part of each: {clock_overhead():.0f} ns.",
        ],
        data=data,
    )
