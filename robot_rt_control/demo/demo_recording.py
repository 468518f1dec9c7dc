"""Topics and events of the workcell, recorded during the demonstration."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Range

from robot_rt_control import msg
from robot_rt_control.client import Client, Event


@dataclass
class Recording:
    """Series over time. Times are seconds on the ROS clock."""

    distances: list[tuple[float, float]] = field(default_factory=list)
    """(time, measured distance [m])"""
    events: list[Event] = field(default_factory=list)
    status: msg.ExecutorStatus | None = None
    callback_delays: list[float] = field(default_factory=list)
    """[s] from the start of the tick in which a reaction fired to the callback in the application."""

    def switches(self) -> list[tuple[Event, Event | None]]:
        """Each firing of a reaction that starts an action, and the start that followed, if any."""
        starts = [e for e in self.events if e.kind == "action_started"]
        found = []
        for fired in self.events:
            if fired.kind == "reaction_fired" and fired.name == "switched":
                after = [s for s in starts if s.current_action == fired.current_action and s.tick >= fired.tick]
                found.append((fired, after[0] if after else None))
        return found

    def bands(self, begin: float, end: float) -> list[tuple[str, float, float]]:
        """(action, from, to) of the arm's actions between two times."""
        starts = [(e.time, e.current_action) for e in self.events if e.kind == "action_started" and e.part == "arm"]
        bands = []
        for (time, action), (until, _) in zip(starts, [*starts[1:], (end, "")], strict=True):
            if until > begin:
                bands.append((action, max(time, begin), until))
        return bands


class Recorder:
    """Fills a Recording from a client's node until `stop`. Its callbacks run in the client's spinning thread."""

    def __init__(self, client: Client) -> None:
        self.recording = Recording()
        self._client = client
        self._lock = threading.Lock()
        self._subscriptions = [
            client.node.create_subscription(Range, "rangefinder/range", self._on_range, qos_profile_sensor_data),
            client.node.create_subscription(
                msg.ExecutorStatus, "realtime_executor/status", self._on_status, qos_profile_sensor_data
            ),
        ]
        client.add_listener(self._on_event)

    def _on_range(self, message: Range) -> None:
        stamp = message.header.stamp
        self.recording.distances.append((stamp.sec + stamp.nanosec * 1e-9, message.range))

    def _on_status(self, message: msg.ExecutorStatus) -> None:
        self.recording.status = message

    def _on_event(self, event: Event) -> None:
        self.recording.events.append(event)

    def stop(self) -> Recording:
        """End the recording."""
        self._client.remove_listener(self._on_event)
        for subscription in self._subscriptions:
            self._client.node.destroy_subscription(subscription)
        return self.recording
