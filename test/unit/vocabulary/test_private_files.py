"""Files of this user alone: S26 of docs/semantics/sessions.md."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from robot_rt_control.blueprint.graph.events import Moment
from robot_rt_control.blueprint.runs.command_log import note
from robot_rt_control.blueprint.runs.run_log import RunLog
from robot_rt_control.server.programs.program_store import ProgramStore
from robot_rt_control.vocabulary.errors import RobotControlError
from robot_rt_control.vocabulary.private_files import check_own, foreign_hand, make_private, private, read_own


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture
def open_umask() -> Iterator[None]:
    """What a careless administrator sets."""
    before = os.umask(0)
    yield
    os.umask(before)


def test_S26_what_is_made_is_for_this_user_alone_whatever_the_umask(tmp_path: Path, open_umask: None) -> None:
    folder = make_private(tmp_path / "a" / "b")
    with open(folder / "file", "w", opener=private) as file:
        file.write("x")
    assert [mode(path) for path in (tmp_path / "a", folder, folder / "file")] == [0o700, 0o700, 0o600]
    (tmp_path / "open").mkdir()
    make_private(tmp_path / "open")
    assert mode(tmp_path / "open") == 0o777, "what exists keeps its mode"


def test_S26_kept_texts_and_logs_of_runs_are_private(tmp_path: Path, open_umask: None) -> None:
    store = ProgramStore(tmp_path / "data" / "programs")
    text = "name: wait\nactions: {a: {type: hold, parts: arm, final: true}}\n"
    store.save(text)
    store.save(text)
    store.delete("wait@1")
    log = RunLog(tmp_path / "runs", "r1")
    log.write({"what": "start"})
    log.close()
    note(tmp_path / "runs", Moment(tick=1, time=0.001), "today", "start", "a test", "")
    found = sorted(tmp_path.rglob("*"))
    assert len(found) == 8
    assert {path: mode(path) for path in found} == {path: 0o700 if path.is_dir() else 0o600 for path in found}


def test_S26_what_others_can_write_is_found_at_each_step(tmp_path: Path) -> None:
    folder = make_private(tmp_path / "a" / "b")
    assert foreign_hand(folder) == ""
    (tmp_path / "a").chmod(0o777)
    assert foreign_hand(folder) == f"{tmp_path}/a can be written by others (mode 777)"
    (tmp_path / "a").chmod(0o1777)
    assert foreign_hand(folder) == "", "there others cannot remove what is this user's"
    assert foreign_hand(tmp_path / "a") == f"{tmp_path}/a can be written by others (mode 1777)", "but make files"
    (tmp_path / "a").chmod(0o700)
    (folder / "file").touch(0o600)
    (folder / "file").chmod(0o602)
    assert foreign_hand(folder / "file") == f"{folder}/file can be written by others (mode 602)"
    with pytest.raises(FileNotFoundError):
        foreign_hand(folder / "none")


def test_S26_links_are_followed_step_by_step(tmp_path: Path) -> None:
    opened, real = make_private(tmp_path / "open"), make_private(tmp_path / "real")
    (tmp_path / "link").symlink_to("open/../open/next")
    (opened / "next").symlink_to(real)
    assert foreign_hand(tmp_path / "link") == ""
    opened.chmod(0o777)  # others can make `next` lead elsewhere
    assert foreign_hand(tmp_path / "link") == f"{opened} can be written by others (mode 777)"
    opened.chmod(0o700)
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(OSError, match="[Ll]evels of symbolic links"):
        foreign_hand(tmp_path / "round")


def test_S26_another_users_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"mine")
    assert read_own(file, "code", "Delete it") == b"mine"
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 4242)
    with pytest.raises(RobotControlError) as caught:
        read_own(file, "code", "Delete it")
    text = str(caught.value)
    assert text.startswith(f"code {file} could have been written by another user; expected a file owned by user")
    assert f"got {file} belongs to user" in text and text.endswith("Delete it")
    with pytest.raises(RobotControlError, match="written by another user; expected it and each folder above owned"):
        check_own(file, "code", "Delete it")
