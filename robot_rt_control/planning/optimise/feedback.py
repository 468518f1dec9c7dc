"""Feedback of the body's pose: gains over time from SCVX's own A and B, by a Riccati recursion.

What may be moved is the tool, across gravity, without being turned: a displacement w (2,) with its velocity. So the
linearization about the accepted trajectory is reduced to s = (w, ẇ, deviation of the body along x and y and about z,
rates of these), with B that of ẅ, both by the joint motion that moves the tool. The cost is the plan's: at the end its
terms of the body's pose, which count as 1 at what the task accepts; on the way ẅ per its bound, and w and ẇ. Nobody
measures the body's rates: their columns of the gains are left out. While a body is pushed, they follow from ẇ.

Before the first contact A and B say that the tool moves alone, and the recursion tells where it has to touch the face;
in contact, that a tool that is moved along the face turns the body, and one beside its centre does all the more: the
mechanics of stable pushing. Deviations that the contact cannot lead back - a body that slid on, ahead of the tool -
are not.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.motion_group.aside import Bounds, exceeded
from robot_rt_control.motion_group.limits import PlanLimits
from robot_rt_control.motion_group.trajectory import curve_through
from robot_rt_control.planning.optimise.dynamics import Dynamics
from robot_rt_control.planning.optimise.linearization import Differences, Model
from robot_rt_control.planning.optimise.problem import Problem
from robot_rt_control.planning.optimise.trajectory import Linearization, Trajectory
from robot_rt_control.planning.plan.feedback import Feedback
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.planning.scene.scene import is_free
from robot_rt_control.vocabulary.capacities import MAX_FEEDBACK_STEPS

Array = NDArray[np.float64]

_MOST, _SPEED, _ACCELERATION = (0.03, 0.02, 0.01), 0.1, 2.0
"""[m], [m/s], [m/s^2] As far as the joints' limits leave room, and what stands around;"""
_SLOWEST = 0.1
"""below this fraction of speed and acceleration there is no feedback."""
_SHRINK = 0.8
_ROUNDED = 1.1
"""`track_with_pose` lets a displacement go a little beyond its bound, by how much a tick rounds."""
_LEVEL = 0.7
"""Largest part of the body's x axis along gravity: its turn is that of this axis."""
_ON_THE_WAY = 0.02
"""Weight of the body's deviation in each control step, per that at the end."""
_ACCURACY = 0.003
"""[m] at which the body's position counts as 1, if the task accepts less."""
_TURNS = 0.25
"""How readily a push beside the centre turns the body, per what A says. That depends on how its weight is spread over
the ground, which nobody knows: in PyBullet it turns half as far as in MuJoCo. What turns more is measured, and led
back; gains that count on it come too late where it does not."""
_POSE = (0, 1, 5, 6, 7, 11)
"""Of the body's states: x, y, turn about z, and their rates."""
_LONGEST = 0.1
"""[s] of a control step: gains that are constant over more than that were seen to lead a body farther off."""
_W = 4
"""States of the displacement."""


def feedback(problem: Problem, dynamics: Dynamics, plan: Plan, about: Trajectory) -> Feedback | None:
    """The feedback of a plan; None: it cannot have one.

    Plans have feedback if one part's joints, driven by velocity, push a free body on the ground with one geometry, in
    control steps of at most 0.1 s, and if the joints' limits and what stands around leave room to move aside.

    Args:
        problem: of the plan's task, with the plan's time and steps.
        dynamics: of the problem; used in the calling thread.
        plan: accepted.
        about: its trajectory.
    """
    geoms = {pair.geom for pair in problem.scene.pairs}
    gravity = np.asarray(problem.scene.model.opt.gravity)
    upright = gravity[2] < 0.0 and not gravity[:2].any()
    driven = bool(problem.scene.actuated.velocity_driven.all())
    if not (is_free(problem.scene) and driven and upright and len(geoms) == 1 and len(plan.parts) == 1):
        return None
    short = problem.task.control_step <= _LONGEST + 1e-9
    if not short or plan.header["steps"] > MAX_FEEDBACK_STEPS or not about.finite:
        return None
    if np.abs(about.body_rotation[:, 2, 0]).max() > _LEVEL:
        return None
    lead = dynamics.moves(geoms.pop(), about.joint_position, np.eye(3)[:2]).transpose(1, 0, 2)
    bounds = _room(problem, plan, about, lead)
    if bounds is None:
        return None
    linear = Model(dynamics=dynamics, differences=Differences(), virtual=False).linearize(about)
    A, B = _reduced(linear, lead, dynamics.scale, problem.task.control_step)
    gains = _riccati(_stubborn(A), B, problem, bounds)
    pose = [0, 1, 2, 3, 4, 5, 6]
    model = A[:, 4:7, pose].copy()
    model[:, :, 4:] -= np.eye(3)
    found = Feedback(
        gains=gains[:, :, pose],
        model=model / problem.task.control_step,
        lead=lead,
        bounds=np.array([bounds.most, bounds.speed, bounds.acceleration]),
    )
    return None if found.misfit(len(A), problem.n) else found


def _room(problem: Problem, plan: Plan, about: Trajectory, lead: Array) -> Bounds | None:
    """The greatest bounds with which joints keep their limits, and links clear of what they must not touch."""
    actuated, step = problem.scene.actuated, problem.task.control_step
    limits = PlanLimits(
        names=actuated.names, lower=actuated.lower, upper=actuated.upper, velocity=actuated.velocity,
        acceleration=actuated.acceleration, jerk=np.full(problem.n, np.inf),
    )  # fmt: skip
    its = plan.track_parameters(plan.parts[0])
    times = np.array(its["times"])
    curve = curve_through(times, *(np.array(its[name]).reshape(len(times), -1) for name in ("positions", "velocities")))
    for most in _MOST:
        if not _clear(problem, about, lead, most):
            continue
        factor = 1.0
        while factor > _SLOWEST:
            bounds = Bounds(most=most, speed=max(factor, 0.5) * _SPEED, acceleration=factor * _ACCELERATION)
            if not exceeded(curve, limits, lead, step, replace(bounds, most=_ROUNDED * most)):
                return bounds
            factor *= _SHRINK
    return None


def _clear(problem: Problem, about: Trajectory, lead: Array, most: float) -> bool:
    """Whether the robot touches nothing new at the corners of where the tool may be moved to."""
    n, per = problem.n, (len(about.knots) - 1) // len(about.inputs)
    i = np.arange(len(about.knots))
    rows = lead[i // per] + (lead[np.minimum(i // per + 1, len(lead) - 1)] - lead[i // per]) * (i % per / per)[
        :, None, None
    ]
    for corner in ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)):
        commands = about.commands.copy()
        commands[:, :n] += most * np.einsum("c,icn->in", np.array(corner), rows)
        if problem.clearance.overlaps(about.knots, commands):
            return False
    return True


def _reduced(linear: Linearization, lead: Array, scale: Array, step: float) -> tuple[Array, Array]:
    """(N, 10, 10) and (N, 10, 2): the linearization, by displacements of the tool."""
    steps, n = len(linear.A), lead.shape[2]
    body = [2 * n + k for k in _POSE]
    A, B = np.zeros((steps, _W + 6, _W + 6)), np.zeros((steps, _W + 6, 2))
    A[:, :_W, :_W] = np.block([[np.eye(2), step * np.eye(2)], [np.zeros((2, 2)), np.eye(2)]])
    B[:, :2], B[:, 2:_W] = 0.5 * step**2 * np.eye(2), step * np.eye(2)
    for i in range(steps):
        moved = lead[i].T  # (n, 2)
        of_body = linear.A[i][body]
        A[i, _W:, :2], A[i, _W:, 2:_W] = of_body[:, :n] @ moved, of_body[:, n : 2 * n] @ moved
        A[i, _W:, _W:] = of_body[:, body]
        B[i, _W:] = linear.B[i][body, :n] @ (moved / scale[:, None])
    return A, B


def _stubborn(A: Array) -> Array:
    """The same for a body that turns less when it is pushed beside its centre."""
    A = A.copy()
    turning = np.ix_(range(len(A)), (6, 9))
    for k in range(2):
        less = (1.0 - _TURNS) * A[..., 4 + k][turning]
        A[:, (6, 9), 4 + k] -= less
        A[:, (6, 9), k] += less
    return A


def _riccati(A: Array, B: Array, problem: Problem, bounds: Bounds) -> Array:
    """(N, 2, 10) gains that are optimal for deviations of the accepted trajectory."""
    steps, states = len(A), A.shape[1]
    its, free = problem.settings, problem.task.free
    position = max(its.accept_position * problem.cost.distance, _ACCURACY)
    end = np.array([position, position, its.accept_orientation]) ** -2.0
    end *= [axis not in free for axis in ("x", "y", "rz")]
    Q = np.zeros((states, states))
    Q[range(4, 7), range(4, 7)] = _ON_THE_WAY**2 * end
    Q[range(2), range(2)] = bounds.most**-2.0 / steps
    Q[range(2, 4), range(2, 4)] = bounds.speed**-2.0 / steps
    R = np.eye(2) * bounds.acceleration**-2.0 / steps
    P = np.zeros((states, states))
    P[range(4, 7), range(4, 7)] = end
    P[range(2, 4), range(2, 4)] = bounds.speed**-2.0
    K = np.zeros((steps, 2, states))
    for i in range(steps - 1, -1, -1):
        K[i] = np.linalg.solve(R + B[i].T @ P @ B[i], B[i].T @ P @ A[i])
        P = Q + A[i].T @ P @ (A[i] - B[i] @ K[i])
        P = 0.5 * (P + P.T)
    return K
