from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.actions.set_output import SetOutput
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakePart
from robot_rt_control.vocabulary.enums import PartKind


def io() -> FakePart:
    part = FakePart(kind=PartKind.IO, name="io", outputs=("clamp", "lamp", "dose"))
    part.live.output_lower[2], part.live.output_upper[2] = -np.inf, np.inf
    part.live.commanded_outputs[:3] = part.live.outputs[:3] = (0.0, 1.0, 7.0)
    return part


@pytest.mark.parametrize("compiled", [False, True])
def test_one_value_for_all_and_others_untouched(compiled):
    part = io()
    h = ActionHarness(
        SetOutput, parts={"part": part}, parameters={"outputs": "clamp dose", "values": [1]}, compiled=compiled
    )
    h.start()
    h.step(3)
    assert part.live.outputs[:3].tolist() == [1.0, 1.0, 1.0]
    assert h.state.is_done == 1.0


def test_it_is_not_done_while_the_hardware_reads_something_else_back():
    part = io()
    h = ActionHarness(SetOutput, parts={"part": part}, parameters={"outputs": "clamp", "values": [1]})
    h.start()
    for stuck in (0.0, np.nan):
        for _ in range(5):
            h.step()
            part.live.outputs[0] = part.live.commanded_outputs[0] = stuck
        h.step()
        assert h.state.is_done == 0.0 or np.isfinite(stuck)
    h.step(3)
    assert h.state.is_done == 1.0


def test_a_pulse_gives_the_former_values_back_and_scales_with_the_speed():
    part = io()
    h = ActionHarness(
        SetOutput,
        parts={"part": part},
        parameters={"outputs": "clamp, dose", "values": [1, 9], "duration": 0.02},
        speed=0.5,
    )
    h.start()
    seen = []
    for _ in range(60):
        h.step()
        seen.append((part.live.commanded_outputs[0], part.live.commanded_outputs[2], float(h.state.is_done)))
    assert [k for k, (clamp, _, _) in enumerate(seen) if clamp == 1.0] == list(range(40))
    assert seen[-1] == (0.0, 7.0, 1.0)
    assert [done for _, _, done in seen].index(1.0) == 41
