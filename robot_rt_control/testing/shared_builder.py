"""One builder process for all builds of a test run."""

from __future__ import annotations

import atexit
import functools

from robot_rt_control.server.builder.process import Builder


@functools.cache
def shared_builder() -> Builder:
    """The builder; its process starts when it is first needed, and ends with this one."""
    builder = Builder()
    atexit.register(builder.close)
    return builder
