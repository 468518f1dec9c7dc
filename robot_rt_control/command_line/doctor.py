"""Examine this machine: kernel, limits, processors, memory, ROS, DDS.

Each finding says why it matters, and how to mend it. Exit code 1 if there is a problem.
Warnings concern real-time figures and optional packages: simulation runs without.
"""

from __future__ import annotations

import argparse
import os
import shutil
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from robot_rt_control.command_line.exit_codes import ExitCode
from robot_rt_control.command_line.findings import machine as hardware
from robot_rt_control.command_line.findings import ros_setup
from robot_rt_control.command_line.findings.finding import Finding, Level, Machine

_COLOURS = {Level.OK: "green", Level.WARNING: "yellow", Level.PROBLEM: "bold red"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    parser.add_argument("--strict", action="store_true", help="exit code 1 also for warnings: for a robot's machine")


def findings(machine: Machine) -> Iterator[Finding]:
    """All findings, in the order in which they are shown."""
    yield hardware.kernel(machine)
    yield hardware.priority_limit(machine)
    yield hardware.memory_lock(machine)
    yield hardware.isolation(machine)
    yield hardware.governor(machine)
    yield hardware.clock_source(machine)
    yield hardware.shared_memory(machine)
    yield ros_setup.middleware(machine)
    yield ros_setup.discovery(machine)
    yield ros_setup.lost_packets(machine)
    yield ros_setup.messages_in_memory(machine)
    yield ros_setup.code_cache(machine)
    yield hardware.compilers(machine)
    yield from ros_setup.packages(machine)
    yield ros_setup.foreign_hardware(machine)


def this_machine() -> Machine:
    """The one that this process runs on."""
    return Machine(
        root=Path("/"),
        environment=os.environ,
        take_fifo=_take_fifo,
        free_bytes=lambda folder: shutil.disk_usage(folder).free,
        writable=lambda folder: os.access(folder, os.W_OK),
        importable=lambda package: find_spec(package) is not None,
        find_program=shutil.which,
    )


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from rich.table import Table
    from rich.text import Text

    from robot_rt_control.command_line.output import Output

    output = Output(as_json=arguments.json)
    found = list(findings(this_machine()))
    bad = [f for f in found if f.level == Level.PROBLEM or (arguments.strict and f.level == Level.WARNING)]
    shown = Table.grid(padding=(0, 2, 0, 0))
    for finding in found:
        words = "\n".join(filter(None, (f"{finding.name}: {finding.seen}", finding.why, finding.mend)))
        shown.add_row(Text(finding.level, _COLOURS[finding.level]), Text(words))
    output.result({"findings": found}, shown)
    return ExitCode.FAILED if bad else ExitCode.DONE


def _take_fifo(priority: int) -> str:
    """Try it in a thread, which ends afterwards."""
    refusals: list[str] = []

    def attempt() -> None:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
        except OSError as error:
            refusals.append(error.strerror or str(error))

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    return refusals[0] if refusals else ""
