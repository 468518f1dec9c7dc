"""What touched in the last step of a MuJoCo simulation; worked out only if somebody asks."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pairs = list[list[int]]
"""Numbers of two geometries, for each contact."""


class Contacts:
    """Pairs of geometries that touched, and how hard.

    Args:
        sheared: geometries for whose contacts `places` and `normals` are kept.
        is_pyramidal: whether cones of friction are pyramids, as by default in an MJCF.

    Attributes:
        has_sheared: whether one of these touched.
    """

    def __init__(self, sheared: Set[int], *, is_pyramidal: bool = False) -> None:
        self._sheared, self._is_pyramidal = sheared, is_pyramidal
        self._dimensions: list[int] = []
        self._kept: tuple[Pairs, list[int], Array] | None = None
        self._clear()

    def _clear(self) -> None:
        self.has_sheared = False
        self._touching, self._forces = np.zeros((0, 2), np.int32), np.zeros(0)
        self._places = self._normals = np.zeros((0, 3))

    def keep(self, data: mujoco.MjData, contact: Any, pairs: Pairs) -> None:
        """After the second half of a step: MuJoCo's own memory is valid until the next step's first half.

        Args:
            contact: `data.contact`, whose `geom` is `pairs`.
        """
        addresses = contact.efc_address.tolist()
        self._kept = pairs, addresses, data.efc_force.copy()
        if self._is_pyramidal:
            self._dimensions = contact.dim.tolist()
        sheared = self._sheared
        self.has_sheared = bool(sheared) and any(a in sheared or b in sheared for a, b in pairs)
        if self.has_sheared:
            used = [i for i, address in enumerate(addresses) if address >= 0]
            self._places, self._normals = contact.pos[used], contact.frame[used, :3]

    def keep_none(self) -> None:
        """Nothing touched."""
        if self._kept is not None or len(self._touching):
            self._kept = None
            self._clear()

    def _work_out(self) -> None:
        if self._kept is None:
            return
        pairs, addresses, forces = self._kept
        self._kept = None
        used = [i for i, address in enumerate(addresses) if address >= 0]
        self._touching = np.array([pairs[i] for i in used], np.int32).reshape(-1, 2)
        if self._is_pyramidal:
            # Each edge of the pyramid has its part of the normal force.
            edges = [max(1, 2 * (self._dimensions[i] - 1)) for i in used]
            parts = [forces[addresses[i] : addresses[i] + n].sum() for i, n in zip(used, edges, strict=True)]
            self._forces = np.array(parts, np.float64)
        else:
            self._forces = forces[[addresses[i] for i in used]]

    @property
    def touching(self) -> NDArray[np.int32]:
        """(n, 2) geometries."""
        self._work_out()
        return self._touching

    @property
    def normal_forces(self) -> Array:
        """(n,) [N] between them."""
        self._work_out()
        return self._forces

    @property
    def places(self) -> Array:
        """(n, 3) [m] where, if `has_sheared`."""
        return self._places

    @property
    def normals(self) -> Array:
        """(n, 3) directions from the first to the second, if `has_sheared`."""
        return self._normals
