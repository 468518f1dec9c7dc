"""What all controllers have in common: a name, a type and a state, as ros2_control's tools expect them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar

from robot_rt_control.client import Client
from robot_rt_control.model.workcell.part_description import PartDescription


class ControllerState(StrEnum):
    """The words of controller_manager_msgs/ControllerState."""

    UNCONFIGURED = "unconfigured"
    INACTIVE = "inactive"
    ACTIVE = "active"


class Controller(ABC):
    """Lets others command a part by their own messages. A new type is a class, and a row in
    `model/workcell/controllers.py`.

    An active controller accepts requests. It opens a session for a request, and closes it when that has ended, so
    sessions of applications and controllers share a part: who comes second is refused, with the name of who has it.

    The manager calls the methods one after the other, in a thread of its own. Each of them may take seconds.

    Args:
        name: of the controller; its topics and actions are below it.
        part: that it commands; its joints have their names in robot_description and joint_states. None: its type
            commands no part.
        client: of the workcell; its node has the controller's topics and actions.
        options: from the workcell file.

    Raises:
        DefinitionError: an option is not valid, or the part is not of a kind that it can command.
    """

    type: ClassVar[str]
    """As in ros2_control, such as joint_trajectory_controller/JointTrajectoryController; its key in that table."""

    def __init__(self, name: str, part: PartDescription, client: Client, options: Mapping[str, Any]) -> None:
        self.name, self.part, self.client, self.options = name, part, client, options
        self.state = ControllerState.UNCONFIGURED

    @property
    @abstractmethod
    def command_interfaces(self) -> tuple[str, ...]:
        """Interfaces that no other controller may command while it is active, such as arm_joint_1/position."""

    @property
    @abstractmethod
    def state_interfaces(self) -> tuple[str, ...]:
        """Interfaces that it reads."""

    @abstractmethod
    def configure(self) -> None:
        """Offer topics and actions; requests are refused until it is active.

        Raises:
            RobotControlError: it cannot be configured; nothing is left of it.
        """

    @abstractmethod
    def activate(self) -> None:
        """Accept requests.

        Raises:
            RobotControlError: it cannot be activated.
        """

    @abstractmethod
    def deactivate(self) -> None:
        """Refuse requests, and stop what it moves. Returns once its session has ended, or is sure to end."""

    @abstractmethod
    def cleanup(self) -> None:
        """Take topics and actions back."""
