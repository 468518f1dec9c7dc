"""How verbs reach a workcell."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from robot_rt_control.vocabulary.errors import RobotControlError

if TYPE_CHECKING:
    from robot_rt_control.client import Client

TIMEOUT_S = 10.0


def add_workcell_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of all verbs that ask a running workcell."""
    parser.add_argument("--namespace", default="", metavar="NAME", help="of the workcell's nodes")
    parser.add_argument(
        "--timeout",
        type=float,
        default=TIMEOUT_S,
        metavar="SECONDS",
        help="for the workcell to answer (default: %(default)s)",
    )


def connect(arguments: argparse.Namespace) -> Client:
    """A client for a verb; a context manager.

    Raises:
        RobotControlError: ROS 2 is not installed.
    """
    from robot_rt_control.client import Client  # slow: it imports ROS

    try:
        return Client(
            f"robot_rt_{os.getpid()}",
            namespace=arguments.namespace,
            timeout_s=arguments.timeout,
            startup_s=arguments.timeout,
            arguments=[],
        )
    except ImportError as error:
        raise RobotControlError(
            "ROS 2 cannot be used", expected="rclpy", got=str(error), hint="Source the ROS installation; try `doctor`"
        ) from error
