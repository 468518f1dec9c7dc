"""The ROS side of jogs: two topics, and their life."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from control_msgs.msg import JointJog
from geometry_msgs.msg import TwistStamped

from robot_rt_control.client import Client
from robot_rt_control.controllers.controller import ControllerState
from robot_rt_control.controllers.jogs.jogger import Jogger, JogOptions
from robot_rt_control.controllers.working import WorkingController, options_of
from robot_rt_control.model.controllers import JOG
from robot_rt_control.model.part_description import PartDescription
from robot_rt_control.vocabulary.errors import RobotControlError

_LOOK_HZ = 5.0
"""How often it is looked whether the arm is idle."""


class JogController(WorkingController):
    """Jogs an arm by the topics `delta_twist_cmds` and `delta_joint_cmds` below its name, as MoveIt Servo does."""

    type = JOG

    def __init__(self, name: str, part: PartDescription, client: Client, options: Mapping[str, Any]) -> None:
        super().__init__(name, part, client, options)
        self._read = options_of(self, JogOptions)
        self._jogger: Jogger | None = None

    @property
    def state_interfaces(self) -> tuple[str, ...]:
        return tuple(f"{joint}/{kind}" for joint in self.part.joint_names for kind in ("position", "velocity"))

    def offer(self) -> None:
        self.subscribe(TwistStamped, "delta_twist_cmds", self._on_twist, 1)
        self.subscribe(JointJog, "delta_joint_cmds", self._on_joints, 1)
        self.repeat(self._wake, _LOOK_HZ)

    def activate(self) -> None:
        self._jogger = Jogger(self.name, self.part, self.client, self._read, self._wake)
        self.state = ControllerState.ACTIVE

    def deactivate(self) -> None:
        self.state = ControllerState.INACTIVE
        jogger, self._jogger = self._jogger, None
        if jogger is not None:
            jogger.close()

    def _wake(self) -> None:
        jogger = self._jogger
        if jogger is not None:
            self.later(lambda: self._try(jogger, Jogger.process))

    def _on_twist(self, message: Any) -> None:
        v, w = message.twist.linear, message.twist.angular
        twist = (v.x, v.y, v.z, w.x, w.y, w.z)
        self._try(self._jogger, lambda jogger: jogger.jog_tool(twist, message.header.frame_id, self._age(message)))

    def _on_joints(self, message: Any) -> None:
        self._try(
            self._jogger,
            lambda jogger: jogger.jog_joints(
                message.joint_names, message.velocities, message.displacements, self._age(message)
            ),
        )

    def _age(self, message: Any) -> float:
        """[s] of a message; 0: it has no stamp."""
        stamp = message.header.stamp
        given = stamp.sec + stamp.nanosec * 1e-9
        return self.now() - given if given else 0.0

    def _try(self, jogger: Jogger | None, step: Callable[[Jogger], None]) -> None:
        try:
            if jogger is None:
                raise RobotControlError(f"the controller is {self.state}", expected="active", hint="Activate it")
            step(jogger)
        except RobotControlError as error:
            self.warn_seldom(f"a jog was ignored: {error}")
