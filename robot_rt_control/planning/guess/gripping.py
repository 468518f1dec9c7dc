"""Grips of a problem: which of its pairs oppose each other, what friction carries, and the joints' inputs to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.model.rotation_formulas import vector_of_rotation
from robot_rt_control.planning.guess.grip_guide import Carrying, Contact, Grip, Tips, carrying, grips, joint_path
from robot_rt_control.planning.optimise.dynamics import Dynamics
from robot_rt_control.planning.optimise.following import Placement, follow
from robot_rt_control.planning.optimise.problem import Problem
from robot_rt_control.planning.scene import contact_model

Array = NDArray[np.float64]

_LIFT = 1e-3
"""[m] of the way against gravity; below, the ground carries the body."""


class Gripping:
    """Start guesses that hold the body between opposing faces; none if efforts drive a joint."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.scene = problem, problem.scene
        self.on_body = all(pair.fixed is None for pair in self.scene.pairs)
        still, cost = problem.still, problem.cost
        self.start = still.body_position[0], still.body_rotation[0]
        self.way = -cost.position_error(still, 0)
        self.turn = cost.counts[3:] * vector_of_rotation(self.start[1].T @ cost.target_rotation)
        gravity = np.asarray(self.scene.model.opt.gravity)
        self.pull = gravity
        self.lifted = not self.on_body or abs(float(self.way @ gravity)) > _LIFT * self.scene.gravity
        if not self.lifted:  # the ground carries it, and brakes it
            length = max(float(np.linalg.norm(self.way)), 1e-9)
            self.pull = -self.scene.body_friction * self.scene.gravity * self.way / length

    def guides(self) -> list[tuple[str, Callable[[Dynamics, float], Array]]]:
        """Name and inputs of each, for a share of the horizon."""
        if not self.scene.actuated.velocity_driven.all():
            return []
        found: list[tuple[str, Callable[[Dynamics, float], Array]]] = []
        for grip in grips(self._contacts(), self.way, self.pull):
            if self._strong_enough(grip):
                name = "grip " + ", ".join(self.scene.pairs[c.pair].name for c in grip.contacts)
                found.append((name, partial(self._inputs, grip)))
        return found

    def _contacts(self) -> list[Contact]:
        found = []
        for i, pair in enumerate(self.scene.pairs):
            p, R = pair.fixed or self.start
            center, inward = self.problem.placements[pair.geom].center, contact_model.inward_normal(pair.face, R)
            extent = float(self.problem.extents[i])
            point = contact_model.distance(pair.face, p, R, center, extent * inward).point
            found.append(
                Contact(
                    pair=i,
                    geom=pair.geom,
                    push=pair.push(R),
                    inward=inward,
                    center=center,
                    touching=point - extent * inward,
                    friction=self._friction(pair.geom),
                )
            )
        return found

    def _friction(self, geom: int) -> float:
        """Least coefficient of a geometry with what it may touch."""
        model = self.scene.model
        own = (model.pair_geom1 == geom) | (model.pair_geom2 == geom)
        if self.on_body:
            bodies = model.geom_bodyid
            own &= (bodies[model.pair_geom1] == self.scene.body) | (bodies[model.pair_geom2] == self.scene.body)
        return float(np.min(model.pair_friction[own, 0], initial=np.inf))

    def _strong_enough(self, grip: Grip) -> bool:
        """Whether the joints can press so, where they are at the start."""
        plan, most = self._carrying(grip, 1.0), np.zeros(self.problem.n)
        for contact, forces in zip(grip.contacts, plan.forces.T, strict=True):
            most += np.abs(contact.inward @ self.problem.placements[contact.geom].linear) * float(forces.max())
        return bool((most <= self.scene.actuated.effort).all())

    def _carrying(self, grip: Grip, share: float) -> Carrying:
        task = self.problem.task
        return carrying(
            grip, self.start, self.turn, mass=self.scene.body_mass, pull=self.pull, dragged=not self.lifted,
            on_body=self.on_body, time=task.time, steps=task.steps, share=share,
        )  # fmt: skip

    def _inputs(self, grip: Grip, dynamics: Dynamics, share: float) -> Array:
        """(N, inputs)"""
        actuated, task, n = self.scene.actuated, self.problem.task, self.problem.n

        def place(q: Array) -> Tips:
            found = [dynamics.placement(contact.geom, q) for contact in grip.contacts]
            return Tips(
                centers=np.array([tip.center for tip in found]),
                rotations=np.array([tip.rotation for tip in found]),
                linear=np.array([tip.linear for tip in found]),
                angular=np.array([tip.angular for tip in found]),
            )

        joints = joint_path(
            self._carrying(grip, share), grip, place, actuated.start, lower=actuated.lower, upper=actuated.upper,
            compliance=1.0 / self.scene.model.actuator_gainprm[:n, 0], on_body=self.on_body,
        )  # fmt: skip
        motion = follow(
            joints,
            lambda q: Placement(center=q, rotation=np.eye(3), linear=np.eye(n), angular=np.zeros((3, n))),
            velocities=np.gradient(joints, task.control_step, axis=0),
            start=actuated.start,
            acceleration=actuated.acceleration,
            limits=self.problem.limits,
            step=task.control_step,
        )
        inputs = np.zeros((task.steps, dynamics.inputs))
        inputs[:, :n] = dynamics.joint_inputs(motion)
        return inputs
