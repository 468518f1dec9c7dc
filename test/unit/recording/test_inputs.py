"""Inputs of a recording as bytes and back."""

import numpy as np

from robot_rt_control.memory.layout import action_dtype, channel_dtype, command_dtype, staging_dtype
from robot_rt_control.recording.inputs import (
    ARRAYS,
    pack_command,
    pack_points,
    pack_tables,
    unpack_command,
    unpack_points,
    unpack_tables,
)
from robot_rt_control.vocabulary.enums import Command


def test_tables_come_back_as_far_as_they_are_used() -> None:
    staging, copy = (np.zeros(1, staging_dtype)[0] for _ in range(2))
    random = np.random.default_rng(1)
    tables = staging.tables
    tables.version, tables.n_starts = 7, 1
    tables.starts[0] = 3
    for i, name in enumerate(ARRAYS):
        tables[f"n_{name}"] = i + 1
        rows = tables[name][: i + 2].view(np.uint8)
        rows[:] = random.integers(0, 256, rows.shape)
    staging.n_blobs = 2
    staging.blobs[:2] = [(16, 24), (800, 8)]
    staging.parameters[:200] = random.random(200)
    unpack_tables(pack_tables(staging), copy)
    assert (copy.tables.version, copy.tables.n_starts, copy.tables.starts[0]) == (7, 1, 3)
    for i, name in enumerate(ARRAYS):
        assert copy.tables[name][: i + 1].tobytes() == tables[name][: i + 1].tobytes()
        assert not any(copy.tables[name][i + 1 : i + 2].tobytes()), "not used"
    assert (copy.parameters[2:5] == staging.parameters[2:5]).all() and copy.parameters[100] == staging.parameters[100]
    assert copy.parameters[5] == 0.0 and copy.n_blobs == 2


def test_a_command_carries_its_record_only_if_it_has_one() -> None:
    command = np.zeros(1, command_dtype)[0]
    beside = np.arange(512.0)
    command.command, command.record_size = Command.SET_PARAMETERS, 24
    found, record = unpack_command(pack_command(command, beside))
    assert found.command == Command.SET_PARAMETERS and record.view(np.float64).tolist() == [0.0, 1.0, 2.0]
    command.command, command.record_size = Command.START, 0
    assert len(unpack_command(pack_command(command, beside))[1]) == 0


def test_set_points_come_back_and_only_a_new_group_begins_its_queue() -> None:
    channel, copy = (np.zeros(1, channel_dtype)[0] for _ in range(2))
    action = np.zeros(1, action_dtype)[0]
    action.queue, action.queue_entries, action.queue_offset = 2, 4, 80
    channel.set_points[10:22] = np.arange(12.0)  # four set points of three words
    copy.motion_queues[2] = (9, [0] * 15, 7, 5, [0] * 14, 1)  # of the group that had it before
    unpack_points(pack_points(action, None, 0, 0, channel.set_points, 3), copy)
    queue = copy.motion_queues[2]
    assert (queue.head, queue.tail, queue.run, queue.failed) == (0, 0, 1, 0)
    queue.run = 2  # it was ended before anything came
    unpack_points(pack_points(action, 0, 3, 0, channel.set_points, 3), copy)
    assert (queue.head, queue.tail, queue.run, queue.failed) == (3, 0, 2, 0)
    assert copy.set_points[10:22].tolist() == [*range(9), 0.0, 0.0, 0.0]
    unpack_points(pack_points(action, 3, 5, 1, channel.set_points, 3), copy)
    assert (queue.head, queue.failed) == (5, 1) and copy.set_points[19:22].tolist() == [9.0, 10.0, 11.0]
