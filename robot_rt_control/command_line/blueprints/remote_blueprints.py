"""How verbs reach the node `blueprints`, and those of all robots on the network."""

from __future__ import annotations

import argparse
import getpass
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from robot_rt_control.command_line.connection import connect

if TYPE_CHECKING:
    from robot_rt_control.blueprint.remote import Blueprints

_SETTLED_S = 1.0
"""Robots that have not been found this time after the last one are not there."""


@contextmanager
def connected(arguments: argparse.Namespace) -> Iterator[Blueprints]:
    """The node of the workcell that the arguments name.

    Raises:
        RobotControlError: ROS 2 is not installed.
    """
    with connect(arguments) as client:
        from robot_rt_control.blueprint.remote import Blueprints  # slow: it imports ROS

        times = {"timeout_s": arguments.timeout, "startup_s": arguments.timeout}
        with Blueprints(client, **times) as blueprints:
            yield blueprints


@contextmanager
def of_all_robots(arguments: argparse.Namespace) -> Iterator[dict[str, Blueprints]]:
    """Namespace → node, of all robots that are found within the time-out."""
    with connect(arguments) as client:
        from robot_rt_control.blueprint.remote import NODE, Blueprints

        times = {"timeout_s": arguments.timeout, "startup_s": arguments.timeout}
        found = {
            space: Blueprints(client, node=f"{space.rstrip('/')}/{NODE}", **times)
            for space in _namespaces(client.node, f"/{NODE}/list_skills", arguments.timeout)
        }
        try:
            yield found
        finally:
            for blueprints in found.values():
                blueprints.close()


def _namespaces(node: Any, service: str, timeout_s: float) -> list[str]:
    """Where a service of this name is offered; waits until no more are found."""
    deadline = time.monotonic() + timeout_s
    found: set[str] = set()
    settled = deadline
    while time.monotonic() < min(deadline, settled):
        names = {name for name, types in node.get_service_names_and_types() if name.endswith(service) and
                 "robot_rt_control/srv/ListSkills" in types}  # fmt: skip
        if names - found:
            found |= names
            settled = time.monotonic() + _SETTLED_S
        time.sleep(0.05)
    return sorted(name.removesuffix(service) or "/" for name in found)


def source() -> str:
    """Who asks, for the log."""
    try:
        return f"command line: {getpass.getuser()}"
    except (KeyError, OSError):  # a user without a name, in a container
        return "command line"
