"""The mock device as an ordinary plugin, for a driver process without a simulator."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robot_rt_control.hardware.mock import configure_mock, set_mock_states
from robot_rt_control.hardware.mock_cycle import mock_cycle
from robot_rt_control.hardware.plugin import CallbackReturn, HardwareInfo, HardwarePlugin, HardwareReturn
from robot_rt_control.memory.joint_modes import pack_modes
from robot_rt_control.memory.layout import device_dtype
from robot_rt_control.vocabulary.enums import CommandMode


class MockPlugin(HardwarePlugin):
    """Runs `mock_cycle` in each `write`; the loop does the same without this class. Parameters: MockParameters."""

    simulated = True

    def on_init(self, info: HardwareInfo) -> CallbackReturn:
        self.info = info
        self._device = np.zeros(1, device_dtype)[0]
        configure_mock(self._device, info)
        return CallbackReturn.SUCCESS

    def on_configure(self) -> CallbackReturn:
        configure_mock(self._device, self.info)
        return CallbackReturn.SUCCESS

    def on_activate(self) -> CallbackReturn:
        self._device.mode[:] = 0
        self._device.enabled = 1
        return CallbackReturn.SUCCESS

    def on_deactivate(self) -> CallbackReturn:
        self._device.enabled = 0
        return CallbackReturn.SUCCESS

    def perform_command_mode_switch(self, modes: Mapping[str, tuple[CommandMode, ...]]) -> HardwareReturn:
        for part in self.info.parts:
            if part.name in modes:
                self._device.mode[part.index] = pack_modes(modes[part.name])
        return HardwareReturn.OK

    def set_states(self, values: Mapping[str, float]) -> None:
        """Set the sensors' values: see `set_mock_states`."""
        set_mock_states(self._device, self.info, values)

    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        self.state[:] = self._device.state[: len(self.state)]
        return HardwareReturn.OK

    def write(self, time_s: float, period_s: float) -> HardwareReturn:
        self._device.command[: len(self.command)] = self.command
        mock_cycle(self._device, period_s)
        return HardwareReturn.OK
