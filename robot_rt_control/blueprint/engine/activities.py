"""What a node can do, under way: a skill of others, a wait, a question, branches. A graph is in frame.py.

All of them are driven by the engine's agenda, one step after the other: no step calls the next one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from robot_rt_control.blueprint.graph import orders
from robot_rt_control.blueprint.graph.plan import Call, Kind, Path, shown_path
from robot_rt_control.blueprint.graph.results import CANCELLED, DONE, FAILED, Outcome
from robot_rt_control.vocabulary.errors import DefinitionError

if TYPE_CHECKING:
    from robot_rt_control.blueprint.engine.engine import Engine
    from robot_rt_control.blueprint.graph.scope import Scope


class Parent(Protocol):
    """Receives the end of an activity."""

    def child_ended(self, child: Activity, outcome: Outcome) -> None: ...


class Activity(ABC):
    """One call under way.

    Args:
        path: of its node, with the branch.
    """

    def __init__(self, engine: Engine, parent: Parent, call: Call, path: Path) -> None:
        self.engine, self.parent, self.call, self.path = engine, parent, call, path
        self.over = False
        self.question: orders.Question | None = None
        """That waits for an answer."""

    @abstractmethod
    def begin(self, scope: Scope, inner: Path) -> None:
        """Start it.

        Args:
            scope: of the graph that calls it.
            inner: node of the called graph to begin with.

        Raises:
            DefinitionError: an argument cannot be computed; nothing has started.
        """

    def cancel(self) -> None:
        """End it as soon as possible; its end comes later."""
        if not self.over:
            self.end(Outcome.standard(CANCELLED))

    def end(self, outcome: Outcome) -> None:
        """Report the end; only the first one counts."""
        if not self.over:
            self.over = True
            self.engine.soon(lambda: self.parent.child_ended(self, outcome))

    def drop(self) -> None:
        """Forget it: nothing of it runs."""
        self.over = True

    def inner(self) -> Iterator[Activity]:
        """What runs within it."""
        return iter(())


class Leaf(Activity):
    """A skill that others perform, and `wait_until`, whose condition the loop judges."""

    id = 0
    progress = ""
    """How far it is, as its performer says."""
    _cancelled = False

    def begin(self, scope: Scope, inner: Path) -> None:
        call = self.call
        arguments, until = scope.arguments(call), scope.condition(call.until) if call.until else ""
        parts = {role: scope.part(part) for role, part in call.parts.items()}
        self.id = self.engine.register(self)
        self.engine.record(
            "start",
            activity=self.id,
            path=shown_path(self.path),
            skill=call.skill,
            arguments={a.name: a.value for a in arguments},
            parts=parts,
            **({"until": until} if until else {}),
        )
        self.engine.order(
            orders.StartSkill(
                activity=self.id, path=self.path, skill=call.skill, arguments=arguments, parts=parts, until=until
            )
        )

    def ask(self, text: str, answers: tuple[str, ...]) -> None:
        """Its performer asks; the skill goes on."""
        if not self.over and not self._cancelled:
            self.question = _ask(self.engine, self.id, self.path, text, answers, {})

    def answer(self, answer: str) -> None:
        """A person has answered."""
        self.question = None
        self.engine.order(orders.Answered(activity=self.id, answer=answer))

    def end(self, outcome: Outcome) -> None:
        self._withdraw()
        super().end(outcome)

    def _withdraw(self) -> None:
        if self.question is not None:
            self.question = None
            self.engine.order(orders.Withdraw(activity=self.id))

    def cancel(self) -> None:
        if not self.over and not self._cancelled:
            self._cancelled = True
            self._withdraw()
            self.engine.record("cancel", activity=self.id, path=shown_path(self.path))
            self.engine.order(orders.CancelSkill(activity=self.id))

    def ended(self, outcome: Outcome) -> None:
        """Its performer says so."""
        if outcome.result not in self.call.results:
            reason = f"skill {self.call.skill!r} returned the unknown result {outcome.result!r}"
            outcome = Outcome(result=FAILED, failure=True, reason=reason, outputs=outcome.outputs)
        self.end(outcome)


class Wait(Activity):
    """A time of the loop."""

    _timer = 0

    def begin(self, scope: Scope, inner: Path) -> None:
        seconds = scope.number("time", self.call.arguments["time"])
        self._timer = self.engine.timers.start(seconds, lambda: self.end(Outcome.standard(DONE)))

    def end(self, outcome: Outcome) -> None:
        self.engine.timers.drop(self._timer)
        super().end(outcome)


class Ask(Activity):
    """A question to the operator."""

    id = 0

    def begin(self, scope: Scope, inner: Path) -> None:
        text = str(scope.argument("text", self.call.arguments["text"]).value)
        self.id = self.engine.register(self)
        self.question = _ask(self.engine, self.id, self.path, text, self.call.answers, self.call.titles)

    def answer(self, answer: str) -> None:
        """A person has answered."""
        self.end(Outcome(result=answer, failure=False))

    def cancel(self) -> None:
        if not self.over:
            self.engine.order(orders.Withdraw(activity=self.id))
        super().cancel()

    def end(self, outcome: Outcome) -> None:
        self.engine.unregister(self.id)
        super().end(outcome)


def _ask(
    engine: Engine, id: int, path: Path, text: str, answers: tuple[str, ...], titles: Mapping[str, str]
) -> orders.Question:
    shown = {"titles": dict(titles)} if titles else {}
    engine.record("question", activity=id, path=shown_path(path), text=text, answers=list(answers), **shown)
    question = orders.Question(activity=id, path=path, text=text, answers=answers, titles=titles)
    engine.order(question)
    return question


class Instant(Activity):
    """`set` and `log`: done at once."""

    def begin(self, scope: Scope, inner: Path) -> None:
        if self.call.kind == Kind.SET:
            self.engine.record("set", path=shown_path(self.path), values=scope.set(self.call.arguments))
        else:
            text = scope.argument("text", self.call.arguments["text"]).value
            self.engine.record("log", path=shown_path(self.path), text=text)
        self.end(Outcome.standard(DONE))


class Parallel(Activity):
    """Branches side by side (N16)."""

    def begin(self, scope: Scope, inner: Path) -> None:
        self._verdict: Outcome | None = None
        self._cancelled = False
        self._outputs: dict[str, Any] = {}
        self._running: dict[str, Activity] = {}
        for name, call in self.call.branches.items():
            branch = self.engine.make(self, call, (*self.path, name), main=False)
            self._running[name] = branch
            try:
                branch.begin(scope, ())
            except DefinitionError as error:
                branch.end(Outcome.standard(FAILED, str(error)))

    def cancel(self) -> None:
        self._cancelled = True
        for branch in self._running.values():
            branch.cancel()

    def inner(self) -> Iterator[Activity]:
        return iter(self._running.values())

    def child_ended(self, child: Activity, outcome: Outcome) -> None:
        name = child.path[-1]
        del self._running[name]
        self.engine.record_end(child.path, outcome)
        if not self._cancelled and self._verdict is None:
            first_of = self.call.kind == Kind.FIRST_OF
            self._outputs.update({f"{name}.{key}": value for key, value in outcome.outputs.items()})
            if outcome.failure:
                self._decide(Outcome.standard(FAILED, f"branch {name!r} ended as {outcome.shown}"))
            elif first_of:
                self._decide(Outcome(result=name, failure=False))
        if not self._running:
            verdict = Outcome.standard(CANCELLED) if self._cancelled else self._verdict or Outcome.standard(DONE)
            super().end(
                Outcome(
                    result=verdict.result, failure=verdict.failure, reason=verdict.reason, outputs=self._outputs
                )
            )

    def _decide(self, verdict: Outcome) -> None:
        self._verdict = verdict
        for branch in self._running.values():
            branch.cancel()


KINDS: dict[Kind, Callable[[Engine, Parent, Call, Path], Activity]] = {
    Kind.LEAF: Leaf,
    Kind.WAIT_UNTIL: Leaf,
    Kind.WAIT: Wait,
    Kind.ASK: Ask,
    Kind.SET: Instant,
    Kind.LOG: Instant,
    Kind.ALL_OF: Parallel,
    Kind.FIRST_OF: Parallel,
}
"""All but graphs."""
