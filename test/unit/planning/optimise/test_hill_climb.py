"""Hill climbing, step by step, on costs that are given."""

import math

import numpy as np
import pytest

from robot_rt_control.planning.optimise.hill_climb import climb


def record(cost):
    seen = []

    def watched(k):
        seen.append(float(k.max()))
        return cost(k)

    return watched, seen


def test_the_step_is_the_change_of_the_cost_over_the_last_change():
    watched, seen = record(lambda k: 0.4 * float(k.max()))
    climb(np.array([[1.0], [0.0]]), watched)
    # First 0.1; the slope is 0.4.
    assert seen == pytest.approx([1.0, 0.9, 0.5, 0.1, 0.0])


def test_it_stops_where_the_cost_no_longer_falls_and_keeps_the_best():
    watched, seen = record(lambda k: abs(float(k.max()) - 0.75))
    assert climb(np.array([[1.0]]), watched).max() == pytest.approx(0.9)
    assert seen == pytest.approx([1.0, 0.9, 0.0])


def test_where_less_stiffness_is_worse_nothing_changes():
    k = np.array([[0.5, 0.0], [0.2, 0.0]])
    assert (climb(k, lambda k: -float(k.sum())) == k).all()
    assert (climb(k, lambda k: math.inf) == k).all()


def test_each_pair_falls_alike_and_none_below_zero():
    result = climb(np.array([[1.0, 0.05]]), lambda k: float(k.sum()))
    assert (result == 0.0).all()


def test_without_stiffness_there_is_nothing_to_do():
    assert (climb(np.zeros((3, 2)), lambda k: 0.0) == 0.0).all()


def test_it_ends_also_where_the_cost_falls_for_ever_more_slowly():
    watched, seen = record(lambda k: 1e-6 * float(k.max()))
    climb(np.array([[100.0]]), watched)
    assert len(seen) <= 21
