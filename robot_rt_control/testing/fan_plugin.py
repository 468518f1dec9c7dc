"""A worked example of a plugin: a fan whose speed follows the voltage, with an interface of its own.

Name it in a workcell as `plugin: robot_rt_control.testing.fan_plugin:FanPlugin`; its parameter is `ohm`.
"""

from collections.abc import Mapping

from robot_rt_control.hardware.parameters import Parameters, checked
from robot_rt_control.hardware.plugin import (
    CallbackReturn,
    HardwareInfo,
    HardwarePlugin,
    HardwareReturn,
    InterfaceDescription,
)
from robot_rt_control.vocabulary.enums import CommandMode


class FanParameters(Parameters):
    ohm: float = 2.0
    """Electrical resistance."""


class FanPlugin(HardwarePlugin):
    """One part with one joint in effort mode; adds the state `fan/current` after the joint's three."""

    simulated = True

    def on_init(self, info: HardwareInfo) -> CallbackReturn:
        self.info = info
        if len(info.parts) != 1 or len(info.parts[0].joint_names) != 1:
            self.reason = "a fan is one part with one joint"
            return CallbackReturn.FAILURE
        self.parameters = checked(FanParameters, info.parameters, f"hardware {info.name!r}")
        return CallbackReturn.SUCCESS

    def export_state_interfaces(self) -> list[InterfaceDescription]:
        part = self.info.parts[0].name
        return [*super().export_state_interfaces(), InterfaceDescription(part=part, interface="current", unit="A")]

    def on_configure(self) -> CallbackReturn:
        self.position = self.velocity = self.effort = 0.0
        return CallbackReturn.SUCCESS

    def on_activate(self) -> CallbackReturn:
        self.driven = False
        return CallbackReturn.SUCCESS

    def perform_command_mode_switch(self, modes: Mapping[str, tuple[CommandMode, ...]]) -> HardwareReturn:
        self.driven = modes[self.info.parts[0].name][0] == CommandMode.EFFORT
        return HardwareReturn.OK

    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        self.state[:] = (self.position, self.velocity, self.effort, self.effort / self.parameters.ohm)
        return HardwareReturn.OK

    def write(self, time_s: float, period_s: float) -> HardwareReturn:
        self.effort = float(self.command[2]) if self.driven else 0.0
        self.velocity = self.velocity + period_s * (self.effort - self.velocity) if self.driven else 0.0  # a brake
        self.position += period_s * self.velocity
        return HardwareReturn.OK
