"""`robot-rt view`: its command line. What it serves is tested with the editor's server."""

from __future__ import annotations

import argparse
import http.client
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from written_recording import write_recording

from robot_rt_control.command_line import view
from robot_rt_control.command_line.main import main
from robot_rt_control.editor import installed

Captured = pytest.CaptureFixture[str]


def test_help_says_what_it_shows(capsys: Captured) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["view", "--help"])
    out = capsys.readouterr().out
    assert ended.value.code == 0 and "Show the workcell in a browser" in out and "--port" in out
    assert "--view" not in out, "it is the view"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--address", "0.0.0.0"], "can be reached from the network; expected 127.0.0.1, or a certificate"),
        (["--port", "70000"], "port 70000; expected 0 to 65535"),
    ],
)
def test_where_it_cannot_listen_is_refused(arguments: list[str], said: str, capsys: Captured) -> None:
    assert main(["view", *arguments]) == 1
    assert said in capsys.readouterr().err


def test_a_port_that_is_taken_is_named(capsys: Captured) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["view", "--port", str(port)]) == 1
    assert f"port {port}: it is taken" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "no such file"), (b"no archive", "expected a file of recorded ticks"), (b"", "expected a file of")],
)
def test_H13_what_is_no_recording_is_refused(
    content: bytes | None, said: str, tmp_path: Path, capsys: Captured
) -> None:
    path = tmp_path / "a.mcap"
    if content is not None:
        path.write_bytes(content)
    assert main(["view", str(path), "--port", "0"]) == 1
    assert said in capsys.readouterr().err


def test_H12_a_recording_is_served_without_ros(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "a.mcap", 100)
    code = (
        "import sys; sys.modules['rclpy'] = None; from robot_rt_control.command_line.main import main;"
        f"sys.exit(main(['view', {str(path)!r}, '--port', '0']))"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        link = process.stdout.readline()
        found = re.fullmatch(r"See the recording: http://127\.0\.0\.1:(\d+)/past\.html#token=.{20,}\n", link)
        assert found, link
        connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=60)
        connection.request("GET", "/past.html")
        assert connection.getresponse().status == 200
        connection.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0


def test_the_server_for_foxglove_imports_nothing_from_the_working_directory_and_ends_with_the_view(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commands, start = list[list[str]](), subprocess.Popen
    deaf = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); print(flush=True); time.sleep(600)"

    def popen(command: list[str], **options: Any) -> Any:
        commands.append(command)
        processes.append(start([sys.executable, "-c", deaf], stdout=subprocess.PIPE, **options))
        return processes[0]

    processes = list[Any]()
    monkeypatch.setattr(installed, "require_foxglove", lambda: None)
    monkeypatch.setattr(subprocess, "Popen", popen)
    arguments = argparse.Namespace(foxglove=True, recordings=[], foxglove_port=0, namespace="cell")
    with view._foxglove(arguments):
        assert processes[0].stdout.readline() == b"\n"
        patience = threading.Timer(120.0, processes[0].terminate)
        patience.start()  # else a view that waits for it would hang
    patience.cancel()
    assert processes[0].returncode == -signal.SIGKILL
    processes[0].stdout.close()
    module = "robot_rt_control.editor.foxglove.main"
    assert commands == [[sys.executable, "-P", "-m", module, "--port", "0", "--namespace", "cell"]]
