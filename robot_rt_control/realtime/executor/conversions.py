"""The executor's state as a message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from robot_rt_control import msg
from robot_rt_control.memory.histogram import percentile
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.realtime.executor.executor import Executor
from robot_rt_control.ros.stop_messages import stop_messages


def status_message(
    core: Executor,
    *,
    stamp: Any,
    lifecycle_state: str,
    factors: tuple[float, float],
    stamp_of: Callable[[int], Any],
) -> Any:
    """msg/ExecutorStatus.

    Args:
        stamp_of: a tick's start [ns] → builtin_interfaces/Time on the ROS clock.
        stamp: builtin_interfaces/Time of the last tick, on the ROS clock.
        lifecycle_state: of the node.
        factors: simulated time per wall-clock time and its target; NaN: the clock is not lockstep.
    """
    snapshot, memory = core.channel.snapshot(), core.channel.memory
    timing = memory.timing
    message = msg.ExecutorStatus(
        stamp=stamp,
        tick=int(snapshot.tick),
        period=core.workcell.period,
        clock=core.options.clock,
        real_time_factor=factors[0],
        real_time_factor_target=factors[1],
        lifecycle_state=lifecycle_state,
        server_attached=core.channel.server_attached,
        speed=float(snapshot.speed),
        protective_stop=bool(snapshot.protective_stop),
        stops=stop_messages(core.stops(), stamp_of),
        scheduler=core.scheduling,
        overrun_policy=core.overrun_policy,
        deadline_misses=int(timing.deadline_misses),
        events_lost=int(snapshot.events_lost),
    )
    for what, worst in (("compute", timing.max_compute_ns), ("lateness", timing.max_lateness_ns)):
        counts = np.array(timing[what])
        for suffix, fraction in (("p50", 0.5), ("p99", 0.99), ("p999", 0.999)):
            setattr(message, f"{what}_{suffix}", percentile(counts, fraction))
        setattr(message, f"{what}_max", float(worst) * 1e-9)
    for part in core.part_status():
        fields = asdict(part)
        del fields["drives"]  # /diagnostics has them
        message.parts.append(msg.PartStatus(**fields))
    return message


def tools_on(workcell: Workcell, snapshot: np.record) -> dict[str, str]:
    """Part → the tool that is on, of the parts that list tools (`layout.snapshot_dtype`)."""
    return {
        part.name: part.tool_name(float(snapshot.parts[part.index].measured.tool_number))
        for part in workcell.parts
        if part.tools
    }
