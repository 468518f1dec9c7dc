"""A command that somebody gives to a run."""

from __future__ import annotations

from dataclasses import dataclass

from robot_rt_control.blueprint.graph import events
from robot_rt_control.blueprint.graph.plan import read_path, shown_path
from robot_rt_control.blueprint.runs.run import ExecutedRun, read_breakpoints
from robot_rt_control.vocabulary.errors import CommandRefused

COMMANDS = (
    "pause", "resume", "step", "jump", "skip", "answer", "cancel", "breakpoints", "arm", "disarm"
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ControlRequest:
    """A command to a run: srv/ControlRun."""

    command: str
    run: str = ""
    node: str = ""
    now: bool = False
    come_back: bool = False
    into: bool = False
    how: str = ""
    value: str = ""
    breakpoints: tuple[str, ...] = ()
    seconds: float = 0.0
    source: str = ""


def command_of(request: ControlRequest, run: ExecutedRun) -> events.Command:
    """What the engine of a run that goes on is given.

    Raises:
        CommandRefused: nobody asks what is answered, or several do.
        DefinitionError: a breakpoint names no node.
    """
    source, path = request.source, read_path(request.node)
    match request.command:
        case "pause":
            return events.Pause(now=request.now, source=source)
        case "resume":
            return events.Resume(how=request.how, source=source)
        case "step":
            return events.Step(into=request.into, source=source)
        case "jump":
            return events.Jump(target=path, now=request.now, come_back=request.come_back, source=source)
        case "skip":
            return events.Skip(result=request.value, node=path, source=source)
        case "breakpoints":
            before, after = read_breakpoints(request.breakpoints, run.plan)
            return events.SetBreakpoints(before=before, after=after, source=source)
    assert run.runner is not None and request.command == "answer"
    asking = run.runner.questions.values()
    questions = [q for q in asking if not path or shown_path(q.path) == shown_path(path)]
    if len(questions) != 1:
        asked = ", ".join(shown_path(q.path) for q in run.runner.questions.values())
        raise CommandRefused(
            "nobody asks" if not questions else "several nodes ask",
            expected=f"one of: {asked}" if asked else "a question",
            got=request.node,
        )
    return events.Answer(activity=questions[0].activity, answer=request.value, source=source)
