"""How long it takes from the text of a program to its states in the loop: read, checked, prepared, installed."""

from __future__ import annotations

import statistics
import time

from bench.cells import arms_cell, builtin_types
from bench.report import Options, Report
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.server.core.programs import check_for_session
from robot_rt_control.testing.server_bench import ServerBench

STATES = (10, 100, 500)
_REPEATS = 20

_HEAD = """\
name: cycle
roles:
  robot: {kinds: [arm]}
  eye: {kinds: [rangefinder]}
parameters:
  speed: {unit: m/s, default: 0.01}
  near: {unit: m, default: 0.2}
start: [state_0]
actions:
"""
_STATE = """\
  state_{i}:
    type: velocity_move
    parts: robot
    parameters:
      linear: [0, 0, -$speed]
    reactions:
      - when: eye.distance < $near and elapsed > {i}.5
        start: state_{next}
        event: switched
        capture: [eye.distance]
      - when: robot.position[1] > 3 or elapsed > 100
        start: state_0
"""


def program_text(n: int) -> str:
    """A ring of states, each with two ways out."""
    return _HEAD + "".join(_STATE.format(i=i, next=(i + 1) % n) for i in range(n))


def measure(options: Options) -> Report:
    rows, seconds = [], {}
    repeats = max(3, options.amount(_REPEATS))
    parts = {"robot": "arm_0", "eye": "rangefinder_0"}
    with ServerBench(arms_cell(1), builtin_types()) as bench:
        for n in STATES:
            text = program_text(n)
            read, checked, installed = [], [], []
            for _ in range(repeats):
                session = bench.server.open_session("bench", ["arm_0"], 0.0)
                begin = time.perf_counter()
                filled = ProgramTemplate(text).fill(parts=parts)
                read.append(time.perf_counter() - begin)
                begin = time.perf_counter()
                check_for_session(bench.server.core, filled, session)
                checked.append(time.perf_counter() - begin)
                begin = time.perf_counter()
                program = bench.server.upload_program(session.id, text, parts=parts)
                installed.append(time.perf_counter() - begin)
                contents = bench.server.contents(session)
                if len(program.actions) != n or len(contents.actions) != n:
                    raise RuntimeError(f"{len(contents.actions)} of {n} states are there")
                bench.server.start(session.id, ["state_0"])
                bench.step(2)
                if bench.active("arm_0") != "state_0":
                    raise RuntimeError("the program does not run")
                bench.server.close_session(session.id)
                bench.step(2)
            seconds[str(n)] = {"read": read, "checked": checked, "installed": installed}
            medians = [statistics.median(values) * 1e3 for values in (read, checked, installed)]
            rows.append(
                [str(n), f"{len(text) / 1024:.0f}", *[f"{m:.1f}" for m in medians], f"{max(installed) * 1e3:.1f}"]
            )
    return Report(
        title="From upload to installed program",
        columns=["states", "text [KiB]", "of it: reading [ms]", "checking [ms]", "all, median [ms]", "max [ms]"],
        rows=rows,
        goals=[],
        notes=["In one process with its loop: without the way over DDS, and the loop ticks as soon as it is asked."],
        data={"seconds": seconds},
    )
