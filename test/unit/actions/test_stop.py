from __future__ import annotations

import numpy as np

from robot_rt_control.actions.stop import Stop


def test_synchronized_joints_come_to_rest_in_the_same_tick(harness):
    h = harness(Stop, compiled=True, moving=True, synchronized=True)
    part = h.part("part")
    part.commanded_velocity[:7] = [0.9, 0.1, 0.5, 0.2, -0.7, 0.3, -0.4]
    h.start()
    last_moving = np.zeros(7, int)
    for tick in range(600):
        h.step()
        last_moving[np.abs(part.commanded_velocity[:7]) > 1e-9] = tick
    assert last_moving.max() - last_moving.min() <= 1
    assert h.state.is_settled == 1.0


def test_joints_by_themselves_are_at_rest_as_early_as_they_can(harness):
    h = harness(Stop, compiled=True, moving=True, synchronized=False)
    part = h.part("part")
    part.commanded_velocity[:7] = [0.9, 0.1, 0.5, 0.2, -0.7, 0.3, -0.4]
    h.start()
    last_moving = np.zeros(7, int)
    for tick in range(600):
        h.step()
        last_moving[np.abs(part.commanded_velocity[:7]) > 1e-9] = tick
    assert last_moving[1] < last_moving[0] - 20
    assert h.state.is_done == 1.0
    assert h.state.remaining_time == 0.0
