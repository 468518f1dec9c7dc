"""The choice of the next point in a bracket."""

import math

import pytest

from robot_rt_control.motion.root import MAX_STEPS, next_fraction


def solve(f, a, b):
    x1, f1, x2, f2 = b, f(b), a, f(a)
    x3, f3 = x1, f1
    for steps in range(MAX_STEPS):
        if f1 == 0.0 or abs(x2 - x1) < 1e-14:
            return x1, steps
        x = x1 + next_fraction(x1, f1, x2, f2, x3, f3, 1e-16) * (x2 - x1)
        if (f(x) < 0.0) == (f1 < 0.0):
            x3, f3 = x1, f1
        else:
            x3, f3, x2, f2 = x2, f2, x1, f1
        x1, f1 = x, f(x)
    return x1, MAX_STEPS


@pytest.mark.parametrize(
    "f, a, b, root",
    [
        (lambda x: x**3 - 1e-9, 0.0, 1.0, 1e-3),
        (lambda x: math.copysign(math.sqrt(abs(x - 0.3)), x - 0.3), 0.0, 1.0, 0.3),
        (lambda x: math.exp(x) - 2.0, 0.0, 50.0, math.log(2.0)),
        (lambda x: -1.0 if x < 0.625 else 1.0, 0.0, 1.0, 0.625),
    ],
)
def test_finds_roots_of_hard_functions_within_the_bound(f, a, b, root):
    x, steps = solve(f, a, b)
    assert x == pytest.approx(root, abs=1e-10)
    assert steps < MAX_STEPS


def test_bisects_until_three_points_are_known():
    assert next_fraction(1.0, 5.0, 0.0, -1.0, 1.0, 5.0, 1e-9) == 0.5


def test_keeps_the_tolerance_from_either_end():
    for f1 in (1e-300, 1e300):
        assert 0.1 <= next_fraction(1.0, f1, 0.0, -1.0, 2.0, 2.0 * f1, 0.1) <= 0.9
