"""What the bridge to Foxglove follows, and how, without a middleware; with one: test/ros/test_foxglove.py."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

pytest.importorskip("foxglove")

from robot_rt_control.editor.foxglove import bridge
from robot_rt_control.editor.foxglove.bridge import Bridge

RELIABLE, BEST_EFFORT = ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT
LATCHED, VOLATILE = DurabilityPolicy.TRANSIENT_LOCAL, DurabilityPolicy.VOLATILE
JOINTS, MARKERS = "/joint_states", "/control_server/markers"


def offer(reliability: ReliabilityPolicy = RELIABLE, durability: DurabilityPolicy = VOLATILE) -> Any:
    return SimpleNamespace(qos_profile=QoSProfile(depth=1, reliability=reliability, durability=durability))


class Node:
    """Stands for the middleware."""

    def __init__(self) -> None:
        self.offers: dict[str, list[Any]] = {JOINTS: [offer()], MARKERS: [offer(RELIABLE, LATCHED)]}
        self.made: list[Any] = []
        self.come: dict[str, list[Any]] = {}

    def get_namespace(self) -> str:
        return "/"

    def get_topic_names_and_types(self) -> list[tuple[str, list[str]]]:
        return [(JOINTS, ["sensor_msgs/msg/JointState"]), (MARKERS, ["visualization_msgs/msg/MarkerArray"])]

    def get_publishers_info_by_topic(self, topic: str) -> list[Any]:
        return self.offers[topic]

    def create_subscription(self, kind: Any, topic: str, callback: Any, profile: QoSProfile, **_: Any) -> Any:
        self.made.append(SimpleNamespace(kind=kind, topic=topic, profile=profile))
        return self.made[-1]

    def destroy_subscription(self, subscription: Any) -> None:
        self.made.remove(subscription)

    def followed(self, topic: str) -> list[QoSProfile]:
        return [each.profile for each in self.made if each.topic == topic]


class Channel:
    """Stands for a channel with clients."""

    made: dict[str, Channel]

    def __init__(self, topic: str, **_: Any) -> None:
        self.name, self.wanted, self.logged, self.closed = topic, False, list[tuple[Any, Any]](), False
        self.made[topic] = self

    def topic(self) -> str:
        return self.name

    def has_sinks(self) -> bool:
        return self.wanted

    def log(self, message: Any, *, log_time: int | None) -> None:
        if log_time is not None and log_time < 0:
            raise OverflowError("can't convert negative int to unsigned")
        self.logged.append((message, log_time))

    def close(self) -> None:
        self.closed = True


class Bench:
    def __init__(self) -> None:
        self.node, self.channels = Node(), Channel.made
        self.bridge = Bridge(self.node, 0, "test")
        self.bridge._look()

    def subscribe(self, topic: str) -> None:
        """A client subscribes."""
        self.channels[topic].wanted = True
        self.bridge._listener.anew.add(topic)

    def come(self, topic: str, *messages: Any) -> list[tuple[Any, Any]]:
        """Messages come. Returns what clients have got since, with its time."""
        self.node.come[topic] = list(messages)
        before = len(self.channels[topic].logged)
        self.bridge._pump()
        return self.channels[topic].logged[before:]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    Channel.made = {}
    monkeypatch.setattr(bridge.foxglove, "Channel", Channel)
    monkeypatch.setattr(bridge.foxglove.channels, "LogChannel", Channel)
    monkeypatch.setattr(bridge.foxglove, "start_server", lambda **_: SimpleNamespace(stop=lambda: None, port=1))
    found = Bench()
    monkeypatch.setattr(bridge, "take_all", lambda each, raw=False: found.node.come.pop(each.topic, []))
    yield found
    found.bridge.close()


def stamped(seconds: int) -> bytes:
    return struct.pack("<4siI", b"\0\1\0\0", seconds, 0)


def test_X15_what_is_latched_comes_again_for_each_new_client(bench: Bench) -> None:
    bench.subscribe(MARKERS)
    bench.bridge._pump()
    (first,) = bench.node.made
    bench.bridge._pump()
    assert bench.node.made == [first] and first.profile.durability == LATCHED
    bench.subscribe(MARKERS)
    bench.bridge._pump()
    (second,) = bench.node.made
    assert second is not first, "a new subscription gets all that the publishers keep"
    bench.channels[MARKERS].wanted = False
    bench.bridge._pump()
    assert bench.node.made == []


def test_X15_what_is_not_latched_goes_on_when_another_client_comes(bench: Bench) -> None:
    bench.subscribe(JOINTS)
    bench.bridge._pump()
    (first,) = bench.node.made
    bench.subscribe(JOINTS)
    bench.bridge._pump()
    assert bench.node.made == [first]


@pytest.mark.parametrize(
    ("offers", "reliability", "durability"),
    [
        ([offer()], RELIABLE, VOLATILE),
        ([offer(BEST_EFFORT)], BEST_EFFORT, VOLATILE),
        ([offer(), offer(BEST_EFFORT)], BEST_EFFORT, VOLATILE),
        ([offer(RELIABLE, LATCHED)], RELIABLE, LATCHED),
        ([offer(RELIABLE, LATCHED), offer()], RELIABLE, VOLATILE),
    ],
)
def test_X15_a_topic_is_followed_as_all_its_publishers_offer_it(
    bench: Bench, offers: list[Any], reliability: ReliabilityPolicy, durability: DurabilityPolicy
) -> None:
    bench.node.offers[JOINTS] = []
    bench.subscribe(JOINTS)
    bench.bridge._pump()
    assert bench.node.made == [], "nobody publishes it yet"
    bench.node.offers[JOINTS] = offers
    bench.bridge._pump()
    (profile,) = bench.node.followed(JOINTS)
    assert (profile.reliability, profile.durability) == (reliability, durability)
    bench.node.offers[JOINTS] = [offer(BEST_EFFORT)]
    bench.bridge._look()
    (profile,) = bench.node.followed(JOINTS)
    assert (profile.reliability, profile.durability) == (BEST_EFFORT, VOLATILE), "another publisher came"


def test_X15_time_goes_back_with_a_simulation_that_begins_anew_and_not_with_what_is_latched(bench: Bench) -> None:
    bench.subscribe(JOINTS)
    bench.subscribe(MARKERS)
    times = [time for second in (5, 9, 2) for _, time in bench.come(JOINTS, stamped(second))]
    assert times == [5_000_000_000, 9_000_000_000, 2_000_000_000]
    bench.bridge._offered[MARKERS].type = "sensor_msgs/Range"
    assert [time for _, time in bench.come(MARKERS, stamped(1))] == [2_000_000_000]


def test_X15_a_topic_that_fails_is_left_out_and_the_others_go_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def missing(name: str) -> Any:
        if name == "visualization_msgs.msg":
            raise ImportError(f"No module named {name!r}")
        return real(name)

    real = bridge.import_module
    monkeypatch.setattr(bridge, "import_module", missing)
    for topic in (MARKERS, JOINTS, "/log"):
        bench.subscribe(topic)
    stamp = SimpleNamespace(sec=-1, nanosec=0)
    bad = SimpleNamespace(
        stamp=stamp, kind="a", event="", reaction="", part="", reason="", previous_action="", current_action="",
        names=[], values=[], tick=1, session="",
    )  # fmt: skip
    assert bench.come("/log") == []
    bench.node.come["control_server/events"] = [bad]
    assert len(bench.come(JOINTS, stamped(1))) == 1
    assert len(bench.come(JOINTS, stamped(2), stamped(3))) == 2
    bench.bridge._look()
    bench.bridge._pump()
    assert bench.channels[MARKERS].closed and bench.channels["/log"].closed and not bench.channels[JOINTS].closed
    assert [each.topic for each in bench.node.made] == [JOINTS]
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2 and said[0].startswith(f"topic {MARKERS} is left out from now on: ImportError")
    assert said[1].startswith("topic /log is left out from now on: OverflowError")
