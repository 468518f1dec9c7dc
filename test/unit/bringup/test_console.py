"""Names before lines, and their colours."""

from __future__ import annotations

import io

import pytest

from robot_rt_control.bringup.console import Console


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Closed(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_names_are_aligned() -> None:
    stream = io.StringIO()
    console = Console(stream, ["a", "a_long_name"])
    console.lines("a", ["one", "two"])
    console.lines("a_long_name", ["three"])
    console.say("four\nfive")
    assert stream.getvalue() == (
        "[a]           one\n[a]           two\n[a_long_name] three\n[workcell]    four\n[workcell]    five\n"
    )


def test_a_terminal_gets_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = Terminal()
    console = Console(stream, ["a"])
    console.lines("a", ["one"])
    console.alarm("two")
    assert stream.getvalue() == (
        "\033[32m[a]       \033[0m one\n\033[36m[workcell]\033[0m \033[31mtwo\033[0m\n"
    )


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    Console(stream, ["a"]).alarm("one")
    assert stream.getvalue() == "[workcell] one\n"


def test_a_reader_that_has_gone_is_noticed() -> None:
    console = Console(Closed(), ["a"])
    states = [console.broken]
    for text in ("one", "two"):
        console.say(text)
        states.append(console.broken)
    assert states == [False, True, True]
