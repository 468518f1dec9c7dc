"""`robot-rt view`: its command line. What it serves is tested with the editor's server."""

from __future__ import annotations

import socket

import pytest

from robot_rt_control.command_line.main import main

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
