"""An executor's health: on /diagnostics, and as log lines of its node."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray

from robot_rt_control.memory.histogram import percentile
from robot_rt_control.realtime.executor.executor import Executor
from robot_rt_control.realtime.executor.health import Reading, executor_health
from robot_rt_control.realtime.executor.tick_periods import tick_periods
from robot_rt_control.realtime.executor.trouble_log import TroubleLog
from robot_rt_control.ros.diagnostics import DIAGNOSTICS, diagnostic_array

LOOK_S = 0.2
"""[s] Between two calls of `look`."""
_REPORT_S = 1.0


class HealthTopic:
    """Looks at an executor when its node, which must be active, asks it to.

    Args:
        node: the executor's node.
        core: its executor.
        clock_topic: fully resolved name of the topic of its clock; empty: it publishes none.
    """

    def __init__(self, node: Any, core: Executor, clock_topic: str) -> None:
        self._node, self._core, self._clock_topic = node, core, clock_topic
        self._reported: Reading | None = None
        logger = node.get_logger()
        self._log = TroubleLog(error=logger.error, warning=logger.warning, info=logger.info)
        self.publisher = node.create_publisher(DiagnosticArray, DIAGNOSTICS, 10)

    def look(self) -> None:
        """Log what has changed; publish about once in a second. Call it every LOOK_S, in one thread."""
        if not self._node.active:
            return
        now = self._read()
        self._log.look(now)
        before = self._reported
        if before is not None and now.time_s - before.time_s < _REPORT_S:
            return
        self._reported = now
        stamp = self._node.get_clock().now().to_msg()
        name = self._node.get_fully_qualified_name()
        first = 0 if before is None else before.tick
        periods = tick_periods(self._core.ring, [part.name for part in now.parts], first)
        self.publisher.publish(diagnostic_array(name, executor_health(now, before, periods), stamp))

    def _read(self) -> Reading:
        core = self._core
        memory, snapshot = core.channel.memory, core.channel.snapshot()
        _, target, shortfall = core.real_time_factor()
        simulated = target > 0 and np.isfinite(target)
        pace = 0.0 if core.options.gated else target if simulated else 1.0
        return Reading(
            time_s=time.monotonic(),
            tick=int(snapshot.tick),
            period_s=core.workcell.period,
            clock=core.options.clock,
            pace=pace,
            lateness_p99_s=percentile(np.array(memory.timing.lateness), 0.99),
            misses=int(memory.timing.deadline_misses),
            shortfall=shortfall,
            server_epoch=int(memory.server_epoch),
            server_attached=core.channel.server_attached,
            server_released=int(memory.server_pid) == 0,
            server_starved=core.server_patience.warning,
            starved_silences=core.server_patience.tolerated,
            starved_longest_s=core.server_patience.longest_s,
            clock_publishers=self._node.count_publishers(self._clock_topic) if self._clock_topic else 0,
            parts=core.part_status(),
            stops=core.known_stops(),
            drivers=core.devices.foreign_drivers(),
        )
