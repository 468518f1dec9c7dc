"""The node `controller_manager`: lets tools and packages written for ros2_control find a workcell's controllers."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult

from robot_rt_control import msg
from robot_rt_control.client import Client
from robot_rt_control.controllers.catalogue import make_controller
from robot_rt_control.controllers.hardware import Hardware
from robot_rt_control.controllers.manager import ControllerManager
from robot_rt_control.controllers.services import ControllerServices
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.ros.lifecycle_node import COMMON_PARAMETERS, WorkcellNode
from robot_rt_control.ros.node_help import NodeHelp
from robot_rt_control.ros.node_process import run_node
from robot_rt_control.vocabulary.errors import RobotControlError

_LOOK_S = 1.0
"""How often it is looked whether the executor has fallen silent."""
_STOP_S = 20.0
"""[s] Time-out for controllers to stop what they move; a control server that is gone answers no longer."""

ABOUT = NodeHelp(
    executable="controller_manager",
    summary="Offers ros2_control's services for a workcell, and runs the controllers of its file: the ros2 control "
    "command, spawners and MoveIt find them here. It needs the control server of the same namespace, and survives "
    "its restart.",
    parameters=COMMON_PARAMETERS,
    examples=(
        "--ros-args -p workcell:=arm7.yaml",
        "--ros-args -r __ns:=/cell -p workcell:=arm7.yaml",
    ),
)


class ControllerManagerNode(WorkcellNode):
    """The node `controller_manager`. The controllers are brought up once the workcell is, in a thread of their own."""

    def __init__(self, **options: Any) -> None:
        super().__init__("controller_manager", (), **options)
        self._workcell: Workcell | None = None
        self._client: Client | None = None
        self._manager: ControllerManager | None = None
        self._hardware: Hardware | None = None
        self._offered: ControllerServices | None = None
        self._made: list[Any] = []
        self._types: dict[str, str] = {}
        """Parameter `<controller>.type` → its value, for those that exist."""
        self.add_on_set_parameters_callback(self._check_types)
        self._starting: threading.Thread | None = None

    def configure(self) -> None:
        self._workcell = load_workcell(self.workcell_file(), self.value("hardware") or None)
        # By these ros2_control's tools find controllers to load; spawners set them to what their own files say.
        for controller in self._workcell.controllers:
            name = f"{controller.name}.type"
            self._types[name] = controller.type
            self.declare_parameter(name, controller.type, ParameterDescriptor(description="From the workcell file."))

    def _check_types(self, parameters: Sequence[Any]) -> SetParametersResult:
        for given in parameters:
            wanted = self._types.get(given.name)
            if wanted not in (None, given.value):
                reason = f"parameter {given.name!r}; expected {wanted!r}, as in the workcell file; got {given.value!r}"
                return SetParametersResult(successful=False, reason=reason)
        return SetParametersResult(successful=True)

    def activate(self) -> None:
        workcell = self._workcell
        assert workcell is not None  # made by `configure`
        # Without this process's command line, which would give the client's node the name of this one.
        simulated = str(self.get_parameter("use_sim_time").value).lower()
        arguments = ["--ros-args", "-p", f"use_sim_time:={simulated}", "--enclave", self.enclave()]
        client = Client(f"{self.get_name()}_client", namespace=self.get_namespace(), arguments=arguments)

        def set_motion(active: bool, parts: tuple[str, ...]) -> None:
            (client.enable if active else client.disable)(*parts)

        self._client = client
        self._hardware = Hardware(workcell, set_motion)
        self._manager = ControllerManager(
            workcell.controllers, lambda description: make_controller(description, workcell, client), self._tell
        )
        self.awaited = "the executor and the control server"
        self._offered = ControllerServices(self, self._manager, self._hardware, 1.0 / workcell.period)
        self._made = [
            self.listen(msg.ExecutorStatus, "realtime_executor/status", self._on_status, 1),
            self.create_timer(_LOOK_S, self._tell),
        ]

    def _on_status(self, message: Any) -> None:
        assert self._hardware is not None
        states = {part.name: part.operational_state for part in message.parts}
        self._hardware.take(states, message.server_attached)
        self._tell()
        if message.server_attached and self._starting is None:
            self._starting = threading.Thread(target=self._start, name="start controllers", daemon=True)
            self._starting.start()

    def _start(self) -> None:
        manager = self._manager
        if manager is not None:
            manager.start(self._complain)
            states = ", ".join(f"{c.name} ({c.state})" for c in manager.loaded)
            self.get_logger().info(f"controllers: {states}")
        self.awaited = ""

    def _complain(self, error: RobotControlError) -> None:
        if self._offered is not None:  # otherwise the node is being deactivated
            self.get_logger().error(str(error))

    def _tell(self) -> None:
        if self._offered is not None:
            self._offered.publish_activity()

    def deactivate(self) -> None:
        self.remove(*self._made)
        services, self._offered = self._offered, None
        if services is not None:
            services.close()
        # In a thread, because a control server that is gone answers no longer.
        closer = threading.Thread(target=self._close, name="stop controllers", daemon=True)
        closer.start()
        closer.join(_STOP_S)
        if closer.is_alive():
            self.get_logger().warning(
                f"the controllers did not stop within {_STOP_S:g} s; their sessions end with their leases"
            )
        self._made, self._manager, self._client, self._starting = [], None, None, None

    def _close(self) -> None:
        manager, client = self._manager, self._client
        if manager is not None:
            manager.close(lambda error: self.get_logger().error(str(error)))
        if client is not None:
            client.close()

    def cleanup(self) -> None:
        for name in self._types:
            self.undeclare_parameter(name)
        self._types = {}
        self._workcell = None


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until it is asked to stop. Returns the exit code."""
    return run_node(ControllerManagerNode, argv, about=ABOUT)


if __name__ == "__main__":
    sys.exit(main())
