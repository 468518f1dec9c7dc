"""Executes a plan: takes what happened, and says what to do.

The engine has no clock, no threads and no access to the robot, and starts nothing by itself: two runs with the same
plan, events and moments give the same records and orders. Rules: docs/semantics/blueprints.md.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from robot_rt_control.blueprint.engine.activities import KINDS, Activity, Ask, Leaf, Parent
from robot_rt_control.blueprint.engine.control import Control, Refused
from robot_rt_control.blueprint.engine.frame import Frame
from robot_rt_control.blueprint.engine.reactions_in_a_row import ReactionsInARow
from robot_rt_control.blueprint.engine.timers import Timers
from robot_rt_control.blueprint.graph import events
from robot_rt_control.blueprint.graph.events import Command, EngineEvent, Moment
from robot_rt_control.blueprint.graph.orders import EndRun, Order, Record, Taken
from robot_rt_control.blueprint.graph.plan import Call, Kind, Path, Plan, shown_path
from robot_rt_control.blueprint.graph.results import CANCELLED, FAILED, Outcome
from robot_rt_control.blueprint.graph.scope import Scope
from robot_rt_control.definitions.parameter_value import ParameterValue
from robot_rt_control.vocabulary.capacities import MAX_CHANGES_PER_TICK, MAX_REACTIONS_IN_A_ROW
from robot_rt_control.vocabulary.errors import DefinitionError

_NOTHING = Moment(tick=0, time=0.0)


class Engine:
    """One run of a plan. Not thread-safe.

    Attributes:
        moment: of the present event.
        control: what commands have left to do.
        reactions: how often each was followed in a row.
        outcome: of the run; None: it has not ended.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.moment = _NOTHING
        self.timers = Timers()
        self.control = Control(self)
        self.reactions = ReactionsInARow()
        self.outcome: Outcome | None = None
        self._root: Frame | None = None
        self._ending: Outcome | None = None
        self._registered: dict[int, Activity] = {}
        self._ids = 0
        self._commands = 0
        self._changes = 0
        self._changes_tick = -1
        self._agenda: deque[Callable[[], None]] = deque()
        self._orders: list[Order] = []
        self._records: list[Record] = []

    def take(self, event: EngineEvent, moment: Moment) -> Taken:
        """What comes of an event.

        Args:
            moment: not before that of the event before.

        Returns:
            Records to be written, then orders to be carried out, in this order.
        """
        self.moment, self.timers.now = moment, moment.time
        refused = ""
        if isinstance(event, Command):
            refused = self._command(event)
        elif self.outcome is None and self._root is not None:
            self._happened(event)
        while self._agenda:
            self._agenda.popleft()()
        taken = Taken(orders=tuple(self._orders), records=tuple(self._records), refused=refused)
        self._orders, self._records = [], []
        return taken

    def refuses(self, command: events.Begin) -> str:
        """Why a run could not begin so; empty: it could. Nothing begins."""
        try:
            self._scope(command)
        except Refused as refusal:
            return str(refusal)
        return ""

    @property
    def next_deadline(self) -> float | None:
        """[s] When `Elapsed` is to be given; None: never."""
        return self.timers.deadline if self.outcome is None else None

    @property
    def is_ending(self) -> bool:
        """Whether the run is being cancelled."""
        return self._ending is not None

    def running(self) -> Iterator[Activity]:
        """Everything that runs, outermost first, branches in their order."""
        waiting: list[Activity] = [] if self._root is None or self._root.over else [self._root]
        while waiting:
            activity = waiting.pop()
            yield activity
            waiting += reversed(list(activity.inner()))

    def chain(self) -> list[Frame]:
        """The calls that lead to the point, outermost first."""
        found: list[Frame] = []
        activity: Activity | None = self._root
        while isinstance(activity, Frame):
            found.append(activity)
            activity = activity.child
        return found

    # --- what happened --------------------------------------------------------------------------

    def _happened(self, event: EngineEvent) -> None:
        match event:
            case events.Ended(activity=id):
                leaf = self._registered.get(id)
                if isinstance(leaf, Leaf):
                    del self._registered[id]
                    failure = leaf.call.results.get(event.result, True)
                    leaf.ended(
                        Outcome(result=event.result, failure=failure, reason=event.reason, outputs=event.outputs)
                    )
            case events.Told(activity=id) | events.Asked(activity=id):
                leaf = self._registered.get(id)
                if isinstance(leaf, Leaf) and isinstance(event, events.Told):
                    leaf.progress = event.content.get("text", "") if event.what == "progress" else leaf.progress
                    self.record(event.what, activity=id, path=shown_path(leaf.path), **event.content)
                elif isinstance(leaf, Leaf) and isinstance(event, events.Asked):
                    leaf.ask(event.text, event.answers)
            case events.Fired(watch=id, reaction=index):
                frame = self._registered.get(id)
                if isinstance(frame, Frame):
                    frame.fired(index)
            case events.Elapsed():
                self.timers.ring()
            case events.Stopped():
                self.record("protective_stop")
                self.control.stop()
            case events.Released():
                self.record("released")
                self.control.stopped = False

    def _command(self, command: Command) -> str:
        """Returns why it is refused; empty: it is not."""
        self._commands += 1
        content = {key: _plain(value) for key, value in vars(command).items() if key != "source"}
        line = self.record(
            "command", number=self._commands, command=type(command).__name__, source=command.source, **content
        )
        try:
            if isinstance(command, events.Begin):
                self._begin(command)
                return ""
            if self._root is None:
                raise Refused("the run has not begun")
            if self.outcome is not None:
                raise Refused(f"the run has ended as {self.outcome.result}")
            if self.is_ending and not isinstance(command, events.Cancel):
                raise Refused("the run is ending")
            self._apply(command)
        except Refused as refusal:
            line["refused"] = str(refusal)
            return str(refusal)
        return ""

    def _apply(self, command: Command) -> None:
        control = self.control
        match command:
            case events.Pause():
                control.pause(command)
            case events.Resume():
                control.resume(command)
            case events.Step():
                control.step(command)
            case events.Jump():
                control.jump_to(command, self._commands)
            case events.Skip():
                control.skip(command)
            case events.SetBreakpoints():
                control.breakpoints(command)
            case events.Cancel():
                self._end(Outcome.standard(CANCELLED, f"by {command.source}" if command.source else ""))
            case events.Answer(activity=id, answer=answer):
                asked = self._registered.get(id)
                if not isinstance(asked, Ask | Leaf) or asked.question is None:
                    raise Refused("nobody asks this any more")
                meant = asked.question.meant(answer)
                if not meant:
                    raise Refused(f"expected one of: {', '.join(asked.question.answers)}; got {answer!r}")
                asked.answer(meant)

    def _begin(self, command: events.Begin) -> None:
        if self._root is not None:
            raise Refused("the run has begun already")
        root = Frame(self, self, Call(kind=Kind.GRAPH, skill=self.plan.root), (), main=True)
        root.scope = self._scope(command)
        self._root = root
        if command.paused:
            self.control.hold = "pause"
        root.open(command.at)

    def _scope(self, command: events.Begin) -> Scope:
        """The names with which the outermost graph begins. Raises Refused: a value is missing or not as declared."""
        try:
            graph = self.plan.graphs[self.plan.root]
            scope = Scope(graph, command.arguments, command.parts, lambda: self.moment)
            scope.restore(command.outputs)
            found = self.plan.find(command.at) if command.at else []
        except DefinitionError as error:
            raise Refused(str(error)) from None
        for step, (graph, node) in enumerate(found):
            for name in graph.needs(node):
                if "." in name and not (step == 0 and scope.has(name)):
                    raise Refused(f"the node to begin with needs ${name}, which has no value")
        return scope

    def _end(self, outcome: Outcome) -> None:
        """End the run: cancel what runs, innermost first."""
        if self._ending is None and self._root is not None:
            self._ending = outcome
            self.control.standing = None
            self.timers.thaw()
            self._root.cancel()

    # --- what activities ask --------------------------------------------------------------------

    def soon(self, step: Callable[[], None]) -> None:
        """Do a step after the present one."""
        self._agenda.append(step)

    def order(self, order: Order) -> None:
        """Ask for something to be done."""
        self._orders.append(order)

    def record(self, what: str, **content: Any) -> dict[str, Any]:
        """Add a line to the log. Returns it."""
        line = {"tick": self.moment.tick, "time": self.moment.time, "what": what}
        for key, value in content.items():
            line[key] = value if type(value) in _JSON else _plain(value)
        self._records.append(line)
        return line

    def record_end(self, path: Path, outcome: Outcome, cut: str = "") -> None:
        """Record how a node or branch ended. `cut`: why it was cancelled."""
        self.record(
            "ended",
            path=shown_path(path),
            result=outcome.result,
            failure=outcome.failure,
            reason=outcome.reason,
            outputs=dict(outcome.outputs),
            **({"cut": cut} if cut else {}),
        )

    def register(self, activity: Activity) -> int:
        """A number by which events name the activity, or what it watches."""
        self._ids += 1
        self._registered[self._ids] = activity
        return self._ids

    def unregister(self, id: int) -> None:
        self._registered.pop(id, None)

    def make(self, parent: Parent, call: Call, path: Path, *, main: bool) -> Activity:
        """The activity of a call.

        Args:
            main: it is not inside a parallel branch, so that commands refer to it.
        """
        if call.kind == Kind.GRAPH:
            return Frame(self, parent, call, path, main=main)
        return KINDS[call.kind](self, parent, call, path)

    def count_change(self) -> bool:
        """Whether one more node may start in this tick; if not, the run fails (N14)."""
        if self.moment.tick != self._changes_tick:
            self._changes_tick, self._changes = self.moment.tick, 0
        self._changes += 1
        if self._changes > MAX_CHANGES_PER_TICK:
            self._end(Outcome.standard(FAILED, f"the run changed nodes {MAX_CHANGES_PER_TICK} times in one tick"))
            return False
        return True

    def follows(self, node: Path, when: str) -> bool:
        """Whether a reaction may lead to its node once more; if not, the run fails (N49)."""
        if self.reactions.count(node, when):
            return True
        self._end(
            Outcome.standard(
                FAILED,
                f"reaction {when!r} led to node {shown_path(node)!r} {MAX_REACTIONS_IN_A_ROW} times,"
                " and no other node succeeded in between",
            )
        )
        return False

    def child_ended(self, child: Activity, outcome: Outcome) -> None:
        """The outermost graph has ended."""
        ending = self._ending
        if ending is not None:
            outcome = Outcome(
                result=ending.result, failure=ending.failure, reason=ending.reason, outputs=outcome.outputs
            )
        self.outcome = outcome
        self.record(
            "end",
            result=outcome.result,
            failure=outcome.failure,
            reason=outcome.reason,
            outputs=dict(outcome.outputs),
        )
        self.order(EndRun(outcome=outcome))


_JSON = frozenset({str, int, float, bool, type(None)})
"""Most values of records are of these types: looking for them first takes a third of the time."""


def _plain(value: Any) -> Any:
    """As JSON has it."""
    if type(value) in _JSON or isinstance(value, str | int | float):
        return value
    if isinstance(value, dict | Mapping):
        return {str(key): item if type(item) in _JSON else _plain(item) for key, item in value.items()}
    if isinstance(value, frozenset):
        return sorted(_plain(item) for item in value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, ParameterValue):
        return {"name": value.name, "value": _plain(value.value), "unit": value.unit}
    raise TypeError(f"{type(value).__name__} in the log")
