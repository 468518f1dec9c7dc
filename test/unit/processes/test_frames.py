"""The near end waits for nothing longer than it wants to, and takes nothing but bounded JSON objects."""

from __future__ import annotations

import pickle
import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from robot_rt_control.processes.frames import Far, Near


class Pair:
    def __init__(self) -> None:
        near, self.raw = socket.socketpair()
        self.near, self.far = Near(near), Far(self.raw)


@pytest.fixture
def pair() -> Iterator[Pair]:
    made = Pair()
    yield made
    made.near.close()
    made.far.close()


def frame(content: bytes) -> bytes:
    return struct.pack("!I", len(content)) + content


def test_messages_go_both_ways(pair: Pair) -> None:
    pair.near.send({"given": (1, b"data")})
    assert pair.far.receive() == {"given": (1, b"data")}
    assert not pair.far.speaks(0.0)
    pair.far.send({"first": 1})
    pair.far.send({"second": float("inf")})
    assert [pair.near.receive(None), pair.near.receive(0.0)] == [{"first": 1}, {"second": float("inf")}]
    assert pair.near.receive(0.0) is None


def test_a_frame_in_pieces_is_waited_for_no_longer_than_wanted(pair: Pair) -> None:
    data = frame(b'{"whole": true}')
    for i in range(len(data)):
        assert pair.near.receive(0.0) is None
        pair.raw.send(data[i : i + 1])
    assert pair.near.receive(0.0) == {"whole": True}


def test_what_nobody_takes_holds_nobody_and_arrives_later(pair: Pair) -> None:
    large = "x" * (1 << 22)
    pair.near.send(large)
    pair.near.send("small")
    assert pair.near.receive(0.0) is None
    found: list[object] = []

    def take() -> None:
        found.extend([pair.far.receive(), pair.far.receive()])
        pair.far.send({})

    thread = threading.Thread(target=take)
    thread.start()
    assert pair.near.receive(60.0) == {}
    thread.join()
    assert found == [large, "small"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (frame(b"x" * 11), "a message of 11 bytes; expected at most 10"),
        (b"\xff" * 4, "a message of 4294967295 bytes; expected at most 10"),
        (frame(b"{"), "what is no JSON"),
        (frame(b"\xff\xfe\x00"), "what is no JSON"),
        (frame(b"[1]"), "what is no message"),
    ],
)
def test_all_but_a_bounded_object_is_refused(pair: Pair, data: bytes, said: str) -> None:
    pair.raw.send(data)
    with pytest.raises(ConnectionError, match=f"^{said}"):
        pair.near.receive(60.0, most=10)


def test_a_depth_that_no_reader_survives_is_refused(pair: Pair) -> None:
    pair.raw.send(frame(b"[" * 100_000))
    with pytest.raises(ConnectionError, match="what is no JSON"):
        pair.near.receive(60.0)


class Trap:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (pytest.fail, ("unpickled",))


def test_what_comes_up_is_never_unpickled(pair: Pair) -> None:
    pair.raw.send(frame(pickle.dumps(Trap())))
    with pytest.raises(ConnectionError, match="what is no JSON"):
        pair.near.receive(60.0)


@pytest.mark.parametrize("before", [b"", b"\x00\x00", frame(b'{"half": 1}')[:-3]])
def test_an_end_in_the_middle_of_a_frame_is_an_end(pair: Pair, before: bytes) -> None:
    pair.raw.send(before)
    pair.raw.shutdown(socket.SHUT_RDWR)
    pair.near.send("nobody takes it")
    for _ in range(2):
        with pytest.raises(ConnectionResetError):
            pair.near.receive(None)


def test_what_was_said_before_the_end_arrives(pair: Pair) -> None:
    pair.far.send({"last": 1})
    pair.near.send("unread")
    pair.far.close()
    assert pair.near.receive(60.0) == {"last": 1}
    with pytest.raises(ConnectionResetError):
        pair.near.receive(60.0)


def test_another_end_ends_the_waiting_after_all_that_has_arrived(pair: Pair) -> None:
    end, other = socket.socketpair()
    pair.far.send({"last": 1})
    other.close()
    assert pair.near.receive(None, end=end) == {"last": 1}
    with pytest.raises(ConnectionResetError):
        pair.near.receive(None, end=end)
    end.close()


def test_hanging_up_wakes_the_thread_that_receives(pair: Pair) -> None:
    ended = threading.Event()

    def wait() -> None:
        with pytest.raises(ConnectionResetError):
            pair.near.receive(None)
        ended.set()

    thread = threading.Thread(target=wait)
    thread.start()
    pair.near.hang_up()
    thread.join(60.0)
    assert ended.is_set()
    with pytest.raises(ConnectionResetError):
        pair.far.receive()
