"""A device for `bench/kill_attack.py`: the mock in wall-clock time, so that a late driver looks like a late driver."""

from __future__ import annotations

import time

from robot_rt_control.hardware.mock_cycle import mock_cycle
from robot_rt_control.hardware.mock_plugin import MockPlugin
from robot_rt_control.hardware.plugin import CallbackReturn, HardwareReturn


class LateDevice(MockPlugin):
    """Joints follow over the time that has really passed.

    The mock counts cycles: after lost ones its joints would make up their way in one period, faster than any limit.
    With a time constant and the real time, no number of lost cycles raises the measured velocity by more than 30 %.
    """

    simulated = False

    def on_activate(self) -> CallbackReturn:
        self._last = time.monotonic()
        return super().on_activate()

    def write(self, time_s: float, period_s: float) -> HardwareReturn:
        self._device.command[: len(self.command)] = self.command
        now = time.monotonic()
        mock_cycle(self._device, max(now - self._last, 1e-5))
        self._last = now
        return HardwareReturn.OK
