"""What timelines are sent: each tick once and in order, what was lost as a gap, bars and marks at their ticks."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from robot_rt_control.editor import timelines
from robot_rt_control.editor.recent import Recent
from robot_rt_control.editor.robot import TimelineNews
from robot_rt_control.editor.timelines import TimelineReader, Timelines, wanted_timeline
from robot_rt_control.ros.tick_batches import TickBatch, TickNames


def names(version: int = 1) -> TickNames:
    return TickNames(version=version, period=0.001, columns=4, variables={"speed": 1, "misses": 2}, actions={"arm": 3},
                     integers=frozenset({0, 2, 3}))  # fmt: skip


def batch(ticks: Sequence[int], actions: Sequence[int] = (), version: int = 1, **known: str) -> TickBatch:
    """Ticks with speed = tick / 8, misses = 10 tick; `known`: a1="down" names action 1."""
    rows = np.zeros((len(ticks), 4), np.int64)
    rows[:, 0], rows[:, 2] = ticks, np.multiply(ticks, 10)
    rows.view(np.float64)[:, 1] = np.divide(ticks, 8)
    rows[:, 3] = actions or 0
    named = {int(key[1:]): name for key, name in known.items()}
    return TickBatch(version=version, rows=rows, action_names=named)


def event(tick: int, kind: str = "reaction_fired", **more: Any) -> dict[str, Any]:
    empty = dict.fromkeys(("session", "reaction", "event", "previous_action", "current_action", "part", "reason"), "")
    return {**empty, "kind": kind, "tick": tick, "values": {}, **more}


class Loop:
    """Stands for a robot: gives what a test puts in."""

    def __init__(self) -> None:
        self.next, self.forgotten = TimelineNews(names=names()), 0

    def timeline(self) -> TimelineNews:
        found, self.next = self.next, TimelineNews(names=self.next.names)
        return found

    def forget_timeline(self) -> None:
        self.forgotten += 1

    def give(self, *batches: TickBatch, **more: Any) -> None:
        self.next = TimelineNews(**{"names": self.next.names, "batches": batches, **more})


class Screen:
    """A browser: what it was sent."""

    def __init__(self, loop: Loop, *chosen: str, of: Timelines | None = None) -> None:
        self.loop, self.of = loop, of if of is not None else Timelines(loop)  # type: ignore[arg-type]
        self.reader = TimelineReader(rate=20.0)
        self.reader.choose(1, chosen)
        self.ticks: list[int] = []
        self.values: dict[str, list[float]] = {name: [] for name in chosen}
        self.frames: list[tuple[int, int]] = []
        self.texts: list[dict[str, Any]] = []

    def look(self) -> dict[str, Any]:
        """The text of this look; empty: none."""
        text: dict[str, Any] = {}
        for message in self.of.news(self.reader):
            if isinstance(message, str):
                text = json.loads(message)["timeline"]
                continue
            magic, choice, first, n, count = struct.unpack_from("<IIdII", message)
            assert (magic, choice) == (0xFFFFFFFF, self.reader.choice)
            numbers = struct.unpack_from(f"<{count}I", message, 24)
            at = 24 + 4 * (count + count % 2)
            assert len(message) == at + 8 * n * count and at % 8 == 0
            for k, number in enumerate(numbers):
                self.values[self.reader.names[number]] += struct.unpack_from(f"<{n}d", message, at + 8 * n * k)
            self.ticks += range(int(first), int(first) + n)
            self.frames.append((int(first), n))
        return text


@pytest.fixture(autouse=True)
def _always_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timelines, "_FRESH_S", -1.0)


def test_E22_each_tick_comes_once_with_its_values_and_a_loss_is_a_gap() -> None:
    loop = Loop()
    screen = Screen(loop, "misses", "speed", "nobody")
    loop.give(batch([1, 2, 3]), batch([4, 5]))
    screen.look()
    loop.give(batch([6, 9, 10]))
    screen.look()
    assert screen.ticks == [1, 2, 3, 4, 5, 6, 9, 10] and screen.frames == [(1, 5), (6, 1), (9, 2)]
    assert screen.values["speed"] == [t / 8 for t in screen.ticks]
    assert screen.values["misses"] == [10 * t for t in screen.ticks] and screen.values["nobody"] == []
    loop.give(batch([9, 10]))
    screen.look()
    assert len(screen.ticks) == 8, "what came again is not sent again"


def test_E24_a_slow_browser_has_a_gap_and_delays_nobody() -> None:
    loop = Loop()
    quick = Screen(loop, "speed")
    slow = Screen(loop, "speed", of=quick.of)
    loop.give(batch([1, 2, 3]))
    for each in (quick, slow):
        each.look()
    for begin in range(4, 10_004, 100):
        loop.give(batch(range(begin, begin + 100)))
        quick.look()
    slow.look()
    assert quick.ticks == list(range(1, 10_004)) and len(quick.of._chunks) <= 31
    assert slow.ticks[:3] == [1, 2, 3] and slow.ticks[-1] == 10_003 and 3000 <= len(slow.ticks) - 3 <= 3100
    assert len(slow.frames) == 2, "one gap"


def test_a_new_choice_gets_the_last_ticks_again() -> None:
    loop = Loop()
    screen = Screen(loop, "speed")
    loop.give(batch(range(1, 50)))
    screen.look()
    screen.values["misses"] = []
    screen.reader.choose(2, ("misses",))
    screen.look()
    assert screen.values["misses"] == [10 * t for t in range(1, 50)]
    screen.reader.choose(2, ("misses",))
    screen.look()
    assert len(screen.values["misses"]) == 49, "the same choice is no news"


def bars(found: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(b["number"], b["action"], b["session"], b["first"], b["last"], b["began"]) for b in found.get("bars", ())]


def test_E23_bars_begin_and_end_with_their_actions_and_learn_their_session_from_events() -> None:
    loop = Loop()
    screen = Screen(loop)
    loop.give(batch([5, 6, 7, 8], [9, 9, 3, 3], a9="stop action", a3="down"))
    assert bars(screen.look()) == [(1, "stop action", "", 5, 6, True), (2, "down", "", 7, None, False)]
    started = event(7, "action_started", current_action="down", session="s1", part="arm, gripper")
    loop.give(batch([9, 10], [3, 3], a3="down"), events=[started])
    assert bars(screen.look()) == [(2, "down", "s1", 7, None, False)]
    loop.give(batch([11, 12], [0, 0]))
    assert bars(screen.look()) == [(2, "down", "s1", 7, 10, False)]
    assert screen.look() == {}, "nothing is new"
    late = Screen(loop, of=screen.of)
    assert [bar[0] for bar in bars(late.look())] == [1, 2]


def test_E23_an_action_that_is_active_already_has_the_session_of_its_last_start() -> None:
    loop = Loop()
    screen = Screen(loop)
    starts = [event(tick, "action_started", current_action="down", session=session, part="arm")
              for tick, session in ((1, "s1"), (3, "s2"))]  # fmt: skip
    loop.give(events=starts)
    screen.look()
    loop.give(batch([50, 51], [3, 3], a3="down"))
    assert bars(screen.look()) == [(1, "down", "s2", 50, None, True)]


def test_E23_a_bar_does_not_go_on_across_a_gap() -> None:
    loop = Loop()
    screen = Screen(loop)
    loop.give(batch([5, 6], [3, 3], a3="down"))
    screen.look()
    loop.give(batch([9, 10], [3, 3], a3="down"))
    assert bars(screen.look()) == [(1, "down", "", 5, 6, True), (2, "down", "", 9, None, True)]


def test_E23_marks_are_the_events_with_their_values() -> None:
    loop = Loop()
    screen = Screen(loop)
    loop.give(events=[event(7, reaction="near", current_action="up", values={"d": 0.2, "x": float("nan")}),
                      event(8, "command_done")])  # fmt: skip
    (mark,) = screen.look()["marks"]
    assert (mark["tick"], mark["reaction"], mark["current"]) == (7, "near", "up")
    assert mark["values"] == {"d": 0.2, "x": None}
    loop.give(events=[event(tick) for tick in range(2000)])
    found = screen.look()["marks"]
    assert len(found) == 500 and found[-1]["tick"] == 1999 and found[0]["number"] == 1502, "the number shows the loss"


def test_E25_a_firing_keeps_the_values_of_its_tick_and_what_it_captured() -> None:
    loop = Loop()
    lines = Timelines(loop)  # type: ignore[arg-type]
    screen = Screen(loop, of=lines)
    near = event(7, session="s1", reaction="near", previous_action="go", values={"d": 0.2, "go.x": float("nan")})
    loop.give(batch(range(1, 7)), events=[near, event(8, "part_faulted")])
    one, two = screen.look()["marks"]
    assert lines.fired(one["number"]) is None, "its tick has not come"
    loop.give(batch(range(7, 10)))
    screen.look()
    found = lines.fired(one["number"])
    assert found is not None and (found.session, found.reaction, found.owner) == ("s1", "near", "go")
    assert (found.values["speed"], found.values["misses"], found.values["d"]) == (7 / 8, 70.0, 0.2)
    assert np.isnan(found.values["go.x"])
    assert lines.fired(two["number"]) is None, "it is none of a reaction"
    wrong: object
    for wrong in (None, 99, "1", [], {}, 1.5):
        assert lines.fired(wrong) is None
    for first in range(10, 5000, 500):  # it is kept longer than its tick
        loop.give(batch(range(first, first + 500)))
        screen.look()
    assert lines.fired(one["number"]) == found
    for tick in range(5010, 5610):
        loop.give(batch([tick]), events=[event(tick, reaction="near")])
        screen.look()
    assert lines.fired(one["number"]) is None and len(lines._fired) <= 500
    loop.next = TimelineNews(names=names(2))
    screen.look()
    assert not lines._fired, "ticks of another executor are others"


def test_E22_samples_of_what_is_not_in_every_tick() -> None:
    loop = Loop()
    screen = Screen(loop, "s1/a.progress", "speed")
    sampled = ("tick", "speed", "s1/a.progress")
    samples = [(1, (1.0, 0.5, 0.25)), (2, (2.0, 0.5, float("nan"))), (2, (1.0,))]
    loop.give(batch([1, 2]), sampled=sampled, samples=samples)
    found = screen.look()
    assert found["layout"] == {"loop": 1, "period": 0.001, "parts": ["arm"], "every_tick": ["misses", "speed"],
                               "sampled": ["s1/a.progress", "tick"], "problem": ""}  # fmt: skip
    assert found["samples"] == {"s1/a.progress": [[1, 0.25], [2, None]]}
    assert screen.of.sessions == ["s1"] and screen.look() == {}


def test_a_look_that_fails_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop()
    screen = Screen(loop, "speed")

    def fail() -> TimelineNews:
        raise RuntimeError("the middleware")

    with monkeypatch.context() as broken:
        broken.setattr(loop, "timeline", fail)
        assert "layout" in screen.look()
    loop.give(batch([1, 2]))
    screen.look()
    assert screen.ticks == [1, 2]


def test_what_cannot_be_kept_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """The loop that looks is the one that shows what is true now."""
    loop = Loop()
    of = Timelines(loop)  # type: ignore[arg-type]
    of.recent.about()
    loop.give(batch([1, 2]), events=[{"kind": "reaction_fired"}])
    of.look()
    assert "the loop's ticks cannot be read: KeyError" in caplog.text
    of._looked = 0.0
    loop.give(batch([3, 4]))
    of.look()
    assert of.last == 4


def test_what_is_kept_of_the_last_minutes_begins_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block goes to browsers whole: the places of ticks that are missing must not hold this process's old memory."""
    monkeypatch.setattr(np, "empty", lambda shape, kind: np.full(shape, 77, kind))
    kept = Recent()
    kept.about()
    kept.take(batch([5, 6]), names())
    assert not any(each[:5].any() for each in (kept._q, kept._doing, kept._states, kept._faults))


def test_another_executor_begins_anew() -> None:
    loop = Loop()
    screen = Screen(loop, "speed")
    loop.give(batch([100, 101], [3, 3], a3="down"))
    assert screen.look()["layout"]["loop"] == 1
    loop.give(batch([1, 2], [4, 4], version=2, a4="up"), batch([200], version=1), names=names(2))
    found = screen.look()
    assert found["layout"]["loop"] == 2 and bars(found) == [(2, "up", "", 1, None, True)]
    assert screen.ticks == [100, 101, 1, 2], "what an executor before has sent does not count"


def test_E24_nobody_looks_and_nothing_is_followed() -> None:
    loop = Loop()
    screen = Screen(loop, "speed")
    screen.of.rest()
    assert loop.forgotten == 0, "nothing was followed yet"
    loop.give(batch([1, 2], [3, 3], a3="down"), events=[event(2)])
    screen.look()
    screen.of.rest()
    screen.of.rest()
    assert loop.forgotten == 1 and not screen.of._chunks
    loop.give(batch([7, 8], [3, 3], a3="down"))
    assert bars(screen.look()) == [(1, "down", "", 1, 2, True), (2, "down", "", 7, None, True)], "a gap"
    assert screen.ticks == [1, 2, 7, 8]
    again = Screen(loop, "speed", of=screen.of)
    found = again.look()
    assert [mark["tick"] for mark in found["marks"]] == [2] and again.ticks == [7, 8]
    assert [bar[0] for bar in bars(found)] == [1, 2], "with the numbers that they had"


@pytest.mark.parametrize("wrong", [
    None, [], {}, {"choice": 1, "names": []}, {"choice": 1.5, "names": [], "rate": 1},
    {"choice": -1, "names": [], "rate": 1},
    {"choice": 1, "names": "speed", "rate": 1}, {"choice": 1, "names": ["a"] * 2, "rate": 1},
    {"choice": 1, "names": list("abcd"), "rate": 1}, {"choice": 1, "names": [1], "rate": 1},
    {"choice": 1, "names": [""], "rate": 1}, {"choice": 1, "names": ["a" * 200], "rate": 1},
    {"choice": 1, "names": [], "rate": 31}, {"choice": 1, "names": [], "rate": -1},
    {"choice": 1, "names": [], "rate": True},
    {"choice": 1, "names": [], "rate": float("nan")}, {"choice": True, "names": [], "rate": 1},
])  # fmt: skip
def test_E24_a_malformed_wish_is_refused(wrong: Any) -> None:
    assert wanted_timeline(wrong, most=3, fastest=30.0) is None


def test_a_wish_is_read() -> None:
    found = wanted_timeline({"choice": 3, "names": ["a", "b"], "rate": 20}, most=3, fastest=30.0)
    assert found == (3, ("a", "b"), 20.0)
