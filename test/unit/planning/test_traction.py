"""Where residual stiffness draws the geometries, and when."""

import numpy as np
import pytest

from robot_rt_control.planning.traction import draw_of


def test_the_draw_begins_before_the_force_is_needed_and_ends_with_it():
    k = np.zeros((10, 2))
    k[5, 1] = 0.4
    draw = draw_of(k, weight=2.0)
    assert draw.shape == (11, 2)
    assert (draw[:, 0] == 0.0).all()
    assert draw[5:7, 1] == pytest.approx([2.0, 2.0])
    assert draw[7:, 1] == pytest.approx(np.zeros(4))
    assert draw[3, 1] == pytest.approx(2.0 * np.exp(-1.0))  # a fifth of the horizon earlier
    assert (np.diff(draw[:6, 1]) > 0).all()


def test_without_residual_there_is_no_draw():
    assert (draw_of(np.zeros((4, 1))) == 0.0).all()


def test_a_single_step_draws_at_both_of_its_ends():
    assert draw_of(np.ones((1, 1)), weight=3.0).ravel() == pytest.approx([3.0, 3.0])


def test_only_ratios_of_the_residual_count():
    k = np.random.default_rng(0).uniform(size=(6, 3))
    assert draw_of(k) == pytest.approx(draw_of(7.0 * k))
