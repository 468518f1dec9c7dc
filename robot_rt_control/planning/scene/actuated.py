"""The joints that a task drives, and those that follow them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Actuated:
    """The joints that the task drives, in the order of its inputs; arrays are (n,)."""

    names: tuple[str, ...]
    """`<part>.<joint>`"""
    velocity_driven: NDArray[np.bool_]
    moved_q: NDArray[np.intp]
    """(n + followers,) index in qpos of each, and then of each joint that follows one."""
    moved_v: NDArray[np.intp]
    """Likewise in qvel."""
    leaders: NDArray[np.intp]
    """(n + followers,) the joint that each of these follows, or is itself."""
    rates: Array
    """(nv, n) velocities of all by those of the joints."""
    offset: Array
    """(n + followers,) [rad or m] position where the leader's is 0."""
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    effort: Array
    start: Array

    @property
    def q(self) -> NDArray[np.intp]:
        """Index of each in qpos."""
        return self.moved_q[: len(self.names)]

    @property
    def v(self) -> NDArray[np.intp]:
        """Index of each in qvel."""
        return self.moved_v[: len(self.names)]

    @cached_property
    def ratio(self) -> Array:
        """(n + followers,) velocity by the leader's."""
        return np.asarray(self.rates[self.moved_v, self.leaders])

    def place(self, qpos: Array, joints: Array) -> None:
        """Write positions of the joints (..., n), and of those that follow them, into qpos (..., nq)."""
        qpos[..., self.moved_q] = joints[..., self.leaders] * self.ratio + self.offset

    def inertia(self, M: Array) -> Array:
        """(n, n) that the joints move, of the mass matrix (nv, nv)."""
        return np.asarray(self.rates.T @ M @ self.rates)
