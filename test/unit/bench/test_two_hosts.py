"""The pure parts of the proof with two hosts."""

from __future__ import annotations

import inspect
import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from bench import network_hosts, prove, two_hosts
from bench.host_findings import Findings, bounds, session_end, table
from bench.network_switch import is_multicast
from bench.remote_application import Application
from bench.two_hosts import WAYS, Trial
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.errors import RobotControlError


def test_the_bounds_are_those_of_the_rules() -> None:
    bound = bounds(1.0)
    assert bound.stream_rest == defaults.STREAM_TIMEOUT_S + defaults.REST_TIME_S
    assert (bound.action_rest, bound.ended, bound.told) == (1.5, 1.0, 4.0)
    assert bounds(5.0).told == 6.0
    assert bounds(1.0, simulated=True).ended == defaults.SIMULATED_LEASE_S


def test_the_end_of_a_session_is_found_in_the_log() -> None:
    log = (
        "[control_server] [WARN] [1795423276.750300179] [control_server]: session 's2' (parts arm) has ended: closed\n"
        "[control_server] [WARN] [1795423287.6] [control_server]: session 's4' (parts arm) has ended: no renewal\n"
    )
    assert session_end(log, "s4") == (1795423287.6, "no renewal")
    assert session_end(log, "s2") == (1795423276.750300179, "closed")
    assert session_end(log, "s") is None


def test_a_time_beyond_its_bound_or_never_seen_is_a_broken_promise() -> None:
    findings = Findings("multicast", Console(file=io.StringIO()))
    for seen in (1.0, 1.1, 1.2, None, float("inf")):
        findings.within("at rest", 1.0, seen, margin_s=0.15)
    assert [row.held for row in findings.rows] == [True, True, False, False, False]
    assert [row.seen for row in findings.rows[2:]] == ["after 1.20 s", "not seen", "not seen"]
    assert table([findings]).row_count == 5


def test_each_way_but_the_control_finds_the_workcell_by_one_means() -> None:
    named = {way.name: way for way in WAYS}
    assert [way.name for way in WAYS if not way.found] == ["none"]
    for name, variable in (("discovery server", "ROS_DISCOVERY_SERVER"), ("static peers", "ROS_STATIC_PEERS")):
        assert variable in named[name].application and not named[name].multicast
    assert named["none"].application == named["multicast"].application and not named["none"].multicast


def test_each_step_is_one_of_the_application() -> None:
    source = inspect.getsource(Trial)
    steps = set(re.findall(r'application\.do\("(\w+)"', source)) | {"stream", "action"}
    assert steps == {name for name, _ in inspect.getmembers(Application, inspect.isfunction) if name[0] != "_"}


def test_multicast_is_told_from_broadcast() -> None:
    assert is_multicast(bytes.fromhex("01005e000001") + bytes(50))
    assert not is_multicast(b"\xff" * 6 + bytes(50)) and not is_multicast(bytes(60))


def test_without_namespaces_it_says_so_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(command: object) -> str:
        raise RobotControlError("`unshare` failed", got="Operation not permitted")

    monkeypatch.setattr(network_hosts, "_ask", refuse)
    assert two_hosts.main([]) == 2
    said = capsys.readouterr().err
    assert "two hosts cannot be made on this machine" in said and "Operation not permitted" in said


def test_prove_runs_it_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], check: bool) -> object:
        commands.append(command)
        return type("Done", (), {"returncode": 2})

    monkeypatch.setattr(prove.subprocess, "run", run)
    assert prove.main(["--hosts", "--seed", "5"]) == 2
    ((_, program, *arguments),) = commands
    assert Path(program).is_file() and arguments == ["--seed", "5"]
