import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.server.tables.allocation import Arena, SlotPool
from robot_rt_control.vocabulary.errors import CapacityError


def test_regions_are_aligned_and_first_fit():
    arena = Arena(64, name="LIMIT", what="parameters")
    assert [arena.allocate(n) for n in (1, 9, 8)] == [0, 8, 24]
    arena.release(8, 9)
    assert arena.allocate(16) == 8


def test_a_full_arena_names_the_capacity_the_limit_and_the_need():
    arena = Arena(64, name="PARAMETER_ARENA_BYTES", what="parameters")
    arena.allocate(40)
    with pytest.raises(CapacityError) as error:
        arena.allocate(32)
    assert str(error.value) == (
        "no room for the parameters of all actions; expected at most 64 bytes (PARAMETER_ARENA_BYTES); "
        "got 72 bytes needed. Remove actions that are not needed any more"
    )
    assert arena.used == 40


@settings(max_examples=tries(15, whole=50), deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(1, 100)), max_size=60))
def test_regions_never_overlap_and_all_comes_back(steps):
    arena = Arena(1 << 13, name="LIMIT", what="state")
    live: list[tuple[int, int]] = []
    for take, number in steps:
        if take or not live:
            live.append((arena.allocate(number), number))
        else:
            arena.release(*live.pop(number % len(live)))
        spans = sorted((offset, offset + (size + 7) // 8 * 8) for offset, size in live)
        assert all(a[1] <= b[0] for a, b in zip(spans, spans[1:], strict=False))
    for region in live:
        arena.release(*region)
    assert arena.used == 0
    assert arena.allocate(1 << 13) == 0


def test_slots_are_reused_lowest_first_and_taken_all_or_none():
    pool = SlotPool(4, name="MAX_ACTIONS", what="actions")
    assert pool.take(3) == [0, 1, 2]
    pool.release([2, 0])
    assert pool.take() == [0]
    with pytest.raises(CapacityError) as error:
        pool.take(3)
    assert str(error.value).startswith("too many actions; expected at most 4 (MAX_ACTIONS); got 5 needed.")
    assert pool.in_use == 2
    assert pool.take(2) == [2, 3]
    assert pool.end == 4
