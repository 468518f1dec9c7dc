"""The control server's node: services, actions and the topic of events. The server itself knows no ROS."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from robot_rt_control import msg
from robot_rt_control.definitions.stream_sample import OutputSample
from robot_rt_control.memory.channel import Channel, ServerTaken
from robot_rt_control.memory.segment_names import channel_name
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.program.recovery_programs import recovery_programs
from robot_rt_control.ros.conversions import time_message
from robot_rt_control.ros.lifecycle_node import COMMON_PARAMETERS, NodeParameter, WorkcellNode
from robot_rt_control.ros.node_help import NodeHelp
from robot_rt_control.ros.node_process import run_node
from robot_rt_control.ros.periodic import Periodic
from robot_rt_control.ros.tick_time import TickTime
from robot_rt_control.server.builder.process import Builder
from robot_rt_control.server.control_server import ControlServer
from robot_rt_control.server.core.introspection import Introspection
from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.server.markers.scene import ScenePictures
from robot_rt_control.server.node.conversions import event_message
from robot_rt_control.server.node.introspection_topics import IntrospectionTopics
from robot_rt_control.server.node.program_state_topic import ProgramStateTopic
from robot_rt_control.server.node.run_actions import RunActions
from robot_rt_control.server.node.scene_markers import SceneMarkers
from robot_rt_control.server.node.services import Services
from robot_rt_control.server.node.session_log import SessionLog
from robot_rt_control.server.node.stream_topics import StreamTopics
from robot_rt_control.server.programs.program_store import ProgramStore, default_folder
from robot_rt_control.server.runs.recovery import Recoveries
from robot_rt_control.server.types.action_types import ActionTypes
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.errors import RobotControlError
from robot_rt_control.vocabulary.phase_times import ends

_PARAMETERS = (
    NodeParameter(
        name="channel",
        default="",
        description="Name of the shared memory between executor and control server; empty: from domain and namespace.",
    ),
    NodeParameter(
        name="build_timeout",
        default=defaults.STARTUP_S,
        minimum=1.0,
        maximum=3600.0,
        description="[s] of processor time that building one action type may take.",
    ),
    NodeParameter(
        name="programs",
        default="",
        description="Folder in which programs are kept; empty: robot_rt_control/programs in XDG_DATA_HOME.",
    ),
    NodeParameter(
        name="introspection_rate",
        default=10.0,
        minimum=0.0,
        maximum=500.0,
        description="[Hz] of the topics ~/introspection_data/names and values, while they have a subscriber; 0: none.",
        changeable=True,
    ),
)

_THREADS = 16
"""One definition may be waiting for another: renewals of leases must get through all the same."""
_KEEP_S = 0.05
"""How often leases are checked, and a lost executor is looked for."""
_RETRY_S = 0.5


ABOUT = NodeHelp(
    executable="control_server",
    summary="The control server: offers sessions, actions and programs over ROS, and hands what they ask for to the "
    "executor of the same workcell, in the same namespace and on the same machine.",
    parameters=(*COMMON_PARAMETERS, *_PARAMETERS),
    examples=(
        "--ros-args -p workcell:=arm7.yaml",
        "--ros-args -r __ns:=/cell -p workcell:=arm7.yaml -p programs:=/var/lib/programs",
    ),
)


class ControlServerNode(WorkcellNode):
    """The node `control_server`."""

    def __init__(self, **options: Any) -> None:
        super().__init__("control_server", _PARAMETERS, **options)
        self.server: ControlServer | None = None
        self._recoveries: Recoveries
        self._builder: Builder | None = None
        self._event_publisher: Any = None
        self._keeper: Periodic | None = None
        self._offered_services: Services | None = None
        self._offered_runs: RunActions | None = None
        self._program_state: ProgramStateTopic | None = None
        self._stream_topics: StreamTopics | None = None
        self._introspection: IntrospectionTopics | None = None
        self._markers: SceneMarkers | None = None
        self._channel_name = ""
        self._digest = 0
        self._simulated = False
        self._tick_time = TickTime(lambda: self.get_clock().now().nanoseconds)
        self._next_try = 0.0
        self._complaint = ""
        self._had_executor = False
        self._taken = False
        """Whether another control server was attached when this one wanted to be."""

    # --- life cycle -----------------------------------------------------------------------------

    def configure(self) -> None:
        workcell = load_workcell(self.workcell_file(), self.value("hardware") or None)
        ends("reading the workcell")
        domain = os.environ.get("ROS_DOMAIN_ID", "0")
        self._channel_name = self.value("channel") or channel_name(self.get_namespace(), domain)
        self._digest = workcell.digest
        recovery_programs(workcell.recoveries)  # before action types are built for minutes
        programs = ProgramStore(Path(self.value("programs") or default_folder()))
        builder = Builder(timeout=self.value("build_timeout"))
        try:
            self.server = ControlServer(workcell, self._build(workcell, builder), builder=builder, programs=programs)
        except BaseException:
            builder.close()
            raise
        self._recoveries = Recoveries(self.server, workcell.recoveries)
        self._builder = builder
        self.server.add_listener(self._publish)
        self.server.add_listener(SessionLog(self.get_logger().warning).take)
        self.server.add_sample_listener(self._publish_sample)

    def _build(self, workcell: Workcell, builder: Builder) -> ActionTypes:
        """All action types, as native code."""
        begin = time.monotonic()
        specs = [source.text for source in workcell.action_types]
        trusted = workcell.trusted_native_code
        types = ActionTypes.build(specs, builder, self._tell, period=workcell.period, trusted=trusted)
        ends("action types")
        self.get_logger().info(f"{len(types.all())} action types are ready after {time.monotonic() - begin:.1f} s")
        return types

    def _tell(self, message: str) -> None:
        self.get_logger().info(message)

    def activate(self) -> None:
        self._next_try, self._complaint, self._taken = 0.0, "", False
        self.awaited = "the executor"
        self._keep()
        if not self._taken:
            self._offer()
        ends("services and topics")
        self._keeper = Periodic(self._keep, _KEEP_S, self.callback_failed)

    def _offer_events(self) -> None:
        """The topics of what happens, before something can."""
        if self._event_publisher is not None:
            return
        # The last events are kept for clients that this topic finds after their first call.
        profile = QoSProfile(
            depth=1000, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
        )
        self._event_publisher = self.create_publisher(msg.Event, "~/events", profile)
        assert self.server is not None  # made by `configure`
        self._program_state = ProgramStateTopic(self, self.server, lambda ns: time_message(self._ros_time(ns)))

    def _offer(self) -> None:
        """Services, actions and topics. A server that found another one attached waits with them until it is attached
        itself (S25): otherwise two would answer each call."""
        self._offer_events()
        if self._offered_services is not None:
            return
        assert self.server is not None
        self._offered_services = Services(
            self,
            lambda: self.server,
            lambda: self._recoveries,
            lambda ns: time_message(self._ros_time(ns)),
        )
        self._offered_runs = RunActions(self, lambda: self.server)
        self._stream_topics = StreamTopics(self, lambda: self.server)
        self._introspection = IntrospectionTopics(
            self,
            Introspection(self.server.core),
            lambda ns: time_message(self._ros_time(ns)),
            self.value("introspection_rate"),
        )
        self._markers = SceneMarkers(self, ScenePictures(self.server.core))

    def deactivate(self) -> None:
        if self._keeper is not None:
            self._keeper.stop()
            self._keeper = None
        if self.server is not None:
            self.server.detach("the control server was deactivated")
        self._withdraw()

    def _withdraw(self) -> None:
        """Take everything back that `_offer` offers."""
        for looking in (self._introspection, self._markers):
            if looking is not None:
                looking.close()
        for offered in (self._stream_topics, self._offered_runs, self._offered_services, self._program_state):
            if offered is not None:
                offered.close()
        events, self._event_publisher = self._event_publisher, None
        if events is not None:
            self.destroy_publisher(events)
        self._offered_runs = self._offered_services = None
        self._stream_topics = self._program_state = self._introspection = self._markers = None

    def parameter_changed(self, name: str) -> None:
        if name == "introspection_rate" and self._introspection is not None:
            self._introspection.set_rate(self.value(name))

    def cleanup(self) -> None:
        self.server = None
        if self._builder is not None:
            self._builder.close()
            self._builder = None

    # --- keeping in touch -------------------------------------------------------------------------

    def _keep(self) -> None:
        """Check leases; attach to the executor as soon as there is one, and again when it was restarted."""
        server = self.server
        if server is None:
            return
        try:
            if server.attached:
                server.poll()
                return
            if server.lost:
                if self._had_executor:
                    self.get_logger().error(f"all sessions have ended: {server.lost}")
                self._had_executor = False
                server.detach(server.lost)
            if time.monotonic() >= self._next_try:
                self._next_try = time.monotonic() + _RETRY_S
                self._attach(server)
        except RobotControlError as error:
            if isinstance(error, ServerTaken):
                self._taken = True
                self._withdraw()
            if error.what != self._complaint:
                self._complaint = error.what
                self.get_logger().warning(f"not attached to an executor yet: {error}")
        except Exception:  # the next look must follow: without it no executor is found again
            self.get_logger().error(f"looking after the executor failed:\n{traceback.format_exc()}")

    def _attach(self, server: ControlServer) -> None:
        channel = Channel.attach(self._channel_name, workcell=self._digest, require_active=True)
        self._simulated = bool(channel.memory.simulated)
        self._offer_events()
        server.attach(channel)
        self._taken = False
        self._offer()
        self.awaited = ""
        self._had_executor, self._complaint = True, ""
        self.get_logger().info("attached to the executor; default and safety actions are installed")

    # --- events ---------------------------------------------------------------------------------

    def _publish(self, event: ServerEvent) -> None:
        """In the dispatcher's thread."""
        events = self._event_publisher
        if events is not None:
            events.publish(event_message(event, time_message(self._ros_time(event.time_ns))))

    def _publish_sample(self, sample: OutputSample) -> None:
        """In the dispatcher's thread."""
        topics = self._stream_topics
        if topics is not None:
            topics.publish(sample)

    def _ros_time(self, time_ns: int) -> int:
        """A tick's start on the ROS clock [ns]: simulated time in lockstep."""
        if self._simulated:
            return time_ns
        return self._tick_time.of(time_ns)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until it is asked to stop."""
    return run_node(ControlServerNode, argv, about=ABOUT, threads=_THREADS)


if __name__ == "__main__":
    sys.exit(main())
