"""Stream entries of tables from another process: what could lead the tick out of its memory is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_rt_control.client.actions import Action
from robot_rt_control.memory.layout import tables_dtype
from robot_rt_control.realtime.executor.table_check import check_tables
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary import capacities as c
from robot_rt_control.vocabulary.errors import RobotControlError

_WORKCELL = Path(__file__).parents[3] / "lockstep" / "rules" / "streams.yaml"


@pytest.fixture(scope="module")
def tables() -> Iterator[np.record]:
    """Two actions with two streams, and one with one."""
    with LockstepCell(_WORKCELL) as cell:
        session = cell.session("left", "right")
        session.add(
            Action("a", "listener", parts="left"),
            Action("b", "listener", parts="left"),
            Action("c", "averager", parts="right"),
        )
        cell.step()
        w = cell.executor.world.memory
        yield w.tables[int(w.active_tables)]


def changed(tables: np.record, table: str, row: int, field: str, value: Any) -> np.record:
    copy: np.record = np.zeros(1, tables_dtype)[0]
    np.void.setfield(copy, tables, tables_dtype, 0)
    if field:
        copy[table][row][field] = value
    else:
        copy[table] = value
    return copy


def test_the_servers_tables_pass(tables: np.record) -> None:
    assert int(tables.n_streams) == 5
    check_tables(tables, n_parts=3)
    assert sorted(tables.streams["place"][:5]) == [0, 1, 2, 3, 4]
    assert tables.streams["method"][:5].tolist() == [-1, -1, -1, -1, 0]


@pytest.mark.parametrize(
    ("row", "field", "value", "text"),
    [
        (-1, "", c.MAX_STREAMS + 1, "n_streams"),
        (-1, "", 4, "those that it owns"),
        (0, "action", 1000, "action of stream"),
        (0, "action", -1, "action of stream"),
        (2, "identity", 7, "those that it owns"),
        (0, "place", c.MAX_STREAMS, "place of stream"),
        (0, "place", 1, "places of streams"),
        (0, "n_values", 0, "values of stream"),
        (0, "n_values", 17, "values of stream"),
        (0, "n_values", 3, "at most as many as there is room for"),
        (0, "width", 1 << 20, "width of stream"),
        (0, "quaternion", 0, "quaternion of stream"),
        (0, "method", c.MAX_ACTION_STREAMS, "gap function of stream"),
        (0, "method", 0, "record of stream"),  # then its record would need room for the window
        (0, "record", -8, "record of stream"),
        (0, "record", 4, "record of stream"),
        (0, "record", 1 << 20, "record of stream"),
        (1, "record", 1 << 20, "record of stream"),
        (0, "variables", 1 << 20, "variables of stream"),
        (0, "settings", 8, "settings of stream"),
        (0, "settings", -1, "settings of stream"),
    ],
)
def test_what_could_lead_out_of_memory_is_refused(
    tables: np.record, row: int, field: str, value: int, text: str
) -> None:
    bad = changed(tables, "streams", row, field, value) if field else changed(tables, "n_streams", 0, "", value)
    with pytest.raises(RobotControlError, match=text):
        check_tables(bad, n_parts=3)


@pytest.mark.parametrize(("field", "value"), [("n_streams", 1), ("n_streams", 5), ("first_stream", 1)])
def test_each_action_has_its_own_streams(tables: np.record, field: str, value: int) -> None:
    slot = int(tables.streams["action"][0])
    with pytest.raises(RobotControlError, match="streams of action"):
        check_tables(changed(tables, "actions", slot, field, value), n_parts=3)
