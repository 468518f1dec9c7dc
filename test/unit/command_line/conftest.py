"""The command line on a workcell in simulated time, in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.command_line import connection
from robot_rt_control.command_line.main import main
from robot_rt_control.testing.lockstep_client import LockstepClient

ROOT = Path(__file__).resolve().parents[3]
MORE = ("trace", "plot", "record")
ARM7 = ROOT / "config" / "arm7.yaml"


class _Kept:
    """A verb closes its client; the workcell stays for the next one."""

    def __init__(self, client: LockstepClient) -> None:
        self._client = client

    def __enter__(self) -> LockstepClient:
        return self._client

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def workcell() -> Iterator[LockstepClient]:
    with LockstepClient(ARM7) as client:
        yield client


@pytest.fixture
def client(workcell: LockstepClient, monkeypatch: pytest.MonkeyPatch) -> LockstepClient:
    """What the verbs connect to."""
    for verb in ("status", "parts", "actions", "sessions", "start", "stop", "release", "resume", *MORE):
        monkeypatch.setattr(f"{connection.__package__}.{verb}.connect", lambda _: _Kept(workcell))
    return workcell


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command line that must succeed; returns what it prints."""

    def run(*words: str) -> str:
        code = main(words)
        out, err = capsys.readouterr()
        assert code == 0, err
        return out

    return run


@pytest.fixture
def data(shown: Callable[..., str]) -> Callable[..., Any]:
    """The same with --json, read; one line must come."""
    return lambda verb, *words: json.loads(shown(verb, "--json", *words))
