"""The real-time executor's node: life cycle, and what people and tools see of the loop, which itself knows no ROS."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sensor_msgs.msg
import std_msgs.msg
import std_srvs.srv
from builtin_interfaces.msg import Time
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock

from robot_rt_control import msg, srv
from robot_rt_control.drawing.shape import Shape
from robot_rt_control.hardware.clocks import AUTO, CLOCK_HELP, CLOCKS, FACTOR_HELP, LOCKSTEP, chosen_clock
from robot_rt_control.hardware.drawable import Drawable, drawn_objects
from robot_rt_control.hardware.from_workcell import with_window
from robot_rt_control.hardware.picture import PictureFolder, camera_of
from robot_rt_control.memory.segment_names import channel_name, image_name
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.realtime.executor.conversions import status_message, tools_on
from robot_rt_control.realtime.executor.executor import Executor, ExecutorOptions, PartStatus
from robot_rt_control.realtime.executor.health_topic import LOOK_S, HealthTopic
from robot_rt_control.realtime.executor.sensor_topics import SensorTopics
from robot_rt_control.realtime.executor.tick_topics import LOOK_S as TICKS_S
from robot_rt_control.realtime.executor.tick_topics import TickTopics
from robot_rt_control.ros.lifecycle_node import COMMON_PARAMETERS, NodeParameter, WorkcellNode
from robot_rt_control.ros.node_help import NodeHelp
from robot_rt_control.ros.node_process import run_node
from robot_rt_control.ros.periodic import Periodic
from robot_rt_control.ros.readiness import report_status
from robot_rt_control.ros.refusals import answer_to
from robot_rt_control.ros.stop_messages import stop_messages, stop_remark
from robot_rt_control.ros.tick_time import TickTime
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.errors import HardwareError, RobotControlError
from robot_rt_control.vocabulary.phase_times import ends

if TYPE_CHECKING:
    from robot_rt_control.ros.object_markers import ObjectMarkers

_PARAMETERS = (
    NodeParameter(
        name="clock",
        default=AUTO,
        choices=CLOCKS,
        description=f"What drives the loop. {CLOCK_HELP}.",
    ),
    NodeParameter(
        name="real_time_factor",
        default=1.0,
        minimum=-1.0,
        maximum=1000.0,
        description=f"{FACTOR_HELP}.",
    ),
    NodeParameter(name="gui", default=False, description="Lockstep: show the simulation in a window."),
    NodeParameter(
        name="realtime_priority",
        default=80,
        minimum=0,
        maximum=98,
        description="Priority of the real-time thread under SCHED_FIFO; 0: an ordinary thread.",
    ),
    NodeParameter(
        name="realtime_cpu",
        default=-1,
        minimum=-1,
        maximum=1023,
        description="Processor of the real-time thread; -1: any.",
    ),
    NodeParameter(name="lock_memory", default=True, description="Lock the process's memory: no page is swapped."),
    NodeParameter(
        name="joint_state_rate",
        default=100.0,
        minimum=0.1,
        maximum=1000.0,
        description="[Hz] of the topics joint_states and of the sensors.",
        changeable=True,
    ),
    NodeParameter(
        name="device_timeout",
        default=defaults.STARTUP_S,
        minimum=0.0,
        maximum=86400.0,
        description="[s] to wait for the driver processes to come up, and for the first states of all devices.",
    ),
    NodeParameter(
        name="overrun_policy",
        default="workcell",
        choices=("workcell", "count", "warn", "fault"),
        description="What missed deadlines lead to; workcell: as the workcell file says.",
    ),
    NodeParameter(
        name="record",
        default="",
        description="File (.mcap), or folder, to which all ticks are recorded from the first one on; empty: none.",
    ),
)

_STATUS_S = 0.2
_CLOCK_S = 0.025
"""Between two messages on /clock, as rosbag2 has it; each costs every node in simulated time a callback."""
_SHORTFALL_S = 10.0
"""[s] Shortest time between two warnings that simulated time falls behind."""


def _duration(nanoseconds: int) -> Time:
    return Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


ABOUT = NodeHelp(
    executable="realtime_executor",
    summary="The real-time executor: runs the compiled control loop of a workcell, and publishes joint_states, "
    "~/status, /diagnostics and, in simulated time, /clock. It needs a driver process for each device with a Python "
    "plugin, except in lockstep, where it hosts them itself.",
    parameters=(*COMMON_PARAMETERS, *_PARAMETERS),
    examples=(
        "--ros-args -p workcell:=arm7.yaml",
        "--ros-args -p workcell:=iiwa.yaml -p clock:=lockstep -p real_time_factor:=0.5",
    ),
)


class RealtimeExecutorNode(WorkcellNode):
    """The node `realtime_executor`."""

    def __init__(self, **options: Any) -> None:
        super().__init__("realtime_executor", _PARAMETERS, **options)
        self.executor_core: Executor | None = None
        self._pictures: PictureFolder
        self._tick_time = TickTime(lambda: self.get_clock().now().nanoseconds)
        self._trouble = ""
        self._made: list[Any] = []
        self._periodic: list[Periodic] = []
        self._objects: ObjectMarkers | None = None

    # --- life cycle -----------------------------------------------------------------------------

    def configure(self) -> None:
        workcell = load_workcell(self.workcell_file(), self.value("hardware") or None)
        for warning in workcell.warnings:
            self.get_logger().warning(warning)
        ends("reading the workcell")
        clock = chosen_clock(self.value("clock"), workcell)
        if self.value("gui") and clock == LOCKSTEP:
            workcell = with_window(workcell)
        self._pictures = PictureFolder(workcell.name)
        options = ExecutorOptions(
            clock=clock,
            real_time_factor=self.value("real_time_factor"),
            priority=self.value("realtime_priority"),
            cpu=self.value("realtime_cpu"),
            lock_memory=self.value("lock_memory"),
            device_timeout_s=self.value("device_timeout"),
            overrun_policy="" if self.value("overrun_policy") == "workcell" else self.value("overrun_policy"),
            record=Path(self.value("record")) if self.value("record") else None,
        )
        namespace = self.get_namespace()
        domain = os.environ.get("ROS_DOMAIN_ID", "0")
        core = Executor(
            workcell,
            options,
            channel_name=channel_name(namespace, domain),
            image_name=lambda device: image_name(namespace, domain, device),
        )
        ends("the loop's memory")
        try:
            core.configure(self.get_logger().info)
        except BaseException:  # also when Ctrl-C breaks it off
            core.cleanup()
            raise
        self.executor_core = core

    def activate(self) -> None:
        core = self._core()
        core.activate(self.get_logger().info)
        ends("enabling the hardware")
        self._offer(core.workcell)
        self._tell_trouble(core.part_status())
        self.get_logger().info(f"ticking every {core.workcell.period * 1e3:g} ms ({core.scheduling})")

    def deactivate(self) -> None:
        while self._periodic:
            self._periodic.pop().stop()
        if self._objects is not None:
            self._objects.close()
            self._objects = None
        self.remove(*self._made)
        self._made.clear()
        if not self._core().deactivate():
            self.get_logger().error("not all parts came to rest before the loop stopped")

    def cleanup(self) -> None:
        if self.executor_core is not None:
            self.executor_core.cleanup()
            self.executor_core = None

    def _core(self) -> Executor:
        if self.executor_core is None:
            raise RobotControlError("the executor is not configured")
        return self.executor_core

    # --- what people and tools see ----------------------------------------------------------------

    def _offer(self, workcell: Workcell) -> None:
        latched = QoSProfile(
            depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE
        )
        self._description = self.create_publisher(std_msgs.msg.String, "robot_description", latched)
        self._tools_told: dict[str, str] | None = None
        self._tell_description({p.name: p.tool_name(p.start_tool) for p in workcell.parts if p.tools})
        self._joint_names = workcell.joint_state_names()
        self._joints = self.create_publisher(sensor_msgs.msg.JointState, "joint_states", 10)
        self._status = self.create_publisher(msg.ExecutorStatus, "~/status", 10)
        self._sensors = SensorTopics(self, workcell)
        slow = MutuallyExclusiveCallbackGroup()
        self._joint_period = Periodic(self._publish_joints, 1.0 / self.value("joint_state_rate"), self.callback_failed)
        self._periodic.append(self._joint_period)
        if self._core().options.clock == LOCKSTEP:
            self._clock_publisher = self.create_publisher(Clock, "/clock", 10)
            self._periodic.append(Periodic(self._publish_clock, _CLOCK_S, self.callback_failed))
            self._made.append(self._clock_publisher)
        clock_topic = self._clock_publisher.topic_name if self._core().options.clock == LOCKSTEP else ""
        health = HealthTopic(self, self._core(), clock_topic)
        ticks = TickTopics(self, self._core().ring, workcell.period, lambda: self._core().schedule)
        self._made += [health.publisher, *ticks.publishers]
        self._periodic += [
            Periodic(self._publish_status, _STATUS_S, self.callback_failed),
            Periodic(health.look, LOOK_S, self.callback_failed),
            Periodic(ticks.publish, TICKS_S, self.callback_failed),
        ]
        step = self.create_service(srv.Step, "~/step", self._step, callback_group=MutuallyExclusiveCallbackGroup())
        self._made.append(
            self.create_service(
                srv.ProtectiveStop,
                "~/protective_stop",
                self._protective_stop,
                callback_group=MutuallyExclusiveCallbackGroup(),
            )
        )
        self._made += [
            self.create_service(std_srvs.srv.SetBool, "~/record", self._record, callback_group=slow),
            self.create_service(std_srvs.srv.Trigger, "~/save_last_ticks", self._save, callback_group=slow),
        ]
        if self._core().devices.hosts:
            self._made.append(
                self.create_service(srv.TakePicture, "~/take_picture", self._take_picture, callback_group=slow)
            )
        simulators = [host.plugin for host in self._core().devices.hosts.values()]
        if any(isinstance(plugin, Drawable) for plugin in simulators):
            from robot_rt_control.ros.object_markers import ObjectMarkers  # few have objects

            self._objects = ObjectMarkers(self, self._simulated_objects)
        self._made += [step, self._joints, self._status, self._description, *self._sensors.publishers]

    def _stamp(self, time_ns: int) -> Time:
        """A tick's start on the ROS clock: simulated time in lockstep."""
        if self._core().options.clock == LOCKSTEP:
            return _duration(time_ns)
        return _duration(self._tick_time.of(time_ns))

    def _publish_joints(self) -> None:
        core = self.executor_core
        if core is None or not self.active:
            return
        snapshot = core.channel.snapshot()
        self._tell_description(tools_on(core.workcell, snapshot))
        message = sensor_msgs.msg.JointState()
        message.header.stamp = self._stamp(int(snapshot.time_ns))
        for part in core.workcell.parts:
            if part.name not in self._joint_names:
                continue
            measured = snapshot.parts[part.index].measured
            message.name += list(self._joint_names[part.name])
            message.position.extend(measured.position[: part.dof].tolist())
            message.velocity.extend(measured.velocity[: part.dof].tolist())
            message.effort.extend(measured.effort[: part.dof].tolist())
        self._joints.publish(message)
        self._sensors.publish(message.header.stamp, snapshot)

    def _simulated_objects(self) -> list[Shape]:
        """Looked at between two batches of ticks."""
        core, found = self._core(), list[Shape]()
        plugins = [host.plugin for host in core.devices.hosts.values()]
        if core.lockstep is not None:
            core.lockstep.serve(lambda: found.extend(drawn_objects(plugins)))
        return found

    def _tell_description(self, tools: dict[str, str]) -> None:
        """Publish the robot_description, and again whenever another tool is on: TF follows it."""
        if tools != self._tools_told:
            self._tools_told = tools
            self._description.publish(std_msgs.msg.String(data=self._core().workcell.robot_description(tools)))

    def _publish_clock(self) -> None:
        core = self.executor_core
        if core is not None and core.lockstep is not None and self.active:
            self._clock_publisher.publish(Clock(clock=_duration(core.lockstep.time_ns)))

    def _publish_status(self) -> None:
        core = self.executor_core
        if core is None or not self.active:
            return
        factor, target, shortfall = core.real_time_factor()
        if shortfall:
            self.get_logger().warning(shortfall, throttle_duration_sec=_SHORTFALL_S)
        stamp = self._stamp(int(core.channel.snapshot().time_ns))
        self._tell_trouble(core.part_status())
        self._status.publish(
            status_message(
                core,
                stamp=stamp,
                lifecycle_state=self.lifecycle_word,
                factors=(factor, target),
                stamp_of=self._stamp,
            )
        )

    def parameter_changed(self, name: str) -> None:
        if name == "joint_state_rate" and self.active:
            self._joint_period.period_s = 1.0 / self.value(name)

    def _tell_trouble(self, parts: Sequence[PartStatus]) -> None:
        """Say to who has started this process which parts are not enabled."""
        trouble = "; ".join(
            f"part {part.name!r} is {part.operational_state}" + (f": {part.fault}" if part.fault else "")
            for part in parts
            if part.operational_state != "enabled"
        )
        if trouble != self._trouble:
            self._trouble = trouble
            report_status(trouble)

    def _step(self, request: Any, response: Any) -> Any:
        def do() -> None:
            core = self._core()
            if not core.options.gated:
                raise RobotControlError(
                    "step: simulated time goes by itself here",
                    expected="clock:=lockstep and a negative real_time_factor",
                    got=f"clock:={core.options.clock}, real_time_factor {core.options.real_time_factor:g}",
                )
            response.tick = core.step(int(request.ticks))
            response.time = _duration(response.tick * round(core.workcell.period * 1e9))

        return answer_to("step", do, response, self.get_logger().error)

    def _protective_stop(self, request: Any, response: Any) -> Any:
        def do() -> str:
            core = self._core()
            response.tick = core.protective_stop(
                request.stop,
                request.reason,
                source=request.source,
                who=request.who,
                secret=request.secret,
                everything=request.all,
            )
            stops = core.stops()
            response.stops = stop_messages(stops, self._stamp)
            return "" if core.options.gated else stop_remark(request, response.tick, stops)

        return answer_to("protective_stop", do, response, self.get_logger().error)

    def _record(self, request: Any, response: Any) -> Any:
        """Begin or end a recording; the message is its file, or why it was refused."""
        return self._path_or_error(lambda: self._core().record(request.data), response)

    def _save(self, _: Any, response: Any) -> Any:
        """Write the last ticks; the message is their file."""
        return self._path_or_error(self._core().save_last_ticks, response)

    def _path_or_error(self, do: Callable[[], Path | None], response: Any) -> Any:
        try:
            path = do()
        except RobotControlError as error:
            self.get_logger().error(str(error))
            response.message = str(error)
        else:
            response.success, response.message = path is not None, str(path or "nothing is recorded")
        return response

    def _take_picture(self, request: Any, response: Any) -> Any:
        def do() -> None:
            response.path = str(self._picture(request))

        return answer_to("take_picture", do, response, self.get_logger().error)

    def _picture(self, request: Any) -> Path:
        """Take a picture with the first simulated device; simulated time stands still meanwhile."""
        core = self._core()
        if core.lockstep is None or not core.devices.hosts:
            raise HardwareError("no device is simulated in this process", hint="Ask its driver node")
        plugins = [host.plugin for host in core.devices.hosts.values()]
        camera = camera_of(next((plugin for plugin in plugins if hasattr(plugin, "take_picture")), plugins[0]))
        width, height = int(request.width), int(request.height)
        with self._pictures.new(request.name) as path:
            try:
                core.lockstep.serve(lambda: camera.take_picture(path, width, height))
            except OSError as error:
                raise HardwareError(f"picture {path} was not taken", got=str(error)) from error
        return path


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until it is stopped."""
    return run_node(RealtimeExecutorNode, argv, about=ABOUT)


if __name__ == "__main__":
    sys.exit(main())
