"""Reporting to the parent process that this one is up."""

from __future__ import annotations

import secrets
import socket
from pathlib import Path

import pytest

from robot_rt_control.ros.readiness import READY, VARIABLE, report_ready, report_status


def test_a_socket_with_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "s"))
        listener.settimeout(5.0)
        monkeypatch.setenv(VARIABLE, str(tmp_path / "s"))
        report_ready()
        assert listener.recv(100) == READY == b"READY=1"


def test_a_socket_in_the_abstract_name_space(monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"readiness-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind("\0" + name)
        listener.settimeout(5.0)
        monkeypatch.setenv(VARIABLE, "@" + name)
        report_ready()
        assert listener.recv(100) == READY


def test_what_is_not_well_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "s"))
        listener.settimeout(5.0)
        monkeypatch.setenv(VARIABLE, str(tmp_path / "s"))
        report_status("part 'arm' is faulted:\ntoo old")
        report_status("")
        assert listener.recv(100) == b"STATUS=part 'arm' is faulted: too old"
        assert listener.recv(100) == b"STATUS="


def test_nobody_asked_or_nobody_is_there_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    report_ready()
    monkeypatch.setenv(VARIABLE, str(tmp_path / "gone"))
    report_ready()
