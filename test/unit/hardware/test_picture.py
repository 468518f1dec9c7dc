"""Pictures that are drawn in a copy of the process."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from robot_rt_control.hardware.mock_plugin import MockPlugin
from robot_rt_control.hardware.picture import PictureInCopy, camera_of, picture_path
from robot_rt_control.hardware.plugin import HardwareInfo, HardwarePlugin, HardwareReturn
from robot_rt_control.vocabulary.errors import HardwareError

INFO = HardwareInfo(name="sim", period_s=0.001, parameters={}, parts=())


class Scene(HardwarePlugin):
    """Its pictures are text: the process that drew them, and what was to be seen."""

    has_window = False
    seen = "before"
    pause_s = 0.0
    awaited: Path | None = None
    """A file that the drawing waits for."""

    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        return HardwareReturn.OK

    write = read

    def take_picture(self, path: str | Path, width: int = 0, height: int = 0) -> None:
        time.sleep(self.pause_s)
        while self.awaited is not None and not self.awaited.exists():
            time.sleep(0.001)
        Path(path).write_text(f"{os.getpid()} {self.seen} {width} {height}")


def test_the_picture_shows_the_scene_as_it_was_when_it_was_asked_for(tmp_path: Path) -> None:
    scene = Scene()
    scene.awaited = tmp_path / "go"
    picture = PictureInCopy(camera_of(scene), tmp_path / "a.png", 20, 10)  # the request does not wait for the drawing
    scene.seen = "after"
    scene.awaited.touch()
    picture.wait(60.0)
    process, seen, width, height = (tmp_path / "a.png").read_text().split()
    assert int(process) != os.getpid()
    assert (seen, width, height) == ("before", "20", "10")


def test_a_picture_that_cannot_be_written_says_why(tmp_path: Path) -> None:
    path = tmp_path / "none" / "a.png"
    with pytest.raises(HardwareError) as caught:
        PictureInCopy(camera_of(Scene()), path, 0, 0).wait(60.0)
    assert str(caught.value) == (
        f"picture {path} was not taken; got FileNotFoundError: [Errno 2] No such file or directory: '{path}'"
    )


def test_a_picture_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    scene = Scene()
    scene.pause_s = 60.0
    picture = PictureInCopy(camera_of(scene), tmp_path / "a.png", 0, 0)
    with pytest.raises(HardwareError) as caught:
        picture.wait(0.1)
    assert str(caught.value) == f"picture {tmp_path}/a.png was not taken within 0.1 s"
    with pytest.raises(ProcessLookupError):
        os.kill(picture.process, 0)  # nothing of it is left


def test_hardware_without_a_camera_is_refused() -> None:
    plugin = MockPlugin()
    plugin.info = INFO
    with pytest.raises(HardwareError) as caught:
        camera_of(plugin)
    assert str(caught.value) == (
        "hardware 'sim' (MockPlugin) has no camera. Only simulated hardware has one, such as pybullet"
    )


def test_paths_are_absolute_and_new_ones_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert picture_path("a.png") == tmp_path / "a.png"
    first, second = picture_path(""), picture_path("")
    assert first != second and first.suffix == ".png" and not first.exists()
