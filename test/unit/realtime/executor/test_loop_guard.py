"""The watch outside the loop, in a process of its own: it ends that process, or it does not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from robot_rt_control.realtime.executor.loop_guard import EXIT_CODE

# A thread "inside an action" that uses 0.6 s of processor time, beside a guard with a limit of 0.2 s.
SCRIPT = """
import sys, threading, time
from types import SimpleNamespace
import numpy as np
from robot_rt_control.memory.layout import world_dtype
from robot_rt_control.vocabulary.capacities import MAX_ACTIONS
from robot_rt_control.realtime.executor.loop_guard import LoopGuard

world = SimpleNamespace(memory=np.zeros(1, world_dtype)[0])
w = world.memory
how = sys.argv[1]
w.active_tables = 0 if how == "tried" else 1
tables = w.tables[1]
tables.actions[2].name, tables.actions[2].type, tables.actions[2].session = b"spin", 3, 1
tables.types[3].name, tables.sessions[1].name = b"x" * 64, b"s7"
w.loop_clock = time.pthread_getcpuclockid(threading.get_ident())
guard = LoopGuard(world, priority=0, limit_s=0.2)
guard.compile()
guard.start()
w.inside = {"outside": 0, "tried": 3 + MAX_ACTIONS}.get(how, 3)
if how == "gone":
    take = lambda: setattr(w, "loop_clock", time.pthread_getcpuclockid(threading.get_ident()))
    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
if how == "asleep":
    time.sleep(0.8)
else:
    end = time.thread_time() + 0.8
    while time.thread_time() < end:
        if how == "ticking":
            w.tick += 1
guard.stop()
guard.stop()
print("went on")
"""


def run(how: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", SCRIPT, how], capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("how", ["inside", "tried"])
def test_a_loop_that_stays_inside_an_action_is_ended_with_its_name(how: str) -> None:
    ended = run(how)
    assert ended.returncode == EXIT_CODE, ended.stderr
    text = f"[FATAL] the real-time loop does not come back from action 'spin' (type '{'x' * 64}') of session 's7': its"
    assert ended.stderr.startswith(text) and ended.stderr.endswith("Give the action's loops a bound.\n")


@pytest.mark.long
@pytest.mark.parametrize("how", ["outside", "ticking", "asleep", "gone"])
def test_nothing_else_is_a_reason(how: str) -> None:
    ended = run(how)
    assert (ended.returncode, ended.stdout) == (0, "went on\n"), ended.stderr
