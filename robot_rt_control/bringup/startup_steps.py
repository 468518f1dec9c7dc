"""The progress of a starting workcell, read from the output of its processes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """A step of the start."""

    name: str
    end: str
    """Text that is printed at its end."""


STEPS = (
    Step("starting the processes", "started control_server"),
    Step("opening the devices", "loading the tick loop"),
    Step("loading the tick loop; the first time it is compiled", "the tick loop is ready"),
    Step("checking the action types; the first time they are compiled", "action types are ready"),
    Step("connecting control server and loop", "up after"),
)

_UP = ("[workcell]", " up after ", "Ctrl-C")
_TYPE = ": compiling "
_STILL = " still compiling "


class StartupSteps:
    """The present step of a starting workcell.

    Args:
        clock: [s] the wall clock; monotonic.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begin = clock()
        self.is_up = False
        """All processes have reported that they are up."""
        self.step = 0
        """Index of the present one in STEPS."""

    def update(self, log: str) -> str:
        """The present step: "step 3 of 5, 12 s: loading the tick loop; …".

        Args:
            log: output of the processes so far.
        """
        lines = log.splitlines()
        self.is_up = any(all(word in line for word in _UP) for line in lines)
        while self.step < len(STEPS) - 1 and STEPS[self.step].end in log:
            self.step += 1
        name = STEPS[self.step].name
        if STEPS[self.step].end == "action types are ready":
            compiled = [line.partition(_TYPE)[2].partition(":")[0] for line in lines if _TYPE in line]
            name += f" ({compiled[-1]}, number {len(compiled)})" if compiled else ""
        elif STEPS[self.step].end == "the tick loop is ready":
            still = [line.partition(_STILL)[2] for line in lines if _STILL in line]
            name += f" (still compiling {still[-1]})" if still else ""
        return f"step {self.step + 1} of {len(STEPS)}, {self._clock() - self._begin:.0f} s: {name}"
