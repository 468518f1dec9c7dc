"""A state diagram that follows a running program: a picture, or a page for a browser, drawn anew at each change."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from robot_rt_control.client.program_state import ProgramState
from robot_rt_control.drawing.diagram_picture import FORMATS, draw
from robot_rt_control.drawing.state_diagram import Now, diagram_of
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.vocabulary.errors import RobotControlError

_LOOK_S = 0.1
"""Between two looks at the states [s]."""
_PAGE = """\
<!DOCTYPE html>
<meta charset="utf-8"><meta http-equiv="refresh" content="1"><title>{title}</title>
<p style="font: 14px sans-serif">{text}</p>
{svg}
"""


def followed(states: Mapping[str, ProgramState], program: str, session: str = "") -> ProgramState | None:
    """The state to show: of this session, or of the last one that runs this program; None: there is none."""
    if session:
        return states.get(session)
    found = [s for s in states.values() if s.program == program]
    return max(found, key=lambda s: (s.ended is None, s.tick), default=None)


def now_of(state: ProgramState | None) -> Now:
    """What to mark."""
    if state is None:
        return Now()
    governing = {(s.action, s.degree_of_freedom): s.strategy for s in state.strategies}
    return Now(active=frozenset(state.active), governing=governing)


def described(state: ProgramState | None) -> str:
    """One line: what runs, and what happened last."""
    if state is None:
        return "no session runs it"
    end = "" if state.ended is None else f", ended: {state.ended}"
    event = f", last event {state.last_event}" if state.last_event else ""
    return f"session {state.session}, tick {state.tick}: {', '.join(state.active) or 'nothing active'}{event}{end}"


def write(template: ProgramTemplate, state: ProgramState | None, file: Path) -> None:
    """Draw the program with what is active. Readers of the file find a whole one, the former or the new.

    Args:
        file: .svg, .png, or .html: a page that a browser loads again each second.

    Raises:
        RobotControlError: another ending, or the file cannot be written.
    """
    page, known = file.suffix.lower() == ".html", (".html", *FORMATS)
    if file.suffix.lower() not in known:
        expected = f"a name that ends with one of {', '.join(known)}"
        raise RobotControlError(f"picture {str(file)!r}", expected=expected, got=repr(file.suffix))
    diagram = diagram_of(template, now_of(state))
    made = draw(diagram, file.with_name(f".{file.stem}.new{'.svg' if page else file.suffix}"))
    if page:
        svg = made.read_text()
        text = _PAGE.format(title=diagram.title, text=described(state), svg=svg[svg.index("<svg") :])
        made.write_text(text)
    made.replace(file)


def follow(
    states: Callable[[], Mapping[str, ProgramState]],
    template: ProgramTemplate,
    file: Path,
    *,
    session: str = "",
    until_end: bool = False,
    stopping: Callable[[], bool] = lambda: False,
    on_change: Callable[[str], object] = lambda _: None,
) -> None:
    """Draw the file anew whenever the program's state changes; if it changes faster, only its latest state.

    Args:
        states: gives the present state of each session.
        session: its id; empty: the last one that runs the program.
        until_end: return after the end of a session that was seen alive.
        stopping: whether to return.
        on_change: called with a line for each state that was drawn.

    Raises:
        RobotControlError: the file cannot be written.
    """
    shown: ProgramState | None = None
    drawn = was_alive = False
    while not stopping():
        state = followed(states(), template.name, session)
        if not drawn or state != shown:
            write(template, state, file)
            shown, drawn = state, True
            on_change(described(state))
        if state is not None:
            was_alive = was_alive or state.ended is None
            if until_end and was_alive and state.ended is not None:
                return
        time.sleep(_LOOK_S)
