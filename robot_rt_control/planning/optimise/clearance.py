"""What the robot would touch and must not: links of no pair the body, and all links what stands around it.

In the planner's physics, links of no pair touch nothing, and the drives are soft. A robot's are stiff: what is
commanded into the ground strikes it, and an elbow that is in the way drags the body along. So a plan knows the
distances of all links, where they are commanded to be, to all objects, as convex hulls of their collision geometries.

Not looked at are the pairs of the task, links that no joint moves, beside what does not move either, and links that
stand on something fixed at the start. What touches the body already may leave it, but not go deeper.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from robot_rt_control.planning.optimise.trajectory import BODY_STATES, Trajectory
from robot_rt_control.planning.scene.scene import Scene

Array = NDArray[np.float64]

MARGIN = 0.01
"""[m] What the optimizer keeps free, unless the start is nearer."""
_SHARE = 0.5
"""Fraction of a smaller distance at the start: a peg upright over the ground may tilt freely; its edges make corners
of the cost."""
_STANDING = 1e-3
"""[m] Nearer than this, two geometries touch at the start: poses are measured."""
_SAMPLE = 0.005
"""[s] at most between two looks."""
_STEP = 1e-6
"""[m and rad] of the body, for differences."""
_TIME = 1
"""Places of the time in a full state, before qpos."""


@dataclass(frozen=True, kw_only=True)
class Touch:
    """Where a link that must touch nothing is deepest."""

    link: str
    """`<part>.<link>`"""
    thing: str
    """The body, or another object."""
    depth: float
    """[m] beyond that at the start."""
    time: float
    """[s]"""

    def __str__(self) -> str:
        return f"{self.link} is {1e3 * self.depth:.1f} mm deep in {self.thing} at {self.time:.2f} s"


@dataclass(frozen=True, kw_only=True)
class Near:
    """A link's geometry near an object."""

    look: int
    pair: int
    distance: float
    """[m] negative: depth."""
    normal: Array
    """(3,) unit vector along which the link moves away."""
    points: tuple[Array, Array]
    """(3,) [m] each: next to each other, on the link and on the object."""


class Clearance:
    """Distances of one scene's links; calls are independent of each other, in any thread.

    Args:
        pairs: geometries of a link and an object; default: all that must not touch.
    """

    def __init__(self, scene: Scene, pairs: Sequence[tuple[int, int]] | None = None) -> None:
        self.free: Array
        self.scene, self.model, self._own = scene, scene.model, threading.local()
        pairs = self._unwanted() if pairs is None else pairs
        self._choose(pairs)
        near = {found.pair: found.distance for found in self.near(scene.qpos[None])}
        standing = {i for i, d in near.items() if d < _STANDING and not self._moves(int(self.things[i]))}
        self.ignored = tuple((self._name(self.links[i]), self._name(self.things[i])) for i in sorted(standing))
        """Links that stand on something fixed at the start, and on what."""
        left = [i for i in range(len(pairs)) if i not in standing]
        self._choose([pairs[i] for i in left])
        at_start = np.array([near.get(i, np.inf) for i in left])
        self.free = np.minimum(MARGIN, np.where(at_start > 0.0, _SHARE * at_start, at_start))
        """(pairs,) [m] wanted distances."""
        self._allowed = np.where(self.free < _STANDING, self.free - _STANDING, 0.0)
        """(pairs,) [m] of the distance: below, they touch."""

    def _unwanted(self) -> list[tuple[int, int]]:
        """Geometries of links and objects that must not touch, but could."""
        body = self.model.geom_bodyid  # not names: parts on one robot may each name its links
        wanted = {(int(body[pair.geom]), pair.thing) for pair in self.scene.pairs}
        return [
            (link, thing)
            for link in self.scene.links
            for thing in self.scene.objects
            if (int(body[link]), self._name(thing)) not in wanted and (self._moves(link) or self._moves(thing))
        ]

    def _choose(self, pairs: Sequence[tuple[int, int]]) -> None:
        model = self.model
        self.links: NDArray[np.intp] = np.array([link for link, _ in pairs], dtype=np.intp)
        self.things: NDArray[np.intp] = np.array([thing for _, thing in pairs], dtype=np.intp)
        self.free = np.full(len(pairs), MARGIN)
        plane = model.geom_type[self.things] == int(mujoco.mjtGeom.mjGEOM_PLANE)
        self._flat = np.flatnonzero(plane)
        self._reach = model.geom_rbound[self.links] + model.geom_rbound[self.things] * ~plane

    def _moves(self, geom: int) -> bool:
        return int(self.model.body_weldid[self.model.geom_bodyid[geom]]) != 0

    def _name(self, geom: int | np.intp) -> str:
        return str(self.model.geom(int(geom)).name).partition("/")[0]

    def _data(self) -> mujoco.MjData:
        """The data of the calling thread: making one takes milliseconds."""
        data: mujoco.MjData | None = getattr(self._own, "data", None)
        if data is None:
            data = self._own.data = mujoco.MjData(self.model)
        return data

    def __len__(self) -> int:
        return len(self.links)

    # --- of positions ---------------------------------------------------------------------------

    def near(self, positions: Array) -> list[Near]:
        """The pairs that are less than their wanted distance apart, at each of (looks, nq) positions."""
        if not len(self):
            return []
        model, data = self.model, self._data()
        centers, axes = np.zeros((len(positions), model.ngeom, 3)), np.zeros((len(positions), len(self._flat), 3))
        for k, qpos in enumerate(positions):
            data.qpos[:] = qpos
            mujoco.mj_kinematics(model, data)
            centers[k], axes[k] = data.geom_xpos, data.geom_xmat[self.things[self._flat]][:, [2, 5, 8]]
        found: list[Near] = []
        last, ends = -1, np.zeros(6)
        for k, i in np.argwhere(self._gaps(centers, axes) < self.free):
            if k != last:
                data.qpos[:], last = positions[k], k
                mujoco.mj_kinematics(model, data)
            distance = mujoco.mj_geomDistance(model, data, int(self.links[i]), int(self.things[i]), MARGIN, ends)
            if distance < self.free[i]:
                between = (ends[:3] - ends[3:]) * np.copysign(1.0, distance)
                normal = between / max(float(np.linalg.norm(between)), 1e-9)
                points = ends[:3].copy(), ends[3:].copy()
                found.append(Near(look=int(k), pair=int(i), distance=distance, normal=normal, points=points))
        return found

    def _gaps(self, centers: Array, axes: Array) -> Array:
        """(looks, pairs) [m] lower bounds of the distances: between spheres around the geometries."""
        between = centers[:, self.links] - centers[:, self.things]
        gap = np.linalg.norm(between, axis=2)
        gap[:, self._flat] = np.einsum("kij,kij->ki", between[:, self._flat], axes)
        return np.asarray(gap - self._reach)

    def missing(self, positions: Array) -> Array:
        """(looks, pairs) what distances lack of those that are wanted, per `MARGIN`."""
        result = np.zeros((len(positions), len(self)))
        for near in self.near(positions):
            result[near.look, near.pair] = (self.free[near.pair] - near.distance) / MARGIN
        return result

    def rates(self, positions: Array) -> list[tuple[int, float, Array]]:
        """Look, what is missing there, and its derivative by the reduced state's positions.

        That is (n + 6,): of the driven joints, and of the body [m in the world, rad in its frame].
        """
        model, data, actuated = self.model, self._data(), self.scene.actuated
        n, last, found = len(actuated.names), -1, []
        body, jacobian = np.zeros((model.nv, 6)), np.zeros((2, 3, model.nv))
        for near in self.near(positions):
            if near.look != last:
                data.qpos[:], last = positions[near.look], near.look
                mujoco.mj_kinematics(model, data)
                mujoco.mj_comPos(model, data)
                body = self._body_rates(positions[near.look])
            geoms = int(self.links[near.pair]), int(self.things[near.pair])
            for k in range(2):
                mujoco.mj_jac(model, data, jacobian[k], None, near.points[k], int(model.geom_bodyid[geoms[k]]))
            rate = near.normal @ (jacobian[0] - jacobian[1])
            by_state = np.zeros(n + 6)
            by_state[:n], by_state[n:] = rate @ actuated.rates, rate @ body
            missing = (float(self.free[near.pair]) - near.distance) / MARGIN
            found.append((near.look, missing, -by_state / MARGIN))
        return found

    def _body_rates(self, qpos: Array) -> Array:
        """(nv, 6) of the positions, by the body's."""
        model, result = self.model, np.zeros((6, self.model.nv))
        moves = _STEP * np.eye(BODY_STATES)[:6]
        moved, _ = self.scene.motion.moved(qpos, np.zeros(model.nv), moves)
        for k in range(6):
            mujoco.mj_differentiatePos(model, result[k], 1.0, qpos, np.ascontiguousarray(moved[k]))
        return result.T / _STEP

    # --- of trajectories ------------------------------------------------------------------------

    def commanded(self, knots: Array, commands: Array) -> Array:
        """(K, nq) positions at full states (K, state): joints that are driven by velocity where they are commanded."""
        actuated, q = self.scene.actuated, knots[:, _TIME : _TIME + self.model.nq].copy()
        positions = np.where(actuated.velocity_driven, commands[:, : len(actuated.names)], q[:, actuated.q])
        actuated.place(q, positions)
        return q

    def overlaps(self, knots: Array, commands: Array) -> bool:
        """Whether something touches what it must not, at full states (K, state) with commands (K, 2 n)."""
        if not len(self):
            return False
        return any(near.distance < self._allowed[near.pair] for near in self.near(self.commanded(knots, commands)))

    def touch(self, trajectory: Trajectory) -> Touch | None:
        """The deepest touch of a trajectory; None: it keeps clear."""
        if not len(self) or not trajectory.finite:
            return None
        times, positions = self._looks(trajectory)
        deepest: tuple[float, Near] | None = None
        for near in self.near(positions):
            depth = float(self._allowed[near.pair]) - near.distance
            if depth > (deepest[0] if deepest else 0.0):
                deepest = depth, near
        if deepest is None:
            return None
        depth, near = deepest
        link, thing = self._name(self.links[near.pair]), self._name(self.things[near.pair])
        return Touch(link=link, thing=thing, depth=depth, time=float(times[near.look]))

    def _looks(self, trajectory: Trajectory) -> tuple[Array, Array]:
        """(looks,) [s] and positions (looks, nq), those between knots by cubics through positions and velocities."""
        knots, model, actuated = trajectory.knots, self.model, self.scene.actuated
        q = self.commanded(knots, trajectory.commands)
        v = knots[:, _TIME + model.nq : _TIME + model.nq + model.nv].copy()
        driven = np.flatnonzero(actuated.velocity_driven)
        v[:, actuated.v[driven]] = trajectory.commands[:, len(actuated.names) + driven]
        v[:, actuated.moved_v] = v[:, actuated.v[actuated.leaders]] * actuated.ratio
        times, positions, difference = [knots[0, 0]], [q[0]], np.zeros(model.nv)
        for i, h in enumerate(np.diff(knots[:, 0])):
            count = max(int(np.ceil(h / _SAMPLE - 1e-6)), 1)
            mujoco.mj_differentiatePos(model, difference, 1.0, q[i], q[i + 1])
            for j in range(1, count + 1):
                s, at = j / count, q[i].copy()
                way = s * s * (3.0 - 2.0 * s) * difference
                way += h * s * (1.0 - s) * ((1.0 - s) * v[i] - s * v[i + 1])
                mujoco.mj_integratePos(model, at, way, 1.0)
                times.append(knots[i, 0] + h * s)
                positions.append(at)
        return np.array(times), np.array(positions)
