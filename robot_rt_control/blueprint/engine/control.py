"""What people do to a run: pause, step, breakpoints, skip, jump, protective stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from robot_rt_control.blueprint.engine.frame import Cut, Frame, Way
from robot_rt_control.blueprint.graph.events import Jump, Pause, Resume, SetBreakpoints, Skip, Step
from robot_rt_control.blueprint.graph.plan import Path, shown_path
from robot_rt_control.blueprint.graph.results import Outcome
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

if TYPE_CHECKING:
    from robot_rt_control.blueprint.engine.engine import Engine

PAUSE, PROTECTIVE_STOP = "pause", "protective_stop"
AGAIN, NEXT = "again", "next"


class Refused(Exception):
    """A command is refused; the text says why. Nothing has changed."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where a run stands."""

    frame: Frame
    when: str
    """"before" a node, "after" it, or "cut": it was cancelled."""
    node: str
    go_on: Callable[[], None]
    outcome: Outcome | None = None
    """Result of the node, after it."""

    @property
    def path(self) -> Path:
        return (*self.frame.path, self.node)


@dataclass(frozen=True, kw_only=True)
class WaitingJump:
    """A jump that has not happened yet."""

    number: int
    """Number of its command, in the log."""
    frame: Frame
    target: Path
    come_back: bool


@dataclass(frozen=True, kw_only=True)
class WayBack:
    """Where to go once the target of a jump has ended."""

    frame: Frame
    way: Way
    target: Path


class Control:
    """Commands to one run, and what they have left to do.

    Attributes:
        standing: None: it does not stand.
        hold: why it stands before it starts anything; empty: it does not have to.
        stopped: a protective stop is not released yet.
        explicit: a person has to say how to go on.
        before, after: breakpoints.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.standing: Standing | None = None
        self.hold = ""
        self.stopped = self.explicit = False
        self.jump: WaitingJump | None = None
        self._back: WayBack | None = None
        self.pause_after = False
        self._step: tuple[bool, int] | None = None
        """Whether into calls, and how many calls the run was in."""
        self.before: frozenset[Path] = frozenset()
        self.after: frozenset[Path] = frozenset()

    # --- what frames ask ------------------------------------------------------------------------

    def stands_before(self, frame: Frame, node: str) -> bool:
        """Whether the run is to stand before this node."""
        into = self._step is not None and self._step[0] and len(frame.path) > self._step[1]
        return bool(self.hold) or into or (*frame.path, node) in self.before

    def stands_after(self, frame: Frame) -> bool:
        """Whether the run is to stand after an attempt of the frame's node."""
        stepped = self._step is not None and (self._step[0] or len(frame.path) <= self._step[1])
        return bool(self.hold) or self.pause_after or stepped or (*frame.path, frame.node) in self.after

    def stand(
        self, frame: Frame, when: str, node: str, go_on: Callable[[], None], outcome: Outcome | None = None
    ) -> None:
        """The run stands; nothing of it runs."""
        engine = self._engine
        why = self.hold or PAUSE
        self.standing = Standing(frame=frame, when=when, node=node, go_on=go_on, outcome=outcome)
        self.explicit = self.stopped or self.hold == PROTECTIVE_STOP
        self.hold, self.pause_after, self._step = "", False, None
        for outer in engine.chain():
            outer.unwatch()
        engine.timers.freeze()
        engine.record("stands", path=shown_path(self.standing.path), where=when, why=why)

    def jumps_from(self, frame: Frame) -> bool:
        """Whether a jump waits for the end of the frame's node."""
        return self.jump is not None and self.jump.frame is frame

    @property
    def comes_back(self) -> bool:
        """Whether the jump that waits comes back."""
        return self.jump is not None and self.jump.come_back

    def leap(self, frame: Frame, way: Way | None) -> None:
        """Carry out the jump that waits for this frame.

        Args:
            way: where the run would have gone, if it comes back.
        """
        jump, self.jump = self.jump, None
        assert jump is not None and jump.frame is frame  # asked before
        self._back = WayBack(frame=frame, way=way, target=jump.target) if jump.come_back and way else None
        self._engine.record("jump", number=jump.number, outcome="executed", path=shown_path(jump.target))
        frame.drop_child()
        inner = jump.target[len(frame.path) :]
        self._engine.soon(lambda: frame.arrive(inner[0], inner[1:]))

    def way_back(self, frame: Frame) -> Way | None:
        """Where a jump comes back to, now that the frame's node has ended; None: it was no target."""
        back = self._back
        if back is None:
            return None
        path = (*frame.path, frame.node)
        if path == back.target or (frame is back.frame and path == back.target[: len(path)]):
            self._back = None
            return back.way
        return None

    def leaves(self, frame: Frame, node: str) -> None:
        """The frame visits a node: another one than that of the jump means that it does not come back."""
        if self._back is not None and self._back.frame is frame and node != self._back.target[len(frame.path)]:
            self._back = None

    def forget(self, frame: Frame) -> None:
        """The frame ends."""
        if self._back is not None and self._back.frame is frame:
            self._back = None
        if self.jump is not None and self.jump.frame is frame:
            self._drop_jump("dropped: the call of its graph has ended")

    def _drop_jump(self, outcome: str) -> None:
        if self.jump is not None:
            self._engine.record("jump", number=self.jump.number, outcome=outcome, path=shown_path(self.jump.target))
            self.jump = None

    # --- commands -------------------------------------------------------------------------------

    def pause(self, command: Pause) -> None:
        if self.standing is not None:
            raise Refused("the run stands already")
        if not command.now:
            self.pause_after = True
        else:
            self._cut_to_stand(PAUSE)

    def stop(self) -> None:
        """A protective stop."""
        self.stopped = True
        if self.standing is not None:
            self.explicit = True
        elif not self._engine.is_ending:
            self._cut_to_stand(PROTECTIVE_STOP)

    def _cut_to_stand(self, why: str) -> None:
        self.hold = why if self.hold != PROTECTIVE_STOP else self.hold
        chain = self._engine.chain()
        for frame in chain:
            frame.unwatch()
            if frame.cut == Cut.REACTION:  # it is forgotten with the watch, and fires anew if its condition still holds
                frame.cut = Cut.STAND
        if all(frame.cut is None for frame in chain):
            point = chain[-1]
            point.cut = Cut.STAND
            assert point.child is not None  # it does not stand
            point.child.cancel()

    def resume(self, command: Resume) -> None:
        standing = self._standing()
        how = command.how
        if how not in ("", AGAIN, NEXT):
            raise Refused(f"expected {unknown('way to go on', how, (AGAIN, NEXT))}; got {how!r}")
        if not how:
            self._refuse_unless_said()
            how = AGAIN if standing.when == "cut" else NEXT
        self._leave()
        frame, node = standing.frame, standing.node
        if how == AGAIN and standing.when != "before":
            self._engine.soon(lambda: frame.arrive(node, gate=False))
        else:
            self._engine.soon(standing.go_on)

    def step(self, command: Step) -> None:
        standing = self._standing()
        self._refuse_unless_said()
        self.resume(Resume())
        self._step = command.into, len(standing.frame.path)

    def breakpoints(self, command: SetBreakpoints) -> None:
        for path in sorted(command.before | command.after):
            self._find(path)
        self.before, self.after = command.before, command.after

    def skip(self, command: Skip) -> None:
        frame, node = self._skipped(command.node)
        call = frame.graph.nodes[node].call
        if command.result not in call.results:
            known = unknown("result", command.result, call.results)
            raise Refused(f"node {node!r} has no result {command.result!r}; expected {known}")
        outcome = Outcome(
            result=command.result, failure=call.results[command.result], reason="skipped by a person"
        )
        if self.standing is None:
            if frame.cut is not None:
                raise Refused(f"node {node!r} is ending")
            frame.cut, frame.chosen = Cut.SKIP, outcome
            assert frame.child is not None  # it does not stand
            frame.child.cancel()
            return
        frame.drop_child()
        frame.node = node
        frame.choose(outcome)
        frame.scope.keep(node, {})
        self._engine.record_end((*frame.path, node), outcome, "skip")
        self.standing = Standing(
            frame=frame, when="after", node=node, go_on=lambda: frame.go_on(outcome), outcome=outcome
        )

    def _skipped(self, path: Path) -> tuple[Frame, str]:
        """The frame and node that a skip names."""
        chain, standing = self._live_chain(), self.standing
        nodes = {
            (*frame.path, frame.node): frame for frame in chain if standing is None or frame is not standing.frame
        }
        if standing is not None and standing.when != "after":
            nodes[standing.path] = standing.frame
        if not path and standing is not None and standing.when == "after":
            raise Refused(f"node {shown_path(standing.path)!r} has ended; say again, next or a jump")
        path = path or max(nodes, key=len, default=())
        if path not in nodes:
            raise Refused(
                f"node {shown_path(path)!r} does not run; expected "
                + unknown("node", shown_path(path), map(shown_path, nodes))
            )
        return nodes[path], path[-1]

    def jump_to(self, command: Jump, number: int) -> None:
        """Args: number: of the command in the log."""
        if self.stopped:
            raise Refused("a protective stop holds the robot; release it first")
        found = self._find(command.target)
        chain, target, standing = self._live_chain(), command.target, self.standing
        frame = [f for f in chain if len(f.path) < len(target) and f.path == target[: len(f.path)]][-1]
        leaping = chain[-1].cut == Cut.JUMP
        at_once = standing is not None or leaping or (command.now and frame.cut is None)
        needed = [name for graph, node in found[len(frame.path) :] for name in graph.needs(node)]
        first = len(frame.graph.needs(found[len(frame.path)][1])) if found else 0
        self._refuse_missing(frame, needed, first, at_once=at_once)
        self._drop_jump(f"replaced by {number}")
        self.jump = WaitingJump(number=number, frame=frame, target=target, come_back=command.come_back)
        if standing is not None:
            way = self._way_of(frame, standing) if command.come_back else None
            self._leave()
            self.leap(frame, way)
        elif at_once and frame.cut is None:
            frame.cut = Cut.JUMP
            assert frame.child is not None  # it does not stand
            frame.child.cancel()

    def _way_of(self, frame: Frame, standing: Standing) -> Way:
        """Where a run that stands would go on in this frame."""
        if frame is not standing.frame:
            return Way(frame=frame, node=frame.node)
        if standing.outcome is not None:
            return frame.way(standing.outcome)
        return Way(frame=frame, node=standing.node)

    def _refuse_missing(self, frame: Frame, needed: list[str], first: int, *, at_once: bool) -> None:
        """Refuse a jump to nodes that need outputs without a value.

        Args:
            needed: names that the target needs, and the nodes around it.
            first: how many of them are looked up in the frame; the others in calls that do not exist yet.
            at_once: the present node gives none any more.
        """
        given = frame.graph.nodes[frame.node].call.outputs if frame.node and not at_once else ()
        coming = {f"{frame.node}.{output}" for output in given}
        for index, name in enumerate(needed):
            there = index < first and (frame.scope.has(name) or name in coming)
            if "." in name and not there:
                raise Refused(f"the target needs ${name}, which has no value")

    def _find(self, path: Path) -> list[tuple[Any, Any]]:
        try:
            return self._engine.plan.find(path)
        except DefinitionError as error:
            raise Refused(str(error)) from None

    def _standing(self) -> Standing:
        if self.standing is None:
            raise Refused("the run does not stand; pause it first")
        if self.stopped:
            raise Refused("a protective stop holds the robot; release it first")
        return self.standing

    def _refuse_unless_said(self) -> None:
        if self.explicit:
            raise Refused("after a protective stop, say how to go on: again, next, a jump, or cancel")

    def _leave(self) -> None:
        """The run stands no more."""
        self.standing, self.explicit = None, False
        self._engine.timers.thaw()
        for frame in self._engine.chain():
            frame.watch()

    def _live_chain(self) -> list[Frame]:
        """The calls that go on: not those inside a node that is being cancelled."""
        live: list[Frame] = []
        for frame in self._engine.chain():
            live.append(frame)
            if frame.cut is not None:
                break
        return live
