"""What is said where a picture is asked for and the libraries that draw it are missing."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from robot_rt_control.command_line import program
from robot_rt_control.command_line.blueprints import main as blueprints
from robot_rt_control.command_line.main import main
from robot_rt_control.drawing import pictures
from robot_rt_control.drawing.pictures import require_pictures
from robot_rt_control.testing.program_main import run_program
from robot_rt_control.vocabulary.errors import RobotControlError

LINE = "a picture cannot be drawn; expected matplotlib and Pillow; got no {}. Install them: pip install "
LINE += "'robot_rt_control[pictures]'"


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Modules that are not installed."""
    missing = {"matplotlib", "PIL"}
    real = importlib.util.find_spec
    monkeypatch.setattr(pictures, "find_spec", lambda name: None if name in missing else real(name))
    return missing


def test_one_line_says_what_is_missing_and_how_to_install_it(without: set[str]) -> None:
    with pytest.raises(RobotControlError) as caught:
        require_pictures()
    assert str(caught.value) == LINE.format("matplotlib and no Pillow")
    without.clear()
    require_pictures()


def test_each_command_that_draws_says_it_before_it_begins(
    without: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    without.remove("PIL")
    file = tmp_path / "trace_edge.svg"
    for call, words in (
        (program.main, ["draw", "trace_edge", "-o", str(file)]),
        (main, ["plot", "arm"]),
        (blueprints.main, ["draw", "tour.yaml"]),
    ):
        assert call(words) == 1, words
        assert capsys.readouterr().err.strip().endswith(LINE.format("matplotlib")), words
    assert not file.exists()


def test_a_program_whose_pictures_need_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def draws(client: object, output: Path) -> None:
        raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")

    arm7 = Path(__file__).parents[3] / "config/arm7.yaml"
    assert run_program(draws, workcell=arm7, output=tmp_path, argv=["--lockstep"]) == 1
    assert capsys.readouterr().err == (
        "No module named 'matplotlib'. The program's pictures need it: pip install 'robot_rt_control[pictures]'\n"
    )
