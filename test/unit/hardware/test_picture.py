"""Pictures that are drawn in a copy of the process."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from robot_rt_control.hardware import picture
from robot_rt_control.hardware.mock_plugin import MockPlugin
from robot_rt_control.hardware.picture import PictureFolder, PictureInCopy, camera_of
from robot_rt_control.hardware.plugin import HardwareInfo, HardwarePlugin, HardwareReturn
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError, HardwareError

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
        "hardware 'sim' (MockPlugin) has no camera. Only simulators have one"
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PictureFolder:
    monkeypatch.setenv("ROBOT_RT_CONTROL_PICTURES", str(tmp_path / "pictures"))
    return PictureFolder("my cell")


def test_S24_pictures_are_new_files_in_the_folder_of_the_run(tmp_path: Path, folder: PictureFolder) -> None:
    with folder.new("scene") as path, folder.new("scene_2.png") as second:
        assert path.read_bytes() == b"", "no other picture gets this name"
    assert (path.name, second.name, path.parent) == ("scene.png", "scene_2.png", second.parent)
    assert path.parent.parent == tmp_path / "pictures" and path.parent.name.startswith("my_cell_")
    assert [p.stat().st_mode & 0o777 for p in (path, path.parent, path.parent.parent)] == [0o600, 0o700, 0o700]
    path.write_bytes(b"the first one")
    for name in ("scene", "scene.png"):
        with pytest.raises(DefinitionError) as caught, folder.new(name):
            pass
        assert str(caught.value) == f"there is a picture 'scene.png' in this run; expected another name; got {path}"
    assert path.read_bytes() == b"the first one"
    (path.parent / "link.png").symlink_to(tmp_path / "elsewhere.png")
    with pytest.raises(DefinitionError, match="there is a picture 'link.png'"), folder.new("link"):
        pass
    with folder.new("") as first, folder.new("") as other:
        assert first != other and first.suffix == ".png"
    with PictureFolder("my cell").new("scene") as elsewhere:
        assert elsewhere.parent != path.parent, "each run has its own"


@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "../a", "a/b", "~/a", ".bashrc", "a.sh", "a.png.sh", "a\0", "a\n", "a.png\n", " ", "ä", "x" * 81],
)
def test_S24_other_names_are_refused_and_nothing_is_made(tmp_path: Path, folder: PictureFolder, name: str) -> None:
    wanted = "name of a picture; expected at most 80 letters, digits, _ and -"
    with pytest.raises(DefinitionError, match=wanted), folder.new(name):
        pass
    assert not list(tmp_path.rglob("*.png"))


def test_S24_a_picture_that_is_not_taken_leaves_its_name_free(folder: PictureFolder) -> None:
    with pytest.raises(ValueError), folder.new("scene"):
        raise ValueError
    with folder.new("scene") as path:
        pass
    assert path.exists()


def test_S24_the_number_of_pictures_is_bounded(folder: PictureFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "MAX_PICTURES", 3)
    with folder.new("a") as kept, folder.new("") as first, folder.new("") as second, folder.new("") as third:
        pass
    assert [p.exists() for p in (kept, first, second, third)] == [True, False, True, True]
    with folder.new("b"), folder.new("c"):
        pass
    with pytest.raises(CapacityError) as caught, folder.new("d"):
        pass
    text = "too many pictures in one run; expected at most 3 (MAX_PICTURES); got 3. Move some out of "
    assert str(caught.value) == f"{text}{kept.parent}"


def test_S24_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ROBOT_RT_CONTROL_PICTURES", str(tmp_path / "file" / "pictures"))
    with pytest.raises(HardwareError, match="the file of a picture cannot be made; got "), PictureFolder("c").new("a"):
        pass
