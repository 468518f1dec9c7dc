"""Pictures of state variables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.command_line.exit_codes import ExitCode
from robot_rt_control.command_line.main import main
from robot_rt_control.testing.lockstep_client import LockstepClient


def test_a_part_and_a_variable_over_a_time(client: LockstepClient, tmp_path: Path, data: Callable[..., Any]) -> None:
    picture, table = tmp_path / "p.svg", tmp_path / "p.csv"
    told = data("plot", "arm", "rangefinder.distance", "--seconds", "0.05", "-o", str(picture), "--csv", str(table))
    names = [*(f"arm.position[{j}]" for j in range(7)), "rangefinder.distance"]
    assert list(told["values"]) == names and told["picture"] == str(picture)
    assert len(told["time"]) == 50 and told["values"]["rangefinder.distance"] == [told["values"][names[-1]][0]] * 50
    drawn = picture.read_text()
    assert "<svg" in drawn and drawn.count('id="axes_') == 2  # two units
    rows = table.read_text().splitlines()
    assert rows[0] == ",".join(("time", *names)) and len(rows) == 51


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["arm.positoin"], "state variable 'arm.positoin'; expected one of the known names; did you mean"),
        (["arm", "--seconds", "0.01", "-o", "/no/such/folder/p.png"], "expected a file to write, .png or .svg"),
        (["arm", "--seconds", "0.01", "-o", "p.nonsense"], "expected a file to write, .png or .svg"),
        (["none.mcap"], "recording none.mcap; expected a file of recorded ticks"),
    ],
)
def test_mistakes_are_explained(
    client: LockstepClient, words: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plot", *words]) == ExitCode.FAILED
    assert text in " ".join(capsys.readouterr().err.split())


def test_without_a_display_there_is_no_window(
    client: LockstepClient, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("matplotlib.get_backend", lambda: "agg")
    assert main(["plot", "arm", "--window"]) == ExitCode.FAILED
    assert "window; expected a display; got none" in capsys.readouterr().err


def test_the_log_of_a_protective_stop(client: LockstepClient, tmp_path: Path, shown: Callable[..., str]) -> None:
    client.protective_stop()
    client.sleep(0.2)
    client.release()
    log = tmp_path / "log.mcap"
    log.write_bytes(Path(client.cell.kinds("protective_stop")[-1].file).read_bytes())
    text = shown("plot", str(log), "--csv", str(tmp_path / "log.csv"))
    assert "protective stop in tick" in text and f"picture: {tmp_path / 'log.png'}" in text
    assert log.with_suffix(".png").stat().st_size > 20_000 and (tmp_path / "log.csv").exists()
