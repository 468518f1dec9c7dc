"""The command line of plans: verbs that need no planner, and solve and compare with a planner that is quick."""

from __future__ import annotations

import csv
import importlib
import json
import re
import subprocess
import sys
import types
from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_rt_control.command_line import cancelling
from robot_rt_control.command_line.exit_codes import ExitCode
from robot_rt_control.command_line.planning import plan_workcell
from robot_rt_control.command_line.planning.main import main, parser
from robot_rt_control.command_line.planning.verbs import VERBS, find_verb
from robot_rt_control.command_line.verbs import summary
from robot_rt_control.planner import execution
from robot_rt_control.planning.files.task_schema import SCHEMA_FILE
from robot_rt_control.planning.optimise.cost import PoseError
from robot_rt_control.planning.optimise.penalty_loop import Iterate
from robot_rt_control.planning.plan.plan import FORMAT, Plan, PoseDifference
from robot_rt_control.planning.solve import engines, planner, verified
from robot_rt_control.planning.solve.planner import Progress, Result
from robot_rt_control.planning.solve.verified import Played
from robot_rt_control.program.file import ProgramTemplate

ROOT = Path(__file__).resolve().parents[4]
Captured = pytest.CaptureFixture[str]


def made(**header: Any) -> Plan:
    """A plan of one joint, which touches its pair from 0.5 s on."""
    return Plan(
        header={
            "format": FORMAT,
            "workcell": 1,
            "task": "t",
            "body": "box",
            "joints": ["arm.j"],
            "velocity_driven": [True],
            "limits": {name: [1.0] for name in ("lower", "upper", "velocity", "acceleration", "effort")},
            "pairs": ["arm.tip box.back"],
            "time": 1.0,
            "steps": 2,
            "success": True,
            "position_error": 0.001,
            "normalized_error": 0.01,
            "orientation_error": 0.002,
            "target": [[0.5, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
            "convergence": [
                {
                    "penalty": 0.1,
                    "normalized_error": 0.2,
                    "orientation_error": 0.0,
                    "stiffness_average": 0.5,
                    "stiffness_greatest": 0.9,
                    "accepted": True,
                }
            ],
            "versions": {"mujoco": "4.0.0"},
            **header,
        },
        position=np.array([[0.0], [0.1], [0.3]]),
        velocity=np.array([[0.0], [0.2], [0.6]]),
        inputs=np.array([[0.4], [0.8]]),
        body_position=np.zeros((3, 3)),
        body_rotation=np.tile(np.eye(3), (3, 1, 1)),
        distance=np.array([[0.1], [0.001], [0.0]]),
        stiffness=np.array([[1.0], [2.0]]),
        virtual_force=np.array([[0.5], [1.5]]),
        virtual_distance=np.zeros((3, 1)),
    )


ROW = {
    "engine": "other", "speed": 1.0, "rests": True, "error_to_target": 0.0005, "normalized_error": 0.005,
    "orientation_error": 0.0, "peak": 12.5, "impulse": 0.5,
}  # fmt: skip
VERIFIED: dict[str, Any] = {
    "replays": [ROW],
    "perturbed": [{"name": "mass", "world": True, "position_error": 0.001, "orientation_error": 0.0}],
    "speeds": [1.0],
}
ERROR = PoseError(position=0.001, orientation=0.002, normalized=0.01)
ITERATE = Iterate(iteration=0, penalty=0.1, error=ERROR, average=0.5, greatest=0.9, holds=True, accepted=True)


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """A planner that answers at once; the tasks and settings that it was given."""
    calls: list[Any] = []

    def plan(task: Any, settings: Any, *, progress: Any, cancel: Any, **options: Any) -> Result:
        calls.append((task, settings, cancel))
        known: dict[str, Any] = {"phase": "penalty", "iterate": ITERATE, "iteration": None, "best": None, "start": "s"}
        progress(Progress(**{field.name: known.get(field.name, 0.0) for field in fields(Progress)}))
        success = settings.penalty.iterations != 1
        message = "" if success else "1.0 % of the way are left"
        plan = made(success=success)
        return Result(success=success, message=message, plan=plan, error=ERROR, iterates=(ITERATE,))

    def solve(task: Any, settings: Any, *, played: Any, **options: Any) -> Result:
        result = plan(task, settings, **options)
        if not result.success:
            return result
        assert result.plan is not None
        found = result.plan.with_verification(verification)
        played(Played(plan=found, aimed=False, elapsed=1.5))
        return replace(result, plan=found, success=not found.lacking, message="; ".join(found.lacking))

    verification: dict[str, Any] = {"spread": 0.004, **VERIFIED}
    monkeypatch.setattr(planner, "plan", plan)
    monkeypatch.setattr(verified, "solve", solve)
    monkeypatch.setattr(engines, "find_spec", lambda name: object())
    monkeypatch.chdir(tmp_path)
    return calls


@pytest.fixture
def file(tmp_path: Path) -> str:
    made().save(tmp_path / "push.plan")
    return str(tmp_path / "push.plan")


def test_every_verb_is_in_the_help(capsys: Captured) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    out = " ".join(capsys.readouterr().out.split())
    assert ended.value.code == ExitCode.DONE
    for name in VERBS:
        assert f"{name} {summary(find_verb(name))}" in out
        with pytest.raises(SystemExit):
            main([name, "--help"])
        assert "--json" in capsys.readouterr().out


def test_help_needs_neither_ros_nor_the_planner() -> None:
    code = "import sys; from robot_rt_control.command_line.planning.main import parser; parser();"
    code += "print([m for m in ('rclpy', 'numba', 'numpy', 'yaml', 'rich', 'mujoco') if m in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert ended.stdout == "[]\n"


@pytest.mark.parametrize(
    "words", [[], ["slove"], ["solve"], ["solve", "x", "=1"], ["compare", "x"], ["compare", "x", "penalty"], ["export"]]
)
def test_a_wrong_command_line_ends_with_2(words: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == ExitCode.USAGE and "error" in capsys.readouterr().err


def test_check_reports_all_mistakes_with_lines(tmp_path: Path, capsys: Captured) -> None:
    text = (ROOT / "config" / "tasks" / "push_box.yaml").read_text()
    (tmp_path / "bad.yaml").write_text(text.replace("body: box", "body: bx").replace("arm.peg", "arm.pg"))
    assert main(["check", "push_box", str(tmp_path / "bad.yaml")]) == ExitCode.FAILED
    out, err = capsys.readouterr()
    valid = "push_box: valid; box to (0.700, 0.000, 0.040) m in 1.5 s, 30 steps, 4 contact pairs\n"
    assert out == valid, err
    lines = err.splitlines()
    assert lines[0].startswith("error: bad.yaml:6: body 'bx'") and "did you mean 'box'" in lines[0]
    assert lines[1].startswith("error: bad.yaml:10: robot geometry 'arm.pg'") and len(lines) == 2
    assert main(["check", str(tmp_path / "bad.yaml"), "--json"]) == ExitCode.FAILED
    [found] = json.loads(capsys.readouterr().out)["files"]
    assert not found["valid"] and found["errors"][0]["got"] == "'bx'"


def test_check_warns_of_parameters_that_nothing_uses(tmp_path: Path, capsys: Captured) -> None:
    text = (ROOT / "config" / "tasks" / "push_box.yaml").read_text()
    (tmp_path / "task.yaml").write_text(text.replace("$distance", "0.1"))
    assert main(["check", str(tmp_path / "task.yaml")]) == ExitCode.DONE
    assert "nothing refers to parameter 'distance'" in capsys.readouterr().err
    assert main(["check", str(tmp_path / "task.yaml"), "--strict"]) == ExitCode.FAILED


def test_new_writes_a_task_once(tmp_path: Path, capsys: Captured) -> None:
    file = str(tmp_path / "mine.yaml")
    assert main(["new", file, "--workcell", "push"]) == ExitCode.DONE
    assert main(["check", file, "--strict"]) == ExitCode.DONE
    assert main(["new", file, "--workcell", "push"]) == ExitCode.FAILED
    assert "expected a new file; got an existing one. See --force" in capsys.readouterr().err


def test_solve_saves_the_plan(planned: list[Any], tmp_path: Path, capsys: Captured) -> None:
    words = ["solve", "push_box", "distance=0.2", "--setting", "penalty.schedule=additive", "time=2", "--threads", "1"]
    assert main(words) == ExitCode.DONE
    [(task, settings, _)] = planned
    assert task.target.position[0] == pytest.approx(0.8) and task.steps == 40
    assert settings.penalty.schedule == "additive" and settings.threads == 1
    assert Plan.load(tmp_path / "push_box.plan").header["verification"]["spread"] == 0.004
    out, err = capsys.readouterr()
    assert out.endswith("solved\n")
    assert re.search(r"other +0.5 mm +0.5 % +0.000 rad +12.5 N +1.0 mm +1.5 s", out), out
    assert "start s, iteration 0, penalty 0.1, error 1.0 %" in err and "1.0 mm (1.00 % of the way) and 0.002 rad" in err


def test_V28_a_plan_that_another_engine_does_not_confirm_is_no_success(
    planned: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Captured
) -> None:
    monkeypatch.setitem(ROW, "error_to_target", 0.02)
    assert main(["solve", "push_box"]) == ExitCode.FAILED
    out, err = capsys.readouterr()
    assert "solved" not in out and "planned, not verified: in other at speed 1 the body ends 20.0 mm" in err
    assert main(["solve", "push_box", "--json"]) == ExitCode.FAILED
    found = json.loads(capsys.readouterr().out)
    assert found["success"] is False and found["planned"] is True


def test_V28_without_verification_it_is_planned_and_not_solved(planned: list[Any], capsys: Captured) -> None:
    assert main(["solve", "push_box", "--no-verify"]) == ExitCode.DONE
    out, err = capsys.readouterr()
    assert "solved" not in out and "planned, not verified: as asked for" in err


def test_solve_without_success_keeps_the_best_plan(planned: list[Any], tmp_path: Path, capsys: Captured) -> None:
    words = ["solve", "push_box", "--setting", "penalty.iterations=1", "-o", str(tmp_path / "best.plan")]
    assert main(words) == ExitCode.FAILED
    assert "not solved: 1.0 % of the way are left; the best plan is kept" in capsys.readouterr().err
    assert (tmp_path / "best.plan").exists()
    assert main([*words, "--json"]) == ExitCode.FAILED
    found = json.loads(capsys.readouterr().out)
    assert found["success"] is False and found["iterates"][0]["error"]["normalized"] == 0.01


def test_solve_refuses_before_anything_is_planned(planned: list[Any], capsys: Captured) -> None:
    assert main(["solve", "push_box", "distanc=0.2"]) == ExitCode.FAILED
    assert "push_box.yaml:13: task 'push_box' has no parameter 'distanc'" in capsys.readouterr().err
    assert main(["solve", "push_box", "--setting", "penalty.first=-1"]) == ExitCode.FAILED
    assert "setting 'penalty.first'; expected 1e-06 to 1e+06; got -1" in capsys.readouterr().err
    assert planned == []


def test_V13_ctrl_c_ends_with_the_best_plan_so_far(
    planned: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import os
    import signal

    def plan(task: Any, settings: Any, *, progress: Any, cancel: Any, **options: Any) -> Result:
        os.kill(os.getpid(), signal.SIGINT)
        assert cancel.wait(10.0)
        return Result(success=False, message="cancelled", plan=made(), error=ERROR, iterates=())

    monkeypatch.setattr(verified, "solve", plan)
    monkeypatch.setattr(cancelling, "GRACE_S", 600.0)
    before = signal.getsignal(signal.SIGINT)
    assert main(["solve", "push_box"]) == ExitCode.INTERRUPTED
    assert (tmp_path / "push_box.plan").exists() and signal.getsignal(signal.SIGINT) is before


def test_V13_ctrl_c_does_not_wait_for_what_does_not_look(
    planned: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Captured
) -> None:
    import os
    import signal
    import threading

    done, left = threading.Event(), list[int]()

    def plan(task: Any, settings: Any, *, progress: Any, **options: Any) -> Result:
        known: dict[str, Any] = {"start": "s", "phase": "physical", "best": ERROR, "best_plan": made(success=False)}
        progress(Progress(**{field.name: known.get(field.name, 0.0) for field in fields(Progress)} | {"iterate": None}))
        os.kill(os.getpid(), signal.SIGINT)
        done.wait(600.0)
        return Result(success=True, message="", plan=made(), error=ERROR, iterates=())

    monkeypatch.setattr(verified, "solve", plan)
    monkeypatch.setattr(importlib.import_module("robot_rt_control.command_line.planning.solve"), "leave", left.append)
    assert main(["solve", "push_box"]) == ExitCode.INTERRUPTED
    done.set()
    assert left == [ExitCode.INTERRUPTED] and not Plan.load(tmp_path / "push_box.plan").header["success"]
    assert "not solved: cancelled; the best plan is kept" in capsys.readouterr().err


def test_V24_solve_without_engines_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    assert main(["solve", "push_box"]) == ExitCode.FAILED
    line = "error: planning; expected MuJoCo and PIQP; got no MuJoCo and no PIQP. "
    assert capsys.readouterr().err == f"{line}Install them: pip install 'robot_rt_control[planning]'\n"


def test_compare_shows_a_row_for_each_variant(planned: list[Any], capsys: Captured) -> None:
    words = ["compare", "push_box", "penalty.iterations=1,penalty.first=0.2", "--set", "distance=0.2"]
    assert main(words) == ExitCode.DONE
    assert [settings.penalty.first for _, settings, _ in planned] == [0.1, 0.2]
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows[1][:5] == ["as", "given", "yes", "1.00", "%"]
    assert rows[2][:4] == ["penalty.iterations=1,penalty.first=0.2", "no", "1.00", "%"]
    assert main([*words, "--json"]) == ExitCode.DONE
    assert [row["success"] for row in json.loads(capsys.readouterr().out)["variants"]] == [True, False]


def test_show(file: str, tmp_path: Path, capsys: Captured) -> None:
    assert main(["show", file, "--picture", str(tmp_path / "push.png")]) == ExitCode.DONE
    out = capsys.readouterr().out
    assert "planned, NOT VERIFIED; 1.0 mm (1.00 % of the way) and 0.002 rad are left" in out
    assert re.search(r"lacking +no other engine has played it", out)
    assert re.search(r"arm.tip box.back +0.50 to 1.00 +0.0 mm at 1.00 s +1.5 N at 0.50 s", out)
    assert (tmp_path / "push.png").read_bytes()[1:4] == b"PNG"
    assert main(["show", file, "--json"]) == ExitCode.DONE
    found = json.loads(capsys.readouterr().out)
    assert found["header"]["body"] == "box" and found["contacts"][0]["intervals"] == [[0.5, 1.0]]


def test_V28_a_verified_plan_is_shown_as_solved(tmp_path: Path, capsys: Captured) -> None:
    made(verification=VERIFIED).save(tmp_path / "a.plan")
    assert main(["show", str(tmp_path / "a.plan")]) == ExitCode.DONE
    out = capsys.readouterr().out
    assert "solved; 1.0 mm" in out and "NOT" not in out and "lacking" not in out


def test_show_says_what_verification_found(tmp_path: Path, capsys: Captured) -> None:
    verification = {
        "mujoco": {"repeated": True, "normalized_error": 0.01},
        "perturbed": [{"name": "friction +30 %", "moved": 0.0123456}],
        "spread": 0.0123456,
    }
    made(success=False, verification=verification).save(tmp_path / "a.plan")
    assert main(["show", str(tmp_path / "a.plan")]) == ExitCode.DONE
    out = capsys.readouterr().out
    assert "NOT SOLVED" in out and "mujoco: normalized_error 0.01, repeated True" in out
    assert re.search(r"friction \+30 % +0.01235", out) and "spread: 0.01235 m" in out


def test_export_as_csv(file: str, tmp_path: Path) -> None:
    assert main(["export", file, "-o", str(tmp_path / "a.csv")]) == ExitCode.DONE
    rows = list(csv.DictReader((tmp_path / "a.csv").open()))
    assert [row["time"] for row in rows] == ["0.0", "0.5", "1.0"]
    assert [row["acceleration arm.j"] for row in rows] == ["0.4", "0.8", ""]
    assert rows[2]["position arm.j"] == "0.3" and rows[0]["box qw"] == "1.0"
    assert rows[1]["distance arm.tip box.back"] == "0.001"


@pytest.mark.parametrize("ending", ["json", "yaml"])
def test_V29_what_is_not_verified_is_not_exported_for_playing(
    file: str, ending: str, tmp_path: Path, capsys: Captured
) -> None:
    exported = tmp_path / f"a.{ending}"
    assert main(["export", file, "-o", str(exported)]) == ExitCode.FAILED
    assert "expected a verified one; got planned, not verified" in capsys.readouterr().err and not exported.exists()


def test_export_as_trajectories(file: str, tmp_path: Path) -> None:
    assert main(["export", file, "-o", str(tmp_path / "a.json"), "--unverified"]) == ExitCode.DONE
    found = json.loads((tmp_path / "a.json").read_text())
    assert list(found) == ["arm"] and found["arm"]["joint_names"] == ["j"]
    assert found["arm"]["points"][1] == {
        "positions": [0.1],
        "velocities": [0.2],
        "accelerations": [0.8],
        "effort": [],
        "time_from_start": {"sec": 0, "nanosec": 500000000},
    }


def test_export_as_a_program(file: str, tmp_path: Path) -> None:
    assert main(["export", file, "-o", str(tmp_path / "a.yaml"), "--name", "shove", "--unverified"]) == ExitCode.DONE
    template = ProgramTemplate.load(tmp_path / "a.yaml")
    assert template.name == "shove" and template.sample().definition.start == ("approach",)


def test_export_refuses_other_endings(file: str, capsys: Captured) -> None:
    assert main(["export", file, "-o", "a.jsn"]) == ExitCode.FAILED
    assert "a.jsn: ending; expected one of the known names; did you mean '.json'; got .jsn" in capsys.readouterr().err


def test_a_file_that_is_no_plan(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "a.plan").write_text("no plan")
    assert main(["show", str(tmp_path / "a.plan")]) == ExitCode.FAILED
    assert "expected a plan file; got a damaged one" in capsys.readouterr().err


def test_replay_draws_pictures(file: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    row = dict.fromkeys(("speed", "error_to_target", "normalized_error", "orientation_error", "peak", "impulse"), 0.5)
    code = 0
    called: list[list[str]] = []

    def replayed(command: list[str], **options: Any) -> Any:
        called.append(command)
        return subprocess.CompletedProcess(command, code, stdout=json.dumps([row | {"rests": True}]))

    monkeypatch.setattr(plan_workcell, "workcell_of", lambda plan, workcell: Path("push.yaml"))
    monkeypatch.setattr(subprocess, "run", replayed)
    assert main(["replay", file, "--film", "push.png", "--gif", "push.gif"]) == ExitCode.DONE
    assert called[0][-4:] == ["--film", "push.png", "--gif", "push.gif"]
    out, err = capsys.readouterr()
    assert "500.0 mm  50.0 %" in out and "push.png shows it" in err and "push.gif shows it" in err
    code = 1
    assert main(["replay", file]) == ExitCode.FAILED
    missed = "replay at speed 0.5: the body misses its target; expected at rest within 10.0 mm and 0.050 rad"
    assert missed in capsys.readouterr().err


def test_V15_a_plan_of_no_known_workcell_is_not_replayed(file: str, capsys: Captured) -> None:
    assert main(["replay", file]) == ExitCode.FAILED
    assert "workcell of the plan; expected --workcell" in capsys.readouterr().err
    assert main(["replay", file, "--workcell", "push"]) == ExitCode.FAILED
    shown = capsys.readouterr().err
    assert "workcell 'push'; expected the plan's, digest 1; got another one" in shown and "Plan again for it" in shown


def test_schema_prints_the_path_for_editors(capsys: Captured) -> None:
    assert main(["schema"]) == ExitCode.DONE
    assert capsys.readouterr().out.strip() == str(SCHEMA_FILE)


def test_the_parser_knows_every_verb() -> None:
    for name in VERBS:
        assert name in parser().format_help()


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A workcell that fits every plan; what was run on it."""
    ran: list[str] = []
    module = importlib.import_module("robot_rt_control.command_line.planning.run")
    workcell = types.SimpleNamespace(digest=1)
    monkeypatch.setattr(plan_workcell, "workcell_of", lambda plan, given: given)
    monkeypatch.setattr("robot_rt_control.model.workcell.workcell.load_workcell", lambda file: workcell)
    monkeypatch.setattr(module, "connect", lambda arguments: nullcontext())

    def run_plan(client: Any, plan: Plan, *_: Any, unverified: bool, pose: str, **options: Any) -> execution.Run:
        plan.check_verified(unverified=unverified)
        ran.append(plan.header["body"])
        end = PoseDifference(position=0.05, normalized=0.1, orientation=0.0)
        return execution.Run(tick=1, end=end if pose else None)

    monkeypatch.setattr(execution, "run_plan", run_plan)
    return ran


def test_run(file: str, running: list[str], capsys: Captured) -> None:
    assert main(["run", file]) == ExitCode.FAILED
    assert running == [] and "expected a verified one" in capsys.readouterr().err
    assert main(["run", file, "--unverified"]) == ExitCode.DONE
    out, err = capsys.readouterr()
    assert running == ["box"] and out.startswith("done; --pose names") and "planned, not verified" in err


def test_V15_run_fails_if_the_body_is_elsewhere(file: str, running: list[str], capsys: Captured) -> None:
    assert main(["run", file, "--unverified", "--pose", "camera"]) == ExitCode.FAILED
    out, err = capsys.readouterr()
    assert "the body is 50.0 mm (10.0 % of the way) and 0.000 rad from the target" in out
    assert "'box' after the plan; expected within 10.0 mm" in err


def test_run_that_is_cancelled(file: str, running: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def cancelled(*_: Any, **options: Any) -> None:
        raise execution.Cancelled

    monkeypatch.setattr(execution, "run_plan", cancelled)
    assert main(["run", file]) == ExitCode.INTERRUPTED
