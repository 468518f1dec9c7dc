"""Rule I23 of docs/semantics/io.md: reading what the loop writes, while the machine is busy."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from robot_rt_control.memory import channel as channel_module
from robot_rt_control.memory.channel import Channel
from robot_rt_control.vocabulary.defaults import SNAPSHOT_WAIT_S
from robot_rt_control.vocabulary.errors import ChannelError


class LostProcessor:
    """A writer that has lost its processor within a write, on a clock of the test's own."""

    def __init__(self, channel: Channel, monkeypatch: pytest.MonkeyPatch, *, back_at: float) -> None:
        self.channel, self.back_at = channel, back_at
        self.now, self.yields = 100.0, 0
        self.pauses: list[float] = []
        channel.memory.snapshot.sequence = 7
        monkeypatch.setattr(channel_module, "time", SimpleNamespace(monotonic=lambda: self.now, sleep=self.sleep))
        monkeypatch.setattr(channel_module.os, "sched_yield", self.leave)

    def leave(self) -> None:
        self.yields += 1

    def sleep(self, pause: float) -> None:
        self.now += pause
        self.pauses.append(pause)
        if self.now >= self.back_at:
            self.channel.memory.snapshot.sequence = 8


def test_I23_a_reader_waits_for_a_loop_that_lost_its_processor_within_a_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    channel = Channel.private()
    channel.memory.snapshot.tick = 41
    writer = LostProcessor(channel, monkeypatch, back_at=103.0)
    assert channel.snapshot().tick == 41
    assert writer.yields > 0, "others may run before it sleeps"
    assert writer.pauses == sorted(writer.pauses) and writer.pauses[0] < 0.001 < writer.pauses[-1] <= 0.02
    assert len(writer.pauses) < 200, "it does not spin"


def test_I23_a_snapshot_that_never_becomes_whole_is_an_error_which_says_how_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    channel = Channel.private()
    writer = LostProcessor(channel, monkeypatch, back_at=1e9)
    with pytest.raises(ChannelError, match=r"no consistent snapshot could be read for 5\.0 s; .*stopped within a tick"):
        channel.snapshot()
    assert SNAPSHOT_WAIT_S <= writer.now - 100.0 < SNAPSHOT_WAIT_S + 0.1
