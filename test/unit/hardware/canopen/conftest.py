"""Rigs for tests of the plugin `canopen`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from canopen_rig import Rig, rigs


@pytest.fixture
def rig() -> Iterator[Callable[..., Rig]]:
    with rigs() as make:
        yield make
