"""What introspection costs the loop: ticks of 32 arms with and without it, in turns.

Publisher and subscriber are in the loop's process. In a workcell they are not, so this is the worse case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from bench.cells import arms_cell, sine
from bench.report import Goal, Options, Report, microseconds
from bench.wakeup_lateness import Lateness, LoopUnderTest
from robot_rt_control.server.control_server import ControlServer
from robot_rt_control.vocabulary.capacities import HISTOGRAM_BINS

ARMS = 32
RATE = 100.0
_ROUNDS = 10
_SECONDS = 4
_AIM = 0.05
"""Longer median tick, of the tick without introspection; a bin of the histogram is 4.4 % wide."""


@contextmanager
def introspection(server: ControlServer) -> Iterator[tuple[Callable[[float], None], list[int]]]:
    """How to set the rate of a server's topics, which are subscribed, and the starts [ns] of the published ticks."""
    import rclpy
    from builtin_interfaces.msg import Time
    from pal_statistics_msgs.msg import StatisticsValues
    from rclpy.node import Node

    from robot_rt_control.server.core.introspection import Introspection
    from robot_rt_control.server.node.introspection_topics import IntrospectionTopics

    class Publishing(Node):
        def callback_failed(self, trace: str) -> None:
            failures.append(trace)

        def remove(self, *publishers: Any) -> None:
            for publisher in publishers:
                self.destroy_publisher(publisher)

    failures: list[str] = []
    published: list[int] = []

    def stamp(time_ns: int) -> Time:
        published.append(time_ns)
        return Time()

    context = rclpy.Context()
    rclpy.init(context=context)
    node = Publishing("bench", context=context)
    topics = IntrospectionTopics(node, Introspection(server.core), stamp, 0.0)
    node.create_subscription(StatisticsValues, "~/introspection_data/values", lambda _: None, 1)
    try:
        yield topics.set_rate, published
    finally:
        topics.close()
        node.destroy_node()
        context.try_shutdown()
    if failures:
        raise RuntimeError(failures[0])


def measure(options: Options) -> Report:
    loop = LoopUnderTest(arms_cell(ARMS), [sine(i) for i in range(ARMS)], ARMS)
    late = {on: Lateness() for on in (False, True)}
    compute = {on: Lateness(np.zeros(HISTOGRAM_BINS, np.int64)) for on in (False, True)}
    seconds = 0.0
    try:
        with introspection(loop.server) as (set_rate, published):
            for _ in range(options.amount(_ROUNDS)):
                for on in (False, True):
                    set_rate(RATE if on else 0.0)
                    before = loop.compute.copy()
                    late[on].add(*loop.lateness(_SECONDS))
                    compute[on].add(loop.compute - before, int(loop.executor.channel.memory.timing.max_compute_ns))
                    seconds += _SECONDS * on
            variables = len(loop.server.variables)
    finally:
        loop.close()
    if not published:
        raise RuntimeError("introspection published nothing")
    rows, data = [], {}
    for what, kinds in (("tick", compute), ("lateness", late)):
        for on, text in ((False, "without"), (True, f"with introspection, {RATE:g} Hz")):
            numbers = kinds[on].quantiles()
            rows.append([f"{what}, {text}", *map(microseconds, numbers)])
            data[f"{what}_{'with' if on else 'without'}_ns"] = numbers
    more = compute[True].quantiles()[0] / compute[False].quantiles()[0] - 1.0
    return Report(
        title=f"Introspection of {ARMS} arms",
        columns=("", "median [µs]", "p99 [µs]", "p99.9 [µs]"),
        rows=rows,
        goals=[
            Goal(
                figure=f"median tick of {ARMS} arms with introspection at {RATE:g} Hz",
                aim=f"at most {_AIM:.0%} longer",
                measured=f"{more:+.1%}",
                met=more <= _AIM,
                beside="ticks without it, in turns",
            )
        ],
        notes=[
            f"{len(published) / seconds:.0f} messages a second, from {variables} names of the workcell; "
            f"{loop.scheduling}"
        ],
        data=data | {"messages_per_second": len(published) / seconds, "tick_longer": more},
    )
