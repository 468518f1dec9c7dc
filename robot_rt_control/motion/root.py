"""Chandrupatla's choice of the next point when a root is bracketed.

T. R. Chandrupatla, "A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function
without using derivatives", Advances in Engineering Software 28 (1997).
"""

from __future__ import annotations

from robot_rt_control.native.realtime_code import realtime

MAX_STEPS = 100
"""Largest number of steps of a search; a typical search takes 6 to 10."""


@realtime
def next_fraction(x1: float, f1: float, x2: float, f2: float, x3: float, f3: float, tolerance: float) -> float:
    """The next point to evaluate, as a fraction from x1 (0) to x2 (1).

    Args:
        x1, f1: newest point and its value.
        x2, f2: the other end of the bracket: f2 has the other sign.
        x3, f3: the point that was discarded last.
        tolerance: smallest distance from either end, as a fraction of the bracket.

    Returns:
        Inverse quadratic interpolation if it is safe, otherwise one half.
    """
    fraction = 0.5
    if x3 != x2 and x3 != x1 and f3 != f2 and f3 != f1 and f1 != f2:
        xi = (x1 - x2) / (x3 - x2)
        phi = (f1 - f2) / (f3 - f2)
        if phi * phi < xi and (1.0 - phi) * (1.0 - phi) < 1.0 - xi:
            fraction = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
    return min(max(fraction, tolerance), 1.0 - tolerance)
