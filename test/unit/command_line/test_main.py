"""What every verb has in common."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from robot_rt_control.command_line.connection import connect
from robot_rt_control.command_line.exit_codes import ExitCode
from robot_rt_control.command_line.main import main, run_verb
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import DefinitionError, NoAnswer, ProgramError


def verb(do: Callable[[], Any]) -> Any:
    return SimpleNamespace(run=lambda _: do())


def failing(error: BaseException) -> Any:
    def do() -> int:
        raise error

    return verb(do)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (DefinitionError("part 'leg'", expected="one of: arm"), ExitCode.FAILED),
        (NoAnswer("service 'x' is not available"), ExitCode.NO_WORKCELL),
    ],
)
def test_an_error_is_printed_and_its_kind_is_the_exit_code(
    error: Exception, code: ExitCode, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_verb(failing(error), argparse.Namespace(json=False)) == code
    assert capsys.readouterr() == ("", f"error: {error}\n")
    assert run_verb(failing(error), argparse.Namespace(json=True)) == code
    out, err = capsys.readouterr()
    (told,) = json.loads(out)["errors"]
    assert told["text"] == str(error) and told["error"] == type(error).__name__ and err == ""


def test_all_mistakes_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    both = ProgramError([DefinitionError("one"), DefinitionError("two")])
    assert run_verb(failing(both), argparse.Namespace(json=False)) == ExitCode.FAILED
    assert capsys.readouterr().err == "error: one\nerror: two\n"


def test_ctrl_c_has_a_code_of_its_own() -> None:
    assert run_verb(failing(KeyboardInterrupt()), argparse.Namespace(json=False)) == ExitCode.INTERRUPTED


def test_the_arguments_reach_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: dict[str, Any] = {}
    monkeypatch.setattr("robot_rt_control.client.Client", lambda name, **options: taken.update(options))
    connect(argparse.Namespace(namespace="cell", timeout=3.0))
    assert taken == {"namespace": "cell", "timeout_s": 3.0, "startup_s": 3.0, "arguments": [], "operator": True}


def test_without_ros_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def missing(*_: object, **__: object) -> None:
        raise ImportError("No module named 'rclpy'")

    monkeypatch.setattr("robot_rt_control.client.Client", missing)
    assert main(["parts"]) == ExitCode.FAILED
    assert capsys.readouterr().err == (
        "error: ROS 2 cannot be used; expected rclpy; got No module named 'rclpy'. "
        "Source the ROS installation; try `doctor`\n"
    )


def test_parts(client: LockstepClient, shown: Callable[..., str], data: Callable[..., Any]) -> None:
    lines = shown("parts").splitlines()
    assert lines[0].split()[:4] == ["part", "kind", "joints", "commands"]
    assert lines[1].split()[:3] == ["arm", "arm", "7"]
    (arm,) = data("parts", "arm")["parts"]
    assert arm["name"] == "arm" and len(arm["joint_names"]) == 7 and arm["velocity_limit"][0] == 2.0
    joint = shown("parts", "arm").splitlines()[3].split()
    assert joint == ["joint_1", "rad", "-2.96706", "2.96706", "2", "8", "80", "200"]
    assert data("parts", "gripper")["parts"][0]["kind"] == "gripper"


def test_an_unknown_part_is_refused(client: LockstepClient, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parts", "amr"]) == ExitCode.FAILED
    assert "part 'amr'; expected one of the known names; did you mean 'arm'" in capsys.readouterr().err


def test_action_types(client: LockstepClient, shown: Callable[..., str], data: Callable[..., Any]) -> None:
    assert "move_joint" in {kind["name"] for kind in data("actions")["action_types"]}
    assert any(line.split()[:2] == ["move_joint", "part"] for line in shown("actions").splitlines())
    text = shown("actions", "move_joint")
    rows = {line.split()[0]: line.split() for line in text.splitlines() if line.strip()}
    assert rows["velocity_scale"][:6] == ["velocity_scale", "float", "1", "0.001", "…", "1"]
    assert rows["position"][:3] == ["position", "float[dof]", "joint"] and rows["is_settled"][1] == "bool"
    (kind,) = data("actions", "move_joint")["action_types"]
    position = next(p for p in kind["parameters"] if p["name"] == "position")
    assert position["minimum"] is None  # no limit is null


def test_sessions(client: LockstepClient, shown: Callable[..., str], data: Callable[..., Any]) -> None:
    assert shown("sessions") == "no sessions\n" and data("sessions") == {"sessions": []}
    with client.session("arm", name="mine") as session:
        (told,) = data("sessions")["sessions"]
        assert (told["id"], told["name"], told["parts"]) == (session.id, "mine", ["arm"])
        assert shown("sessions").splitlines()[1].split()[:3] == [session.id, "mine", "arm"]
