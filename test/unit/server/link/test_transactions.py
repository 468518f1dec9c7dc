from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.server.link.transactions import changes_of, transaction_row
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import Command
from robot_rt_control.vocabulary.errors import CapacityError


def test_a_row_names_its_actions_with_their_identities() -> None:
    row = transaction_row(Command.START, session=5, actions=[(3, 33), (4, 44)])
    assert (row.command, row.session, row.n_actions) == (Command.START, 5, 2)
    assert list(row.actions[:3]) == [3, 4, 0] and list(row.identities[:3]) == [33, 44, 0]


def test_too_many_actions_are_refused() -> None:
    with pytest.raises(CapacityError, match=r"at most 64 \(MAX_ACTIONS_PER_COMMAND\); got 65"):
        transaction_row(Command.START, session=5, actions=[(i, i + 1) for i in range(65)])


def applied(before: np.ndarray, changes: np.ndarray) -> np.ndarray:
    """As the loop does it."""
    found = before.copy()
    (n,) = changes[:8].view(np.int64)
    runs, data = changes[8 : 8 + 16 * n].view(np.int64).reshape(n, 2), changes[8 + 16 * n :]
    for first, size in runs:
        found[first : first + size], data = data[:size], data[size:]
    assert len(data) == 0
    return found


@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0, 2.0]), st.sampled_from([0.0, 1.0, 2.0])), min_size=1))
def test_changes_make_the_one_record_of_the_other(words: list[tuple[float, float]]) -> None:
    before, now = (np.array(row).view(np.uint8) for row in zip(*words, strict=True))
    changes = changes_of(before, now)
    assert changes is not None and (applied(before, changes) == now).all()


def test_what_is_near_is_one_run_and_too_much_is_none() -> None:
    before, now = np.zeros(100), np.zeros(100)
    now[[3, 5, 40]] = 1.0
    changes = changes_of(before.view(np.uint8), now.view(np.uint8))
    assert changes is not None and changes[:40].view(np.int64).tolist() == [2, 24, 24, 320, 8]
    most = capacities.UPDATES_OF_COMMAND * capacities.PARAMETER_UPDATE_BYTES // 8
    assert changes_of(np.zeros(8 * most, np.uint8), np.ones(8 * most, np.uint8)) is None
