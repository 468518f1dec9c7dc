"""How verbs reach a workcell: with the operator's secret, as they are in the hands of a person."""

from __future__ import annotations

import argparse
import getpass
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


def person() -> str:
    """Who asks, for those who see it."""
    try:
        return f"robot-rt: {getpass.getuser()}"
    except (KeyError, OSError):  # a user without a name
        return "robot-rt"


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
            operator=True,
        )
    except ImportError as error:
        raise RobotControlError(
            "ROS 2 cannot be used", expected="rclpy", got=str(error), hint="Source the ROS installation; try `doctor`"
        ) from error
