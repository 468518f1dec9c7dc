"""The plugin `topic`: fields of ROS topics as values of sensor parts. Parameters: `parameters.py`.

It is the only plugin that uses ROS, and has a node of its own. It starts no thread: each `read` takes the messages that
have arrived. In lockstep, a message that arrived before a tick is therefore seen in that tick.
"""

from __future__ import annotations

import importlib
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import rclpy
from rclpy.context import Context
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from robot_rt_control.hardware.interfaces import part_slices, standard_state_interfaces
from robot_rt_control.hardware.parameters import checked
from robot_rt_control.hardware.plugin import CallbackReturn, HardwareInfo, HardwarePart, HardwarePlugin, HardwareReturn
from robot_rt_control.hardware.topics.parameters import TopicParameters, TopicValueParameters
from robot_rt_control.model.workcell.interfaces import state_interfaces
from robot_rt_control.text.message_field import FieldPath, parse_field
from robot_rt_control.vocabulary.errors import HardwareError, unknown
from robot_rt_control.vocabulary.part_kinds import JOINTED_KINDS, PART_KINDS

_KINDS = tuple(kind for kind in PART_KINDS if kind not in JOINTED_KINDS)


@dataclass
class _Value:
    """One value, and its index among the states."""

    place: int
    age_place: int
    """-1: its part has no ages."""
    path: FieldPath
    given: TopicValueParameters
    is_digital: bool
    last: float = math.nan
    received_s: float = math.nan


@dataclass
class _Subscription:
    """One subscription, for all values that come from its topic in the same way."""

    topic: str
    """As in the parameters."""
    handle: Any
    message_type: Any
    values: list[_Value]
    received: int = 0


def message_class(name: str, item: str) -> Any:
    """The class of a message type, "sensor_msgs/msg/Range".

    Raises:
        HardwareError: it is not installed.
    """
    package, _, message = name.split("/")
    try:
        module = importlib.import_module(f"{package}.msg")
    except ImportError as error:
        raise HardwareError(
            f"{item}: message type {name!r}",
            got=str(error),
            hint=f"Install the package {package!r}, or source its setup",
        ) from error
    found = getattr(module, message, None)
    if found is None:
        known = [n for n in dir(module) if n[0].isupper() and hasattr(getattr(module, n), "get_fields_and_field_types")]
        raise HardwareError(f"{item}: message type {name!r}", expected=unknown("message", message, known))
    return found


class TopicPlugin(HardwarePlugin):
    """Values are those of the last message, and unknown once that is older than their `max_age`.

    On the wall clock a message is as old as the time since it was taken; in simulated time it ages with the periods.
    """

    simulated = True  # it waits for no device: in lockstep its time passes with the periods

    def on_init(self, info: HardwareInfo) -> CallbackReturn:
        self.info = info
        self._node: Node | None = None
        self._context: Context | None = None
        self._subscriptions: list[_Subscription] = []
        self._cycles = 0
        where = f"hardware {info.name!r}, parameters of the topic plugin"
        self.parameters = checked(TopicParameters, info.parameters, where)
        self._check_parts()
        self._values = self._make_values()
        return CallbackReturn.SUCCESS

    # --- parameters -----------------------------------------------------------------------------

    def _item(self, part: str, value: str = "") -> str:
        return f"hardware {self.info.name!r}, topic of {part}.{value}" if value else f"hardware {self.info.name!r}"

    def _check_parts(self) -> None:
        given = self.parameters.values
        parts = {part.name: part for part in self.info.parts}
        for part in parts.values():
            if part.kind not in _KINDS or part.outputs:
                raise HardwareError(
                    f"{self._item('')}: part {part.name!r} of kind {part.kind.name} on the plugin topic",
                    expected="a part that is only read: " + ", ".join(kind.name.lower() for kind in _KINDS),
                    got=f"{len(part.outputs)} outputs" if part.outputs else "joints",
                )
        for name, values in given.items():
            if name not in parts:
                raise HardwareError(f"{self._item('')}: values of {name!r}", expected=unknown("part", name, parts))
            known = self._interfaces(parts[name])
            for value in values:
                if value not in known:
                    raise HardwareError(f"{self._item(name, value)}", expected=unknown("value", value, known))
        for name, part in parts.items():
            for value in self._interfaces(part):
                if value not in given.get(name, {}):
                    raise HardwareError(
                        f"{self._item(name, value)}", expected="topic, type, field and max_age", got="nothing"
                    )

    @staticmethod
    def _interfaces(part: HardwarePart) -> list[str]:
        """Names of a part's states, without the ages."""
        return [i.interface for i in state_interfaces(part) if i.field != "input_age"]

    def _make_values(self) -> dict[tuple[str, str], _Value]:
        slices = part_slices(standard_state_interfaces(self.info))
        made = {}
        for part in self.info.parts:
            digital = {channel.name: channel.is_digital for channel in part.inputs}
            for k, name in enumerate(self._interfaces(part)):
                given = self.parameters.values[part.name][name]
                place = slices[part.name].start + k
                made[part.name, name] = _Value(
                    place=place,
                    age_place=place + len(part.inputs) if PART_KINDS[part.kind].has_ages else -1,
                    path=parse_field(given.field, self._item(part.name, name), HardwareError),
                    given=given,
                    is_digital=digital.get(name, False),
                )
        return made

    # --- life cycle -----------------------------------------------------------------------------

    def on_configure(self) -> CallbackReturn:
        sources: dict[tuple[str, ...], list[_Value]] = {}
        types: dict[str, Any] = {}
        for (part, name), value in self._values.items():
            item, given = self._item(part, name), value.given
            types[given.type] = message_class(given.type, item)
            value.path.check(types[given.type], partial(_nested, item=item), item)
            qos = (given.reliability, given.durability, str(given.depth))
            sources.setdefault((given.topic, given.type, *qos), []).append(value)
            value.last, value.received_s = math.nan, math.nan
        self._context = Context()
        rclpy.init(args=[*sys.argv[:1], *remappings(sys.argv)], context=self._context)
        self._node = Node(
            f"topic_{self.info.name}", context=self._context, start_parameter_services=False, enable_rosout=False
        )
        self._subscriptions = [self._subscribe(values, types[values[0].given.type]) for values in sources.values()]
        return CallbackReturn.SUCCESS

    def _subscribe(self, values: list[_Value], message_type: Any) -> _Subscription:
        given = values[0].given
        assert self._node is not None
        qos = QoSProfile(
            history=HistoryPolicy.KEEP_LAST,
            depth=given.depth,
            reliability=ReliabilityPolicy[given.reliability.upper()],
            durability=DurabilityPolicy[given.durability.upper()],
        )
        subscription = self._node.create_subscription(message_type, given.topic, lambda _: None, qos)
        return _Subscription(given.topic, subscription.handle, message_type, values)

    def close(self) -> None:
        self._subscriptions = []
        if self._node is not None:
            self._node.destroy_node()
            self._node = None
        if self._context is not None:
            rclpy.shutdown(context=self._context)
            self._context = None

    # --- cycle ----------------------------------------------------------------------------------

    def _now(self) -> float:
        """[s] on the clock of the ages."""
        return self._cycles * self.info.period_s if self.info.simulated_time else time.monotonic()

    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        self._cycles += 1
        now = self._now()
        for subscription in self._subscriptions:
            newest = None
            while (taken := subscription.handle.take_message(subscription.message_type, False)) is not None:
                newest = taken[0]
                subscription.received += 1
            if newest is not None:
                self._take(subscription, newest, now)
        state = self.state
        for value in self._values.values():
            age = now - value.received_s
            state[value.place] = value.last if age <= value.given.max_age else math.nan
            if value.age_place >= 0:
                state[value.age_place] = age
        return HardwareReturn.OK

    def write(self, time_s: float, period_s: float) -> HardwareReturn:
        return HardwareReturn.OK

    @staticmethod
    def _take(subscription: _Subscription, message: Any, now: float) -> None:
        for value in subscription.values:
            number = value.path.value(message, value.given.empty)
            number = value.given.scale * number + value.given.offset
            if value.is_digital and not math.isnan(number):
                number = 1.0 if number != 0.0 else 0.0
            value.last, value.received_s = number, now

    # --- beyond the contract: what tests ask for ---------------------------------------------------

    @property
    def topics(self) -> list[str]:
        """The topics that it listens to, as in the parameters."""
        return [subscription.topic for subscription in self._subscriptions]

    def receive(self, topic: str, message: Any) -> None:
        """Take a message as if it had come by its topic; it is valid from the next `read`.

        Call it in the thread that drives the plugin.

        Args:
            topic: as in the parameters.

        Raises:
            HardwareError: no value comes from this topic, or the message is of another type.
        """
        found = [subscription for subscription in self._subscriptions if subscription.topic == topic]
        if not found:
            raise HardwareError(f"{self._item('')}: topic {topic!r}", expected=unknown("topic", topic, self.topics))
        for subscription in found:
            if not isinstance(message, subscription.message_type):
                raise HardwareError(
                    f"{self._item('')}: message on topic {topic!r}",
                    expected=subscription.message_type.__name__,
                    got=type(message).__name__,
                )
            subscription.received += 1
            # The next read is one period later.
            self._take(subscription, message, self._now() + (self.info.period_s if self.info.simulated_time else 0.0))

    def received(self, topic: str) -> int:
        """Number of messages taken from a topic so far; also 0 without a subscription."""
        return sum(subscription.received for subscription in self._subscriptions if subscription.topic == topic)


def _nested(name: str, item: str) -> Any:
    package, _, message = name.partition("/")
    return message_class(f"{package}/msg/{message}", item)


def remappings(arguments: Sequence[str]) -> list[str]:
    """The remapping rules of this process's command line for topics and the namespace. Rules for the node's name are
    omitted: the plugin's node keeps its own."""
    rules = []
    for flag, rule in zip(arguments, arguments[1:], strict=False):
        old = rule.partition(":=")[0]
        if flag in ("-r", "--remap") and old.rpartition(":")[2] not in ("__node", "__name"):
            rules += ["-r", old.rpartition(":")[2] + ":=" + rule.partition(":=")[2]]
    return ["--ros-args", *rules] if rules else []
