"""A node's process, from its command line to its exit code; over DDS."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import rclpy
from lifecycle_msgs.srv import GetState
from rcl_interfaces.srv import GetParameters
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor

from robot_rt_control.bringup.supervised_process import Patience
from robot_rt_control.ros.node_process import END_S
from robot_rt_control.testing.ros_domain import claim_domain

DOMAIN = claim_domain("nodes")
"""Beside whatever else runs on this machine."""

PROGRAM = """
import ctypes, signal, sys, threading, time
from robot_rt_control.ros import node_process
from robot_rt_control.vocabulary.errors import RobotControlError
from robot_rt_control.ros.lifecycle_node import AUTOSTART, NodeParameter, WorkcellNode
from robot_rt_control.ros.node_help import NodeHelp

RATE = NodeParameter(name="rate", default=5.0, minimum=1.0, maximum=9.0, description="[Hz] A rate.")

class Node(WorkcellNode):
    def __init__(self):
        super().__init__("node", (RATE,), common=(AUTOSTART,))
        {make}
    def configure(self):
        print("configure", flush=True)
        {configure}
    def activate(self):
        print("activate", flush=True)
        {activate}
    def deactivate(self):
        print("deactivate", flush=True)
        {deactivate}
    def cleanup(self): print("cleanup", flush=True)

def swallow():
    print("activate again", flush=True)
    try:
        time.sleep(60)
    except BaseException:
        pass

node_process._STOP_S, node_process.END_S = {limits}
about = NodeHelp(executable="node", summary="A node.", parameters=(RATE,), examples=("--ros-args -p rate:=2.0",))
sys.exit(node_process.run_node(Node, None, about=about))
"""


def start(
    *arguments: str,
    make: str = "pass",
    configure: str = "pass",
    activate: str = "pass",
    deactivate: str = "pass",
    limits: tuple[float, float] = (10.0, 60.0),
) -> Any:
    """A node's process, with what its steps do, and how long its callbacks and all of its end may take [s]."""
    text = PROGRAM.replace("{limits}", repr(limits)).replace("{configure}", configure)
    text = text.replace("{make}", make)
    text = text.replace("{activate}", activate)
    return subprocess.Popen(
        [sys.executable, "-c", text.replace("{deactivate}", deactivate), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
        env={**os.environ, "ROS_DOMAIN_ID": str(DOMAIN)},
    )


def run(
    activate: str, number: signal.Signals | None = None, **options: Any
) -> tuple[int, list[str]]:
    """Exit code and calls of a node whose `activate` does this, ended by a signal once it is in there."""
    process = start(activate=activate, **options)
    lines = []
    for line in process.stdout:
        lines.append(line.strip())
        if line == "activate\n" and number is not None:
            time.sleep(0.3)
            process.send_signal(number)
    errors = process.stderr.read()
    assert "never retrieved" not in errors and "KeyboardInterrupt" not in errors and "unlocked lock" not in errors
    return process.wait(60.0), lines


WHOLE = ["configure", "activate", "deactivate", "cleanup"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_order(number: signal.Signals) -> None:
    assert run("pass", number) == (0, WHOLE)


def test_a_signal_while_it_activates_undoes_what_was_begun() -> None:
    assert run("time.sleep(60)", signal.SIGINT) == (0, WHOLE)


def test_it_ends_by_itself_with_an_exit_code() -> None:
    activate = "print(sys.getswitchinterval()); threading.Timer(0.2, self.end, (7,)).start()"
    ended = (7, [*WHOLE[:2], "0.0005", *WHOLE[2:]])
    assert run(activate) == ended, "and its threads wait for each other for half a millisecond at most"


def test_a_refusal_is_exit_code_1() -> None:
    assert run("raise RobotControlError('no')") == (1, ["configure", "activate", "cleanup"])


def test_a_thread_that_does_not_end_does_not_keep_it() -> None:
    activate = "threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); self.end(3)"
    assert run(activate) == (3, WHOLE)


def test_a_callback_that_does_not_end_does_not_keep_it() -> None:
    activate = "self.create_timer(0.01, lambda: time.sleep(300))"
    assert run(activate, signal.SIGINT, limits=(1.0, 60.0)) == (0, WHOLE)


def test_an_interrupt_that_is_swallowed_ends_it() -> None:
    assert run("swallow()", signal.SIGINT) == (0, [*WHOLE[:2], "activate again", *WHOLE[2:]])


TWO = "[signal.pthread_kill(threading.main_thread().ident, number) for number in (signal.SIGINT, signal.SIGTERM)]"
"""Both are handled one right after the other: two times the same signal may become one."""


def test_two_signals_at_once_end_it_in_order() -> None:
    assert run(f"threading.Timer(0.3, lambda: {TWO}).start()") == (0, WHOLE)


def test_two_signals_at_once_while_it_activates_undo_what_was_begun() -> None:
    begin = f"threading.Timer(0.3, lambda: {TWO}).start()"
    assert run(f"{begin}; threading.Event().wait(60)") == (0, WHOLE)


def test_a_signal_while_the_node_is_made_ends_it_quietly() -> None:
    process = start(make="signal.raise_signal(signal.SIGINT)")
    output, errors = process.communicate(timeout=60.0)
    assert (process.returncode, output, errors) == (0, "", "")


@pytest.mark.parametrize("hang", ["time.sleep(300)", "ctypes.PyDLL(None).sleep(300)"], ids=["waiting", "with the GIL"])
def test_an_end_that_hangs_is_ended_in_time_with_its_stacks(hang: str) -> None:
    process = start(activate="self.end(0)", deactivate=hang, limits=(0.5, 1.0))
    output, errors = process.communicate(timeout=60.0)
    assert process.returncode == 1 and output.split() == WHOLE[:3]
    assert "Timeout (0:00:01)!" in errors and "in deactivate" in errors


def test_a_step_that_fails_at_the_end_does_not_keep_it() -> None:
    busy = "[self.create_timer(0.001, lambda: None) for _ in range(8)]"
    failing = "raise ValueError('a handle is gone')"
    assert run(busy, signal.SIGINT, deactivate=failing) == (0, WHOLE)


def test_it_ends_by_itself_before_the_supervisor_sends_the_next_signal() -> None:
    assert Patience().interrupt_s > END_S


def test_it_answers_while_it_configures() -> None:
    context = Context()
    context.init(args=[], domain_id=DOMAIN)
    observer = rclpy.create_node("observer", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(observer)
    process = start(configure="sys.stdin.readline()")
    try:
        states: Any = observer.create_client(GetState, "/node/get_state")
        values: Any = observer.create_client(GetParameters, "/node/get_parameters")

        def ask(client: Any, request: Any) -> Any:
            assert client.wait_for_service(60.0)
            for _ in range(12):  # DDS drops an answer to a client that the service has not discovered yet
                future = client.call_async(request)
                executor.spin_until_future_complete(future, timeout_sec=5.0)
                if future.done():
                    return future.result()
            raise AssertionError("no answer within a minute")

        assert process.stdout.readline() == "configure\n"
        assert ask(states, GetState.Request()).current_state.label == "configuring"
        assert ask(values, GetParameters.Request(names=["rate"])).values[0].double_value == 5.0
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "activate\n"
        deadline = time.monotonic() + 60.0
        while ask(states, GetState.Request()).current_state.label != "active":
            assert time.monotonic() < deadline
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60.0)
        assert process.returncode == 0 and output.split() == ["deactivate", "cleanup"]
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
        executor.shutdown()
        observer.destroy_node()
        context.try_shutdown()


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_is_printed_instead_of_running_the_node(word: str) -> None:
    output, errors = start(word).communicate(timeout=60.0)
    assert output.startswith("usage: ros2 run robot_rt_control node [--help]") and errors == ""
    assert "configure" not in output and "rate (float, 1..9; default 5.0)" in output


@pytest.mark.parametrize(
    ("value", "text"), [("7", "must be of type DOUBLE"), ("20.0", "not in a valid range")]
)
def test_a_wrong_parameter_is_refused_in_one_line(value: str, text: str) -> None:
    process = start("--ros-args", "-p", f"rate:={value}")
    output, errors = process.communicate(timeout=60.0)
    assert process.returncode == 1 and output == ""
    (line,) = [line for line in errors.splitlines() if line.startswith("node: ")]
    assert "rate" in line and "See --help" in line and "Traceback" not in errors


HEAPS = """
import ctypes, sys, threading
from robot_rt_control.ros.node_process import share_heap
libc = ctypes.CDLL(None)
libc.fopen.restype, libc.malloc_info.argtypes = ctypes.c_void_p, [ctypes.c_int, ctypes.c_void_p]
libc.fclose.argtypes = [ctypes.c_void_p]
ready, go = threading.Barrier(9), threading.Event()

def heaps():
    file = libc.fopen(sys.argv[1].encode(), b"w")
    libc.malloc_info(0, file)
    libc.fclose(file)
    return open(sys.argv[1]).read().count("<heap nr=")

def allocate():
    kept = [bytes(10_000) for _ in range(100)]
    ready.wait()
    go.wait()

share_heap()
before = heaps()
for _ in range(8):
    threading.Thread(target=allocate).start()
ready.wait()
print(before, heaps())
go.set()
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="another C library than glibc")
def test_no_thread_of_a_node_gets_a_heap_of_its_own(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HEAPS, str(tmp_path / "heaps.xml")]
    said = subprocess.run(command, check=True, timeout=120.0, capture_output=True, text=True).stdout
    before, after = map(int, said.split())
    assert 0 < after <= before
