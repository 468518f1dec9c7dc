from __future__ import annotations

import pytest

from robot_rt_control.server.link.transactions import transaction_row
from robot_rt_control.vocabulary.enums import Command
from robot_rt_control.vocabulary.errors import CapacityError


def test_a_row_names_its_actions_with_their_identities() -> None:
    row = transaction_row(Command.START, session=5, actions=[(3, 33), (4, 44)])
    assert (row.command, row.session, row.n_actions) == (Command.START, 5, 2)
    assert list(row.actions[:3]) == [3, 4, 0] and list(row.identities[:3]) == [33, 44, 0]


def test_too_many_actions_are_refused() -> None:
    with pytest.raises(CapacityError, match=r"at most 64 \(MAX_ACTIONS_PER_COMMAND\); got 65"):
        transaction_row(Command.START, session=5, actions=[(i, i + 1) for i in range(65)])
