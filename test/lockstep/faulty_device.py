"""A mock device whose feedback goes wrong on request: what is commanded happens, what is measured is something else."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robot_rt_control.hardware.mock_plugin import MockPlugin
from robot_rt_control.hardware.plugin import HardwareReturn
from robot_rt_control.testing.lockstep_cell import LockstepCell


class FaultyMock(MockPlugin):
    """The mock device; `spoil` changes the states of a cycle in place before they are published."""

    spoil: Callable[[np.ndarray], None] | None = None

    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        result = super().read(time_s, period_s)
        if self.spoil is not None:
            self.spoil(self.state)
        return result


PLUGIN = f"{__name__}:{FaultyMock.__name__}"


def spoil(cell: LockstepCell, device: str, change: Callable[[np.ndarray], None] | None) -> None:
    """From the next cycle on, let a device measure something else."""
    plugin = cell.executor.devices.hosts[device].plugin
    assert isinstance(plugin, FaultyMock)
    plugin.spoil = change
