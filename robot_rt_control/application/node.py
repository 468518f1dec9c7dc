"""The application node: runs a user's program, with a client that belongs to it."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from robot_rt_control import srv
from robot_rt_control.application.user_program import bind, load_program
from robot_rt_control.client import Client
from robot_rt_control.ros.lifecycle_node import AUTOSTART, NodeParameter, WorkcellNode
from robot_rt_control.ros.node_help import NodeHelp
from robot_rt_control.ros.node_process import run_node
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError
from robot_rt_control.vocabulary.waiting import Waiting

_PARAMETERS = (
    NodeParameter(
        name="program",
        default="",
        description="What to run: file.py, file.py:function, package.module or package.module:function; "
        "without a function, main. It is called with a robot_rt_control.client.Client.",
    ),
    NodeParameter(
        name="program_arguments",
        default=(),
        description="Further arguments of the function, as text; annotations with int, float or bool convert them.",
    ),
    NodeParameter(
        name="exit_at_end",
        default=False,
        description="End the process with the program: with exit code 0, or 1 if the program failed.",
    ),
    NodeParameter(
        name="workcell_timeout",
        default=defaults.STARTUP_S,
        minimum=0.0,
        maximum=86400.0,
        description="[s] to wait until all parts are enabled or faulted; the first compilation takes minutes.",
    ),
)

_SETTLED = ("enabled", "faulted")
"""Operational states that end the waiting for a part."""
_POLL_S = 0.2
_STOP_S = 5.0
"""[s] Time-out for a program to end after its sessions were closed."""


ABOUT = NodeHelp(
    executable="application",
    summary="The application node: waits until a workcell is up, then runs a user's program with a client that "
    "belongs to it. workcell.launch.py starts it with the argument program.",
    parameters=(AUTOSTART, *_PARAMETERS),
    examples=(
        "--ros-args -p program:=examples/03_up_and_down.py",
        "--ros-args -p program:=cell.main:run -p 'program_arguments:=[\"10\"]' -p exit_at_end:=true",
    ),
)


class ApplicationNode(WorkcellNode):
    """The node `application`. The program is loaded by `configure`, runs from `activate` on, in a thread of its own."""

    def __init__(self, **options: Any) -> None:
        super().__init__("application", _PARAMETERS, common=(AUTOSTART,), **options)
        self._program: Callable[..., Any] | None = None
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._client: Client | None = None
        self._lock = threading.Lock()

    # --- life cycle -----------------------------------------------------------------------------

    def configure(self) -> None:
        text = self.value("program")
        if not text:
            expected = "file.py:function or package.module:function"
            raise DefinitionError("parameter 'program'", expected=expected, got="none")
        program = load_program(text)
        bind(program, None, self.value("program_arguments"))  # refuses wrong arguments now
        self._program = program

    def activate(self) -> None:
        if self._thread is not None and self._thread.is_alive():
            raise RobotControlError(
                "the program of the last activation is still running",
                hint="It should end once its sessions have ended; if it does not, restart the node",
            )
        assert self._program is not None
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._run,
            args=(self._program, list(self.value("program_arguments")), self._stop),
            name="program",
            daemon=True,
        )
        self._thread.start()

    def deactivate(self) -> None:
        """Close the program's sessions, which ends their motions; the program gets a SessionError."""
        self._stop.set()
        # In a thread, because with a dead server each session would wait for its answer.
        closer = threading.Thread(target=self._close_client, name="close", daemon=True)
        closer.start()
        closer.join(_STOP_S)
        if self._thread is not None:
            self._thread.join(_STOP_S)
            if self._thread.is_alive():
                self.get_logger().warning(
                    f"the program did not end within {_STOP_S:g} s; its sessions are closed, so it moves nothing"
                )

    def cleanup(self) -> None:
        self._program = None

    # --- the program's thread -----------------------------------------------------------------------

    def _run(self, program: Callable[..., Any], arguments: list[str], stop: threading.Event) -> None:
        exit_code = 1
        try:
            client = self._connect(stop)
            if client is not None:
                self.get_logger().info(f"running {self.value('program')}")
                begin = time.monotonic()
                result = program(*bind(program, client, arguments))
                returned = "" if result is None else f" and returned {result!r}"
                self.get_logger().info(f"the program ended after {time.monotonic() - begin:.1f} s{returned}")
            exit_code = 0
        except SystemExit as request:
            exit_code = request.code if isinstance(request.code, int) else int(request.code is not None)
            self.get_logger().info(f"the program ended with {request}")
        except BaseException as error:  # a user's program may raise anything
            if stop.is_set():
                self.get_logger().info(f"the program was stopped ({type(error).__name__}: {error})")
            elif isinstance(error, RobotControlError):
                self.get_logger().error(f"the program failed: {error}\n{traceback.format_exc()}")
            else:
                self.get_logger().error(f"the program failed:\n{traceback.format_exc()}")
        finally:
            self._close_client()
        if self.value("exit_at_end") and not stop.is_set():
            self.end(exit_code)

    def _connect(self, stop: threading.Event) -> Client | None:
        """A client of a workcell that is up; None: the node was deactivated while it waited.

        Raises:
            RobotControlError: the workcell did not come up in time.
        """
        timeout_s = self.value("workcell_timeout")
        # Without this process's command line, which would give the client's node the name of this one.
        client = Client(f"{self.get_name()}_client", namespace=self.get_namespace(), arguments=[])
        with self._lock:
            self._client = client
        patience = Waiting(self.get_logger().info, timeout_s)
        there: Any = client.node.create_client(srv.ListParts, "control_server/list_parts")
        problem = "there is no control server"
        while not stop.is_set():
            try:
                if there.wait_for_service(_POLL_S):
                    waiting = [p for p in client.parts() if p.joint_names and p.operational_state not in _SETTLED]
                    if not waiting:
                        return client
                    problem = f"part {waiting[0].name!r} is {waiting[0].operational_state}"
                    stop.wait(_POLL_S)
            except RobotControlError as error:  # it exists, but is not up yet
                problem = str(error)
                stop.wait(_POLL_S)
            if not patience.goes_on(f"the workcell: {problem}"):
                raise RobotControlError(
                    f"the workcell did not come up within {timeout_s:g} s ({problem})",
                    hint="Bring the workcell up: ros2 launch robot_rt_control workcell.launch.py",
                )
        return None

    def _close_client(self) -> None:
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until it is stopped. Returns the exit code."""
    return run_node(ApplicationNode, argv, about=ABOUT)


if __name__ == "__main__":
    sys.exit(main())
