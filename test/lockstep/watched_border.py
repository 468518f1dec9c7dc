"""A fixture of all tests in lockstep: no command that leaves an executor is beyond a system limit, in any tick.

A test that pushes a part beyond its limits from behind the loop (it writes the loop's memory) says so:
`@pytest.mark.beyond_border("why")`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from robot_rt_control.realtime.executor.executor import Executor
from robot_rt_control.testing.border_watch import BorderWatch


@pytest.fixture(autouse=True)
def border_is_kept(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[BorderWatch]]:
    configure, watches = Executor.configure, list[BorderWatch]()

    def watched(self: Executor, *arguments: Any, **options: Callable[[str], object]) -> None:
        configure(self, *arguments, **options)
        if self.lockstep is not None:
            watches.append(BorderWatch(self))

    monkeypatch.setattr(Executor, "configure", watched)
    yield watches
    if request.node.get_closest_marker("beyond_border") is None:
        for watch in watches:
            watch.check()
