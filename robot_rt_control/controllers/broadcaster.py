"""Broadcasters, as launch files and tools expect them. The executor publishes joint states and sensors itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from robot_rt_control.client import Client
from robot_rt_control.controllers.controller import Controller, ControllerState
from robot_rt_control.hardware.parameters import checked
from robot_rt_control.model.workcell.controllers import BROADCASTER, WRENCH_BROADCASTER
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.text.schema import Model
from robot_rt_control.vocabulary.errors import DefinitionError, HardwareError


class BroadcasterOptions(Model):
    """Of the broadcaster of a sensor."""

    frame_id: str = ""
    """Of its messages; empty: that of the sensor."""


class JointStateBroadcaster(Controller):
    """Is always active, and does nothing."""

    type = BROADCASTER
    command_interfaces = ()
    state_interfaces = ()

    def __init__(self, name: str, part: Any, client: Client, options: Mapping[str, Any]) -> None:
        super().__init__(name, part, client, options)
        if options:
            raise DefinitionError("options", expected="none", got=", ".join(options))

    def configure(self) -> None:
        pass

    def activate(self) -> None:
        pass

    def deactivate(self) -> None:
        pass

    def cleanup(self) -> None:
        pass


class ForceTorqueSensorBroadcaster(Controller):
    """Publishes a sensor's wrench below its own name, `wrench`, while it is active."""

    type = WRENCH_BROADCASTER
    command_interfaces = ()

    def __init__(self, name: str, part: PartDescription, client: Client, options: Mapping[str, Any]) -> None:
        super().__init__(name, part, client, options)
        try:
            self._frame = checked(BroadcasterOptions, options, f"controller {name!r}").frame_id
        except HardwareError as error:
            raise DefinitionError(str(error)) from None
        self._remove: list[Callable[[], object]] = []

    @property
    def state_interfaces(self) -> tuple[str, ...]:
        kinds = ("force", "torque")
        return tuple(f"{self.part.name}/{kind}.{axis}" for kind in kinds for axis in "xyz")

    def configure(self) -> None:
        self.state = ControllerState.INACTIVE

    def activate(self) -> None:
        from geometry_msgs.msg import WrenchStamped

        node = self.client.node
        publisher = node.create_publisher(WrenchStamped, f"{self.name}/wrench", 10)

        def publish(message: Any) -> None:
            message.header.frame_id = self._frame or message.header.frame_id
            publisher.publish(message)

        subscription = node.create_subscription(WrenchStamped, f"{self.part.name}/wrench", publish, 10)
        self._remove = [
            lambda: node.destroy_subscription(subscription),
            lambda: node.destroy_publisher(publisher),
        ]
        self.state = ControllerState.ACTIVE

    def deactivate(self) -> None:
        for remove in self._remove:
            remove()
        self._remove = []
        self.state = ControllerState.INACTIVE

    def cleanup(self) -> None:
        self.state = ControllerState.UNCONFIGURED
