"""Where two recordings first differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from served_editor import served_by
from written_recording import position, write_recording

from robot_rt_control.editor.past.compared import first_difference
from robot_rt_control.editor.past.recorded import Recorded, opened
from robot_rt_control.editor.past.server import PastServer
from robot_rt_control.vocabulary.errors import RobotControlError

TICKS = 9000


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_recording(tmp_path_factory.mktemp("compared") / "one.mcap", TICKS)


def shifted(tick: int, joint: int) -> float:
    """As `position`, if the first tick is 101."""
    return position(tick - 100, joint)


def compared(one: Path, tmp_path: Path, **options: Any) -> dict[str, Any]:
    given = {"ticks": TICKS, "first": 101, "q": shifted, "parts": {"arm": ["turn", "slide"]}, **options}
    return first_difference(Recorded(one), Recorded(write_recording(tmp_path / "other.mcap", **given)))


def test_H15_the_same_is_the_same_whatever_its_first_tick(one: Path, tmp_path: Path) -> None:
    found = compared(one, tmp_path)
    assert found == {"tick": None, "text": f"They are the same in all {TICKS} ticks that both have"}
    (tmp_path / "other.mcap").unlink()
    assert compared(one, tmp_path, ticks=500)["text"] == "They are the same in all 500 ticks that both have"


@pytest.mark.parametrize("tick", [1, 2, 4096, 4097, 8999, 9000])
def test_H15_the_first_tick_that_differs_is_found(one: Path, tmp_path: Path, tick: int) -> None:
    def q(at: int, joint: int) -> float:
        return shifted(at, joint) + (1e-15 if joint == 1 and at - 100 >= tick else 0.0)

    found = compared(one, tmp_path, q=q)
    assert found["tick"] == tick
    assert found["text"] == f"arm.position[1] is {position(tick, 1)} and {position(tick, 1) + 1e-15}"


def test_H15_a_fault_and_a_tick_that_one_lacks_are_differences(one: Path, tmp_path: Path) -> None:
    found = compared(one, tmp_path, fault=("arm", 5100))
    assert found == {"tick": 5000, "text": "arm.state is 1 and 2"}
    (tmp_path / "other.mcap").unlink()
    assert compared(one, tmp_path, without=[300]) == {"tick": 200, "text": "other.mcap lacks this tick"}


def test_H15_two_are_served_and_no_more(one: Path, tmp_path: Path) -> None:
    other = write_recording(tmp_path / "other.mcap", 300, urdf=None)
    with pytest.raises(RobotControlError, match="expected one, or two to compare; got 3"):
        opened([one, other, one])
    recordings = opened([one, other])
    with served_by(lambda port: PastServer(recordings, port=port)) as served:
        cookie = served.enter(served.server.keys.watch)
        about = served.post("past", cookie=cookie)[1]["recordings"]
        assert [each["name"] for each in about] == ["one.mcap", "other.mcap"]
        assert "in all 300 ticks" in served.post("past_difference", cookie=cookie)[1]["text"]
        assert not served.post("scene", {"recording": 1, "tick": 1}, cookie=cookie)[1]["success"]
        assert served.post("scene", {"recording": 0, "tick": 1}, cookie=cookie)[1]["success"]
    with served_by(lambda port: PastServer(recordings[:1], port=port)) as served:
        cookie = served.enter(served.server.keys.watch)
        assert "expected two recordings" in served.post("past_difference", cookie=cookie)[1]["message"]
