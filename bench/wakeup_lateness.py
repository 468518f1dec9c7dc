"""How late the real-time thread wakes up, beside cyclictest and a plain Python thread, while the process is busy."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bench.cells import arms_cell, builtin_types, never_firing, sine
from bench.disturbance import Disturbance
from bench.report import Goal, Options, Report, microseconds
from robot_rt_control.definitions.definitions import ActionDefinition
from robot_rt_control.memory.histogram import bin_of, percentile
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.realtime.executor.executor import Executor, ExecutorOptions
from robot_rt_control.server.control_server import ControlServer
from robot_rt_control.vocabulary.capacities import HISTOGRAM_BINS
from robot_rt_control.vocabulary.enums import PartKind

PRIORITY = 80
CPU = 1
_RATES = (1000, 10_000)
_ROUNDS = 10
_SECONDS = 4
_CYCLICTEST_MICROS = 100_000
_QUANTILES = (0.5, 0.99, 0.999)


@dataclass
class Lateness:
    """Wake-ups of one kind: a histogram of `memory/histogram.py`, and the latest one [ns]."""

    counts: np.ndarray = field(default_factory=lambda: np.zeros(HISTOGRAM_BINS, np.int64))
    max_ns: int = 0

    def add(self, counts: np.ndarray, max_ns: int) -> None:
        self.counts += counts
        self.max_ns = max(self.max_ns, max_ns)

    def quantiles(self) -> list[float]:
        """[ns]"""
        return [min(percentile(self.counts, q) * 1e9, float(self.max_ns)) for q in _QUANTILES]


class LoopUnderTest:
    """The wall-clock loop with arms in motion; it runs only while it is measured.

    Args:
        workcell: on mock hardware.
        actions: of its arms; the first ones are started, and keep as many active, themselves or some that follow them.
        together: how many.

    Attributes:
        scheduling: what the system granted.
        compute: histogram of the compute times of the measured ticks.
    """

    def __init__(self, workcell: Workcell, actions: Sequence[ActionDefinition], together: int = 1) -> None:
        self.executor = Executor(
            workcell,
            # The disturbance keeps the interpreter from the server's heartbeat: that is not measured here.
            ExecutorOptions(priority=PRIORITY, cpu=CPU, native_silence_s=60.0, python_silence_s=60.0),
            channel_name=None,
            image_name=lambda device: device,
        )
        self.executor.configure(lambda _: None)
        self.executor.activate()
        self.server = ControlServer(self.executor.workcell, builtin_types())
        self.server.attach(self.executor.channel)
        arms = [part.name for part in workcell.parts if part.kind == PartKind.ARM]
        self._session = self.server.open_session("bench", arms, 0.0)
        self.server.define(self._session.id, actions)
        self._first = [action.id for action in actions[:together]]
        self.scheduling = self.executor.scheduling
        self.compute = np.zeros(HISTOGRAM_BINS, np.int64)
        self.executor.deactivate()

    def lateness(self, seconds: float) -> tuple[np.ndarray, int]:
        """Histogram and maximum [ns] over a number of seconds."""
        self.executor.activate()
        self.server.start(self._session.id, self._first)
        timing = self.executor.channel.memory.timing
        before, computed = timing.lateness.copy(), timing.compute.copy()
        timing.max_lateness_ns = 0
        time.sleep(seconds)
        counts, longest = timing.lateness - before, int(timing.max_lateness_ns)
        self.compute += timing.compute - computed
        active = int(self.executor.world.memory.n_active)
        self.executor.deactivate()
        if active != len(self._first):
            raise RuntimeError(f"expected {len(self._first)} active actions, got {active}")
        return counts, longest

    def close(self) -> None:
        self.server.detach("the measurement is over")
        self.executor.cleanup()


def of_cyclictest(rate: int, seconds: float) -> tuple[np.ndarray, int]:
    """The reference: cyclictest with the same rate, priority and processor."""
    command = ["cyclictest", "--quiet", "--mlockall", f"--priority={PRIORITY}", f"--interval={1_000_000 // rate}"]
    command += ["--threads=1", f"--affinity={CPU}", f"--duration={max(1, round(seconds))}"]
    command += [f"--histogram={_CYCLICTEST_MICROS}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    counts = np.zeros(HISTOGRAM_BINS, np.int64)
    for micros, count in re.findall(r"^(\d+)\s+(\d+)$", done.stdout, re.MULTILINE):
        if int(count):
            # It cuts to whole microseconds: its values lie half a microsecond higher on average.
            counts[bin_of(int(micros) * 1000 + 500)] += int(count)
    (longest,) = re.findall(r"# Max Latencies:\s+(\d+)", done.stdout)
    return counts, int(longest) * 1000


def of_python(rate: int, seconds: float) -> tuple[np.ndarray, int]:
    """An ordinary Python thread that sleeps until each deadline."""
    counts = np.zeros(HISTOGRAM_BINS, np.int64)
    longest = 0

    def run() -> None:
        nonlocal longest
        period, deadline = 1_000_000_000 // rate, time.monotonic_ns()
        end = deadline + round(seconds * 1e9)
        while deadline < end:
            deadline += period
            pause = deadline - time.monotonic_ns()
            if pause > 0:
                time.sleep(pause * 1e-9)
            late = max(time.monotonic_ns() - deadline, 0)
            counts[bin_of(late)] += 1
            longest = max(longest, late)
            if late > period:
                deadline += late // period * period  # as the loop does: continue with the first deadline ahead

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return counts, longest


def measure(options: Options) -> Report:
    installed = shutil.which("cyclictest") is not None
    bin_of(1)
    loops = {rate: LoopUnderTest(arms_cell(1, period=1.0 / rate), [sine(0, never_firing(100, 0))]) for rate in _RATES}
    granted = loops[_RATES[0]].scheduling
    kinds = {
        (name, rate): Lateness() for rate in _RATES for name in (("loop", "cyclictest") if installed else ("loop",))
    }
    python = Lateness()
    with Disturbance() as disturbance:
        time.sleep(1.0)
        # In short turns: what else the machine does comes and goes, and is to meet all alike.
        for _ in range(options.amount(_ROUNDS)):
            for rate, loop in loops.items():
                kinds["loop", rate].add(*loop.lateness(_SECONDS))
                if installed:
                    kinds["cyclictest", rate].add(*of_cyclictest(rate, _SECONDS))
        python.add(*of_python(_RATES[0], options.amount(_ROUNDS) * _SECONDS / 2))
    for loop in loops.values():
        loop.close()
    kinds["plain Python thread", _RATES[0]] = python
    rows = []
    for (name, rate), lateness in sorted(kinds.items(), key=lambda item: item[0][1]):
        quantiles = lateness.quantiles()
        ratio = ""
        if installed and name != "cyclictest":
            ratio = f"{quantiles[-1] / kinds['cyclictest', rate].quantiles()[-1]:.2f}"
        shown = "real-time loop" if name == "loop" else name
        rows.append(
            [f"{shown}, {rate} Hz", *map(microseconds, quantiles), microseconds(lateness.max_ns), ratio]
            + [f"{int(lateness.counts.sum()):,}"]
        )
    notes = [f"{granted}. Meanwhile in the same process, {disturbance.description}; also while cyclictest runs."]
    if not installed:
        notes.append("cyclictest is not installed (Debian package rt-tests): nothing to compare with.")
    plot = options.output / "lateness.png"
    draw(kinds, plot)
    notes.append(f"Plot: {plot}")
    return Report(
        title="Lateness of wake-ups",
        columns=["thread", "median [µs]", "p99", "p99.9", "max", "p99.9 : cyclictest's", "wake-ups"],
        rows=rows,
        goals=_goals(kinds) if installed else [],
        notes=notes,
        data={"scheduling": granted, "rows": [_machine_readable(k, v) for k, v in kinds.items()]},
    )


def _goals(kinds: dict[tuple[str, int], Lateness]) -> list[Goal]:
    goals = []
    for rate in _RATES:
        ours, reference = kinds["loop", rate].quantiles()[-1], kinds["cyclictest", rate].quantiles()[-1]
        goals.append(
            Goal(
                figure=f"lateness of the loop at {rate} Hz, p99.9",
                aim="≤ 1.5 times",
                measured=f"{ours / reference:.2f} times",
                met=ours <= 1.5 * reference,
                beside=f"cyclictest, {microseconds(reference)} µs",
            )
        )
    return goals


def _machine_readable(kind: tuple[str, int], lateness: Lateness) -> dict[str, Any]:
    p50, p99, p999 = (q * 1e-9 for q in lateness.quantiles())
    return {
        "thread": kind[0],
        "rate_hz": kind[1],
        "wake_ups": int(lateness.counts.sum()),
        "median_s": p50,
        "p99_s": p99,
        "p999_s": p999,
        "max_s": lateness.max_ns * 1e-9,
        "histogram": lateness.counts.tolist(),
    }


def draw(kinds: dict[tuple[str, int], Lateness], path: Any) -> None:
    """Which fraction of the wake-ups is later than so much."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 5))
    edges = 2.0 ** (np.arange(1, HISTOGRAM_BINS + 1) / 16) * 1e-3  # [µs]
    styles: Callable[[int], str] = {_RATES[0]: "-", _RATES[1]: "--"}.__getitem__
    colors = {"loop": "tab:blue", "cyclictest": "tab:gray", "plain Python thread": "tab:red"}
    for (name, rate), lateness in kinds.items():
        later = 1.0 - np.cumsum(lateness.counts) / lateness.counts.sum()
        seen = (later > 0) & (later < 1)
        axes.step(edges[seen], later[seen], styles(rate), color=colors[name], label=f"{name}, {rate} Hz")
    axes.set(xscale="log", yscale="log", xlabel="lateness [µs]", ylabel="fraction of wake-ups that are later")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
