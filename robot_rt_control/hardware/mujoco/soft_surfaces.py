"""Surfaces whose stiffness is in N/m and whose damping is in Ns/m in MuJoCo: springs that are integrated implicitly.

The force of a spring at the end of the step is -K (x + h v') - B v', with v' = v + h a. MuJoCo's rows mean
force = (reference - a) / R, so R = 1 / (h (h K + B)) and reference = -R (K x + (h K + B) v).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import mujoco

from robot_rt_control.hardware.mujoco.contacts import Pairs


class SoftSurfaces:
    """The springs of all soft surfaces.

    Args:
        softness: [m/N] of each geometry; 0: hard.
        damping: [Ns/m] of each geometry.
        step: [s] of the simulation.
    """

    def __init__(self, softness: Sequence[float], damping: Sequence[float], step: float) -> None:
        self._softness, self._damping, self._step = softness, damping, step
        self.exists = any(softness)

    def write(self, data: mujoco.MjData, contact: Any, pairs: Pairs) -> None:
        """Write them into the rows of their contacts, between the two halves of a step.

        Args:
            contact: `data.contact`, whose `geom` is `pairs`.
        """
        soft, damping, h = self._softness, self._damping, self._step
        chosen = [
            (i, a, b, row)
            for i, ((a, b), row) in enumerate(zip(pairs, contact.efc_address.tolist(), strict=True))
            if row >= 0 and soft[a] + soft[b] > 0.0
        ]
        if not chosen:
            return
        # A spring is that of two surfaces, and so shared by all points at which they touch.
        points = Counter((a, b) for _, a, b, _ in chosen)
        mu, dist = contact.mu, contact.dist.tolist()
        references, speeds, R, D = data.efc_aref, data.efc_vel, data.efc_R, data.efc_D
        for i, a, b, row in chosen:
            share = 1.0 / points[a, b]
            stiffness = share / (soft[a] + soft[b])
            rate = h * stiffness + share * (damping[a] + damping[b])
            resistance = 1.0 / (h * rate)
            # The friction cone's own regularization, which is MuJoCo's: sqrt of what sideways is by what is normal.
            mu[i] *= math.sqrt(R[row] / resistance)
            references[row] = -resistance * (stiffness * dist[i] + rate * float(speeds[row]))
            R[row], D[row] = resistance, 1.0 / resistance
