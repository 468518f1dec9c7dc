"""Serves topics of a workcell by the protocol of Foxglove. Read only: nothing that a client sends reaches the workcell.

Messages are handed on as they come, without being read. A topic is followed only while a client has subscribed to it.
"""

from __future__ import annotations

import logging
import math
import struct
import threading
import time
from collections.abc import Callable, Set
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any, cast

import foxglove
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from robot_rt_control.editor.foxglove.definitions import full_definition
from robot_rt_control.editor.foxglove.state_variables import TOPIC, StateVariables, schema
from robot_rt_control.ros.listener import Unspun, take_all

SHOWN = (
    "tf2_msgs/TFMessage", "sensor_msgs/JointState", "visualization_msgs/MarkerArray", "diagnostic_msgs/DiagnosticArray",
    "sensor_msgs/Range", "geometry_msgs/WrenchStamped", "robot_rt_control/ExecutorStatus", "robot_rt_control/Event",
    "robot_rt_control/ProgramState", "robot_rt_control/BlueprintState",
)  # fmt: skip
"""Types of topics that are offered, wherever they are."""
DESCRIPTION = "robot_description"
_STRING = "std_msgs/String"
_LOG = "/log"
"""The events as lines."""
_STAMPED = (
    "sensor_msgs/JointState", "sensor_msgs/Range", "geometry_msgs/WrenchStamped", "diagnostic_msgs/DiagnosticArray",
    "robot_rt_control/ExecutorStatus",
)  # fmt: skip
"""Types that begin with a time."""
_TIME = struct.Struct("<iI")
_LOOK_S = 1.0
"""[s] Between two looks for new topics."""
_BUSY_S, _IDLE_S = 0.02, 0.2
"""[s] Between two looks for messages, while somebody has subscribed, and while nobody has."""
_DEPTH = 50
_ERRORS = ("part_faulted", "action_failed", "server_lost")
_WARNINGS = ("protective_stop", "overrun", "budget_exceeded", "events_lost", "motion_starved", "command_refused")
"""Kinds of events that are more than information in Foxglove's log."""
_log = logging.getLogger(__name__)


@dataclass
class _Offered:
    """A topic of the workcell as a channel."""

    topic: str
    type: str
    channel: Any
    subscription: Any = None
    profile: QoSProfile | None = None
    """Of the subscription."""

    @property
    def latched(self) -> bool:
        return self.profile is not None and self.profile.durability == DurabilityPolicy.TRANSIENT_LOCAL


@dataclass(frozen=True)
class _Made:
    """A channel whose messages are made here."""

    pump: Callable[[Set[str]], bool]
    """Hands on what has come, given the topics that have a new client. Returns whether it is followed."""
    follow: Callable[[bool], object]
    channel: Any


@dataclass
class _Listener(foxglove.ServerListener):
    """Called by threads of the server."""

    changed: threading.Event
    anew: set[str] = field(default_factory=set)
    """Topics that somebody has subscribed to since the last look."""

    def on_subscribe(self, client: Any, channel: Any) -> None:
        self.anew.add(channel.topic)
        self.changed.set()

    def on_unsubscribe(self, client: Any, channel: Any) -> None:
        self.changed.set()


class Bridge:
    """From now on, until `close`. One thread, which calls `serve`.

    Args:
        node: whose topics are offered; it needs no executor.
        port: TCP, of this machine alone; 0: any free one.
        name: that clients show.

    Raises:
        RuntimeError: the port is taken.
    """

    def __init__(self, node: Any, port: int, name: str) -> None:
        self._node, self._prefix = node, node.get_namespace().rstrip("/")
        self._changed = threading.Event()
        self._listener = _Listener(self._changed)
        self._context = foxglove.Context()
        self._offered: dict[str, _Offered] = {}
        self._refused: set[str] = set()
        self._stamp_ns: int | None = None
        """Time in the last message; goes back when a simulation restarts."""
        self._variables = StateVariables()
        self._introspected: tuple[Any, Any] | None = None
        self._logged: Any = None
        self._sampled = foxglove.Channel(
            TOPIC,
            message_encoding="json",
            schema=foxglove.Schema(name="state_variables", encoding="jsonschema", data=schema()),
            context=self._context,
        )
        self._events = foxglove.channels.LogChannel(_LOG, context=self._context)
        self._made = [
            _Made(self._pump_variables, self._follow_variables, self._sampled),
            _Made(self._pump_log, self._follow_log, self._events),
        ]
        self._server = foxglove.start_server(
            name=name,
            host="127.0.0.1",
            port=port,
            capabilities=[],
            server_listener=cast(Any, self._listener),  # the callbacks that it lacks are for what clients may not do
            context=self._context,
            message_backlog_size=256,
        )

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.port)

    def close(self) -> None:
        self._server.stop()
        for offered in self._offered.values():
            self._follow(offered, False)
        self._follow_variables(False)
        self._follow_log(False)

    def serve(self, ended: Callable[[], bool]) -> None:
        """Hand messages on until `ended`."""
        looked = -math.inf
        while not ended():
            now = time.monotonic()
            if now - looked >= _LOOK_S:
                looked = now
                self._look()
            if self._pump():
                time.sleep(_BUSY_S)
            else:
                self._changed.wait(_IDLE_S)
            self._changed.clear()

    # --- topics ---------------------------------------------------------------------------------

    def _look(self) -> None:
        """Offer the topics that are new, and follow those as their publishers now offer them."""
        for offered in list(self._offered.values()):
            if offered.subscription is not None and self._profile(offered.topic) not in (None, offered.profile):
                try:
                    self._follow(offered, True)
                except Exception as error:
                    self._refuse(offered, error)
        for topic, types in self._node.get_topic_names_and_types():
            if topic in self._offered or topic in self._refused or len(types) != 1:
                continue
            type = types[0].replace("/msg/", "/")
            own = topic.startswith(f"{self._prefix}/") or topic in ("/tf", "/tf_static", "/diagnostics")
            shown = type in SHOWN or (type == _STRING and topic == f"{self._prefix}/{DESCRIPTION}")
            if own and shown:
                self._offer(topic, type)

    def _offer(self, topic: str, type: str) -> None:
        try:
            text = full_definition(type)
        except OSError as error:
            self._refused.add(topic)
            _log.warning("topic %s is not offered: the definition of %s is missing: %s", topic, type, error)
            return
        name = type.replace("/", "/msg/")
        channel = foxglove.Channel(
            topic,
            message_encoding="cdr",
            schema=foxglove.Schema(name=name, encoding="ros2msg", data=text.encode()),
            context=self._context,
        )
        self._offered[topic] = _Offered(topic, type, channel)

    # --- messages -------------------------------------------------------------------------------

    def _pump(self) -> bool:
        """Hand on what has come. Returns whether anything is followed. A topic that fails does not end the others."""
        anew, busy = set[str](), False
        while self._listener.anew:
            anew.add(self._listener.anew.pop())
        for offered in list(self._offered.values()):
            try:
                busy |= self._hand_on(offered, offered.topic in anew)
            except Exception as error:  # its type cannot be imported, for example
                self._refuse(offered, error)
        for made in list(self._made):
            try:
                busy |= made.pump(anew)
            except Exception as error:  # a time that there is not, for example
                self._made.remove(made)
                self._leave_out(made.channel.topic(), made.channel, made.follow, error)
        return busy

    def _refuse(self, offered: _Offered, error: Exception) -> None:
        del self._offered[offered.topic]
        self._refused.add(offered.topic)
        self._leave_out(offered.topic, offered.channel, partial(self._follow, offered), error)

    def _leave_out(self, topic: str, channel: Any, follow: Callable[[bool], object], error: Exception) -> None:
        _log.warning("topic %s is left out from now on: %s: %s", topic, type(error).__name__, error)
        follow(False)
        channel.close()

    def _hand_on(self, offered: _Offered, is_anew: bool) -> bool:
        """Follow a topic or not, and hand on what has come. Returns whether it is followed.

        Args:
            is_anew: it has a new client.
        """
        wanted = offered.channel.has_sinks()
        if wanted != (offered.subscription is not None) or (is_anew and offered.latched):
            self._follow(offered, wanted)  # anew: what is latched comes again
        if offered.subscription is None:
            return False
        for message in take_all(offered.subscription, raw=True):
            if not offered.latched:  # those may be old
                self._note_time(offered.type, message)
            offered.channel.log(message, log_time=self._stamp_ns)
        return True

    def _note_time(self, type: str, message: bytes) -> None:
        at = 4 if type in _STAMPED else 8 if type == "tf2_msgs/TFMessage" else 0
        if at and len(message) >= at + _TIME.size and message[1] == 1:
            seconds, nanoseconds = _TIME.unpack_from(message, at)
            if seconds >= 0 and (seconds or nanoseconds):
                self._stamp_ns = seconds * 1_000_000_000 + nanoseconds

    def _follow(self, offered: _Offered, follow: bool) -> None:
        if offered.subscription is not None:
            self._node.destroy_subscription(offered.subscription)
            offered.subscription = offered.profile = None
        profile = self._profile(offered.topic) if follow else None
        if profile is not None:  # else it has no publisher yet
            package, _, name = offered.type.partition("/")
            kind = getattr(import_module(f"{package}.msg"), name)
            offered.subscription, offered.profile = self._subscribe(kind, offered.topic, profile), profile

    def _profile(self, topic: str) -> QoSProfile | None:
        """The best that all publishers of a topic offer, else it would miss some of them; None: there are none."""
        offers = [info.qos_profile for info in self._node.get_publishers_info_by_topic(topic)]
        if not offers:
            return None
        return _profile_of(
            reliable=all(offer.reliability == ReliabilityPolicy.RELIABLE for offer in offers),
            latched=all(offer.durability == DurabilityPolicy.TRANSIENT_LOCAL for offer in offers),
        )

    def _subscribe(self, kind: Any, topic: str, profile: QoSProfile) -> Any:
        return self._node.create_subscription(kind, topic, lambda _: None, profile, callback_group=Unspun())

    # --- state variables and events ---------------------------------------------------------------

    def _follow_variables(self, follow: bool) -> None:
        for subscription in self._introspected or ():
            self._node.destroy_subscription(subscription)
        self._introspected = None
        if follow:
            from pal_statistics_msgs.msg import StatisticsNames, StatisticsValues

            topic = "control_server/introspection_data"
            self._introspected = (
                self._subscribe(StatisticsNames, f"{topic}/names", _profile_of(reliable=True, latched=True)),
                self._subscribe(StatisticsValues, f"{topic}/values", _profile_of(reliable=True, latched=False)),
            )

    def _pump_variables(self, anew: Set[str]) -> bool:
        wanted = self._sampled.has_sinks()
        if wanted != (self._introspected is not None):
            self._follow_variables(wanted)
        if self._introspected is None:
            return False
        names, values = self._introspected
        for message in take_all(names):
            self._variables.take_names(message.names_version, message.names)
        for message in take_all(values):
            found = self._variables.message(message.names_version, message.values)
            if found is not None:
                stamp = message.header.stamp
                self._sampled.log(found, log_time=stamp.sec * 1_000_000_000 + stamp.nanosec)
        return True

    def _follow_log(self, follow: bool) -> None:
        if self._logged is not None:
            self._node.destroy_subscription(self._logged)
            self._logged = None
        if follow:
            from robot_rt_control.msg import Event

            self._logged = self._subscribe(Event, "control_server/events", _profile_of(reliable=True, latched=True))

    def _pump_log(self, anew: Set[str]) -> bool:
        wanted = self._events.has_sinks()
        if wanted != (self._logged is not None) or (wanted and _LOG in anew):
            self._follow_log(wanted)
        if self._logged is None:
            return False
        for event in take_all(self._logged):
            self._events.log(
                foxglove.messages.Log(
                    timestamp=foxglove.messages.Timestamp(event.stamp.sec, event.stamp.nanosec),
                    level=_level(event.kind),
                    name=event.session,
                    message=_words(event),
                ),
                log_time=event.stamp.sec * 1_000_000_000 + event.stamp.nanosec,
            )
        return True


def _profile_of(*, reliable: bool, latched: bool) -> QoSProfile:
    return QoSProfile(
        depth=_DEPTH,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


def _level(kind: str) -> Any:
    levels = foxglove.messages.LogLevel
    return levels.Error if kind in _ERRORS else levels.Warning if kind in _WARNINGS else levels.Info


def _words(event: Any) -> str:
    """An event as a line."""
    parts = [event.kind, event.event or event.reaction, event.part, event.reason]
    if event.previous_action or event.current_action:
        parts.append(f"{event.previous_action or '–'} → {event.current_action or '–'}")
    values = ", ".join(f"{name} = {value:g}" for name, value in zip(event.names, event.values, strict=False))
    return f"tick {event.tick}: {'; '.join(filter(None, [*parts, values]))}"
