"""A recorded session run again in a test, with those of its reactions that the test names.

`robot-rt replay FILE --write-test test_x.py` writes such tests; docs/recording.md describes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_rt_control.conditions.check import find_skips
from robot_rt_control.memory.layout import instruction_dtype
from robot_rt_control.realtime.executor.rerun import Rerun
from robot_rt_control.recording.tick_reader import TickFile
from robot_rt_control.vocabulary.enums import EventKind, Operator
from robot_rt_control.vocabulary.errors import RobotControlError, unknown


@dataclass(frozen=True)
class Reacts:
    """A reaction of a session: the `number`-th one of an action, counted from 1; of no action, a free-standing one."""

    session: str
    action: str
    number: int


@dataclass(frozen=True)
class Fired:
    """A firing of a reaction. `tick` counts from the first tick that is looked at; `starts` names the actions that the
    reaction starts, "" if it starts none."""

    tick: int
    session: str
    action: str
    number: int
    starts: str


@dataclass(frozen=True)
class DefinedReaction:
    """A reaction in the loop's tables."""

    name: Reacts
    starts: str
    instructions: np.ndarray
    """Its condition; a view into the tables."""

    def fired(self, tick: int) -> Fired:
        return Fired(tick, self.name.session, self.name.action, self.name.number, self.starts)


def defined_reactions(tables: np.record) -> dict[int, DefinedReaction]:
    """Identity → reaction, of tables (`tables_dtype`)."""
    found: dict[int, DefinedReaction] = {}
    free: dict[str, int] = {}
    for i in range(int(tables.n_reactions)):
        row = tables.reactions[i]
        session, owner = _text(tables.sessions[int(row.session)].name), int(row.owner)
        if owner >= 0:
            action = tables.actions[owner]
            name = Reacts(session, _text(action.name), i - int(action.first_reaction) + 1)
        else:
            free[session] = free.get(session, 0) + 1
            name = Reacts(session, "", free[session])
        starts = [_text(tables.actions[int(slot)].name) for slot in row.starts[: int(row.n_starts)]]
        begin, n = int(row.first_instruction), int(row.n_instructions)
        found[int(row.identity)] = DefinedReaction(name, " ".join(starts), tables.instructions[begin : begin + n])
    return found


def run_again(
    recording: Path | str, first: int, last: int, reactions: Iterable[Reacts], *, workcell: Path | str | None = None
) -> list[Fired]:
    """The reactions that fire in ticks `first` to `last`, if the session is run again from tick 1 on.

    What came from outside (definitions, commands, sensors that a test has set, samples of streams) comes in the ticks
    in which it came. A reaction of the recording that is not among `reactions` never fires.

    Args:
        recording: a session recorded in simulated time from tick 1 on.
        workcell: its file; None: where it was when it was recorded.

    Raises:
        RobotControlError: it cannot be run again, and why; or the recording does not have one of the reactions.
    """
    kept, seen = set(reactions), dict[int, DefinedReaction]()

    def edit(staging: np.record) -> None:
        defined = defined_reactions(staging.tables)
        seen.update(defined)
        for each in defined.values():
            if each.name not in kept:
                _take_out(each.instructions)

    fired: list[Fired] = []
    file = TickFile(recording)
    run = Rerun(file, None if workcell is None else Path(workcell), edit)
    with contextlib.closing(run.steps()) as steps:
        for rows in steps:
            for event in run.executor.channel.take_events():
                tick, defined = int(event["tick"]), seen.get(int(event["reaction"]))
                if event["kind"] == EventKind.REACTION_FIRED and defined is not None and first <= tick <= last:
                    fired.append(defined.fired(tick - first))
            if int(rows[-1, 0]) >= last:
                break
    names = {each.name for each in seen.values()}
    for reaction in sorted(kept - names, key=str):
        expected = unknown("reaction of the recording", str(reaction), map(str, names))
        raise RobotControlError(f"test of {file.path}: {reaction}", expected=expected)
    return fired


def _take_out(instructions: np.ndarray) -> None:
    """Make a condition unknown for ever: it never fires, and remembers nothing. It keeps its length."""
    made = np.zeros(len(instructions), instruction_dtype)
    made["operator"] = Operator.NOT
    made["operator"][0], made["constant"][0] = Operator.CONSTANT, np.nan
    skips = find_skips(made["operator"], np.array([len(made)]))
    made["if_less"], made["if_equal"], made["if_greater"] = skips
    instructions[:] = made


def _text(name: bytes) -> str:
    return bytes(name).decode(errors="replace")
