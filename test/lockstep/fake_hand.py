"""A Franka's hand without processes: time passes with `poll`."""

from __future__ import annotations

from robot_rt_control.hardware.franka_hand.hand import HandState
from robot_rt_control.vocabulary.errors import HardwareError


class FakeHand:
    """As `Hand`. `blocked`: the width at which something is in the way; `asked`: what the hand was told; `is_away`:
    none answers."""

    period_s = 0.01
    blocked, max_width, is_away = -1.0, 0.08, False

    def __init__(self, address: str) -> None:
        if self.is_away:
            raise HardwareError(f"hand of the Franka at {address!r}", expected="an active FCI", got="none")
        self.address, self._time = address, 0.0
        self.state, self.seen = HandState(0.04, self.max_width, False, 30.0), 0.0
        self.heard, self.is_busy, self.failure, self.lost = 0.0, False, "", ""
        self.asked = list[str]()
        self.is_silent = self.is_closed = False
        self._goal, self._speed, self._width = 0.0, 0.0, 0.04
        self._grasps = self._holds = False

    def now(self) -> float:
        return self._time

    def poll(self) -> None:
        self._time += self.period_s
        if self.is_silent:
            return
        if not self.is_busy:
            self.heard = self.seen = self._time
            self.state = HandState(self._width, self.max_width, self._holds, 30.0)
            return
        way = self._goal - self._width
        step = min(abs(way), self._speed * self.period_s)
        self._width += step if way > 0.0 else -step
        stands = self._width <= self.blocked
        self._width = max(self._width, self.blocked)
        if stands or self._width == self._goal:
            self.failure = "it did not get there" if stands and not self._grasps else ""
            self.is_busy, self.heard = False, self._time
            self._holds = stands and self._grasps

    def move(self, width: float, speed: float) -> None:
        self._begin(f"move {width:.4f} {speed:g}", width, speed, False)

    def grasp(self, width: float, speed: float, force: float) -> None:
        self._begin(f"grasp {width:.4f} {speed:g} {force:g}", width, speed, True)

    def _begin(self, what: str, width: float, speed: float, grasps: bool) -> None:
        assert not self.is_busy
        self.asked.append(what)
        self._goal, self._speed, self._grasps, self.is_busy = width, speed, grasps, True
        self.heard = self._time

    def close(self) -> None:
        self.is_closed = True
