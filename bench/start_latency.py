"""How long it takes from an application's call until the loop commands something new: real processes, over DDS."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import numpy as np

from bench.report import Goal, Options, Report
from bench.running import running_workcell

if TYPE_CHECKING:
    from robot_rt_control.client import Client

_STARTS = 1000
_PAUSE_S = (0.005, 0.015)


def measure(options: Options) -> Report:
    starts = options.amount(_STARTS)
    with running_workcell(options, "start") as client:
        to_command, to_answer = time_starts(client, starts)
    rows = [
        [name, *[f"{1e3 * x:.2f}" for x in (*np.percentile(seconds, [50, 90, 99]), seconds.max())]]
        for name, seconds in (("first new command leaves", to_command), ("the call returns", to_answer))
    ]
    p99 = float(np.percentile(to_command, 99))
    return Report(
        title="From a call of start in an application",
        columns=["until", "median [ms]", "p90", "p99", "max"],
        rows=rows,
        goals=[
            Goal(
                figure="call of start → first new command, p99",
                aim="< 3 ms",
                measured=f"{1e3 * p99:.2f} ms",
                met=p99 < 3e-3,
                beside="an absolute figure; the period is 1 ms",
            )
        ],
        notes=[
            f"{starts} starts at random times; application, control server and executor (1 kHz, mock hardware) are "
            "processes of their own, joined by DDS. The command leaves in the tick that reports the start."
        ],
        data={"to_command_s": to_command.tolist(), "to_answer_s": to_answer.tolist()},
    )


def time_starts(client: Client, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Seconds until the tick that started the action, and until the answer, of n calls; each of shape (n,)."""
    from robot_rt_control.client import Action

    chance = random.Random(1)
    called, ticks, to_answer = np.empty(n), np.empty(n, np.int64), np.empty(n)
    with client.session("arm") as session:
        names = ("even", "odd")
        session.add(*[Action(name, "sine_wave", amplitude=0.01, frequency=0.1) for name in names])
        for i in range(n):
            time.sleep(chance.uniform(*_PAUSE_S))
            called[i] = time.time()
            ticks[i] = session.start(names[i % 2])
            to_answer[i] = time.time() - called[i]
        deadline = time.monotonic() + 5.0
        begun: dict[int, float] = {}
        while len(begun) < n and time.monotonic() < deadline:
            begun = {e.tick: e.time for e in session.events if e.kind == "action_started" and e.current_action in names}
            time.sleep(0.05)
    return np.array([begun[int(tick)] for tick in ticks]) - called, to_answer
