"""The motion generator beside Ruckig: durations, limits kept, and the time to plan (see motion_vs_ruckig.py)."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

from bench.report import Goal, Options, Report

_CASES = 50_000


def measure(options: Options) -> Report:
    if importlib.util.find_spec("ruckig") is None:
        return Report(title="Motions beside Ruckig", columns=["motions"], rows=[], notes=["Ruckig is not installed."])
    script = Path(__file__).with_name("motion_vs_ruckig.py")
    command = [sys.executable, str(script), "--cases", str(options.amount(_CASES))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    durations = re.findall(
        r"^  (all|limits can be kept.*?|start beyond.*?)\s{2,}(\d+)((?:\s+[\d.]+){6})$", done.stdout, re.M
    )
    times = re.findall(r"^    (plan_.*?)\s{2,}([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)$", done.stdout, re.M)
    (violations,) = re.findall(r"limit violations: (\d+)", done.stdout)
    rows = [
        [f"duration : Ruckig's, {name}", *[f"{float(x):.4f}" for x in numbers.split()[1:]], count]
        for name, count, numbers in durations
    ]
    rows += [[f"{name} [µs]", median, "", p99, p999, longest, ""] for name, median, p99, p999, longest in times]
    ratio = float(durations[0][2].split()[1])
    return Report(
        title="Motions beside Ruckig",
        columns=["of random motions", "median", "p90", "p99", "p99.9", "max", "motions"],
        rows=rows,
        goals=[
            Goal(
                figure="limits violated by random motions",
                aim="0",
                measured=violations,
                met=violations == "0",
                beside="Ruckig on the same motions",
            ),
            Goal(
                figure="duration of random motions, median",
                aim="within 1 %",
                measured=f"{ratio:.4f} times",
                met=abs(ratio - 1.0) < 0.01,
                beside="Ruckig on the same motions",
            ),
        ],
        data={"output": done.stdout},
    )
