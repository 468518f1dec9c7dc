"""What `./run new` makes passes its own checks."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from robot_rt_control.client import Action, End
from robot_rt_control.command_line.blueprints import main as blueprints
from robot_rt_control.command_line.main import main as robot_rt
from robot_rt_control.command_line.new import KINDS, main
from robot_rt_control.command_line.new_action import SUFFIXES
from robot_rt_control.command_line.planning import main as planning
from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.lifecycle import HardwareLifecycle, load_plugin
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.server.code.source import load_action_type
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import CompileError

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_lists_what_can_be_made(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {kind} " in shown and text in shown for kind, text in KINDS.items())
    assert set(KINDS) == {"action", "driver", "workcell", "program", "blueprint", "task"}
    usage = subprocess.run([ROOT / "run", "--help"], capture_output=True, text=True, check=True).stdout
    assert "  new " in usage


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_name_it_says_so_with_an_example(kind: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([kind])
    message = capsys.readouterr().err.splitlines()[-1]
    begin = f"new: error: the name of the {kind} is missing, for example: new {kind} "
    assert ended.value.code == 2 and message.startswith(begin) and message.removeprefix(begin).isidentifier()
    assert not list(here.iterdir())


@pytest.mark.parametrize("chosen", ["refused", pytest.param("", marks=pytest.mark.long, id="all")])
def test_an_action_passes_its_tests(chosen: str) -> None:
    assert main(["action", "wave"]) == 0
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", chosen, "test_wave.py"]
    assert subprocess.run(command, timeout=600, check=False).returncode == 0


@pytest.mark.parametrize("language", ["c", "c++"])
def test_an_action_in_c_passes_its_tests_and_runs_in_a_trusting_workcell(
    language: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = f"wave{SUFFIXES[language]}"
    assert robot_rt(["new", "action", "wave", "--language", language, "--folder", "waving"]) == 0
    written = [f"waving/{name}" for name in ("wave.py", "test_wave.py", "run_wave.py", code)]
    shown = capsys.readouterr().out.splitlines()
    assert shown[:4] == written and "robot-rt header waving/wave.py" in shown[4]
    assert not [name for name in written if "@" in (here / name).read_text().replace("@pytest", "")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "waving/test_wave.py"]
    done = subprocess.run(command, timeout=600, check=False, capture_output=True, text=True)
    assert done.returncode == 0 and "5 passed" in done.stdout, done.stdout
    assert robot_rt(["header", "waving/wave.py"]) == 0
    assert (here / "waving/wave_records.h").is_file()
    assert robot_rt(["new", "workcell", "cell"]) == 0
    wave = load_action_type(f"{here}/waving/wave.py:Wave").action_type
    with (
        pytest.raises(CompileError, match="trusted_native_code"),
        LockstepClient("cell.yaml") as client,
        client.session("arm") as session,
    ):
        session.add(Action("wave", wave))
    with (here / "cell.yaml").open("a") as file:
        file.write("\naction_type_folders: [waving]\ntrusted_native_code: [waving]\n")
    with LockstepClient("cell.yaml") as client, client.session("arm") as session:
        session.add(Action("wave", wave))
        assert session.follow("wave", until="wave.is_done").wait(30.0).end == End.REACHED


def test_other_kinds_have_no_language(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["driver", "wave", "--language", "c"])
    assert "--language is of actions: new action wave --language c" in capsys.readouterr().err


def test_a_driver_drives_its_device(here: Path) -> None:
    assert main(["driver", "shuttle"]) == 0
    assert robot_rt(["validate", "shuttle.yaml"]) == 0
    controller = subprocess.Popen([sys.executable, "shuttle_controller.py", "0"], stdout=subprocess.PIPE, text=True)
    try:
        assert controller.stdout is not None
        port = controller.stdout.readline().split()[-1]
        file = here / "shuttle.yaml"
        file.write_text(file.read_text().replace("4800", port))
        workcell = load_workcell("shuttle.yaml")
        device = workcell.devices[0]
        driver = HardwareLifecycle(load_plugin(device.plugin)(), hardware_info(workcell, device))
        driver.configure()
        driver.activate()
        driver.shutdown()
    finally:
        controller.kill()
        controller.wait()


def test_the_written_driver_passes_the_tests_that_are_written_with_it(here: Path) -> None:
    """All tests of plugins, in a process of its own as its author runs them."""
    assert robot_rt(["new", "driver", "shuttle", "--folder", "mine"]) == 0
    written = sorted(file.name for file in (here / "mine").iterdir())
    assert written == ["shuttle.py", "shuttle.yaml", "shuttle_controller.py", "test_shuttle.py"]
    assert not [name for name in written if "gantry_driver" in (here / "mine" / name).read_text()]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "mine/test_shuttle.py"]
    done = subprocess.run(command, timeout=600, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    passed = int(done.stdout.split(" passed")[0].split()[-1])
    assert passed >= 20 and "failed" not in done.stdout and "skipped" not in done.stdout


def test_its_answer_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert robot_rt(["new", "program", "look_down", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["files"] == ["look_down.yaml"] and told["next"].startswith("robot-rt validate look_down.yaml")


def test_a_workcell_and_a_program_are_valid(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["workcell", "cell", "--folder", "cells"]) == 0
    assert main(["program", "look_down"]) == 0
    assert robot_rt(["validate", "cells/cell.yaml"]) == 0
    assert robot_rt(["validate", "look_down.yaml", "--workcell", "cells/cell.yaml"]) == 0
    assert load_workcell("cells/cell.yaml").name == "cell"
    assert "next: robot-rt validate look_down.yaml" in capsys.readouterr().out


def test_a_workcell_of_a_robot_of_ones_own(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(ROOT / "config/robots/arm7.urdf", here / "mine.urdf")
    assert main(["workcell", "cell", "--urdf", "mine.urdf", "--folder", "cells"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "cells/cell.yaml" and shown[1].startswith("note: accelerations are guessed")
    assert shown[-1].startswith("next: robot-rt validate cells/cell.yaml, then robot-rt-control-workcell --workcell ")
    assert "urdf: '../mine.urdf'" in (here / "cells/cell.yaml").read_text()
    assert robot_rt(["validate", "cells/cell.yaml"]) == 0
    with LockstepClient("cells/cell.yaml", hardware="simulator") as client, client.session("arm") as session:
        start = client.cell.workcell.part("arm").start_position
        session.add(Action("wave", "move_joint", position=[float(q) + 0.1 for q in start]))
        assert session.follow("wave").wait(30.0).end == End.REACHED


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--urdf", "no.urdf"], 1, "--urdf: 'no.urdf'; expected a file; got nothing at "),
        (["--urdf", "package://nobody/a.urdf"], 1, "add to AMENT_PREFIX_PATH the folder that has share/nobody"),
        (["--urdf", "mine.urdf", "--tip", "too"], 1, "tip_link 'too'; expected one of: base, flange, "),
        (["--tip", "tool0"], 2, "--base, --tip and --xacro belong to --urdf FILE"),
    ],
)
def test_a_robot_that_cannot_be_read_says_why(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, said: str
) -> None:
    shutil.copy(ROOT / "config/robots/arm7.urdf", here / "mine.urdf")
    ended: object
    try:
        ended = main(["workcell", "cell", *words])
    except SystemExit as end:
        ended = end.code
    assert ended == code and said in capsys.readouterr().err and not (here / "cell.yaml").exists()


def test_a_blueprint_and_a_task_are_valid() -> None:
    assert main(["blueprint", "tour", "--folder", "tours"]) == 0
    assert blueprints.main(["check", "tours/tour.yaml", "--workcell", "bench"]) == 0
    assert main(["task", "my_push", "--folder", "tasks"]) == 0
    assert planning.main(["check", "tasks/my_push.yaml"]) == 0


def test_nothing_is_overwritten(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "cell_controller.py").write_text("mine")
    assert main(["driver", "cell"]) == 1
    assert "cell_controller.py exists. Choose another name, or another folder" in capsys.readouterr().err
    assert [file.name for file in here.iterdir()] == ["cell_controller.py"]
    assert main(["workcell", "no name"]) == 1
