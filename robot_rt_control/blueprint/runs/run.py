"""One run of the executor: what was asked for, what drives it, and what is published of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from robot_rt_control.blueprint.graph import events
from robot_rt_control.blueprint.graph.plan import Path, Plan, read_path, shown_path
from robot_rt_control.blueprint.graph.results import Outcome
from robot_rt_control.blueprint.runs.performer import RobotPerformer
from robot_rt_control.blueprint.runs.rehearsal import Rehearsal
from robot_rt_control.blueprint.runs.run_log import RunLog
from robot_rt_control.blueprint.runs.run_state import RunState, state_of
from robot_rt_control.blueprint.runs.runner import Runner
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.definitions.parameter_value import ParameterValue, Value
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

REFUSE, WAIT, REPLACE = "refuse", "wait", "replace"
BUSY = (REFUSE, WAIT, REPLACE)

RUNS, ENDS, ASKS, ENDED, WAITS = "runs", "ends", "asks", "ended", "waits"
"""States of a node, beside where a run stands: before, after, cut."""


@dataclass(frozen=True, kw_only=True)
class Start:
    """What somebody wants to run.

    Args:
        skill: name of a skill, or a YAML text.
        parts: role → part.
        start_at: the node to begin with; empty: the graph's start.
        outputs_of: id of an earlier run whose nodes' outputs are there again.
        breakpoints: "drinks", "after drinks/open_bottle".
        busy: one of BUSY.
        source: who, for the log.

    Raises:
        DefinitionError: `busy` is none of these.
    """

    skill: str
    parameters: tuple[ParameterValue, ...] = ()
    parts: Mapping[str, str] = field(default_factory=dict)
    start_at: str = ""
    outputs_of: str = ""
    paused: bool = False
    breakpoints: tuple[str, ...] = ()
    rehearse: bool = False
    busy: str = REFUSE
    source: str = ""

    def __post_init__(self) -> None:
        if self.busy not in BUSY:
            raise DefinitionError("busy", expected=unknown("word", self.busy, BUSY), got=repr(self.busy))


@dataclass(frozen=True, kw_only=True)
class NodeView:
    """A node of a run, or with an empty path the run itself: msg/BlueprintNode.

    Args:
        reason: of a run why it ended so; of a node that runs its progress, as last reported by its skill.
    """

    run: str
    path: str = ""
    does: str
    visit: int = 0
    attempt: int = 0
    state: str
    since: float = 0.0
    question: str = ""
    answers: tuple[str, ...] = ()
    result: str = ""
    reason: str = ""
    parts: tuple[str, ...] = ()
    source: str = ""
    rehearsed: bool = False
    will_pause: bool = False
    has_to_be_said: bool = False
    jump: str = ""
    breakpoints: tuple[str, ...] = ()


@dataclass(eq=False)
class ExecutedRun:
    """A run of the executor.

    Args:
        skill: name of what runs; of a text its name.
        plan, catalogue: pinned.
        parts: all that it can move.
        outputs: of earlier nodes.
        runner: None: it waits for its parts.
    """

    start: Start
    skill: str
    plan: Plan
    catalogue: SkillCatalogue
    roles: Mapping[str, str]
    parts: tuple[str, ...]
    versions: Mapping[str, int]
    outputs: Mapping[str, Value]
    asked: float
    """[s] of the loop's time when it was asked for."""
    id: str = ""
    """Given when it begins or waits."""
    runner: Runner | None = None
    performer: RobotPerformer | Rehearsal | None = None
    log: RunLog | None = None
    outcome: Outcome | None = None
    _since: dict[tuple[Any, ...], float] = field(default_factory=dict)

    @property
    def is_under_way(self) -> bool:
        """Whether it has begun and not ended."""
        return self.runner is not None and self.outcome is None

    @property
    def beginning(self) -> events.Begin:
        """The command with which it begins."""
        return events.Begin(
            arguments=self.start.parameters,
            parts=self.roles,
            at=read_path(self.start.start_at),
            outputs=self.outputs,
            paused=self.start.paused,
            source=self.start.source,
        )

    def begin(self) -> str:
        """Begin; it has a performer and a log. Returns why it is refused; empty: it is not."""
        assert self.performer is not None and self.log is not None
        self.runner = Runner(self.plan, self.performer, self.log)
        before, after = read_breakpoints(self.start.breakpoints, self.plan)
        self.runner.engine.control.before, self.runner.engine.control.after = before, after
        return self.runner.give(self.beginning)

    def give_up(self) -> None:
        """It has not begun after all: its session is closed, and nothing of it goes on."""
        performer, self.performer, self.runner = self.performer, None, None
        if isinstance(performer, RobotPerformer):
            performer.close()

    def close(self, outcome: Outcome) -> None:
        """It has ended."""
        self.outcome = outcome
        try:
            if isinstance(self.performer, RobotPerformer):
                self.performer.close()
        finally:
            if self.log is not None:
                self.log.close()

    # --- what is published ----------------------------------------------------------------------

    def views(self, now: float) -> tuple[NodeView, ...]:
        """The run and its nodes, outermost first.

        Args:
            now: [s] of the loop's time.
        """
        state = state_of(self.runner.engine) if self.runner is not None else RunState(blueprint=self.skill)
        views = [self._itself(state), *self._nodes(state)]
        since = {}
        for index, view in enumerate(views):
            key = view.path, view.state, view.visit, view.attempt
            since[key] = self._since.get(key, now)
            views[index] = replace(view, since=since[key])
        self._since = since
        return tuple(views)

    def _itself(self, state: RunState) -> NodeView:
        outcome = self.outcome
        word = ENDED if outcome is not None else WAITS if self.runner is None else state.stands or RUNS
        return NodeView(
            run=self.id,
            does=self.skill,
            state=ENDS if state.ending and outcome is None else word,
            result=outcome.result if outcome is not None else "",
            reason=outcome.reason if outcome is not None else "",
            parts=self.parts,
            source=self.start.source,
            rehearsed=self.start.rehearse,
            will_pause=state.will_pause,
            has_to_be_said=state.has_to_be_said,
            jump=state.jump,
            breakpoints=(*state.before, *(f"after {path}" for path in state.after)),
        )

    def _nodes(self, state: RunState) -> Iterable[NodeView]:
        questions = {shown_path(question.path): question for question in state.questions}
        stood = False
        for node in state.nodes:
            question = questions.get(node.path)
            stands = node.path == state.stands_at and bool(state.stands)
            stood = stood or stands
            word = state.stands if stands else ENDS if node.ends else ASKS if question is not None else RUNS
            yield NodeView(
                run=self.id,
                path=node.path,
                does=node.does,
                visit=node.visit,
                attempt=node.attempt,
                state=word,
                question=question.text if question is not None else "",
                answers=question.answers if question is not None else (),
                reason=node.progress,
            )
        if state.stands and not stood:
            does = ""
            try:
                call = self.plan.find(read_path(state.stands_at))[-1][1].call
                does = call.skill or call.kind.value
            except DefinitionError:
                pass
            yield NodeView(run=self.id, path=state.stands_at, does=does, state=state.stands)


def read_breakpoints(texts: Sequence[str], plan: Plan) -> tuple[frozenset[Path], frozenset[Path]]:
    """Breakpoints before and after nodes.

    Raises:
        DefinitionError: there is no such node, or it is in a parallel branch.
    """
    before: set[Path] = set()
    after: set[Path] = set()
    for text in texts:
        word, _, rest = text.strip().partition(" ")
        chosen, path = (after, rest) if word == "after" and rest else (before, text)
        if word == "before" and rest:
            path = rest
        chosen.add(read_path(path))
    for path_ in sorted(before | after):
        plan.find(path_)
    return frozenset(before), frozenset(after)
