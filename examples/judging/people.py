"""The people near the robot of examples/09_gluing.py."""

import time
from collections.abc import Callable

from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64

from robot_rt_control.client import Client


def nobody(t: float) -> float:
    """Distance [m] of the nearest person t seconds after the run began."""
    return 5.0


def a_visitor(t: float) -> float:
    """Comes at 1.5 m/s, waits 0.5 m away for a while, and goes."""
    return max(0.5, 5.0 - 1.5 * t, 1.5 * (t - 4.0))


class People:
    """Replaces the cell's people detector: on its topic or, in simulated time, directly at the sensor."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._distance_at: Callable[[float], float] = nobody
        self._cell = getattr(client, "cell", None)  # of simulated time
        self._simulated: float | None = None  # [s] time of /clock, in a simulation
        self._begin = self._now()
        if self._cell is not None:
            self._cell.drive_sensor("person/distance", self.distance)
        else:
            self._publisher = client.node.create_publisher(Float64, "person/distance", 10)
            client.node.create_subscription(Clock, "/clock", self._on_clock, 10)
            client.node.create_timer(0.02, lambda: self._publisher.publish(Float64(data=self.distance())))

    def _now(self) -> float:
        if self._cell is not None:
            return self._cell.tick * self._cell.workcell.period
        return time.monotonic() if self._simulated is None else self._simulated

    def _on_clock(self, message: Clock) -> None:
        """The person walks in the robot's time, also if a simulation falls behind."""
        self._simulated = message.clock.sec + message.clock.nanosec * 1e-9

    def come(self, distance_at: Callable[[float], float]) -> None:
        """From now on this function gives the distance of the nearest person."""
        self._distance_at, self._begin = distance_at, self._now()

    def distance(self) -> float:
        """Distance of the nearest person [m]."""
        return self._distance_at(self._now() - self._begin)
