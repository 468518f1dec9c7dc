"""The process of one node: from its command line to its exit code."""

from __future__ import annotations

import ctypes
import faulthandler
import math
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import rclpy
from rclpy.exceptions import ParameterException
from rclpy.executors import MultiThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from robot_rt_control.ros.lifecycle_node import WorkcellNode
from robot_rt_control.ros.node_help import NodeHelp, asks_for_help
from robot_rt_control.ros.readiness import report_ready
from robot_rt_control.ros.spinning import Spinner
from robot_rt_control.vocabulary.phase_times import ends
from robot_rt_control.vocabulary.waiting import Waiting

_POLL_S = 0.05
_TOGETHER_S = 1.0
"""[s] Signals within this time are one: a second interrupt while the first one leaves a lock fails there."""
_STOP_S = 10.0
"""[s] Time-out for callbacks that still run at the end."""
SWITCH_S = 0.0005
"""[s] A thread may compute in Python for this time while others wait for the interpreter; the default is ten times
longer. So reading a large request delays no renewal of a lease and no driver's cycle."""
END_S = 50.0
"""[s] Time-out for ending; the supervisor then sends the next signal."""
_ARENA_MAX = -8
"""M_ARENA_MAX of glibc's malloc.h."""


def share_heap() -> None:
    """Let all threads of this process use one heap: called before there are others.

    glibc makes up to 8 heaps for each processor, and each keeps what its threads once needed: 300 messages of up to
    1 MB, each handled in a thread of its own, left 10 MB instead of 70.
    """
    limit: Any = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have one heap, or no such call
    if limit is not None:
        limit(_ARENA_MAX, 1)


def run_node(
    make: Callable[[], WorkcellNode],
    arguments: Sequence[str] | None,
    *,
    about: NodeHelp,
    threads: int = 6,
) -> int:
    """Run a node's process until SIGINT, SIGTERM or `end`; or print its help.

    Args:
        make: the node.
        arguments: of the command line; None: those of this process.
        about: the text for --help.
        threads: maximum number of threads for callbacks; each is created when needed.

    Returns:
        The exit code: 1 if the node could not start. A process that does not end within END_S is ended without its
        cooperation, with exit code 1 and the stacks of its threads on the error output.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    if asks_for_help(given):
        print(about.text())
        return 0
    ends("imports")
    sys.setswitchinterval(SWITCH_S)
    share_heap()
    asked = Asked()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, asked)
    try:
        # Without rclpy's own signal handlers: they shut all contexts down at once, before the nodes can close.
        rclpy.init(args=[*sys.argv[:1], *given], signal_handler_options=SignalHandlerOptions.NO)
        node = make()
    except ParameterException as error:
        print(f"{about.executable}: {error}. See --help", file=sys.stderr, flush=True)
        rclpy.try_shutdown()
        return 1
    except KeyboardInterrupt:
        rclpy.try_shutdown()
        return 0
    ends("the ROS node")
    executor = MultiThreadedExecutor(num_threads=threads)
    executor.add_node(node)
    spinner = Spinner(executor, node.callback_failed)
    try:
        spinner.start()  # it answers while it configures
        started = node.start()
        asked.interrupts = False
        if started:
            _wait_until_up(node, asked)
            while not (asked or node.ended.wait(_POLL_S)):
                pass
        elif not asked:
            node.exit_code = 1
    except KeyboardInterrupt:
        pass
    finally:
        # A second signal must not interrupt what brings the robot to rest.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        # By a thread of C, because whatever keeps the process may hold the GIL.
        faulthandler.dump_traceback_later(END_S, exit=True)
        _bring_down(node, spinner)
    if threading.active_count() > 1:
        # Some thread does not end. Python's end would wait for it, or unwind it; in C++, that is an abort.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(node.exit_code)
    return node.exit_code


class Asked:
    """The handler of signals that ask for the end; true once one came.

    Attributes:
        interrupts: whether a signal raises KeyboardInterrupt, as is needed while the node starts up. Who waits looks
            instead: an interrupt within a lock's own code leaves the lock taken, or makes its release fail.
    """

    def __init__(self) -> None:
        self.interrupts = True
        self._last = -math.inf

    def __call__(self, _signal: int, _frame: FrameType | None) -> None:
        """Called in the main thread."""
        before, self._last = self._last, time.monotonic()
        # Not only once: the interrupt may come in code that swallows exceptions, such as a destructor.
        if self.interrupts and self._last - before > _TOGETHER_S:
            raise KeyboardInterrupt

    def __bool__(self) -> bool:
        return self._last > -math.inf


def _wait_until_up(node: WorkcellNode, asked: Asked) -> None:
    """Report that the node is up as soon as it awaits nothing; until then report what it awaits."""
    waiting = Waiting(node.get_logger().info, math.inf)
    while node.awaited and not (asked or node.ended.wait(_POLL_S)):
        waiting.goes_on(node.awaited)
    if not (asked or node.ended.is_set()):
        ends("ready")
        report_ready()


def _bring_down(node: WorkcellNode, spinner: Spinner) -> None:
    """Close the node, and destroy what no callback uses any more. If that fails, the process still ends."""
    for step in (node.close, lambda: _destroy(node, spinner)):
        try:
            step()
        except Exception:  # the second step, and the end of the process, must follow in any case
            print(f"ending failed unexpectedly:\n{traceback.format_exc()}", file=sys.stderr, flush=True)


def _destroy(node: WorkcellNode, spinner: Spinner) -> None:
    if not spinner.stop(_STOP_S):
        node.get_logger().warning(f"callbacks still run after {_STOP_S:g} s; the process ends without them")
        return
    node.destroy_node()
    rclpy.try_shutdown()
