"""A thread for what may wait, with a queue that cannot grow."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Tasks:
    """Does one task after the other in a thread of its own, until `end`. All methods may be called from any thread.

    A task that waits already is not added again. So a task takes the newest of what it is for when it is done, and no
    more tasks wait than there are different ones, however often they are added.

    Args:
        name: of the thread.
        attempt: does a task; must not raise.
    """

    def __init__(self, name: str, attempt: Callable[[Callable[[], None]], None]) -> None:
        self._attempt = attempt
        self._waiting: dict[Callable[[], None], None] = {}
        self._changed = threading.Condition()
        self._is_busy = self._is_ended = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def add(self, task: Callable[[], None]) -> None:
        """Let a task be done, soon; a bound method is the same task each time. Returns at once."""
        with self._changed:
            if not self._is_ended:
                self._waiting.setdefault(task)
                self._changed.notify_all()

    @property
    def is_idle(self) -> bool:
        """Whether all is done that was added."""
        with self._changed:
            return not self._waiting and not self._is_busy

    def wait_until_idle(self) -> None:
        """Wait until all is done that was added."""
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting and not self._is_busy)

    def end(self) -> None:
        """Do what waits, and nothing more. Returns when it is done."""
        with self._changed:
            self._is_ended = True
            self._changed.notify_all()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._is_busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting or self._is_ended)
                if not self._waiting:
                    return
                task = next(iter(self._waiting))
                del self._waiting[task]
                self._is_busy = True
            self._attempt(task)
