"""How long a plain workcell takes until it is up, and what memory its processes hold: mock hardware, 1 kHz.

All native code is in the cache: one start before the measured ones sees to that.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np

from bench.report import Goal, Options, Report
from robot_rt_control.demo.demo_workcell import DemoWorkcell
from robot_rt_control.testing.ros_domain import claim_domain

_STARTS = 10
_SETTLING_S = 5.0
_STARTUP_S = 900.0
_ARGUMENTS = ["--workcell", "arm7", "--hardware", "mock", "--controllers", "false", "--no-frames"]
"""Three processes: supervisor, executor and control server."""
_START_AIM_S, _MEMORY_AIM_MB = 2.0, 300.0


def measure(options: Options) -> Report:
    os.environ["ROS_DOMAIN_ID"] = str(claim_domain("bench"))
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    start(options, settling_s=0.0)
    starts = [start(options, settling_s=_SETTLING_S) for _ in range(max(2, options.amount(_STARTS)))]
    seconds = np.array([up for up, _, _ in starts])
    processor = np.array([used for _, used, _ in starts])
    memory = {name: float(np.median([held[name] for *_, held in starts])) for name in starts[0][2]}
    total, median = sum(memory.values()), float(np.median(seconds))
    keeps = "compiles its sources at each start" if sys.flags.dont_write_bytecode else "keeps its bytecode"
    beside = f"an absolute figure; Python {keeps}"
    return Report(
        title="A workcell's start, and its memory",
        columns=["figure", "median", "min", "max"],
        rows=[
            ["from the command until all is up [s]", *_three(seconds, 2)],
            ["processor time of all processes until then [s]", *_three(processor, 2)],
            *[[f"{name}, PSS [MB]", f"{megabytes:.0f}", "", ""] for name, megabytes in memory.items()],
            ["all, PSS [MB]", f"{total:.0f}", "", ""],
        ],
        goals=[
            Goal(
                figure="start, code in the cache",
                aim=f"≤ {_START_AIM_S:g} s",
                measured=f"{median:.2f} s",
                met=median <= _START_AIM_S,
                beside=beside,
            ),
            Goal(
                figure="memory of executor, control server and supervisor",
                aim=f"≤ {_MEMORY_AIM_MB:g} MB",
                measured=f"{total:.0f} MB",
                met=total <= _MEMORY_AIM_MB,
                beside="an absolute figure",
            ),
        ],
        notes=[
            f"{len(starts)} starts. PSS: each shared page counts in parts for those that share it; "
            f"{_SETTLING_S:g} s after the start."
        ],
        data={"start_s": seconds.tolist(), "processor_s": processor.tolist(), "memory_mb": memory},
    )


def _three(values: np.ndarray, digits: int) -> list[str]:
    return [f"{value:.{digits}f}" for value in (np.median(values), values.min(), values.max())]


def start(options: Options, *, settling_s: float) -> tuple[float, float, dict[str, float]]:
    """Start a workcell once. Returns the time until it was up [s], the processor time of its processes until then [s],
    and the PSS of each [MB] some time later."""
    began = time.monotonic()
    with DemoWorkcell(_ARGUMENTS, options.output / "start_workcell.log") as workcell:
        workcell.wait_until_ready(None, lambda _: None, _STARTUP_S)
        up = time.monotonic() - began
        pids = family(workcell.pid)
        used = sum(_processor_s(pid) for pid in pids)
        time.sleep(settling_s)
        return up, used, {_name(pid): _pss_mb(pid) for pid in pids}


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    children = [int(c) for task in Path(f"/proc/{pid}/task").iterdir() for c in (task / "children").read_text().split()]
    return [pid, *[each for child in children for each in family(child)]]


def _name(pid: int) -> str:
    words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    return next((w.removeprefix("robot_rt_control.") for w in words if w.startswith("robot_rt_control.")), words[0])


def _processor_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _pss_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise ValueError(f"process {pid} has no PSS")
