from __future__ import annotations

import numpy as np

from robot_rt_control.motion.hermite import hermite


def test_it_is_the_quintic_with_these_ends():
    random = np.random.default_rng(3)
    for _ in range(20):
        c, h = random.normal(size=6), float(random.uniform(0.01, 3.0))
        q0, v0, a0, q1, v1, a1 = (float(np.polyval(np.polyder(c, n), t)) for t in (0.0, h) for n in range(3))
        for x in (0.0, 0.2, 0.7, 1.0):
            expected = [np.polyval(np.polyder(c, n), x * h) for n in range(3)]
            np.testing.assert_allclose(hermite(q0, v0, a0, q1, v1, a1, h, x), expected, rtol=1e-7, atol=1e-7)
