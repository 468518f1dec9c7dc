"""The state of loop and parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from robot_rt_control.client import Action
from robot_rt_control.command_line.main import main
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import NoAnswer


def test_what_the_loop_and_its_parts_do(
    client: LockstepClient, shown: Callable[..., str], data: Callable[..., Any]
) -> None:
    with client.session("arm") as session:
        session.add(Action("stay", "hold"))
        session.start("stay")
        told = data("status")
        lines = shown("status").splitlines()
        rows = {line.split()[0]: line for line in lines if line.strip()}
        assert rows["arm"].split() == ["arm", "enabled", session.id, "stay"]
        assert "every 1 ms, clock lockstep" in rows["loop"] and "attached, 1 sessions" in rows["control"]
        assert "not measured in simulated time" in rows["compute"]
    assert told["executor"]["clock"] == "lockstep" and told["executor"]["period"] == 0.001
    assert [part["active_action"] for part in told["executor"]["parts"] if part["name"] == "arm"] == ["stay"]
    assert [one["id"] for one in told["sessions"]] == [session.id]


def test_a_protective_stop_is_seen(client: LockstepClient, shown: Callable[..., str]) -> None:
    client.protective_stop("open", source="door", who="Ann")
    client.protective_stop(source="curtain", secret="key", who="Ben")
    try:
        told = shown("status")
        assert "in force: nothing moves until each of these is released" in told
        lines = [line.split() for line in told.splitlines()]
        assert any(words[:5] == ["door", "open,", "Ann,", "since", "tick"] for words in lines)
        assert any(words[0:1] == ["curtain"] and words[-3:] == ["needs", "its", "secret"] for words in lines)
    finally:
        client.release("door")
        client.release("curtain", secret="key")


def test_a_dead_control_server_leaves_the_executors_view(
    client: LockstepClient, shown: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def dead() -> list[Any]:
        raise NoAnswer("service 'list_sessions' did not answer")

    monkeypatch.setattr(client, "sessions", dead)
    text = shown("status")
    assert "does not answer" in text and "enabled" in text


def test_live_goes_on_until_ctrl_c(
    client: LockstepClient, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    looks: list[int] = []
    look = client.executor_status

    def status() -> Any:
        looks.append(1)
        if len(looks) == 2:
            raise NoAnswer("the executor is silent")
        if len(looks) == 4:
            raise KeyboardInterrupt
        return look()

    monkeypatch.setattr(client, "executor_status", status)
    assert main(["status", "--live"]) == 0
    assert len(looks) == 4 and "clock lockstep" in capsys.readouterr().out
