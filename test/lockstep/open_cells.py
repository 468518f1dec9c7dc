"""A fixture: a cell that a test leaves open is closed after it. Its memory, threads, folder wait for no collector."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from robot_rt_control.testing.server_bench import ServerBench


@pytest.fixture(autouse=True)
def cells_are_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    begin, made = ServerBench.__init__, list[ServerBench]()

    def noted(self: ServerBench, *arguments: Any, **options: Any) -> None:
        begin(self, *arguments, **options)
        made.append(self)

    monkeypatch.setattr(ServerBench, "__init__", noted)
    yield
    for bench in made:
        bench.close()
