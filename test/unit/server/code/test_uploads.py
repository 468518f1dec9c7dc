"""Texts that clients have sent: each has a file of its own, and messages name the client's."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_rt_control.server.code.uploads import shown, shown_errors, write_upload
from robot_rt_control.vocabulary.errors import CapacityError, CompileError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROBOT_RT_CONTROL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("/home/ann/wave.py", "wave.py"),
        (r"C:\my types\wave.py", "wave.py"),
        ("../../etc/passwd", "code.py"),
        ("/home/ann/..py", "code.py"),
        ("/home/ann/" + "a" * 100 + ".py", "code.py"),
    ],
)
def test_the_file_keeps_its_name_if_that_is_a_plain_one(folder: Path, file: str, name: str) -> None:
    path = write_upload(b"x = 1\n", file)
    assert path.name == name and path.parent.parent == folder / "uploads" and path.read_bytes() == b"x = 1\n"
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert shown(f"{path}:3: prints ({path})") == f"{file}:3: prints ({file})"


def test_the_same_text_of_another_file_is_another_one(folder: Path) -> None:
    one, two = write_upload(b"x", "/a/t.py"), write_upload(b"x", "/b/t.py")
    assert one != two and shown(f"{one}, {two}") == "/a/t.py, /b/t.py"
    assert write_upload(b"x", "/a/t.py") == one


def test_errors_keep_their_class_and_name_the_clients_file(folder: Path) -> None:
    path = write_upload(b"x", "/a/t.py")
    with pytest.raises(CapacityError) as error, shown_errors():
        raise CapacityError(f"{path}:1: too many", expected=f"{path}", got=f"{path}", hint=f"Edit {path}")
    assert str(error.value) == "/a/t.py:1: too many; expected /a/t.py; got /a/t.py. Edit /a/t.py"
    with pytest.raises(CompileError) as other, shown_errors():
        raise CompileError("/b/t.py:2: prints")
    assert str(other.value) == "/b/t.py:2: prints"
