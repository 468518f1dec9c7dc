"""Time-outs and waits, in the loop's time."""

from __future__ import annotations

from collections.abc import Callable


class Timers:
    """All timers of a run. They stand still while the run stands.

    Attributes:
        now: [s] the time of the present event.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self._running: dict[int, tuple[float, Callable[[], None]]] = {}
        self._frozen_at: float | None = None
        self._next = 0

    @property
    def deadline(self) -> float | None:
        """[s] When `due` is to be asked next; None: never."""
        if self._frozen_at is not None or not self._running:
            return None
        return min(time for time, _ in self._running.values())

    def start(self, seconds: float, ring: Callable[[], None]) -> int:
        """Ring after this time. Returns a number for `drop`."""
        self._next += 1
        self._running[self._next] = self.now + seconds, ring
        return self._next

    def drop(self, timer: int) -> None:
        """Forget a timer; one that has rung is forgotten already."""
        self._running.pop(timer, None)

    def ring(self) -> None:
        """Ring those whose time has come: the earlier one first, of two at the same time the older one."""
        if self._frozen_at is not None:
            return
        for timer in sorted(self._running, key=lambda t: (self._running[t][0], t)):
            if timer in self._running and self._running[timer][0] <= self.now:
                self._running.pop(timer)[1]()

    def freeze(self) -> None:
        """Let no time pass."""
        self._frozen_at = self.now

    def thaw(self) -> None:
        """Go on."""
        if self._frozen_at is not None:
            passed = self.now - self._frozen_at
            self._running = {timer: (time + passed, ring) for timer, (time, ring) in self._running.items()}
            self._frozen_at = None
