"""The last minutes of the robot that runs, tick by tick: what a page shows that looks back while the robot goes on."""

from __future__ import annotations

import math
import struct
import time
from collections.abc import Iterable

import numpy as np
from aiohttp import web

from robot_rt_control.editor.keys import Person
from robot_rt_control.editor.robot import Json
from robot_rt_control.ros.tick_batches import TickBatch, TickNames
from robot_rt_control.vocabulary.fault_reasons import FAULTS

KEPT_S = 300.0
MOST_BYTES = 64 << 20
"""[s] and [bytes] that are kept, whichever is less."""
_FOLLOWED_S = 5.0
"""[s] A page looks until it has asked nothing for this time; a hidden page still asks every second."""
_BLOCK, _BLOCK_NUMBERS, _LEAST_BLOCK = 1000, 100_000, 50
"""Ticks of a block, and joints' positions in it at most; least ticks."""
_MOST_ACTIONS = 4096
"""Names of actions that are kept."""
_MOST_RUNS = 50
"""Runs of blueprints that are named; the oldest ones are left out."""
_MISSING = 255
_STOPPING = ("part_faulted", "action_failed", "protective_stop")


class Recent:
    """For the event loop's thread. Costs nothing while no page looks: then nothing is kept."""

    def __init__(self) -> None:
        self._asked = -math.inf
        self._under_way: list[str] = []
        """Runs of blueprints."""
        self._shown: set[str] | None = None
        """Runs in the last state, ended ones included; None: no state has come."""
        self._tick = 0
        """Of the last state."""
        self._earlier: set[str] = set()
        """Runs of an earlier executor: the ticks in their records are of another count."""
        self.forget()

    def forget(self) -> None:
        """Begin anew with the next ticks."""
        self._names: TickNames | None = None
        self._actions: dict[str, int] = {}
        self._numbers: dict[int, int] = {}
        """Identity of an action → number of its name."""
        self._runs: dict[str, None] = {}
        self.first = self.last = 0
        self._ticks = np.zeros(0, np.int64)
        self._q = self._doing = self._states = self._faults = np.zeros((0, 0))

    @property
    def is_followed(self) -> bool:
        """Whether a page has asked lately."""
        return time.monotonic() - self._asked < _FOLLOWED_S

    def take(self, batch: TickBatch, names: TickNames) -> None:
        """Keep these ticks, which follow all that are here."""
        if names is not self._names:
            if self._names is not None and self._names.version != names.version:
                self._earlier = self._shown or set()
            self.forget()
            self._begin(names)
        rows = batch.rows
        ticks = rows[:, 0]
        at = ticks % self._capacity
        self._ticks[at] = ticks
        self._q[at] = rows.view(np.float64)[:, list(names.joints.values())]
        self._states[at] = np.where(self._has_state, rows[:, self._of_states] & 0xFF, _MISSING)
        self._faults[at] = rows[:, [names.faults.get(part, 0) for part in names.actions]] & 0xFF
        identities = rows[:, list(names.actions.values())]
        for identity in np.unique(identities).tolist():
            number = self._number(identity, batch.action_names.get(identity, ""))
            self._doing[at] = np.where(identities == identity, number, self._doing[at])
        self.last = int(ticks[-1])
        self.first = max(self.first or int(ticks[0]), self.last - self._capacity + 1)

    def saw(self, nodes: Iterable[Json], tick: int) -> None:
        """Take the runs of a state of the executor of blueprints, and its tick, as msg/BlueprintState."""
        if tick < self._tick:  # the loop counts anew, also if nobody has looked since
            self._earlier |= self._shown or set()
            self._runs = {run: None for run in self._runs if run not in self._earlier}
        self._tick = tick
        states = {str(node["run"]): node["state"] for node in nodes if not node["path"]}
        self._under_way = [run for run, state in states.items() if state != "ended"]
        new = states.keys() - (states.keys() if self._shown is None else self._shown)  # may have ended at once
        self._shown = set(states)
        if self._names is not None:
            self._note_runs(run for run in states if run in new or run in self._under_way)

    def _note_runs(self, runs: Iterable[str]) -> None:
        self._runs |= dict.fromkeys(run for run in runs if run not in self._earlier)
        for run in list(self._runs)[:-_MOST_RUNS]:
            del self._runs[run]

    def _begin(self, names: TickNames) -> None:
        self._note_runs(self._under_way)
        parts, joints = len(names.actions), len(names.joints)
        self._names = names
        self._of_states = [names.variables.get(f"{part}.operational_state", 0) for part in names.actions]
        self._has_state = np.array(self._of_states) > 0
        of_a_tick = 8 + 4 * joints + 6 * parts
        self._capacity = max(1, min(round(KEPT_S / names.period), MOST_BYTES // of_a_tick))
        self._block = min(_BLOCK, max(_LEAST_BLOCK, _BLOCK_NUMBERS // max(joints, 1)))
        n = self._capacity
        self._ticks = np.full(n, -1, np.int64)
        kinds = ((joints, "<f4"), (parts, "<i4"), (parts, "u1"), (parts, "u1"))
        self._q, self._doing, self._states, self._faults = (np.zeros((n, width), kind) for width, kind in kinds)

    def _number(self, identity: int, name: str) -> int:
        """As `Recorded.action_numbers`: -1: no action, -2: its name is not known."""
        if identity == 0:
            return -1
        if identity not in self._numbers:
            if not name or len(self._actions) >= _MOST_ACTIONS and name not in self._actions:
                return -2
            if len(self._numbers) >= 4 * _MOST_ACTIONS:
                self._numbers.clear()
            self._numbers[identity] = self._actions.setdefault(name, len(self._actions))
        return self._numbers[identity]

    def about(self, loop: int = 0, actions: int = 0) -> Json:
        """`loop`: another number is another executor, 0: no tick has come. `first` and `last` tick. `runs`: those of
        blueprints that went on meanwhile; ticks of their records are these. The rest is left out for a page that has
        it: see `Recorded.about`.

        Args:
            loop, actions: what the page has, and how many names of actions.
        """
        self._asked = time.monotonic()
        names = self._names
        if names is None:
            return {"loop": 0, "first": 0, "last": 0, "runs": []}
        found = {"loop": names.version, "first": self.first, "last": self.last, "runs": list(self._runs)}
        if (loop, actions) == (names.version, len(self._actions)):
            return found
        return {
            **found,
            "period": names.period,
            "block": self._block,
            "joints": list(names.joints),
            "parts": [{"name": part, "kind": ""} for part in names.actions],
            "actions": list(self._actions),
            "faults": {int(reason): info.text for reason, info in FAULTS.items()},
        }

    async def reply(self, person: Person, body: Json) -> bytes:
        """The block `block`."""
        block = body.get("block")
        if type(block) is not int:
            raise web.HTTPBadRequest(text="block: a whole number is expected")
        try:
            return self.joints_of(block)
        except ValueError as error:
            raise web.HTTPNotFound(text=str(error)) from None

    def positions(self, loop: int, tick: int) -> dict[str, float] | None:
        """Joint → position [rad or m] in a tick; None: it is not kept, or `loop` is another executor."""
        names = self._names
        if names is None or names.version != loop or not self.first <= tick <= self.last:
            return None
        at = tick % self._capacity
        if self._ticks[at] != tick:
            return None
        return dict(zip(names.joints, self._q[at].tolist(), strict=True))

    def joints_of(self, block: int) -> bytes:
        """A block of ticks as `Recorded.joints_of` has it; its times [s] are since tick 0.

        Raises:
            ValueError: there is no such block.
        """
        self._asked = time.monotonic()
        names = self._names
        if names is None or not self.first // self._block <= block <= self.last // self._block:
            raise ValueError(f"block {block}")
        wanted = np.arange(block * self._block, (block + 1) * self._block)
        at = wanted % self._capacity
        is_there = self._ticks[at] == wanted
        times = np.where(is_there, wanted * names.period, math.nan)
        head = struct.pack("<4I", len(wanted), self._q.shape[1], self._doing.shape[1], 0)
        found = (times.astype("<f8"), self._q[at], self._doing[at], self._states[at], self._faults[at])
        return head + b"".join(np.ascontiguousarray(each).tobytes() for each in found)


def stop_text(mark: Json) -> str:
    """What stopped a part, of a mark as `Timelines` has it; empty: it stopped none."""
    kind = mark["kind"]
    if kind not in _STOPPING:
        return ""
    if kind == "part_faulted":
        return f"{mark['part']} faulted: {mark['reason'] or 'no reason was given'}."
    if kind == "action_failed":
        words = f"Action {mark['previous'] or mark['current']!r} of session {mark['session']!r} failed"
    else:
        words = "A protective stop"
    return f"{words}: {mark['reason']}." if mark["reason"] else f"{words}."
