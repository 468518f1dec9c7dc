"""A file that keeps room for its end."""

import errno
from pathlib import Path

import pytest

from robot_rt_control.recording.sink import Sink


def test_an_existing_file_is_kept_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(FileExistsError):
        Sink(path)
    sink = Sink(tmp_path / "b")
    assert sink.write(b"new") == 3 and sink.tell() == 3
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"], "the reserve has no name"
    sink.close()
    assert (path.read_bytes(), (tmp_path / "b").read_bytes()) == (b"old", b"new")


def test_the_reserve_is_used_once_then_the_last_whole_record_ends_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink, put = Sink(tmp_path / "a"), Sink._put

    def full(self: Sink, data: memoryview) -> int:
        room = 12 if self._reserve.closed else 5
        if self.tell() >= room:
            raise OSError(errno.ENOSPC, "full")
        return put(self, data[: room - self.tell()])

    monkeypatch.setattr(Sink, "_put", full)
    sink.write(b"abcd")
    failures = [sink.failure]
    sink.write(b"efgh")
    failures.append(sink.failure)
    assert [failure and failure.errno for failure in failures] == [None, errno.ENOSPC]
    with pytest.raises(OSError, match="full"):
        sink.write(b"ijklmn")
    sink.close()
    assert (tmp_path / "a").read_bytes() == b"abcdefgh"
