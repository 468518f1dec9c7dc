"""Columns of recorded ticks."""

import numpy as np

from robot_rt_control.recording.columns import Column, field_names, split_rows


def test_names_are_such_that_a_message_may_have_and_differ() -> None:
    names = ["arm.position", "Arm..Position", "arm_position", "7th.axis", "__a__"]
    found = field_names([Column(name=name) for name in names])
    assert found == ["arm_position", "arm_positionx", "arm_positionxx", "x7th_axis", "a"]


def test_rows_become_arrays_of_their_columns() -> None:
    columns = [
        Column(name="tick", integer=True),
        Column(name="q", width=2, scalar=False),
        Column(name="one", width=1, scalar=False),
        Column(name="mode", integer=True, modes_of=2),
    ]
    q = np.array([[0.5, np.nan], [1.5, -2.0]])
    rows = np.hstack([[[1], [2]], q.view(np.int64), q[:, :1].view(np.int64), [[0x21], [0x33]]])
    found = split_rows(rows, columns)
    assert found["tick"].tolist() == [1, 2] and np.array_equal(found["q"], q, equal_nan=True)
    assert found["one"].shape == (2, 1) and found["mode"].tolist() == [[1, 2], [3, 3]]
