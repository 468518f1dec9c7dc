"""The whole state of a run as plain data: what is published at each change, and what a picture shows."""

from __future__ import annotations

from dataclasses import dataclass

from robot_rt_control.blueprint.engine.activities import Leaf
from robot_rt_control.blueprint.engine.engine import Engine
from robot_rt_control.blueprint.engine.frame import Frame
from robot_rt_control.blueprint.graph.orders import Question
from robot_rt_control.blueprint.graph.plan import ONLY, shown_path
from robot_rt_control.blueprint.graph.results import Outcome


@dataclass(frozen=True, kw_only=True)
class NodeState:
    """A node or branch that runs.

    Args:
        path: "drinks/open_bottle".
        does: the skill, or what is built in.
        visit, attempt: numbers from 1; 0: of a branch.
        ends: it is being cancelled.
        progress: as last reported by its skill; empty: nothing was reported.
    """

    path: str
    does: str
    visit: int = 0
    attempt: int = 0
    ends: bool = False
    progress: str = ""


@dataclass(frozen=True, kw_only=True)
class RunState:
    """A run at one moment.

    Args:
        nodes: what runs, outermost first.
        stands: "before", "after" or "cut"; empty: it does not stand.
        stands_at: path of the node.
        has_to_be_said: a person has to say how to go on, after a protective stop.
        stopped: the protective stop is not released.
        will_pause: it will stand after the present node.
        jump: path of the target of the jump that waits; empty: none.
        before, after: breakpoints.
        outcome: None: it has not ended.
    """

    blueprint: str
    nodes: tuple[NodeState, ...] = ()
    stands: str = ""
    stands_at: str = ""
    has_to_be_said: bool = False
    stopped: bool = False
    will_pause: bool = False
    ending: bool = False
    jump: str = ""
    questions: tuple[Question, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    outcome: Outcome | None = None


def state_of(engine: Engine) -> RunState:
    """The present state of a run."""
    control, standing, running = engine.control, engine.control.standing, list(engine.running())
    frames = {(*f.path, f.node): f for f in running if isinstance(f, Frame) and f.child is not None}
    progress = {shown_path(a.path): a.progress for a in running if isinstance(a, Leaf) and a.progress}
    nodes = []
    for activity in running[1:]:
        if activity.path[-1] == ONLY and len(activity.path) > 1:  # the node that calls it
            continue
        frame, call = frames.get(activity.path), activity.call
        visit, attempt = (0, 0) if frame is None else (frame.scope.counts[frame.node], frame.attempt)
        ends = engine.is_ending or any(f.cut is not None and activity.path[: len(p)] == p for p, f in frames.items())
        nodes.append(
            NodeState(
                path=shown_path(activity.path),
                does=call.skill or call.kind.value,
                visit=visit,
                attempt=attempt,
                ends=ends,
                progress=progress.get(shown_path(activity.path), ""),
            )
        )
    return RunState(
        blueprint=engine.plan.root,
        nodes=tuple(nodes),
        stands=standing.when if standing is not None else "",
        stands_at=shown_path(standing.path) if standing is not None else "",
        has_to_be_said=control.explicit,
        stopped=control.stopped,
        will_pause=control.pause_after,
        ending=engine.is_ending and engine.outcome is None,
        jump=shown_path(control.jump.target) if control.jump is not None else "",
        questions=tuple(
            activity.question for activity in running if activity.question is not None
        ),
        before=tuple(sorted(map(shown_path, control.before))),
        after=tuple(sorted(map(shown_path, control.after))),
        outcome=engine.outcome,
    )
