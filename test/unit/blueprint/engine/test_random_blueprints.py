"""The engine against the reference interpreter, on random plans, results, commands and moments."""

from __future__ import annotations

from random import Random
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_blueprints import Comparison, random_plan
from samples import tries

from robot_rt_control.blueprint.engine import reactions_in_a_row


def compare(random: Random, steps: int) -> None:
    run = Comparison(random, random_plan(random))
    for _ in range(steps):
        if run.is_over:
            break
        run.step()
    run.finish()


@settings(max_examples=tries(37, whole=150), deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 40))
def test_N32_engine_and_reference_do_the_same(random: Random, steps: int) -> None:
    compare(random, steps)


@settings(max_examples=tries(15, whole=50), deadline=None)
@given(st.randoms(use_true_random=False), st.integers(10, 60))
def test_N49_engine_and_reference_give_up_at_the_same_moment(random: Random, steps: int) -> None:
    with patch.object(reactions_in_a_row, "MAX_REACTIONS_IN_A_ROW", 1):
        compare(random, steps)


@pytest.mark.long
@pytest.mark.parametrize("block", range(10))
def test_N32_engine_and_reference_on_ten_thousand_plans(block: int) -> None:
    for seed in range(1000 * block, 1000 * block + 1000):
        compare(Random(seed), 60)
