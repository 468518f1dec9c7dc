"""docs/your_robot.md: its commands, in its order, with a robot of our own in the place of the one that it names."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from robot_rt_control.bringup.bringup import processes
from robot_rt_control.bringup.workcell import options_of, parser
from robot_rt_control.command_line import new
from robot_rt_control.command_line.main import main as robot_rt
from robot_rt_control.model.workcell.simulators import SIMULATORS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/your_robot.md").read_text()
COMMANDS = [
    shlex.split(line) for block in re.findall(r"^```\n(.*?)^```$", PAGE, re.M | re.S) for line in block.splitlines()
]
BOX = """<COLLADA version="1.4.1"><asset><unit name="centimeter" meter="0.01"/><up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="12">-4 -4 -4 4 -4 -4 -4 4 -4 -4 -4 4</float_array>
<technique_common><accessor source="#a" count="4" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/><p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


def called(*begin: str) -> list[list[str]]:
    """What follows these words in the page's commands."""
    return [words[len(begin) :] for words in COMMANDS if words[: len(begin)] == list(begin)]


@pytest.fixture
def cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the page's first command was given, with our arm in the place of the UR5."""
    monkeypatch.chdir(tmp_path)
    ((kind, name, option, given),) = called("./run", "new")
    urdf = tmp_path / given
    urdf.parent.mkdir(parents=True)
    package = given.split("/")[0]
    mesh = f'<geometry><mesh filename="package://{package}/robots/box.dae"/></geometry>'
    arm = (ROOT / "config/robots/arm7.urdf").read_text()
    urdf.write_text(arm.replace("</link>", f"<visual>{mesh}</visual><collision>{mesh}</collision></link>", 1))
    (tmp_path / package / "robots/box.dae").write_text(BOX)
    assert new.main([kind, name, option, given]) == 0
    return tmp_path


def test_the_file_is_valid_and_its_meshes_are_found(cell: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ((verb, file),) = [words for words in called("./run", "shell", "robot-rt") if words[0] == "validate"]
    assert robot_rt([verb, file]) == 0
    shown = capsys.readouterr()
    assert "valid workcell" in shown.out and "mesh" not in shown.err


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_the_arm_moves_and_its_picture_is_taken(cell: Path, simulator: str) -> None:
    ((example, *words),) = [w for w in called("./run", "shell", "python") if simulator in w]
    command = [sys.executable, str(ROOT / example), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    if "No module named 'pybullet'" in done.stderr:
        raise ModuleNotFoundError("PyBullet", name="pybullet")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"(there|back|up): reached", done.stdout) == ["there", "back", "up"]
    assert (cell / f"{simulator}.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_typed_over_ros_is_there(cell: Path) -> None:
    (workcell,) = called("./run", "shell", "workcell")
    assert processes(options_of(parser().parse_args(workcell)))
    assert (ROOT / "examples/24_own_robot.py").is_file()
    for verb in ("parts", "plot"):
        assert [words for words in called("./run", "shell", "robot-rt") if words[0] == verb]
        with pytest.raises(SystemExit) as ended:
            robot_rt([verb, "--help"])
        assert ended.value.code == 0
