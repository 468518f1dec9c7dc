"""The services and the topic of a controller manager, as ros2_control's tools expect them."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from typing import Any

from controller_manager_msgs import msg, srv
from lifecycle_msgs.msg import State
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from robot_rt_control.controllers.catalogue import reload_code
from robot_rt_control.controllers.controller import Controller, ControllerState
from robot_rt_control.controllers.hardware import Component, Hardware
from robot_rt_control.controllers.manager import ControllerManager, Strictness
from robot_rt_control.model.workcell.controllers import CONTROLLER_TYPES
from robot_rt_control.vocabulary.errors import RobotControlError

_STATES = {
    ControllerState.UNCONFIGURED: State.PRIMARY_STATE_UNCONFIGURED,
    ControllerState.INACTIVE: State.PRIMARY_STATE_INACTIVE,
    ControllerState.ACTIVE: State.PRIMARY_STATE_ACTIVE,
}
_BASE_CLASS = "controller_interface::ControllerInterface"
"""In ros2_control; tools show it."""
_MAX_RATE = 65535
"""The largest uint16."""


class ControllerServices:
    """Offers the services below `~/`, until `close`; refusals are logged, as most answers have no place for a reason.

    Args:
        rate: of the loop [1/s].
    """

    def __init__(self, node: Node, manager: ControllerManager, hardware: Hardware, rate: float) -> None:
        self._node, self._manager, self._hardware = node, manager, hardware
        self._rate = min(round(rate), _MAX_RATE)
        lists, changes = ReentrantCallbackGroup(), MutuallyExclusiveCallbackGroup()
        self._services = [
            node.create_service(kind, f"~/{name}", handler, callback_group=group)
            for name, kind, handler, group in (
                ("list_controllers", srv.ListControllers, self._list_controllers, lists),
                ("list_controller_types", srv.ListControllerTypes, self._list_types, lists),
                ("list_hardware_components", srv.ListHardwareComponents, self._list_components, lists),
                ("list_hardware_interfaces", srv.ListHardwareInterfaces, self._list_interfaces, lists),
                ("load_controller", srv.LoadController, self._named(manager.load), changes),
                ("configure_controller", srv.ConfigureController, self._named(manager.configure), changes),
                ("cleanup_controller", srv.CleanupController, self._named(manager.cleanup), changes),
                ("unload_controller", srv.UnloadController, self._named(manager.unload), changes),
                ("switch_controller", srv.SwitchController, self._switch, changes),
                ("reload_controller_libraries", srv.ReloadControllerLibraries, self._reload, changes),
                ("set_hardware_component_state", srv.SetHardwareComponentState, self._set_component, changes),
            )
        ]
        profile = QoSProfile(
            depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
        )
        self._activity = node.create_publisher(msg.ControllerManagerActivity, "~/activity", profile)
        self._published: Any = None
        self.publish_activity()

    def close(self) -> None:
        """Take the services and the topic back."""
        for service in self._services:
            self._node.destroy_service(service)
        self._node.destroy_publisher(self._activity)

    def publish_activity(self) -> None:
        """Publish the states of controllers and hardware if one has changed. May be called from any thread."""
        states = {c.name: c.state for c in self._manager.loaded}, self._hardware.states()
        if self._published == states:
            return
        self._published = states
        message = msg.ControllerManagerActivity(
            controllers=[_named_state(name, _STATES[state], state) for name, state in states[0].items()],
            hardware_components=[_named_state(name, state, state.label) for name, state in states[1].items()],
        )
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._activity.publish(message)

    # --- controllers ------------------------------------------------------------------------------

    def _list_controllers(self, _request: Any, response: Any) -> Any:
        response.controller = [self._state_of(controller) for controller in self._manager.loaded]
        return response

    def _state_of(self, controller: Controller) -> Any:
        state = msg.ControllerState(
            name=controller.name, state=controller.state, type=controller.type, update_rate=self._rate
        )
        if controller.state != ControllerState.UNCONFIGURED:
            state.required_command_interfaces = list(controller.command_interfaces)
            state.required_state_interfaces = list(controller.state_interfaces)
        if controller.state == ControllerState.ACTIVE:
            state.claimed_interfaces = list(controller.command_interfaces)
        return state

    def _list_types(self, _request: Any, response: Any) -> Any:
        response.types = list(CONTROLLER_TYPES)
        response.base_classes = [_BASE_CLASS] * len(CONTROLLER_TYPES)
        return response

    def _named(self, change: Callable[[str], None]) -> Callable[[Any, Any], Any]:
        def call(request: Any, response: Any) -> Any:
            response.ok = self._done(lambda: change(request.name))[0]
            return response

        return call

    def _switch(self, request: Any, response: Any) -> Any:
        timeout_s = request.timeout.sec + request.timeout.nanosec * 1e-9
        response.ok, response.message = self._done(
            lambda: self._manager.switch(
                request.activate_controllers,
                request.deactivate_controllers,
                request.strictness or Strictness.BEST_EFFORT,
                timeout_s,
            )
        )
        return response

    def _reload(self, request: Any, response: Any) -> Any:
        def reload() -> None:
            self._manager.unload_all(force=request.force_kill)
            reload_code()

        response.ok, _ = self._done(reload)
        return response

    def _done(self, change: Callable[[], str | None]) -> tuple[bool, str]:
        """Whether a change was made, and a remark or why not. A refusal is logged; nothing ends the node."""
        try:
            return True, change() or ""
        except RobotControlError as error:
            self._node.get_logger().error(f"refused: {error}")
            return False, str(error)
        except Exception as error:
            self._node.get_logger().error(f"a request failed unexpectedly:\n{traceback.format_exc()}")
            return False, f"internal error: {error}"

    # --- hardware ---------------------------------------------------------------------------------

    def _list_components(self, _request: Any, response: Any) -> Any:
        for component in self._hardware.components.values():
            state = self._hardware.state(component)
            response.component.append(
                msg.HardwareComponentState(
                    name=component.name,
                    type=component.type,
                    rw_rate=self._rate,
                    plugin_name=component.plugin,
                    state=State(id=state, label=state.label),
                    command_interfaces=self._commands([component]),
                    state_interfaces=self._states([component]),
                )
            )
        return response

    def _list_interfaces(self, _request: Any, response: Any) -> Any:
        components = self._hardware.components.values()
        response.command_interfaces, response.state_interfaces = self._commands(components), self._states(components)
        return response

    def _commands(self, components: Iterable[Component]) -> list[Any]:
        claims = self._manager.claims()
        return [
            _interface(name, self._hardware.is_enabled(part), name in claims)
            for component in components
            for name, part in component.command_interfaces.items()
        ]

    def _states(self, components: Iterable[Component]) -> list[Any]:
        heard = self._hardware.is_heard
        return [_interface(name, heard, False) for component in components for name in component.state_interfaces]

    def _set_component(self, request: Any, response: Any) -> Any:
        # Either may be given, as in ros2_control.
        words = {State.PRIMARY_STATE_INACTIVE: "inactive", State.PRIMARY_STATE_ACTIVE: "active"}
        wanted = words.get(request.target_state.id) or request.target_state.label or str(request.target_state.id)

        def change() -> None:
            component = self._hardware.find(request.name)
            try:
                self._hardware.set_state(component, wanted)
            finally:
                state = self._hardware.state(component)
                response.state = State(id=state, label=state.label)

        response.ok, _ = self._done(change)
        return response


def _interface(name: str, available: bool, claimed: bool) -> Any:
    return msg.HardwareInterface(name=name, data_type="double", is_available=available, is_claimed=claimed)


def _named_state(name: str, id: int, label: str) -> Any:
    return msg.NamedLifecycleState(name=name, state=State(id=id, label=label))
