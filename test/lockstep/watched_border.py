"""A fixture of all tests: no command that leaves an executor in lockstep is beyond a system limit, in any tick.

A test that pushes a part beyond its limits from behind the loop (it writes the loop's memory) says so:
`@pytest.mark.beyond_border("why")`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

used_executors = False
"""Whether the last test had an executor in lockstep: with it, a cycle of objects with 40 MB."""


@pytest.fixture(autouse=True)
def border_is_kept(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The watches of the test's executors (`BorderWatch`), in the order in which they were configured."""
    global used_executors
    used_executors = False
    module: Any = sys.modules.get("robot_rt_control.realtime.executor.executor")
    if module is None:  # most unit tests need none, and must not load the compiler
        yield []
        return
    from robot_rt_control.testing.border_watch import BorderWatch

    configure, watches = module.Executor.configure, list[BorderWatch]()

    def watched(self: Any, *arguments: Any, **options: Callable[[str], object]) -> None:
        configure(self, *arguments, **options)
        if self.lockstep is not None:
            watches.append(BorderWatch(self))

    monkeypatch.setattr(module.Executor, "configure", watched)
    yield watches
    used_executors = bool(watches)
    if request.node.get_closest_marker("beyond_border") is None:
        for watch in watches:
            watch.check()
