"""Motion between two given states."""

from robot_rt_control.native.realtime_code import realtime


@realtime
def hermite(
    q0: float, v0: float, a0: float, q1: float, v1: float, a1: float, h: float, x: float
) -> tuple[float, float, float]:
    """Position, velocity and acceleration at fraction x of an interval h [s] of the quintic with these ends."""
    v0, v1, a0, a1 = v0 * h, v1 * h, a0 * h * h / 2.0, a1 * h * h / 2.0
    d = q1 - q0 - v0 - a0
    e = v1 - v0 - 2.0 * a0
    f = a1 - a0
    c3 = 10.0 * d - 4.0 * e + f
    c4 = -15.0 * d + 7.0 * e - 2.0 * f
    c5 = 6.0 * d - 3.0 * e + f
    q = q0 + x * (v0 + x * (a0 + x * (c3 + x * (c4 + x * c5))))
    v = v0 + x * (2.0 * a0 + x * (3.0 * c3 + x * (4.0 * c4 + x * 5.0 * c5)))
    a = 2.0 * a0 + x * (6.0 * c3 + x * (12.0 * c4 + x * 20.0 * c5))
    return q, v / h, a / (h * h)
