"""ros2_control and this package beside each other: seven joints on mock hardware at 1 kHz, in turns, on the same core.

    python bench/beside_ros2_control.py [--quick] [--output FOLDER]

It needs an installation of ROS with ros2_control and joint_trajectory_controller, and the machine for itself.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.goal_latency import time_goals_of  # noqa: E402  (needs the path)
from bench.report import Options, Report, load_average, machine, save, show  # noqa: E402
from bench.ros2_control_host import (  # noqa: E402
    JOINTS,
    Ros2ControlHost,
    later_than_earliest,
    node_program,
    wait_until,
)
from bench.soak import busy_loops  # noqa: E402
from robot_rt_control.memory.histogram import BINS_PER_OCTAVE  # noqa: E402
from robot_rt_control.memory.layout import channel_dtype  # noqa: E402
from robot_rt_control.memory.segment_names import channel_name  # noqa: E402
from robot_rt_control.memory.shared_memory import Segment  # noqa: E402

_ROUNDS, _GOALS = 5, 20
_SECONDS = 4.0
_SETTLE_S = 2.0
_RATE, _PRIORITY, _CPU = 1000, 80, 1
_BUSY = 2
_STARTUP_S = 900.0
"""The first time after a change, the loop is compiled."""
_PERIOD_NS = 10**9 // _RATE

Samples = dict[str, list[float]]
"""What was measured → its values."""


def measure(options: Options) -> Report:
    node_program()  # before anything starts: is it there?
    from robot_rt_control.testing.ros_domain import claim_domain

    os.environ["ROS_DOMAIN_ID"] = str(claim_domain("bench"))
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    theirs: Samples = defaultdict(list)
    ours: Samples = defaultdict(list)
    loads = []
    for _ in range(max(2, options.amount(_ROUNDS))):
        loads.append(load_average())
        _their_turn(options, theirs)
        loads.append(load_average())
        _our_turn(options, ours)
    names = list(theirs)
    return Report(
        title="ros2_control and this package, seven joints on mock hardware at 1 kHz",
        columns=["", "ros2_control: median", "p99", "p99.9", "here: median", "p99", "p99.9"],
        rows=[[name, *_shown(theirs[name]), *_shown(ours.get(name, []))] for name in names],
        notes=[
            f"In turns, real-time threads under SCHED_FIFO {_PRIORITY} on processor {_CPU}; load average before the "
            f"turns {min(loads):.2f} to {max(loads):.2f}. Busy: beside {_BUSY} processes that only compute. A wake-up's "
            "lateness is how much later it came than the earliest one of its turn.",
            "How soon an edited behaviour runs is not measured: a controller of ros2_control would have to be built.",
        ],
        data={"ros2_control": dict(theirs), "here": dict(ours), "load_average": loads},
    )


def _shown(values: Sequence[float]) -> list[str]:
    return [f"{x:,.1f}" for x in np.percentile(values, [50, 99, 99.9])] if values else ["", "", ""]


def of_processes(pid: int, into: Samples) -> None:
    """Memory and processor time of a process and all that it started."""
    tree = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    into["memory of all processes, PSS [MB]"].append(sum(p.memory_full_info().pss for p in tree) / 1e6)
    before = sum(sum(p.cpu_times()[:2]) for p in tree)
    time.sleep(_SECONDS)
    used = sum(sum(p.cpu_times()[:2]) for p in tree) - before
    into["processor, idle [% of one]"].append(100.0 * used / _SECONDS)


def _their_turn(options: Options, into: Samples) -> None:
    from robot_rt_control.client import Client

    with (
        Client("bench") as client,  # its node spins in a thread
        Ros2ControlHost(
            client.node, options.output / "ros2_control.log", rate=_RATE, priority=_PRIORITY, cpu=_CPU
        ) as host,
    ):
        into["start until active [ms]"].append(1e3 * host.started_s)
        time.sleep(_SETTLE_S)
        of_processes(host.pid, into)
        for name, busy in (("calm", 0), ("busy", _BUSY)):
            with busy_loops(busy):
                host.cycles.clear()
                time.sleep(_SECONDS)
                taken, wakes = host.durations_and_wakes()
            into[f"cycle, {name} [µs]"] += (taken / 1e3).tolist()
            into[f"lateness, {name} [µs]"] += (later_than_earliest(wakes, _PERIOD_NS) / 1e3).tolist()
        command = f"command_interface.{JOINTS[0]}/position"
        first: list[float] = []

        def clear() -> None:
            first.clear()
            host.interfaces.clear()
            wait_until(lambda: _changed(host, command, first) or bool(first), "a cycle")

        _goals(client.node, options, host.positions, clear, lambda: _changed(host, command, first), into)


def _changed(host: Ros2ControlHost, command: str, first: list[float]) -> float:
    """Stamp [s] of the first cycle whose command is not `first`; 0: none yet."""
    for stamp, (value,) in host.interfaces.take(command):
        if not first:
            first.append(value)
        elif value != first[0]:
            return stamp * 1e-9
    return 0.0


def _our_turn(options: Options, into: Samples) -> None:
    from robot_rt_control.client import Client
    from robot_rt_control.demo.demo_workcell import DemoWorkcell

    arguments = ["--workcell", "arm7", "--hardware", "mock", "--controllers", "true", "--no-frames"]
    arguments += ["--cpu", str(_CPU), "--priority", str(_PRIORITY)]
    begin = time.monotonic()
    with DemoWorkcell(arguments, options.output / "own_workcell.log") as workcell, Client("bench") as client:
        workcell.wait_until_ready(client, lambda _: None, _STARTUP_S)
        into["start until active [ms]"].append(1e3 * (time.monotonic() - begin))
        time.sleep(_SETTLE_S)
        of_processes(workcell.pid, into)
        for name, busy in (("calm", 0), ("busy", _BUSY)):
            with busy_loops(busy), loop_timing() as timing:
                lateness, compute = timing.lateness.copy(), timing.compute.copy()
                time.sleep(_SECONDS)
                late, taken = _values(timing.lateness - lateness), _values(timing.compute - compute)
                del timing
            into[f"cycle, {name} [µs]"] += taken
            into[f"lateness, {name} [µs]"] += [x - late[0] for x in late]
        started: list[float] = []
        client.add_listener(lambda e: started.append(e.time) if e.kind == "action_started" and e.session else None)
        joints = [f"arm.{joint}.position" for joint in JOINTS]
        _goals(
            client.node,
            options,
            lambda: [client.value(joint) for joint in joints],
            started.clear,
            lambda: started[0] if started else 0.0,
            into,
        )


@contextmanager
def loop_timing() -> Iterator[Any]:
    """The histograms of the running executor's loop. Keep no reference to them."""
    segment = Segment.attach(channel_name("/", os.environ["ROS_DOMAIN_ID"]), channel_dtype.itemsize)
    try:
        yield np.frombuffer(segment.buffer, channel_dtype, 1)[0].timing
    finally:
        gc.collect()
        segment.close()


def _values(counts: np.ndarray) -> list[float]:
    """The upper edge [µs] of each count's bin, in order."""
    edges = 2.0 ** (np.arange(1, len(counts) + 1) / BINS_PER_OCTAVE) * 1e-3
    return np.repeat(edges, counts).tolist()


def _goals(
    node: Any,
    options: Options,
    positions: Callable[[], list[float]],
    clear: Callable[[], object],
    commanded: Callable[[], float],
    into: Samples,
) -> None:
    measured = time_goals_of(
        node, JOINTS, positions=positions, clear=clear, commanded=commanded, n=options.amount(_GOALS)
    )
    for name, seconds in measured.items():
        into[f"goal: {name} [ms]"] += (1e3 * seconds).tolist()


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="measure a fraction: to see that all works")
    parser.add_argument("--output", type=Path, default=Path(".build/bench"), help="folder (default: %(default)s)")
    given = parser.parse_args(argv)
    given.output.mkdir(parents=True, exist_ok=True)
    console = Console() if sys.stdout.isatty() else Console(width=140)
    try:
        report = measure(Options(quick=given.quick, output=given.output, console=console))
    except FileNotFoundError as error:
        print(f"beside_ros2_control: {error}", file=sys.stderr)
        return 1
    show(console, report)
    print(save(report, "beside_ros2_control", given.output, machine()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
