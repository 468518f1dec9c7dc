"""The builder process.

A request: `{"task": "build", "specs": ["file.py:Class", ...], "path": [sys.path], "timeout": seconds for each,
"trusted": [folders of C and C++ code] or None: all}`; with the task "find", the specs are files or modules whose
action types are wanted.
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

import faulthandler
import os
import resource
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from robot_rt_control.processes.ending import how_ended, signal_name
from robot_rt_control.processes.errors import described
from robot_rt_control.processes.frames import Far, Near, connect
from robot_rt_control.processes.left_behind import adopt, end_all_children
from robot_rt_control.processes.parent_death import end_with
from robot_rt_control.processes.work_watch import LOOK_S, WorkWatch
from robot_rt_control.server.builder.build import build
from robot_rt_control.server.builder.measure import PATIENCE_S
from robot_rt_control.server.code.source import find_action_types
from robot_rt_control.server.preparer.user_code import frames_of
from robot_rt_control.vocabulary.errors import CompileError, RobotControlError

_MEASURES = "measure.py"
"""The file whose line is in the trace of a process that crashed as it measured."""
_ABORT_S = 5.0
"""[s] for a child that is to end to say where it was; then it is killed. The server ends a builder that is silent for
twice as long."""


def main() -> None:
    """Serve requests until the server hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C to all: the server ends this process
    _give_way()
    adopt()
    server = connect(with_thread=False)
    with suppress(ConnectionError):
        while True:
            _serve(server.receive(), server)


def _give_way() -> None:
    """Building must not make the loop late: this process never takes the processor from one that wakes up.

    Its niceness is that of its server: a user waits for the build, and there is one build at a time.
    """
    if hasattr(os, "SCHED_BATCH"):
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _serve(request: dict[str, Any], server: Far) -> None:
    """Build all specs of a request; if the child of one dies, the next one gets a new child."""
    waiting = list(request["specs"])
    while waiting:
        waiting = waiting[_run_child(waiting, request, server) :]


def _run_child(specs: list[str], request: dict[str, Any], server: Far) -> int:
    """Build specs in a new child, pass on what it says, end it when it takes too long.

    Returns:
        How many of the specs were answered, from the first on: at least one.
    """
    near, far = socket.socketpair()
    trace = os.memfd_create("trace")
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        near.close()
        server.close()  # it is not for code of users
        _child(request, specs, Far(far), trace, parent)
    far.close()
    output = Near(near)
    answered = 0
    timeout = float(request["timeout"])
    watch = WorkWatch(child, processor_s=timeout, idle_s=timeout)
    error: CompileError | None = None
    try:
        while answered < len(specs) and error is None:
            answer = output.receive(LOOK_S, end=server)
            if answer is not None:
                server.send(answer)
                if "progress" not in answer:
                    answered += 1
                    watch.restart()
                continue
            server.send({"alive": True})
            if too_much := watch.look():
                error = CompileError(
                    f"{_aborted(child, trace, specs[answered])}building {specs[answered]} {too_much} and was ended",
                    hint="Look for endless work or waiting at the top of the file, or for very much code",
                )
    except ConnectionError:  # it has ended, or will
        if server.speaks(0.0):
            # Requests come one at a time: what arrives in between is the end of the server.
            os.kill(child, signal.SIGKILL)
            end_all_children()
            os._exit(0)
    finally:
        output.close()
        os.kill(child, signal.SIGKILL)  # it is done, too slow, or dead already: then this changes nothing
        _, status = os.waitpid(child, 0)
        measuring = any(Path(file).name == _MEASURES for file, _ in frames_of(trace))
        os.close(trace)
        end_all_children()
    if answered < len(specs):
        if error is None:
            code = os.waitstatus_to_exitcode(status)
            error = _endless(specs[answered]) if code == -signal.SIGPROF else _crashed(specs[answered], code, measuring)
        if error is None:
            error = CompileError(
                f"building {specs[answered]} {how_ended(code)}", hint="Importing the file must not end Python"
            )
        server.send({"error": described(error)})
        answered += 1
    return answered


def _aborted(child: int, trace: int, spec: str) -> str:
    """End a child, and say as "file:line: " where the file that it built was; empty: its code did not run."""
    os.kill(child, signal.SIGABRT)
    end = time.monotonic() + _ABORT_S
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None and time.monotonic() < end:
        time.sleep(0.01)
    folder = Path(spec.rpartition(":")[0] or spec).parent
    own = [f"{file}:{line}: " for file, line in frames_of(trace) if Path(file).parent == folder]
    return own[0] if own else ""


def _crashed(spec: str, code: int, measuring: bool) -> CompileError | None:
    """The error for real-time code in C or C++ that crashed; Numba's code cannot."""
    if not (measuring and code < 0 and code != -signal.SIGABRT):
        return None
    return CompileError(
        f"building {spec}: its real-time methods crashed on sample parts ({signal_name(-code)})",
        hint="SIGSEGV or SIGBUS: a pointer went astray, or an index of what it points to; SIGFPE: the most "
        "negative whole number was divided by -1. Try them in an ActionHarness, under a debugger",
    )


def _endless(spec: str) -> CompileError:
    return CompileError(
        f"building {spec}: its real-time methods did not end within {PATIENCE_S} s",
        hint="Look for a loop that goes on for too long: one tick may take a fraction of the period",
    )


def _child(request: dict[str, Any], specs: list[str], output: Far, trace: int, parent: int) -> None:
    """Do the request's task for all specs and answer; never returns."""
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        faulthandler.enable(trace, all_threads=False)
        end_with(parent, signal.SIGKILL)
        for entry in request["path"]:
            if entry not in sys.path:
                sys.path.append(entry)
        for spec in specs:
            output.send(_answer(request, spec, output))
    except BaseException as error:
        sys.stderr.write(f"builder: {type(error).__name__}: {error}\n")
        os._exit(1)
    os._exit(0)


def _answer(request: dict[str, Any], spec: str, output: Far) -> dict[str, Any]:
    try:
        if request["task"] == "find":
            return {"found": find_action_types(spec)}
        trusted = None if request["trusted"] is None else [Path(folder) for folder in request["trusted"]]
        built = build(spec, lambda text: output.send({"progress": text}), trusted)
        return {"built": vars(built) | {"declared": built.declared.to_json()}}
    except RobotControlError as error:
        return {"error": described(error)}
    except Exception as error:
        refusal = CompileError(f"building {spec} failed with {type(error).__name__}: {error}")
        return {"error": described(refusal)}
