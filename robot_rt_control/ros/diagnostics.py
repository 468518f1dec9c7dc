"""Health as a message of /diagnostics, for rqt_robot_monitor and aggregators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from robot_rt_control.vocabulary.health import Health

DIAGNOSTICS = "/diagnostics"
"""Shared by all nodes, as usual in ROS; the names of the statuses differ."""


def diagnostic_array(node: str, healths: Iterable[Health], stamp: Any) -> DiagnosticArray:
    """The message.

    Args:
        node: fully qualified name; it begins the name of each status.
        healths: to report.
        stamp: builtin_interfaces/Time.
    """
    message = DiagnosticArray()
    message.header.stamp = stamp
    for health in healths:
        message.status.append(
            DiagnosticStatus(
                level=bytes([health.level]),
                name=f"{node}: {health.what}",
                hardware_id=health.hardware,
                message=health.message,
                values=[KeyValue(key=key, value=value) for key, value in health.values.items()],
            )
        )
    return message
