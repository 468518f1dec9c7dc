"""All nodes of a workcell in one process: for a debugger. A crash ends all of them, and they share the GIL."""

from __future__ import annotations

import importlib
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import rclpy
from rclpy.executors import MultiThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from robot_rt_control.bringup.bringup import PACKAGE, ProcessDescription
from robot_rt_control.bringup.process_command import NODES, ros_arguments
from robot_rt_control.ros.lifecycle_node import WorkcellNode
from robot_rt_control.ros.readiness import report_ready
from robot_rt_control.ros.spinning import Spinner

_THREADS_OF_A_NODE = 4
_POLL_S = 0.1
_STOP_S = 10.0
"""[s] Time-out for callbacks that still run at the end."""


def run_composed(processes: Sequence[ProcessDescription], folder: Path) -> int:
    """Run the package's own nodes until SIGINT, SIGTERM, or until one that is required has ended.

    Programs of other packages, the editor and the server for Foxglove are left out.

    Args:
        processes: in the order to start them; they are ended in the reverse order.
        folder: for files of long parameters.

    Returns:
        The exit code; 1 if a node could not start.
    """
    own = [process for process in processes if process.package == PACKAGE and ":" in NODES[process.executable]]
    left_out = ", ".join(process.name for process in processes if process not in own)
    if left_out:
        print(f"not nodes of this package, so left out: {left_out}", flush=True)
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    executor = MultiThreadedExecutor(num_threads=_THREADS_OF_A_NODE * len(own))
    spinner = Spinner(executor, _report)
    spinner.start()
    nodes: list[WorkcellNode] = []
    try:
        for process in own:
            module, _, name = NODES[process.executable].partition(":")
            make = getattr(importlib.import_module(module), name)
            node = make(cli_args=ros_arguments(process, folder), use_global_arguments=False)
            nodes.append(node)
            executor.add_node(node)
            if not node.start():
                return 1
        report_ready()
        print("all nodes are up, in this process; Ctrl-C brings them down", flush=True)
        return _wait(own, nodes)
    except KeyboardInterrupt:
        return 0
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        with ExitStack() as ends:  # each is closed, whatever another one's end raises
            ends.callback(_destroy, nodes, spinner)
            for node in nodes:
                ends.callback(node.close)


def _destroy(nodes: Sequence[WorkcellNode], spinner: Spinner) -> None:
    if spinner.stop(_STOP_S):
        for node in nodes:
            node.destroy_node()
        rclpy.try_shutdown()


def _wait(processes: Sequence[ProcessDescription], nodes: Sequence[WorkcellNode]) -> int:
    while True:
        for process, node in zip(processes, nodes, strict=True):
            if node.ended.is_set() and process.required:
                return node.exit_code
        time.sleep(_POLL_S)


def _report(trace: str) -> None:
    print(f"a callback failed unexpectedly:\n{trace}", file=sys.stderr, flush=True)
