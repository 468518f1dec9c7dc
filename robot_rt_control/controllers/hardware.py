"""A workcell's devices as ros2_control's hardware components. No ROS."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from robot_rt_control.controllers.catalogue import with_public_names
from robot_rt_control.model.workcell.interfaces import InterfaceDescription
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError, unknown

SILENT_S = 5.0
"""[s] An executor that has not reported for so long is taken for ended; it reports 5 times a second."""
_REACHED_S = 30.0
"""[s] for the executor to report a state that the control server has confirmed."""


class HardwareState(IntEnum):
    """The ids of lifecycle_msgs/State that occur."""

    UNKNOWN = 0
    """The executor is not heard."""
    INACTIVE = 2
    """A part is disabled or faulted."""
    ACTIVE = 3
    """The motion of all parts is enabled."""

    @property
    def label(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, kw_only=True)
class Component:
    """A device on its plugin."""

    name: str
    type: str
    """system, or sensor: it takes no commands."""
    plugin: str
    parts: tuple[str, ...]
    command_interfaces: Mapping[str, str]
    """Name, such as arm_joint_1/position → its part."""
    state_interfaces: tuple[str, ...]


def components(workcell: Workcell) -> dict[str, Component]:
    """Name → component, in the order of the workcell file."""
    found = {}
    for device in workcell.devices:
        commands: dict[str, str] = {}
        states: list[str] = []
        for part in (with_public_names(workcell.part(name), workcell) for name in device.parts):
            modes = {mode.name.lower() for mode in part.command_modes}
            commands |= {_name(i): part.name for i in part.command_interfaces if not i.item or i.interface in modes}
            states += map(_name, part.state_interfaces)
        found[device.name] = Component(
            name=device.name,
            type="system" if commands else "sensor",
            plugin=device.plugin,
            parts=device.parts,
            command_interfaces=commands,
            state_interfaces=tuple(states),
        )
    return found


def _name(interface: InterfaceDescription) -> str:
    """Without the part if the interface belongs to a joint, whose name is unique in the workcell."""
    return f"{interface.item or interface.part}/{interface.interface}"


class Hardware:
    """The states of all components.

    Args:
        workcell: whose devices they are.
        set_motion: `set_motion(active, parts)` enables or disables parts; raises RobotControlError.
    """

    def __init__(self, workcell: Workcell, set_motion: Callable[[bool, tuple[str, ...]], object]) -> None:
        self.components = components(workcell)
        self._set_motion = set_motion
        self._enabled: set[str] = set()
        self._served = False
        self._heard = -SILENT_S
        self._changed = threading.Condition()

    def take(self, operational_states: Mapping[str, str], served: bool) -> None:
        """What the executor reports.

        Args:
            operational_states: part → disabled, enabled or faulted.
            served: whether a control server is attached.
        """
        with self._changed:
            self._enabled = {part for part, state in operational_states.items() if state == "enabled"}
            self._served = served
            self._heard = time.monotonic()
            self._changed.notify_all()

    @property
    def is_heard(self) -> bool:
        """Whether the executor reports."""
        return time.monotonic() - self._heard < SILENT_S

    def is_enabled(self, part: str) -> bool:
        """Whether a part takes commands."""
        return self.is_heard and part in self._enabled

    def state(self, component: Component) -> HardwareState:
        """The state of a component."""
        if not self.is_heard:
            return HardwareState.UNKNOWN
        return HardwareState.ACTIVE if self._enabled.issuperset(component.parts) else HardwareState.INACTIVE

    def states(self) -> dict[str, HardwareState]:
        """Name → state of each component."""
        return {name: self.state(component) for name, component in self.components.items()}

    def find(self, name: str) -> Component:
        """The component of this name. Raises DefinitionError: there is none."""
        if name not in self.components:
            known = unknown("hardware component", name, self.components)
            raise DefinitionError(f"hardware component {name!r}", expected=known)
        return self.components[name]

    def set_state(self, component: Component, wanted: str) -> None:
        """Enable or disable the motion of a component's parts.

        Args:
            wanted: active or inactive.

        Raises:
            RobotControlError: another state, or the control server or a part refuses.
        """
        if wanted not in ("active", "inactive"):
            raise RobotControlError(
                f"hardware component {component.name!r}",
                expected="active (motion enabled) or inactive (disabled)",
                got=wanted,
                hint="Devices are configured and shut down with the workcell",
            )
        if not (self.is_heard and self._served):
            missing = "a control server" if self.is_heard else "an executor"
            raise RobotControlError(f"hardware component {component.name!r}", expected=missing, got="none")
        self._set_motion(wanted == "active", component.parts)
        target = HardwareState[wanted.upper()]
        with self._changed:
            if not self._changed.wait_for(lambda: self.state(component) == target, _REACHED_S):
                state = self.state(component).label
                raise RobotControlError(f"hardware component {component.name!r}", expected=wanted, got=state)
