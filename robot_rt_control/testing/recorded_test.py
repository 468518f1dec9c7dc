"""Writes a test from a moment of a recording.

`python -m robot_rt_control.testing.recorded_test` does so for another process, see `processes/call.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from robot_rt_control.conditions.decompiler import condition_text
from robot_rt_control.memory.layout import action_runtime_dtype, offset_of, staging_dtype, world_dtype
from robot_rt_control.model.workcell.catalogue import workcell_variables
from robot_rt_control.processes.call import answer
from robot_rt_control.realtime.executor.rerun import losses, recorded_workcell
from robot_rt_control.recording.inputs import InputKind, unpack_tables
from robot_rt_control.recording.reaction_names import NamedReaction, named_reactions
from robot_rt_control.recording.tick_index import TickIndex
from robot_rt_control.recording.tick_reader import TickFile, read_event
from robot_rt_control.testing.recorded_session import DefinedReaction, Fired, Reacts, defined_reactions
from robot_rt_control.vocabulary.errors import RobotControlError

MOST_FIRED = 2000
"""That a test expects: beyond, nobody reads it."""
_STATES, _RUNTIMES = offset_of(world_dtype, "state_arena"), offset_of(world_dtype, "actions_runtime")


def written_test(recording: Path, first: int, last: int | None = None, workcell: Path | None = None) -> str:
    """The text of a pytest file that expects the reactions which fired in ticks `first` to `last`.

    Args:
        recording: a session recorded in simulated time from tick 1 on.
        last: None: the last one of the recording.
        workcell: its file; None: where it was.

    Raises:
        RobotControlError: it cannot be run again, and why; or there is nothing to expect.
    """
    file = TickFile(recording)
    what = f"test of {file.path}"
    cell = recorded_workcell(file, workcell)
    if losses(file)["events"]:
        raise RobotControlError(what, expected="all events", got=f"{losses(file)['events']} events lost")
    index = TickIndex(file)
    end = index.last if last is None else last
    named = named_reactions(index.definitions())
    index.close()
    if not 1 <= first <= end <= index.last:
        raise RobotControlError(what, expected=f"ticks from 1 to {index.last}", got=f"{first} to {end}")
    variables = workcell_variables(cell).values()
    names, vectors = ({v.offset: v.name for v in variables if (v.length > 1) == long} for long in (False, True))
    reactions, conditions = _reactions(file, names, vectors, end, named)
    ticks, fired = [], []
    for event in map(read_event, file.events()):
        if event.kind == "reaction_fired" and event.reaction in reactions:
            ticks.append(event.tick)
            if first <= event.tick <= end:
                fired.append(reactions[event.reaction].fired(event.tick - first))
    if not fired:
        hint = f"Reactions fired in ticks {', '.join(map(str, ticks[:10]))}" if ticks else "None fired in any tick"
        raise RobotControlError(
            what, expected=f"a reaction that fired in ticks {first} to {end}", got="none", hint=hint
        )
    if len(fired) > MOST_FIRED:
        hint = "Choose fewer ticks"
        raise RobotControlError(what, expected=f"at most {MOST_FIRED} firings", got=str(len(fired)), hint=hint)
    return _text(file.path.resolve(), cell.path.resolve(), first, end, conditions, fired)


def _reactions(
    file: TickFile,
    names: Mapping[int, str],
    vectors: Mapping[int, str],
    last: int,
    named: Mapping[int, NamedReaction],
) -> tuple[dict[int, DefinedReaction], dict[Reacts, str]]:
    """Those that were defined until a tick: identity → reaction, and what each reacts to and how, in words."""
    staging = np.zeros(1, staging_dtype).view(np.recarray)[0]
    found: dict[int, DefinedReaction] = {}
    conditions: dict[Reacts, str] = {}
    for given in file.inputs():
        if given.kind != InputKind.TABLES or given.tick > last:
            continue
        try:
            unpack_tables(given.data, staging)
            for identity, each in defined_reactions(staging.tables).items():
                if identity not in found:
                    if identity in named:
                        words = f"{named[identity].name}: {named[identity].condition}"
                    else:  # the file is older than names of reactions
                        of = [_named(known, staging.tables) for known in (names, vectors)]
                        words = condition_text(each.instructions, *of)
                    conditions[each.name] = f"{words}: start {each.starts}" if each.starts else words
                found[identity] = each
        except (ValueError, IndexError, KeyError) as error:
            got = f"others in tick {given.tick}: {error}"
            raise RobotControlError(f"test of {file.path}", expected="definitions", got=got) from error
    return found, conditions


def _named(names: Mapping[int, str], tables: np.record) -> Callable[[int], str]:
    """Offset of a state variable → its name; of one of an action, which only its type can name, its place."""

    def name_of(offset: int) -> str:
        if offset in names:
            return names[offset]
        for slot in range(int(tables.n_actions)):
            action = tables.actions[slot]
            owner = bytes(action.name).decode(errors="replace")
            place = offset - _STATES - int(action.state_offset)
            if 0 <= place < int(action.state_size):
                return f"{owner}.variable_{place // 8 - int(action.n_signals) + 1}"
            runtime = offset - _RUNTIMES - slot * action_runtime_dtype.itemsize
            for field in ("elapsed", "timed_out"):
                if runtime == offset_of(action_runtime_dtype, field):
                    return f"{owner}.{field}"
        return f"variable_at_{offset}"

    return name_of


def _text(
    recording: Path, workcell: Path, first: int, last: int, conditions: Mapping[Reacts, str], fired: list[Fired]
) -> str:
    known = [f"    {name!r},  # {' '.join(words.split())}" for name, words in conditions.items()]
    expected = [f"    {each!r}," for each in fired]
    return f'''"""Which reactions fire from tick {first} to {last} of a recorded session.

Written by robot-rt, for editing. The session is run again in simulated time, always from tick 1 on: a recording does
not have the state of hardware and actions that a later beginning would need. Definitions, commands, sensor values and
samples of streams come in the ticks in which they came.
"""

from robot_rt_control.testing.recorded_session import Fired, Reacts, run_again

RECORDING = {str(recording)!r}
WORKCELL = {str(workcell)!r}
FIRST, LAST = {first}, {last}

# The reactions of the session. One that is taken out of this list never fires.
REACTIONS = [
{chr(10).join(known)}
]

# In ticks after FIRST.
EXPECTED = [
{chr(10).join(expected)}
]


def test_the_reactions_are_those_of_the_recording() -> None:
    assert run_again(RECORDING, FIRST, LAST, REACTIONS, workcell=WORKCELL) == EXPECTED
'''


def _answer(question: dict[str, Any]) -> dict[str, str]:
    workcell = question.get("workcell")
    last = question.get("last")
    made = written_test(Path(question["file"]), question["first"], last, None if workcell is None else Path(workcell))
    return {"text": made}


if __name__ == "__main__":
    answer(_answer)
