"""joint_state_broadcaster, as launch files and tools expect it. The executor publishes joint_states itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robot_rt_control.client import Client
from robot_rt_control.controllers.controller import Controller
from robot_rt_control.model.controllers import BROADCASTER
from robot_rt_control.vocabulary.errors import DefinitionError


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
