"""Rule S13 of docs/semantics/sessions.md: one session's mistakes are never felt by another."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.session import Session
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import RobotControlError

NEAR = "rangefinder.distance < 0.3"
TICKS = 600
REQUESTS_AT_ONCE = 8
"""The mover needs some of the 16 commands that a tick takes."""


class Mover:
    """A session whose trajectory must not be disturbed: plans, reactions, signals, parameters, definitions."""

    def __init__(self, cell: LockstepCell) -> None:
        self.cell, self.session = cell, cell.session("left")
        self.random = Random(7)
        self.session.add(
            Action("go", "move_joint", position=[0.4, -0.5], reactions=[Reaction(NEAR, start="back", event="near")]),
            Action("back", "move_joint", position=[-0.3, 0.4], reactions=[Reaction(f"not {NEAR}", start="probe")]),
            Action("probe", "probe", speed=0.1, reactions=[Reaction("elapsed > 0.02", start="go", signal="ping")]),
            reactions=[Reaction("left.position[0] < -0.01", event="crossed", capture=["left.position[1]"])],
        )
        self.session.start("go")

    def act(self, tick: int) -> None:
        if tick % 50 == 7:
            self.cell.set_sensor("rangefinder/distance", self.random.choice((0.1, 1.0)))
        if tick % 37 == 3:
            self.session.set("probe", speed=self.random.uniform(-0.2, 0.2))
        if tick % 83 == 11:
            self.session.add(Action(f"n{tick}", "probe"))
        if tick % 97 == 20:
            self.session.start(self.random.choice(("go", "back", "probe")), at_tick=self.cell.tick + 9)


class Trouble:
    """A session, or none, that asks for anything, mostly wrong."""

    def __init__(self, cell: LockstepCell, seed: int) -> None:
        self.cell, self.random = cell, Random(seed)
        self.session: Session | None = None
        self.names = 0
        self.refused = 0

    def act(self) -> None:
        r = self.random
        if self.session is None or self.session.ended is not None:
            parts = r.choice((("right", "tool"), ("right",), ("tool",), ("left",), ("right", "right"), ("nobody",)))
            with suppress(RobotControlError):
                self.session = self.cell.session(*parts, lease_s=r.choice((0.0, 1.0)), deadline_s=r.choice((0.0, 0.5)))
            return
        for _ in range(r.randrange(REQUESTS_AT_ONCE)):
            try:
                r.choice(self.requests())(self.session)
            except RobotControlError:
                self.refused += 1

    def name(self) -> str:
        self.names += 1
        return f"t{self.random.randrange(max(self.names, 1))}" if self.random.random() < 0.2 else f"t{self.names}"

    def some(self) -> str:
        """An action: mostly one that is there."""
        assert self.session is not None
        live = self.cell.server.sessions()
        mine = [s for s in live if s.id == self.session.id]
        there = list(self.cell.server.contents(mine[0]).actions) if mine else []
        return self.random.choice(there) if there and self.random.random() < 0.8 else f"t{self.names}"

    def requests(self) -> list[Callable[[Session], Any]]:
        r = self.random
        assert self.session is not None
        part = r.choice((*self.session.parts * 5, "left", "nobody"))
        condition = r.choice((NEAR, "true", "time > 0.1", "time > 0.2", "nonsense >", "go.is_done", "left.at_rest"))
        reactions = [
            Reaction(
                condition,
                start=r.choice(("", self.some(), "go")),
                stop=r.random() < 0.2,
                signal=r.choice(("", f"{self.some()}.ping", "go.ping")),
                event=r.choice(("", "e")),
            )
            for _ in range(r.choice((0, 0, 0, 1, 2)))
        ]
        values: dict[str, Any] = {
            "speed": r.choice((0.1, 1e9, float("nan"), -5.0)),
            "fail_in": r.randrange(5),
            "fail_at": r.randrange(1, 30),
            "status": r.choice((7, -1)),
        }
        bad: dict[str, Any] = {"mode": r.randrange(6), "kind": r.randrange(4), "value": 1e12}
        return [
            lambda s: s.add(Action(self.name(), "probe", parts=part, reactions=reactions, **values)),
            lambda s: s.add(Action(self.name(), "writer", parts=part, **bad)),
            lambda s: s.add(Action(self.name(), "pair", parts={"one": "right", "two": r.choice(("tool", "left"))})),
            lambda s: s.add(reactions=[x for x in reactions if x.event]),
            lambda s: s.start(*{self.some() for _ in range(r.randrange(1, 4))}),
            lambda s: s.start(self.some(), at_tick=self.cell.tick + r.randrange(-2, 30)),
            lambda s: s.start(self.some()),
            lambda s: s.start(self.some()),
            lambda s: s.start("go"),
            lambda s: s.stop("go"),
            lambda s: s.stop(),
            lambda s: s.signal(self.some(), r.choice(("ping", "pong", "pang"))),
            lambda s: s.set(self.some(), **{r.choice(("speed", "level", "sped")): 3.0}),
            lambda s: s.remove(self.some()),
            lambda s: s.clear(),
            lambda s: s.upload(r.choice(("actions: [", "actions: {x: {type: probe, parts: [left]}}\n", "{}"))),
            lambda s: self.cell.server.set_motion([r.choice(("right", "tool"))], r.choice(("clear_faults", "enable"))),
            lambda s: s.close() if r.random() < 0.1 else None,
        ]


def run(workcell: Any, trouble_seed: int | None) -> tuple[list[bytes], list[tuple[Any, ...]], LockstepCell, int]:
    """Commands of `left` in each tick, the mover's events, and how many of the other's requests were refused."""
    with LockstepCell(workcell) as cell:
        cell.set_sensor("rangefinder/distance", 1.0)
        mover = Mover(cell)
        trouble = None if trouble_seed is None else Trouble(cell, trouble_seed)
        path = []
        for tick in range(TICKS):
            mover.act(tick)
            if trouble is not None:
                trouble.act()
                cell.now += 0.001
            cell.step()
            part = cell.part("left")
            path.append(b"".join(part[name].tobytes() for name in ("commanded_position", "commanded_velocity")))
        assert mover.session.ended is None
        events = [
            (e.kind, e.tick, e.name, e.reaction, e.previous_action, e.current_action, e.reason, e.values)
            for e in mover.session.events
            if e.session  # not what concerns the whole workcell
        ]
        return path, events, cell, 0 if trouble is None else trouble.refused


@pytest.fixture(scope="module")
def alone(workcell: Any) -> tuple[list[bytes], list[tuple[Any, ...]]]:
    path, events, _, _ = run(workcell, None)
    assert len(set(path)) > TICKS // 2 and {"near", "crossed"} <= {e[2] for e in events}, "it does something"
    return path, events


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_S13_a_trajectory_is_bit_identical_beside_a_session_that_makes_mistakes(
    workcell: Any, alone: tuple[list[bytes], list[tuple[Any, ...]]], seed: int
) -> None:
    path, events, cell, refused = run(workcell, seed)
    assert refused > 100, "the other one made mistakes"
    assert len(cell.kinds("action_failed")) + len(cell.kinds("part_faulted")) > 0
    differing = [i for i, (a, b) in enumerate(zip(path, alone[0], strict=True)) if a != b]
    assert not differing, f"the first tick that differs: {differing[0]}"
    assert events == alone[1]


def test_S13_failures_of_three_sessions_are_their_own(cell: LockstepCell) -> None:
    parts = ("left", "right", "tool")
    sessions = [cell.session(part) for part in parts]
    for k, session in enumerate(sessions):
        session.add(Action("a", "probe", fail_in=4, fail_at=3 + 2 * k, status=11 + k))
        session.start("a")
    cell.step(2)
    for k in range(3):
        tick = cell.step()
        assert [s.ended is None for s in sessions] == [k < i for i in range(3)]
        assert sessions[k].ended == f"action 'a' failed: status {11 + k} of the action's own code"
        assert [cell.active(p) for p in parts] == ["safety"] * (k + 1) + ["a"] * (2 - k)
        assert {e.session for e in cell.kinds("action_failed", "action_stopped", tick=tick) if e.session} == {
            sessions[k].id
        }
        cell.step()
    assert [e.session for e in cell.kinds("session_ended")] == [s.id for s in sessions]


def test_S13_three_sessions_that_fail_in_the_same_tick_each_tell_their_own_reason(cell: LockstepCell) -> None:
    parts = ("left", "right", "tool")
    sessions = [cell.session(part) for part in parts]
    for k, (session, method) in enumerate(zip(sessions, (2, 3, 4), strict=True)):
        session.add(Action("a", "probe", fail_in=method, fail_at=3, status=11 + k))
        session.start("a")
    cell.step(3)
    assert [s.ended for s in sessions] == [
        f"action 'a' failed: status {11 + k} of the action's own code" for k in range(3)
    ]
    assert [cell.active(p) for p in parts] == ["safety"] * 3
    assert len({e.tick for e in cell.kinds("action_failed")}) == 1


def test_S13_the_authors_slow_code_delays_no_other_session(cell: LockstepCell, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one session's parameters are being prepared, others define, set, start, and are renewed."""
    slow, other = cell.session("left"), cell.session("right")
    slow.add(Action("a", "probe"))
    other.add(Action("a", "probe"))
    cell.step()
    definer = cell.server.core.connection.at().definer
    original = definer.with_values
    meanwhile: list[str] = []

    def with_values(action: Any, values: Any) -> Any:
        if action.moved_parts == ("left",) and not meanwhile:
            meanwhile.append("busy")
            other.add(Action("b", "probe"))
            other.set("b", level=2.0)
            other.start("b")
            other.renew()
            cell.step()
            meanwhile.append(cell.active("right"))
        return original(action, values)

    monkeypatch.setattr(definer, "with_values", with_values)
    slow.set("a", level=5.0)
    slow.start("a")
    cell.step()
    assert meanwhile == ["busy", "b"] and slow.value("a.level") == 5.0
