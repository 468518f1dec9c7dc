"""Base of the package's nodes: a life-cycle node with described parameters that can start by itself."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import ParameterUninitializedException
from rclpy.lifecycle import LifecycleNodeMixin, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter

from robot_rt_control.ros.listening_node import ListeningNode
from robot_rt_control.vocabulary.errors import RobotControlError

_TRANSITION_S = 10.0
"""[s] for which `close` waits for a transition in another thread."""


@dataclass(frozen=True, kw_only=True)
class NodeParameter:
    """A parameter of a node. It is given when the node starts, and read-only from then on unless it is changeable."""

    name: str
    default: bool | int | float | str | tuple[str, ...]
    description: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    changeable: bool = False
    """It may be set at any time and takes effect at once, in `WorkcellNode.parameter_changed`."""

    def descriptor(self) -> ParameterDescriptor:
        """Its descriptor, which ROS shows and checks."""
        descriptor = ParameterDescriptor(
            name=self.name, description=self.description, read_only=not self.changeable
        )
        if self.choices:
            descriptor.additional_constraints = "one of: " + ", ".join(self.choices)
        if self.minimum is not None or self.maximum is not None:
            low = -1e308 if self.minimum is None else self.minimum
            high = 1e308 if self.maximum is None else self.maximum
            if isinstance(self.default, int):
                descriptor.integer_range = [
                    IntegerRange(from_value=int(max(low, -(2**63))), to_value=int(min(high, 2**63 - 1)), step=0)
                ]
            else:
                descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high, step=0.0)]
        return descriptor


AUTOSTART = NodeParameter(
    name="autostart", default=True, description="Configure and activate by itself, without a life-cycle manager."
)

COMMON_PARAMETERS = (
    NodeParameter(
        name="workcell", default="", description="Workcell file (YAML), or the name of one that comes with the package."
    ),
    NodeParameter(
        name="hardware",
        default="",
        description="What all devices run on: simulator, mock, or module:Class; empty: the workcell's default.",
    ),
    AUTOSTART,
)


class WorkcellNode(LifecycleNodeMixin, ListeningNode):
    """A life-cycle node of a workcell.

    Subclasses override `configure`, `activate`, `deactivate` and `cleanup`, which raise RobotControlError to refuse;
    the transition then fails, and the reason is logged. They run in the thread of the transition's caller and may take
    minutes; meanwhile the node is spun and answers.

    Args:
        name: of the node.
        parameters: of this kind of node.
        common: parameters that all nodes share.
        options: of rclpy's Node.
    """

    def __init__(
        self,
        name: str,
        parameters: Sequence[NodeParameter],
        *,
        common: Sequence[NodeParameter] = COMMON_PARAMETERS,
        **options: Any,
    ) -> None:
        ListeningNode.__init__(self, name, **options)
        # In a group of their own: during a transition the other services and all parameters are answered.
        before = set(self.services)
        LifecycleNodeMixin.__init__(self, callback_group=ReentrantCallbackGroup())
        for service in set(self.services) - before:
            self._answers.serve(service)
        self._transition = threading.RLock()
        self._closing = False
        self._described = {p.name: p for p in (*common, *parameters)}
        for p in self._described.values():
            default: Any = p.default
            if isinstance(default, tuple):
                # rclpy takes an empty list for a list of bytes: leave it unset, with its type.
                default = list(default) or Parameter.Type.STRING_ARRAY
            self.declare_parameter(p.name, default, p.descriptor())
        self.add_on_set_parameters_callback(self._check_parameters)
        self.add_post_set_parameters_callback(self._take_parameters)
        self.active = False
        self._begun = False
        self.lifecycle_word = "unconfigured"
        self.exit_code = 0
        self.ended = threading.Event()
        """Set when the process is to end."""
        self.awaited = ""
        """Text: what the node awaits before it counts as up; empty: nothing."""
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)

    def value(self, name: str) -> Any:
        """The value of a parameter.

        Raises:
            RobotControlError: it is not one of the choices.
        """
        try:
            value = self.get_parameter(name).value
        except ParameterUninitializedException:
            value = None
        if isinstance(self._described[name].default, tuple):
            return [] if value is None else list(value)
        choices = self._described[name].choices
        if choices and value not in choices:
            raise RobotControlError(f"parameter {name!r}", expected="one of: " + ", ".join(choices), got=repr(value))
        return value

    def workcell_file(self) -> Path:
        """The workcell's file. Raises RobotControlError: it is not given."""
        path = self.value("workcell")
        if not path:
            raise RobotControlError("parameter 'workcell'", expected="a workcell file, or the name of one", got="none")
        return Path(path)

    def _check_parameters(self, parameters: Sequence[Any]) -> SetParametersResult:
        """Refuse wrong values that pass ROS's own checks of type and range."""
        for given in parameters:
            described = self._described.get(given.name)
            if described is not None and described.choices and given.value not in described.choices:
                expected = "one of: " + ", ".join(described.choices)
                reason = f"parameter {given.name!r}; expected {expected}; got {given.value!r}"
                return SetParametersResult(successful=False, reason=reason)
        return SetParametersResult(successful=True)

    def _take_parameters(self, parameters: Sequence[Any]) -> None:
        for given in parameters:
            if given.name in self._described:
                self.parameter_changed(given.name)

    def create_timer(self, timer_period_sec: float, callback: Any, *args: Any, **options: Any) -> Any:
        """A timer on the steady clock, also with `use_sim_time`: simulated time may stop, a node may not."""
        if len(args) < 2:
            options.setdefault("clock", self._steady)
        return super().create_timer(timer_period_sec, callback, *args, **options)

    def remove(self, *entities: Any) -> None:
        """Destroy publishers, timers, services and so on of this node, also while it is spinning."""
        # Their own `destroy` would leave them in the node's lists, and the next wait would fail on them.
        for entity in entities:
            for destroy in (
                self.destroy_publisher,
                self.destroy_timer,
                self.destroy_service,
                self.destroy_subscription,
                self.destroy_client,
            ):
                if destroy(entity):
                    break

    def destroy_node(self) -> None:
        super().destroy_node()
        # rclpy leaves the services of the life cycle in the graph until Python collects the node.
        machine = self.__dict__.pop("_state_machine", None)  # who still uses it gets an exception
        if machine is not None:
            machine.destroy_when_not_in_use()

    def enclave(self) -> str:
        """The enclave of this process, which rclpy tells for nodes of the graph alone; / without one."""
        own = self.get_name(), self.get_namespace()
        nodes = self.get_node_names_and_namespaces_with_enclaves()
        return next((enclave for name, space, enclave in nodes if (name, space) == own), "/")

    def callback_failed(self, trace: str) -> None:
        """Report the exception of a callback."""
        self.get_logger().error(f"a callback failed unexpectedly:\n{trace}")

    # --- what subclasses do -----------------------------------------------------------------------

    def parameter_changed(self, name: str) -> None:
        """Apply the new `value` of a changeable parameter; called in a spinning thread."""

    def configure(self) -> None:
        """Prepare; may take long."""

    def activate(self) -> None:
        """Begin."""

    def deactivate(self) -> None:
        """Undo `activate`."""

    def cleanup(self) -> None:
        """Undo `configure`."""

    # --- life cycle -----------------------------------------------------------------------------

    def _attempt(self, step: str, function: Callable[[], None], word: str) -> TransitionCallbackReturn:
        with self._transition:
            if self._closing and function != self.close:
                return TransitionCallbackReturn.FAILURE
            try:
                function()
            except RobotControlError as error:
                self.get_logger().error(f"{step} failed: {error}")
                return TransitionCallbackReturn.FAILURE
            except Exception:  # a plugin or driver may raise anything; the transition reports it as an error
                self.get_logger().error(f"{step} failed unexpectedly:\n{traceback.format_exc()}")
                return TransitionCallbackReturn.ERROR
            self.lifecycle_word = word
            return TransitionCallbackReturn.SUCCESS

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self._attempt("configuring", self.configure, "inactive")

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._begun = True
        result = self._attempt("activating", self.activate, "active")
        self.active = self._begun = result == TransitionCallbackReturn.SUCCESS
        return super().on_activate(state) if self.active else result

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.active = self._begun = False
        result = self._attempt("deactivating", self.deactivate, "inactive")
        return super().on_deactivate(state) if result == TransitionCallbackReturn.SUCCESS else result

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self._attempt("cleaning up", self.cleanup, "unconfigured")

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self._attempt("shutting down", self.close, "finalized")

    def end(self, exit_code: int) -> None:
        """Request the end of the process; returns at once. May be called from any thread."""
        self.exit_code = exit_code
        self.ended.set()

    def start(self) -> bool:
        """Configure and activate, if `autostart` is set. Returns whether the node reached the wanted state."""
        if not self.value("autostart"):
            return True
        return (
            self.trigger_configure() == TransitionCallbackReturn.SUCCESS
            and self.trigger_activate() == TransitionCallbackReturn.SUCCESS
        )

    def close(self) -> None:
        """Deactivate and clean up, from any state; also when the process ends or activating was interrupted."""
        self._closing = True  # transitions that wait for the present one are refused
        if not self._transition.acquire(timeout=_TRANSITION_S):
            self.get_logger().error(f"a transition did not end within {_TRANSITION_S:g} s; nothing is cleaned up")
            return
        try:
            self._undo()
        finally:
            self._transition.release()

    def _undo(self) -> None:
        try:
            if self._begun:
                self.active = self._begun = False
                self.deactivate()
        finally:
            if self.lifecycle_word not in ("unconfigured", "finalized"):
                self.lifecycle_word = "unconfigured"
                self.cleanup()
