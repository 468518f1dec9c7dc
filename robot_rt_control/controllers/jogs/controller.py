"""The ROS side of jogs: topics, and their life."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, TypeVar

from control_msgs.msg import JointJog
from geometry_msgs.msg import Twist, TwistStamped
from std_msgs.msg import Float64MultiArray

from robot_rt_control.client import Client
from robot_rt_control.controllers.controller import ControllerState
from robot_rt_control.controllers.jogs.arm import ArmJogger, JogOptions
from robot_rt_control.controllers.jogs.base import BaseJogger, BaseOptions
from robot_rt_control.controllers.jogs.forward import ForwardJogger, ForwardOptions, Interface, order_of
from robot_rt_control.controllers.jogs.jogger import Jogger
from robot_rt_control.controllers.working import WorkingController, options_of
from robot_rt_control.model.workcell.controllers import FORWARD, JOG, JOINT_GROUPS, PLANAR_BASE
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.model.workcell.planar_base import planar_base
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError

_LOOK_HZ = 5.0
"""How often it is looked whether the part is idle."""
_PACE_S = 0.004
"""[s] Commands that come more often are left out, but for the newest one: all of them would wait on their way to the
loop."""

_Jogger = TypeVar("_Jogger", bound=Jogger)


class JoggingController(WorkingController, Generic[_Jogger]):
    """Base of the controllers that move a part while commands come on a topic.

    Args:
        as `WorkingController`.
    """

    def __init__(self, name: str, part: PartDescription, client: Client, options: Mapping[str, Any]) -> None:
        super().__init__(name, part, client, options)
        self._jogger: _Jogger | None = None

    @abstractmethod
    def make_jogger(self) -> _Jogger:
        """What takes the commands; `wake` is to be called when it has something to do."""

    @property
    def state_interfaces(self) -> tuple[str, ...]:
        return tuple(f"{joint}/{kind}" for joint in self.part.joint_names for kind in ("position", "velocity"))

    def offer(self) -> None:
        self.repeat(self.wake, _LOOK_HZ)

    def activate(self) -> None:
        self._jogger = self.make_jogger()
        self.state = ControllerState.ACTIVE

    def deactivate(self) -> None:
        self.state = ControllerState.INACTIVE
        jogger, self._jogger = self._jogger, None
        if jogger is not None:
            jogger.close()

    def wake(self) -> None:
        """Let the jogger do what may wait for the workcell."""
        self.later(self._process)

    def _process(self) -> None:
        jogger = self._jogger
        if jogger is not None:
            self._try(jogger, lambda jogger: jogger.process())
            time.sleep(_PACE_S)

    def pass_on(self, step: Callable[[_Jogger], None]) -> None:
        """Give the jogger a command; a refusal is logged."""
        self._try(self._jogger, step)

    def age(self, message: Any) -> float:
        """[s] of a message; 0: it has no stamp."""
        stamp = message.header.stamp
        given = stamp.sec + stamp.nanosec * 1e-9
        return self.now() - given if given else 0.0

    def _try(self, jogger: _Jogger | None, step: Callable[[_Jogger], None]) -> None:
        try:
            if jogger is None:
                raise RobotControlError(f"the controller is {self.state}", expected="active", hint="Activate it")
            step(jogger)
        except RobotControlError as error:
            self.warn_seldom(f"a command was ignored: {error}")


class JogController(JoggingController[ArmJogger]):
    """Jogs an arm by the topics `delta_twist_cmds` and `delta_joint_cmds` below its name, as MoveIt Servo does."""

    type = JOG

    def __init__(self, name: str, part: PartDescription, client: Client, options: Mapping[str, Any]) -> None:
        super().__init__(name, part, client, options)
        self._read = options_of(self, JogOptions)

    def make_jogger(self) -> ArmJogger:
        return ArmJogger(self.name, self.part, self.client, self._read, self.wake)

    def offer(self) -> None:
        super().offer()
        self.subscribe(TwistStamped, "delta_twist_cmds", self._on_twist)
        self.subscribe(JointJog, "delta_joint_cmds", self._on_joints)

    def _on_twist(self, message: Any) -> None:
        self.pass_on(
            lambda jogger: jogger.jog_tool(_values(message.twist), message.header.frame_id, self.age(message))
        )

    def _on_joints(self, message: Any) -> None:
        self.pass_on(
            lambda jogger: jogger.jog_joints(
                message.joint_names, message.velocities, message.displacements, self.age(message)
            )
        )


class PlanarBaseController(JoggingController[BaseJogger]):
    """Drives a planar base by the topic `cmd_vel` below its name, as planners and teleoperation nodes publish it."""

    type = PLANAR_BASE

    def __init__(self, name: str, part: PartDescription, client: Client, options: Mapping[str, Any]) -> None:
        super().__init__(name, part, client, options)
        self._read = options_of(self, BaseOptions)
        joints = self._read.joints
        self._base = planar_base(part, None if joints is None else joints.model_dump())

    def make_jogger(self) -> BaseJogger:
        return BaseJogger(self.name, self.part, self.client, self._base, self._read, self.wake)

    def offer(self) -> None:
        super().offer()
        if self._read.use_stamped_vel:
            self.subscribe(TwistStamped, "cmd_vel", self._on_stamped)
        else:
            self.subscribe(Twist, "cmd_vel", self._on_twist)

    def _on_stamped(self, message: Any) -> None:
        self.pass_on(lambda jogger: jogger.drive(_values(message.twist), message.header.frame_id, self.age(message)))

    def _on_twist(self, message: Any) -> None:
        self.pass_on(lambda jogger: jogger.drive(_values(message)))


class ForwardCommandController(JoggingController[ForwardJogger]):
    """Passes on what comes on the topic `commands` below its name: one value for each joint."""

    type = FORWARD
    interface: ClassVar[Interface | None] = None
    """What the values are; None: the option `interface_name`."""

    def __init__(self, name: str, part: PartDescription, client: Client, options: Mapping[str, Any]) -> None:
        super().__init__(name, part, client, options)
        self._read = options_of(self, ForwardOptions)
        order_of(name, part, self._read)
        given, fixed = self._read.interface_name, self.interface
        if (given or fixed) is None or (fixed is not None and given not in (None, fixed)):
            raise DefinitionError(
                f"controller {name!r}: interface_name", expected=fixed or "position, velocity or effort",
                got="none" if given is None else repr(given),
            )  # fmt: skip
        found = fixed or given
        assert found is not None
        self._interface: Interface = found
        modes = [mode.name.lower() for mode in part.command_modes]
        if found not in modes:
            raise DefinitionError(
                f"controller {name!r}: part {part.name!r} takes no {found} commands",
                expected=" or ".join(modes), got=found,
            )  # fmt: skip

    @property
    def command_interfaces(self) -> tuple[str, ...]:
        return tuple(f"{joint}/{self._interface}" for joint in self.part.joint_names)

    def make_jogger(self) -> ForwardJogger:
        return ForwardJogger(self.name, self.part, self.client, self._read, self._interface, self.wake)

    def offer(self) -> None:
        super().offer()
        self.subscribe(Float64MultiArray, "commands", self._on_commands)

    def _on_commands(self, message: Any) -> None:
        self.pass_on(lambda jogger: jogger.forward(message.data))


class JointGroupPositionController(ForwardCommandController):
    """As ForwardCommandController, for positions."""

    type, interface = JOINT_GROUPS["position"], "position"


class JointGroupVelocityController(ForwardCommandController):
    """As ForwardCommandController, for velocities."""

    type, interface = JOINT_GROUPS["velocity"], "velocity"


class JointGroupEffortController(ForwardCommandController):
    """As ForwardCommandController, for efforts."""

    type, interface = JOINT_GROUPS["effort"], "effort"


def _values(twist: Any) -> tuple[float, ...]:
    """(6,) of geometry_msgs/Twist [m/s, rad/s]."""
    v, w = twist.linear, twist.angular
    return v.x, v.y, v.z, w.x, w.y, w.z
