"""The builder process: takes requests as JSON lines on its input, answers as JSON lines on its output.

Request: `{"task": "build", "specs": ["file.py:Class", ...], "path": [sys.path], "timeout": seconds for each}`;
with the task "find", the specs are files or modules whose action types are wanted.
Answers: `{"progress": text}` and `{"alive": true}` any number of times, and one for each spec, in their order:
`{"built": {...}}` (fields of BuiltType), `{"found": [specs]}` or
`{"error": {"what": ..., "expected": ..., "got": ..., "hint": ...}}`.

The time-out counts the child's processor time, and the time in which it does nothing at all. So a busy machine
makes a build late, and never refuses it.

Users' code runs only in a child forked for the request: a crash or an endless loop ends that child, and
every request sees the user's files as they are then. This process itself always answers. Processes that their code
has started end with the request.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sys
from typing import Any

from robot_rt_control.server.builder.build import build
from robot_rt_control.server.builder.measure import PATIENCE_S
from robot_rt_control.server.builder.source import find_action_types
from robot_rt_control.server.builder.work_watch import LOOK_S, WorkWatch
from robot_rt_control.server.preparer.left_behind import adopt, end_all_children
from robot_rt_control.vocabulary.errors import CompileError, RobotControlError

_PR_SET_PDEATHSIG = 1


class _Lines:
    """Lines that arrive at a file descriptor."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.buffer = b""
        self.closed = False

    def read(self) -> list[dict[str, Any]]:
        """What has arrived; blocks until something does. Sets `closed` at the end."""
        data = os.read(self.descriptor, 1 << 16)
        self.closed = not data
        *lines, self.buffer = (self.buffer + data).split(b"\n")
        return [json.loads(line) for line in lines]


def describe_error(error: RobotControlError) -> dict[str, str]:
    """An error as it travels through the pipe."""
    return {"what": error.what, "expected": error.expected, "got": error.got, "hint": error.hint}


def main() -> None:
    """Serve requests until the input closes."""
    answers = os.dup(1)
    os.dup2(2, 1)  # whatever code of users prints must not end up among the answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C to all: the server ends this process
    _give_way()
    adopt()
    requests = _Lines(0)
    while not requests.closed:
        for request in requests.read():
            _serve(request, requests, answers)


def _give_way() -> None:
    """Building must not make the loop late: this process never takes the processor from one that wakes up.

    Its niceness is that of its server: a user waits for the build, and there is one build at a time.
    """
    if hasattr(os, "SCHED_BATCH"):
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _serve(request: dict[str, Any], requests: _Lines, answers: int) -> None:
    """Build all specs of a request; if the child of one dies, the next one gets a new child."""
    waiting = list(request["specs"])
    while waiting:
        waiting = waiting[_run_child(waiting, request, requests, answers) :]


def _run_child(specs: list[str], request: dict[str, Any], requests: _Lines, answers: int) -> int:
    """Build specs in a new child, pass on what it says, end it when it takes too long.

    Returns:
        How many of the specs were answered, from the first on: at least one.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _child(request["task"], specs, request["path"], writing)
    os.close(writing)
    output = _Lines(reading)
    answered = 0
    timeout = float(request["timeout"])
    watch = WorkWatch(child, processor_s=timeout, idle_s=timeout)
    error: CompileError | None = None
    try:
        while answered < len(specs) and not output.closed and error is None:
            readable, _, _ = select.select([reading, requests.descriptor], [], [], LOOK_S)
            if requests.descriptor in readable:
                # Requests come one at a time: what arrives in between is the end of the server.
                os.kill(child, signal.SIGKILL)
                end_all_children()
                os._exit(0)
            if reading in readable:
                for line in output.read():
                    _send(answers, line)
                    if "progress" not in line:
                        answered += 1
                        watch.restart()
                continue
            _send(answers, {"alive": True})
            if too_much := watch.look():
                error = CompileError(
                    f"building {specs[answered]} {too_much} and was ended",
                    hint="Look for endless work or waiting at the top of the file, or for very much code",
                )
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)  # it is done, too slow, or dead already: then this changes nothing
        _, status = os.waitpid(child, 0)
        end_all_children()
    if answered < len(specs):
        if error is None:
            code = os.waitstatus_to_exitcode(status)
            error = _endless(specs[answered]) if code == -signal.SIGPROF else None
        if error is None:
            how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
            error = CompileError(
                f"building {specs[answered]} ended {how}", hint="Importing the file must not end Python"
            )
        _send(answers, {"error": describe_error(error)})
        answered += 1
    return answered


def _endless(spec: str) -> CompileError:
    return CompileError(
        f"building {spec}: its real-time methods did not end within {PATIENCE_S} s",
        hint="Look for a loop that goes on for too long: one tick may take a fraction of the period",
    )


def _child(task: str, specs: list[str], path: list[str], output: int) -> None:
    """Do the task for all specs and answer; never returns."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # requests are not for code of users to read
        for entry in path:
            if entry not in sys.path:
                sys.path.append(entry)
        for spec in specs:
            _send(output, _answer(task, spec, output))
    except BaseException as error:
        sys.stderr.write(f"builder: {type(error).__name__}: {error}\n")
        os._exit(1)
    os._exit(0)


def _answer(task: str, spec: str, output: int) -> dict[str, Any]:
    try:
        if task == "find":
            return {"found": find_action_types(spec)}
        built = build(spec, lambda text: _send(output, {"progress": text}))
        return {"built": vars(built) | {"declared": built.declared.to_json()}}
    except RobotControlError as error:
        return {"error": describe_error(error)}
    except Exception as error:
        refusal = CompileError(f"building {spec} failed with {type(error).__name__}: {error}")
        return {"error": describe_error(refusal)}


def _send(descriptor: int, line: dict[str, Any]) -> None:
    data = json.dumps(line).encode() + b"\n"
    while data:
        data = data[os.write(descriptor, data) :]
