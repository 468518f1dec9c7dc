"""State diagrams that follow a running program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from robot_rt_control.client.program_state import ProgramState, StrategyState
from robot_rt_control.command_line.live_diagram import described, follow, followed, now_of
from robot_rt_control.drawing.state_diagram import diagram_of
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.vocabulary.errors import RobotControlError

TEXT = """\
name: keep
start: near
actions:
  near:
    type: hold
    parts: arm
    strategies:
      elbow: [{name: fast, when: eye.distance > 0.3, law: velocity}, {name: slow, law: velocity}]
    reactions: [{when: eye.distance < 0.1, start: there}]
  there: {type: stop, parts: arm, final: true}
"""


def state(session: str, tick: int, *active: str, program: str = "keep", ended: str | None = None) -> ProgramState:
    strategies = (StrategyState(action="near", degree_of_freedom="elbow", strategy="slow", since=3),)
    return ProgramState(
        session=session,
        program=program,
        tick=tick,
        active=active,
        strategies=strategies if "near" in active else (),
        last_reaction="",
        last_event="go" if tick > 5 else "",
        ended=ended,
    )


def test_the_last_living_session_of_the_program_is_followed() -> None:
    old, new, other = state("s1", 9, "near"), state("s2", 4, "there"), state("s3", 99, "near", program="other")
    states = {s.session: s for s in (old, new, other, state("s4", 50, ended="closed"))}
    assert followed(states, "keep") == old and followed(states, "keep", "s2") == new
    assert followed(states, "nothing") is None and followed({}, "keep", "s1") is None
    assert described(old) == "session s1, tick 9: near, last event go"
    assert described(state("s4", 2, ended="closed")) == "session s4, tick 2: nothing active, ended: closed"
    assert described(None) == "no session runs it"


def test_active_states_and_governing_strategies_are_marked() -> None:
    diagram = diagram_of(ProgramTemplate(TEXT), now_of(state("s1", 3, "near")))
    near, there = (s for s in diagram.states if s.key[0])
    assert (near.active, there.active) == (True, False)
    assert [line.style for line in near.blocks["elbow"]] == ["condition", "governing"]
    nothing = diagram_of(ProgramTemplate(TEXT), now_of(None))
    assert not any(s.active for s in nothing.states)


@pytest.mark.parametrize("suffix", [".svg", ".png", ".html"])
def test_the_file_is_drawn_at_each_change_until_the_session_ends(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"live{suffix}"
    course = iter([{}, {"s1": state("s1", 1, "near")}, {"s1": state("s1", 1, "near")}, {"s1": state("s1", 7, "there")}])
    drawn: list[bytes] = []
    lines: list[str] = []

    def changed(line: str) -> None:
        lines.append(line)
        drawn.append(file.read_bytes())

    end = {"s1": state("s1", 8, ended="closed")}
    follow(lambda: next(course, end), ProgramTemplate(TEXT), file, until_end=True, on_change=changed)
    assert lines == [described(s) for s in (None, state("s1", 1, "near"), state("s1", 7, "there"), end["s1"])]
    assert len(set(drawn)) == 4 - (suffix != ".html"), "without a text, the first and the last look the same"
    assert [p.name for p in tmp_path.iterdir()] == [file.name], "nothing else stays"
    if suffix == ".html":
        assert all(re.search(rb'(?s)http-equiv="refresh".*<svg.*</svg>', page) for page in drawn)
        assert b"session s1, tick 7: there, last event go" in drawn[2]


def test_it_can_be_stopped_and_says_what_it_cannot_write(tmp_path: Path) -> None:
    looks = iter([False, True])
    follow(dict, ProgramTemplate(TEXT), tmp_path / "live.svg", stopping=lambda: next(looks))
    with pytest.raises(RobotControlError, match=r"live.gif'; expected a name that ends with one of .html, .svg, .png"):
        follow(dict, ProgramTemplate(TEXT), tmp_path / "live.gif")
