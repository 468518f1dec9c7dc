"""Devices whose driver is a program of its own, in any language: the schema of a device's configuration for `external`.

    devices:
      robot:
        external:
          command: [my_driver, --verbose]
          parameters: {address: 192.168.1.5}

`docs/foreign_drivers.md` explains it.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from robot_rt_control.text.schema import Model, Number
from robot_rt_control.vocabulary import defaults

EXTERNAL = "external"
"""The plugin of devices whose driver this package does not run: the executor attaches to its process image."""


class External(Model):
    """A foreign driver, and how it keeps time."""

    # the program that `workcell` starts, and its arguments; []: it is started by hand; None: for a device with a tag
    # <ros2_control>, ros2_control_driver; else it is started by hand
    command: tuple[str, ...] | None = None
    parameters: dict[str, Any] = {}  # for the driver; not checked here
    # own: the driver cycles on its own clock; device: its read waits for the device; loop: at each command
    pace: Literal["own", "device", "loop"] = "own"
    # [periods] with clock:=hardware, how long the driver waits for the command of the states that it has published
    answer: Number = Field(default=0.5, ge=0.0, le=0.95)
    # [periods] without a command of a living executor, after which the driver brings the device to rest
    silence: int = Field(default=defaults.EXECUTOR_SILENCE_TICKS, strict=True, ge=3, le=10_000)
    # of the driver's cycle, SCHED_FIFO; 0: an ordinary thread
    priority: int = Field(default=0, strict=True, ge=0, le=98)
