"""How long starting takes: imports, compiling the loops and the built-in action types, loading them from the cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

from bench.report import Goal, Options, Report

_SCRIPT = """
import json, time
begin = [time.perf_counter(), time.process_time()]
def lap():
    global begin
    now = [time.perf_counter(), time.process_time()]
    laps.append([b - a for a, b in zip(begin, now)])
    begin = now
laps = []
from robot_rt_control.realtime.executor.executor import loops
lap()
import numpy as np
from robot_rt_control.memory.layout import world_dtype
from robot_rt_control.memory.channel import Channel
world, channel = np.zeros(1, world_dtype)[0], Channel.private()
lap()
loops()
lap()
from robot_rt_control.actions import BUILTIN
from robot_rt_control.server.builder.build import build
for spec in BUILTIN:
    build(spec)
lap()
print(json.dumps(laps))
"""
_STEPS = ("import of the real-time layer", "a world and a channel", "both loops", "built-in action types")


def measure(options: Options) -> Report:
    seconds: dict[str, list[list[float]]] = {}
    with tempfile.TemporaryDirectory() as cache:
        for state in ("empty", "full"):
            environment = os.environ | {"ROBOT_RT_CONTROL_CACHE": cache}
            done = subprocess.run(
                [sys.executable, "-c", _SCRIPT], env=environment, stdout=subprocess.PIPE, text=True, check=True
            )
            seconds[state] = json.loads(done.stdout)
    rows = [[name, *[f"{x:.2f}" for state in seconds for x in seconds[state][i]]] for i, name in enumerate(_STEPS)]
    # Processor time, which on an idle machine is the time on the clock.
    loops, cached = (seconds[state][1][1] + seconds[state][2][1] for state in ("empty", "full"))
    imports = seconds["full"][0][1]
    return Report(
        title="Starting a process",
        columns=["step", "empty cache [s]", "processor [s]", "from the cache [s]", "processor [s] "],
        rows=rows,
        goals=[
            Goal(
                figure="channel and both loops, compiled",
                aim="< 15 s",
                measured=f"{loops:.1f} s",
                met=loops < 15.0,
                beside="itself from the cache (processor time)",
            ),
            Goal(
                figure="channel and both loops, from the cache",
                aim="< 1.5 s",
                measured=f"{cached:.2f} s",
                met=cached < 1.5,
                beside="itself compiled (processor time)",
            ),
            Goal(
                figure="imports of an executor",
                aim="< 0.7 s",
                measured=f"{imports:.2f} s",
                met=imports < 0.7,
                beside="an absolute figure (processor time)",
            ),
        ],
        data={"steps": _STEPS, "seconds_clock_and_processor": seconds},
    )
