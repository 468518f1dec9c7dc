"""Base of the package's nodes: a life-cycle node with described parameters that can start by itself."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import rclpy
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import ParameterUninitializedException
from rclpy.executors import MultiThreadedExecutor
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions

from robot_rt_control.ros.readiness import report_ready
from robot_rt_control.ros.spinning import spin
from robot_rt_control.vocabulary.errors import RobotControlError
from robot_rt_control.vocabulary.waiting import Waiting

_POLL_S = 0.05


@dataclass(frozen=True, kw_only=True)
class NodeParameter:
    """A parameter of a node; all of them are read when the node is configured."""

    name: str
    default: bool | int | float | str | tuple[str, ...]
    description: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()

    def descriptor(self) -> ParameterDescriptor:
        descriptor = ParameterDescriptor(name=self.name, description=self.description)
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
    NodeParameter(name="workcell", default="", description="Path of the workcell file (YAML)."),
    NodeParameter(
        name="hardware",
        default="",
        description="Plugin that all devices run on: mock, pybullet, or module:Class; empty: the workcell's default.",
    ),
    AUTOSTART,
)


class WorkcellNode(LifecycleNode):
    """A life-cycle node of a workcell.

    Subclasses override `configure`, `activate`, `deactivate` and `cleanup`, which raise RobotControlError to refuse;
    the transition then fails, and the reason is logged.

    Args:
        name: of the node.
        parameters: of this kind of node.
        common: parameters that it shares with the others.
        options: of rclpy's LifecycleNode.
    """

    def __init__(
        self,
        name: str,
        parameters: Sequence[NodeParameter],
        *,
        common: Sequence[NodeParameter] = COMMON_PARAMETERS,
        **options: Any,
    ) -> None:
        super().__init__(name, **options)
        self._described = {p.name: p for p in (*common, *parameters)}
        for p in self._described.values():
            default: Any = p.default
            if isinstance(default, tuple):
                # rclpy takes an empty list for one of bytes: leave it unset, with its type.
                default = list(default) or Parameter.Type.STRING_ARRAY
            self.declare_parameter(p.name, default, p.descriptor())
        self.active = False
        self._begun = False
        self.lifecycle_word = "unconfigured"
        self.exit_code = 0
        self.ended = threading.Event()
        """The process is to end."""
        self.awaited = ""
        """What the node waits for before it counts as up, in words; empty: nothing."""
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)

    def value(self, name: str) -> Any:
        """The value of a parameter.

        Raises:
            RobotControlError: it is none of the choices.
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

    def create_timer(self, timer_period_sec: float, callback: Any, *args: Any, **options: Any) -> Any:
        """A timer on the steady clock, also with `use_sim_time`: simulated time may stand still, a node may not."""
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

    def callback_failed(self, trace: str) -> None:
        """Report what a callback raised."""
        self.get_logger().error(f"a callback failed unexpectedly:\n{trace}")

    # --- what subclasses do -----------------------------------------------------------------------

    def configure(self) -> None:
        """Prepare everything that takes long."""

    def activate(self) -> None:
        """Begin."""

    def deactivate(self) -> None:
        """End what `activate` began."""

    def cleanup(self) -> None:
        """Undo `configure`."""

    # --- life cycle -----------------------------------------------------------------------------

    def _attempt(self, step: str, function: Callable[[], None], word: str) -> TransitionCallbackReturn:
        try:
            function()
        except RobotControlError as error:
            self.get_logger().error(f"{step} failed: {error}")
            return TransitionCallbackReturn.FAILURE
        except Exception:
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
        """Have the process end; returns at once. May be called from any thread."""
        self.exit_code = exit_code
        self.ended.set()

    def start(self) -> bool:
        """Configure and activate, if `autostart` says so. Returns whether the node is where it should be."""
        if not self.value("autostart"):
            return True
        return (
            self.trigger_configure() == TransitionCallbackReturn.SUCCESS
            and self.trigger_activate() == TransitionCallbackReturn.SUCCESS
        )

    def close(self) -> None:
        """Deactivate and clean up, from whatever state; also when the process ends or activating was interrupted."""
        if self._begun:
            self.active = self._begun = False
            self.deactivate()
        if self.lifecycle_word not in ("unconfigured", "finalized"):
            self.lifecycle_word = "unconfigured"
            self.cleanup()


def _wait_until_up(node: WorkcellNode) -> None:
    """Report that the node is up as soon as it awaits nothing; until then say what it awaits."""
    waiting = Waiting(node.get_logger().info, math.inf)
    while node.awaited and not node.ended.wait(_POLL_S):
        waiting.goes_on(node.awaited)
    if not node.ended.is_set():
        report_ready()


def run_node(make: Callable[[], WorkcellNode], arguments: Sequence[str] | None, *, threads: int = 6) -> int:
    """Run a node's process until SIGINT, SIGTERM or `end`. Returns the exit code: 1 where it could not start.

    Args:
        threads: that callbacks run in at the same time, at most; each is made when it is needed.
    """
    # Without rclpy's own signal handlers: they shut all contexts down at once, and then nobody can say goodbye.
    rclpy.init(
        args=None if arguments is None else [*sys.argv[:1], *arguments],
        signal_handler_options=SignalHandlerOptions.NO,
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    node = make()
    executor = MultiThreadedExecutor(num_threads=threads)
    executor.add_node(node)
    # In a thread of its own, because only a main thread that waits in Python is woken by a signal.
    spinner = threading.Thread(target=spin, args=(executor, node.callback_failed), name="spin", daemon=True)
    try:
        if not node.start():
            return 1
        spinner.start()
        _wait_until_up(node)
        node.ended.wait()
    except KeyboardInterrupt:
        pass
    finally:
        # A second signal must not break off what brings the robot to rest.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        node.close()
        executor.shutdown(timeout_sec=1.0)
        if spinner.is_alive():
            spinner.join(1.0)
        node.destroy_node()
        rclpy.try_shutdown()
    if any(thread.daemon for thread in threading.enumerate()):
        # Some thread does not end. Python's end would tear it out of whatever it is in; in C++, that is an abort.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(node.exit_code)
    return node.exit_code
