"""Document 3: one loop moves a line of six arms; its groups run one after the other, in parallel and together."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

from robot_rt_control.client import MotionGroup
from robot_rt_control.testing.lockstep_client import LockstepClient

ALONE = 4000
"""[ticks] Past two changes of groups on each side."""


@pytest.fixture(scope="module")
def module(example: Callable[[str], ModuleType]) -> ModuleType:
    return example("14_line_of_six")


def recorded(client: LockstepClient) -> list[np.ndarray]:
    """(6, 7) commanded positions [rad] of each tick from now on."""
    rows: list[np.ndarray] = []
    parts = client.cell.executor.world.memory.parts
    client.cell.after_tick.append(lambda: rows.append(parts["commanded_position"][:6, :7].copy()))
    return rows


def alone(module: ModuleType, groups: list[MotionGroup]) -> np.ndarray:
    """(ALONE, 6, 7) commanded positions [rad] from the start of one line on, while nothing else runs."""
    with LockstepClient(module.WORKCELL) as client, client.session(module.ARMS) as session:
        session.add(*groups)
        rows = recorded(client)
        session.start(groups[0])
        client.cell.step(ALONE + 2)
    q = np.array(rows)
    first = int(np.flatnonzero((q != module.HOME).any(axis=(1, 2)))[0])
    return q[first:][:ALONE]


def test_groups_in_sequence_and_in_parallel_begin_and_arrive_in_one_tick(module, capsys):
    with LockstepClient(module.WORKCELL) as client:
        rows = recorded(client)
        begun = module.main(client)
        assert not client.cell.kinds("part_faulted", "action_failed", "command_refused")
        fired = {e.current_action: e.tick for e in client.cell.kinds("reaction_fired")}
        (ended,) = client.cell.kinds("session_ended")
        first_tick = client.cell.tick - len(rows) + 1
    q = np.array(rows[: ended.tick - first_tick])
    for group, arms in (("reach_1", slice(0, 3)), ("turn_1", slice(0, 3)), ("home", slice(0, 6))):
        before = q[begun[group] - first_tick - 1, arms]
        moved = (q[begun[group] - first_tick :, arms] != before).any(axis=2)
        assert moved[0].all(), f"{group}: all arms begin in its first tick"
    there = np.abs(q - module.HOME).max(axis=2) < 1e-12
    assert not there[begun["home"] - first_tick].any()
    arrivals = [int(np.flatnonzero(~there[:, i])[-1]) + 1 for i in range(6)]
    assert len(set(arrivals)) == 1 and arrivals[0] < len(q), "all six arrive home in one tick"
    assert all(fired[group] == begun[group] for group in ("turn_1", "back", "finish", "reach_2", "home"))
    assert begun["work"] == begun["reach_1"] and begun["turn_1"] < begun["finish"] < begun["home"]
    assert "home      began in tick" in capsys.readouterr().out

    both = q[begun["reach_1"] - first_tick :][:ALONE]
    first, second = alone(module, module.first_line()), alone(module, module.second_line())
    assert (first[:, :3] == both[:, :3]).all(), "bit for bit, whatever the others do"
    assert (second[:, 3:] == both[:, 3:]).all()
    assert (first[:, 3:] == module.HOME).all() and (second[:, :3] == module.HOME).all()
