"""Composed tables pass the executor's own checks, whatever is defined."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.conditions.check import find_skips
from robot_rt_control.memory.layout import instruction_dtype, reaction_dtype, staging_dtype
from robot_rt_control.realtime.executor.table_check import check_tables
from robot_rt_control.server.tables.table_composer import (
    ActionEntry,
    Blob,
    ReactionBlock,
    SessionEntry,
    TableContents,
    compose,
    join_blocks,
)
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import Operator
from robot_rt_control.vocabulary.errors import CapacityError

KEY = "0" * 64
STAGING: np.record = np.zeros(1, staging_dtype)[0]


def block(lengths: list[int], *, owner: int, session: int, first: int) -> ReactionBlock:
    """Reactions with so many instructions each, and identities and runtime slots from `first` on."""
    reactions = np.zeros(len(lengths), reaction_dtype)
    reactions["identity"] = np.arange(len(lengths)) + first + 1
    reactions["runtime_slot"] = np.arange(len(lengths)) + first
    reactions["n_instructions"] = lengths
    reactions["owner"], reactions["session"] = owner, session
    reactions["signal_action"] = reactions["leaves"] = -1
    instructions = np.zeros(sum(lengths), instruction_dtype)
    start = 0
    for length in lengths:  # one constant, negated again and again
        instructions["operator"][start] = Operator.CONSTANT
        instructions["operator"][start + 1 : start + length] = Operator.NOT
        instructions["constant"][start] = length
        start += length
    ends = np.cumsum(np.array(lengths, np.int64))
    instructions["if_less"], instructions["if_equal"], instructions["if_greater"] = find_skips(
        instructions["operator"], ends
    )
    return ReactionBlock(reactions, instructions)


def entry(identity: int, slot: int, session: int, reactions: list[int], first: int) -> ActionEntry:
    return ActionEntry(
        identity=identity,
        slot=slot,
        session=session,
        type_index=0,
        moved_parts=(slot % 3,),
        read_parts=(),
        parameter_offset=16 * slot,
        parameter_size=16,
        state_offset=8 * slot,
        state_size=8,
        n_signals=0,
        n_variables=1,
        reactions=block(reactions, owner=slot, session=session, first=first),
    )


@settings(max_examples=tries(15, whole=60), deadline=None)
@given(st.data())
def test_any_definitions_give_tables_that_the_executor_takes(data: st.DataObject) -> None:
    n_sessions = data.draw(st.integers(1, 4))
    indices = [0, *data.draw(st.permutations(range(1, 6)))[: n_sessions - 1]]
    slots = iter(data.draw(st.permutations(range(30))))
    lengths = st.lists(st.integers(1, 4), max_size=4)
    first = 0
    sessions = []
    for age, index in enumerate(indices):
        actions: list[ActionEntry] = []
        free: list[ReactionBlock] = []
        for _ in range(data.draw(st.integers(0, 4))):
            wanted = data.draw(lengths)
            actions.append(entry(1000 + first + len(actions) + 50 * age, next(slots), index, wanted, first))
            first += len(wanted)
        for _ in range(data.draw(st.integers(0, 2))):
            wanted = data.draw(lengths)
            free.append(block(wanted, owner=-1, session=index, first=first))
            first += len(wanted)
        sessions.append(SessionEntry(index=index, identity=100 + age, actions=tuple(actions), free=tuple(free)))
    former = [(i, 90 + i) for i in range(max(indices)) if i not in indices]
    contents = TableContents(
        version=7,
        type_keys=[KEY],
        sessions=sessions,
        former_sessions=former,
        default_action=[-1] * 3,
        safety_action=[-1] * 3,
    )

    compose(contents, [], STAGING)  # over whatever the last example left

    tables = STAGING.tables
    check_tables(tables, n_parts=3)
    actions = [a for s in sessions for a in s.actions]
    for rank, a in enumerate(actions):
        row = tables.actions[a.slot]
        assert (row.identity, row.rank, row.session, row.n_reactions) == (
            a.identity, rank, a.session, len(a.reactions.reactions),
        )  # fmt: skip
        mine = tables.reactions[row.first_reaction : row.first_reaction + row.n_reactions]
        assert (mine["identity"] == a.reactions.reactions["identity"]).all()
        for reaction, length in zip(mine, a.reactions.reactions["n_instructions"], strict=True):
            assert tables.instructions[reaction.first_instruction].constant == length, "each finds its own condition"
    used = {a.slot for a in actions}
    assert not any(tables.actions[i].identity for i in range(30) if i not in used), "what is gone leaves no trace"
    free_identities = [int(i) for s in sessions for b in s.free for i in b.reactions["identity"]]
    assert list(tables.reactions["identity"][: tables.n_free_reactions]) == free_identities, "older session first"


def test_new_parameters_are_staged_at_their_place() -> None:
    system = SessionEntry(index=0, identity=1)
    blobs = [Blob(64, np.arange(16, dtype=np.uint8)), Blob(8, np.full(8, 255, np.uint8))]
    compose(TableContents(version=1, type_keys=[KEY], sessions=[system]), blobs, STAGING)
    assert STAGING.n_blobs == 2
    assert [tuple(b) for b in STAGING.blobs[:2]] == [(64, 16), (8, 8)]
    memory = STAGING.parameters.view(np.uint8)
    assert list(memory[64:80]) == list(range(16))
    assert list(memory[8:16]) == [255] * 8


@pytest.mark.parametrize(
    ("what", "name", "limit", "reactions", "length"),
    [
        ("reactions", "MAX_REACTIONS", capacities.MAX_REACTIONS, capacities.MAX_REACTIONS + 1, 1),
        ("instructions of all conditions", "MAX_INSTRUCTIONS", capacities.MAX_INSTRUCTIONS, 13108, 10),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_written(
    what: str, name: str, limit: int, reactions: int, length: int
) -> None:
    system = SessionEntry(index=0, identity=1)
    compose(TableContents(version=5, type_keys=[KEY], sessions=[system]), [], STAGING)
    much = SessionEntry(index=1, identity=2, free=(block([length] * reactions, owner=-1, session=1, first=0),))
    with pytest.raises(CapacityError) as error:
        compose(TableContents(version=6, type_keys=[KEY], sessions=[system, much]), [], STAGING)
    assert str(error.value) == (
        f"too many {what}; expected at most {limit} ({name}); got {reactions * length} needed. "
        "Remove those that are not needed any more, or close sessions"
    )
    assert STAGING.tables.version == 5


def test_no_blocks_join_to_none() -> None:
    joined = join_blocks([])
    assert (len(joined.reactions), len(joined.instructions)) == (0, 0)
