"""Laws that every built-in action type keeps."""

from __future__ import annotations

import numpy as np
from numba.core.runtime import _nrt_python, rtsys

TICKS = 120
AT_REST = "track_trajectory", "track_with_pose"
"""These begin at rest here."""


def _run(h, ticks=TICKS):
    h.start()
    commands = []
    for _ in range(ticks):
        assert h.step() == 0
        commands.append(np.array(h.part(h.action_type.slots[0].name).commanded_position))
    return np.array(commands), h.state.copy()


def test_compiled_equals_interpreted(harness, action_type):
    interpreted, state = _run(harness(action_type, moving=action_type.name not in AT_REST))
    compiled, compiled_state = _run(harness(action_type, moving=action_type.name not in AT_REST, compiled=True))
    np.testing.assert_array_equal(interpreted, compiled)
    for name in [v.name for v in action_type.state_variables]:
        np.testing.assert_array_equal(compiled_state[name], state[name], err_msg=name)


def test_a_tick_allocates_nothing(harness, action_type):
    _nrt_python.memsys_enable_stats()
    h = harness(action_type, compiled=True)
    h.start()
    h.step(5)
    counts = []
    for ticks in (10, 200):
        before = rtsys.get_allocation_stats()
        h.step(ticks)
        after = rtsys.get_allocation_stats()
        counts.append((after.alloc - before.alloc, after.mi_alloc - before.mi_alloc))
    assert counts[0] == counts[1], "allocations grow with the number of ticks"


def test_commands_stay_within_the_limits_of_a_part_at_rest_or_moving(harness, action_type):
    for moving in (False, True):
        if moving and action_type.name in (*AT_REST, "sine_wave"):
            continue  # these begin at rest
        h = harness(action_type, compiled=True, moving=moving)
        part = h.part(action_type.slots[0].name)
        h.start()
        for _ in range(500):
            h.step()
            assert (np.abs(part.commanded_velocity[:7]) <= part.velocity_limit[:7] + 1e-9).all()
            assert (np.abs(part.commanded_acceleration[:7]) <= part.acceleration_limit[:7] * 1.02 + 1e-6).all()


def test_at_speed_zero_the_command_stands_still(harness, action_type):
    h = harness(action_type, compiled=True)
    h.start()
    h.step(100)
    part = h.part(action_type.slots[0].name)
    h.speed = 0.0
    h.step()
    before = part.commanded_position.copy()
    h.step(50)
    np.testing.assert_allclose(part.commanded_position, before, atol=1e-12)


def test_every_state_variable_is_a_number_once_active(harness, action_type):
    h = harness(action_type, compiled=True)
    h.start()
    h.step(2)
    for variable in action_type.state_variables:
        value = h.state[variable.name]
        assert np.isfinite(value).all(), variable.name
        if variable.type == "bool":
            assert value in (0.0, 1.0), variable.name
