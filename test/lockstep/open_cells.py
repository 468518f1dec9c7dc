"""Fixtures: a cell that a test leaves open is closed after it. Its memory, threads and folder wait for no collector."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from robot_rt_control.testing.server_bench import ServerBench

_open: dict[int, ServerBench] = {}
_begin, _close = ServerBench.__init__, ServerBench.close


def _made(self: ServerBench, *arguments: Any, **options: Any) -> None:
    _begin(self, *arguments, **options)
    _open[id(self)] = self


def _closed(self: ServerBench) -> None:
    _open.pop(id(self), None)
    _close(self)


@pytest.fixture(scope="session", autouse=True)
def cells_are_known() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ServerBench, "__init__", _made)
        patch.setattr(ServerBench, "close", _closed)
        yield


@pytest.fixture(autouse=True)
def cells_are_closed(cells_are_known: None) -> Iterator[None]:
    before = set(_open)  # those of fixtures of a module or class
    yield
    for bench in [bench for key, bench in _open.items() if key not in before]:
        bench.close()
