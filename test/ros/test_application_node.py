"""The application node as a process of its own, over DDS, beside a control server of few words."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor

from robot_rt_control import msg, srv
from robot_rt_control.application.node import ApplicationNode
from robot_rt_control.ros.listening_node import ListeningNode
from robot_rt_control.testing.ros_domain import claim_domain
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError

DOMAIN = claim_domain("nodes")
"""Beside whatever else runs on this machine."""
START_S = 300.0


class FewWords:
    """Answers what an application needs to open and close sessions; remembers what was asked."""

    def __init__(self) -> None:
        self.enabled = True
        self.calls: list[str] = []
        self._context = Context()
        self._context.init(args=[], domain_id=DOMAIN)
        self.node = ListeningNode("control_server", context=self._context, namespace="/cell")
        group = ReentrantCallbackGroup()
        for name, kind in {
            "list_parts": srv.ListParts,
            "open_session": srv.OpenSession,
            "close_session": srv.CloseSession,
            "renew_session": srv.RenewSession,
        }.items():
            self.node.create_service(kind, f"~/{name}", self._answer(name), callback_group=group)
        self.change: Any = self.node.create_client(ChangeState, "application/change_state", callback_group=group)
        self._executor = MultiThreadedExecutor(num_threads=4, context=self._context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin)
        self._thread.start()

    def _spin(self) -> None:
        try:
            self._executor.spin()
        except ExternalShutdownException:
            return

    def _answer(self, name: str) -> Callable:
        def answer(request: Any, response: Any) -> Any:
            self.calls.append(name)
            response.success = True
            if name == "list_parts":
                state = "enabled" if self.enabled else "disabled"
                response.parts = [msg.PartInfo(name="arm", joint_names=["a"], operational_state=state)]
            if name == "open_session":
                response.session, response.lease = "session_1", request.lease
            return response

        return answer

    def transition(self, transition: int) -> bool:
        """Change the application's life-cycle state."""
        assert self.change.wait_for_service(START_S)
        future = self.change.call_async(ChangeState.Request(transition=Transition(id=transition)))
        assert eventually(future.done, START_S)
        return bool(future.result().success)

    def close(self) -> None:
        self._executor.shutdown()
        self._thread.join(60.0)
        self.node.destroy_node()
        self._context.try_shutdown()


def eventually(condition: Callable[[], object], timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def server() -> Iterator[FewWords]:
    found = FewWords()
    yield found
    found.close()


class Application:
    """The node's process, and what it prints."""

    def __init__(self, log: Path, *parameters: str) -> None:
        self._log = log
        words = [word for parameter in parameters for word in ("-p", parameter)]
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "robot_rt_control.application.node"),
                    *("--ros-args", "-r", "__ns:=/cell", *words),
                ],
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "ROS_DOMAIN_ID": str(DOMAIN), "PYTHONUNBUFFERED": "1"},
            )

    @property
    def text(self) -> str:
        return self._log.read_text()

    def says(self, text: str) -> bool:
        return eventually(lambda: text in self.text or self.process.poll() is not None, START_S) and text in self.text

    def end(self) -> int:
        return self.process.wait(START_S)

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.end()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Application]]:
    started = []

    def run(program: str, *parameters: str) -> Application:
        file = tmp_path / "program.py"
        file.write_text("import time\n" + program)
        started.append(Application(tmp_path / "log", f"program:={file}", *parameters))
        return started[-1]

    yield run
    for application in started:
        if application.process.poll() is None:
            application.process.kill()
            application.process.wait()


def test_a_program_waits_for_enabled_parts_gets_a_client_and_its_arguments_and_ends_the_process(
    server: FewWords, start: Callable[..., Application]
) -> None:
    server.enabled = False
    application = start(
        """
def main(client, times: int, word):
    with client.session("arm") as session:
        print("session", session.id, [part.name for part in client.parts()] * times, repr(word), client.node.get_name())
    return 7
""",
        'program_arguments:=["2", "3"]',
        "exit_at_end:=true",
    )
    assert eventually(lambda: server.calls.count("list_parts") > 3, START_S)
    assert "session" not in application.text
    server.enabled = True
    assert application.end() == 0, application.text
    assert "session session_1 ['arm', 'arm'] '3' application_client" in application.text
    assert re.search(r"the program ended after [\d.]+ s and returned 7", application.text)
    assert [call for call in server.calls if call != "renew_session"][-4:] == [
        "list_parts",
        "open_session",
        "list_parts",
        "close_session",
    ]


def test_a_program_that_fails_is_logged_and_its_sessions_are_closed(
    server: FewWords, start: Callable[..., Application]
) -> None:
    application = start("def main(client):\n    client.session('arm')\n    1 // 0\n", "exit_at_end:=true")
    assert application.end() == 1
    trace = application.text[application.text.index("the program failed:\nTraceback") :]
    assert re.search(r"program.py\", line 4(.|\n)*ZeroDivisionError", trace)
    assert server.calls[-1] == "close_session"


def test_a_program_that_does_not_listen_loses_its_sessions(
    server: FewWords, start: Callable[..., Application]
) -> None:
    application = start("def main(client):\n    client.session('arm')\n    print('opened')\n    time.sleep(100)\n")
    assert application.says("opened")
    assert application.stop() == 0
    assert server.calls[-1] == "close_session"
    assert "the program did not end within 5 s; its sessions are closed, so it moves nothing" in application.text


def test_deactivating_closes_the_sessions_activating_runs_the_program_again_and_the_node_outlives_it(
    server: FewWords, start: Callable[..., Application]
) -> None:
    application = start(
        "runs = []\n"
        "def main(client):\n"
        "    runs.append(1)\n"
        "    if len(runs) == 2: return 'second'\n"
        "    session = client.session('arm')\n"
        "    print('opened')\n"
        "    while session.ended is None: time.sleep(0.05)\n"
        "    session.start('a')\n"
    )
    assert application.says("opened")
    assert server.transition(Transition.TRANSITION_DEACTIVATE)
    assert server.calls.count("close_session") == 1
    ended = "SessionEnded: session 'session_1' (python) has ended: closed by the application"
    assert application.says(f"the program was stopped ({ended}")
    assert server.transition(Transition.TRANSITION_ACTIVATE)
    assert application.says("s and returned 'second'")
    time.sleep(0.3)
    assert application.process.poll() is None
    assert application.stop(signal.SIGTERM) == 0


@contextmanager
def in_this_process(*parameters: str) -> Iterator[ApplicationNode]:
    """The node without a process of its own, and without anybody to talk to."""
    context = Context()
    context.init(args=[], domain_id=DOMAIN)
    words = [word for parameter in parameters for word in ("-p", parameter)]
    node = ApplicationNode(context=context, cli_args=["--ros-args", *words], use_global_arguments=False)
    try:
        yield node
    finally:
        node.destroy_node()
        context.try_shutdown()


def test_a_workcell_that_does_not_come_up_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    arm = msg.PartInfo(name="arm", joint_names=["a"], operational_state="disabled")
    service = SimpleNamespace(wait_for_service=lambda _: True)
    client = SimpleNamespace(parts=lambda: [arm], node=SimpleNamespace(create_client=lambda *_: service))
    monkeypatch.setattr("robot_rt_control.application.node.Client", lambda *_, **__: client)
    with in_this_process("workcell_timeout:=0.5") as node, pytest.raises(RobotControlError) as caught:
        node._connect(threading.Event())
    assert str(caught.value).startswith("the workcell did not come up within 0.5 s (part 'arm' is disabled)")


def test_a_wrong_program_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("def main(client, seconds: float): pass")
    parameters = (f"program:={tmp_path / 'program.py'}", 'program_arguments:=["soon"]')
    with in_this_process(*parameters) as node, pytest.raises(DefinitionError) as caught:
        node.configure()
    assert "program 'main', argument 'seconds'; expected a number; got 'soon'" in str(caught.value)
