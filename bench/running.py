"""A workcell of processes of its own, joined by DDS: an arm on mock hardware, at 1 kHz."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bench.report import Options
from robot_rt_control.testing.ros_domain import claim_domain

if TYPE_CHECKING:
    from robot_rt_control.client import Client

_STARTUP_S = 900.0
"""The first time after a change, the loop is compiled."""


@contextmanager
def running_workcell(options: Options, name: str, controllers: str = "false") -> Iterator[Client]:
    """A client of a workcell that is up. Its log is `<name>_workcell.log` in the folder of the results.

    Args:
        controllers: of `workcell`: whether a controller manager runs beside it.
    """
    # A domain of its own: other people's nodes are not to be disturbed.
    os.environ["ROS_DOMAIN_ID"] = str(claim_domain("bench"))
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    from robot_rt_control.client import Client
    from robot_rt_control.demo.demo_workcell import DemoWorkcell

    arguments = ["--workcell", "arm7", "--hardware", "mock", "--controllers", controllers]
    with DemoWorkcell(arguments, options.output / f"{name}_workcell.log") as workcell, Client("bench") as client:
        workcell.wait_until_ready(client, lambda _: None, _STARTUP_S)
        yield client
