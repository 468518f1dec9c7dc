"""The convex subproblem of SCVX: the quadratic model of the cost, under linear dynamics, in the trust region.

    min  Σ gᵀ δz + ½ δzᵀ H δz + Σ hᵀ δu + ½ δuᵀ D δu
    s.t. δz₀ = 0,  δz_{i+1} = A_i δz_i + B_i δu_i
         limits of joint positions and velocities on δz, limits of inputs and the trust region on δu

Solved with PIQP, whose multistage backend uses the order of the variables: u₀, z₁, u₁, …, z_N.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from robot_rt_control.planning.cost import Quadratic
from robot_rt_control.planning.trajectory import Linearization

Array = NDArray[np.float64]

_REGULARIZATION = 1e-6
"""On all variables: states without cost have no curvature."""
_TOLERANCE = 1e-7


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Of the deviations; lower ≤ 0 ≤ upper, infinite where there is none."""

    z_lower: Array  # (N, z) of z_1 … z_N
    z_upper: Array
    u_lower: Array  # (N, u)
    u_upper: Array


@dataclass(frozen=True, kw_only=True)
class Step:
    """A solution."""

    du: Array
    """(N, u)"""
    dz: Array
    """(N + 1, z)"""
    change: float
    """Change of the cost that the model predicts; at most 0."""


def solve(quadratic: Quadratic, linear: Linearization, bounds: Bounds) -> Step | None:
    """The solution; None: the solver did not find one, or the problem is not finite."""
    if not (np.isfinite(linear.A[1:]).all() and np.isfinite(linear.B).all()):
        return None
    import piqp  # here: settings are read without it

    problem = _Problem(quadratic, linear, bounds)
    solver = piqp.SparseSolver()
    solver.settings.kkt_solver = piqp.KKTSolver.sparse_multistage
    solver.settings.eps_abs = solver.settings.eps_rel = _TOLERANCE
    solver.setup(problem.P, problem.c, problem.A, problem.b, None, None, None, problem.lower, problem.upper)
    if solver.solve() != piqp.PIQP_SOLVED:
        return None
    return problem.step(np.array(solver.result.x))


def predicted_change(quadratic: Quadratic, dz: Array, du: Array) -> float:
    """Change of the quadratic model."""
    change = float(np.sum(quadratic.z_gradient * dz) + np.sum(quadratic.u_gradient * du))
    change += 0.5 * float(np.einsum("iz,izy,iy->", dz, quadratic.z_hessian, dz))
    return change + 0.5 * float(np.sum(quadratic.u_hessian * du**2))


class _Problem:
    """The matrices of the whole horizon; variables are stage by stage."""

    def __init__(self, quadratic: Quadratic, linear: Linearization, bounds: Bounds) -> None:
        self.quadratic = quadratic
        steps, states, inputs = linear.B.shape
        self.shape = steps, states, inputs
        size = states + inputs
        blocks = []
        for i in range(steps):
            blocks.append(sparse.diags(quadratic.u_hessian[i] + _REGULARIZATION))
            blocks.append(sparse.csc_matrix(quadratic.z_hessian[i + 1] + _REGULARIZATION * np.eye(states)))
        self.P = sparse.csc_matrix(sparse.block_diag(blocks))
        self.c = np.concatenate([quadratic.u_gradient, quadratic.z_gradient[1:]], axis=1).ravel()
        rows: list[NDArray[np.intp]] = []
        columns: list[NDArray[np.intp]] = []
        values: list[Array] = []

        def put(row: int, column: int, block: Array) -> None:
            r, c = np.indices(block.shape)
            rows.append((r + row).ravel())
            columns.append((c + column).ravel())
            values.append(block.ravel())

        for i in range(steps):
            put(i * states, i * size, linear.B[i])
            put(i * states, i * size + inputs, -np.eye(states))
            if i > 0:
                put(i * states, (i - 1) * size + inputs, linear.A[i])
        places = np.concatenate(rows), np.concatenate(columns)
        shape = steps * states, steps * size
        self.A = sparse.csc_matrix((np.concatenate(values), places), shape=shape)
        self.A.eliminate_zeros()
        self.b = np.zeros(steps * states)
        self.lower = np.concatenate([bounds.u_lower, bounds.z_lower], axis=1).ravel()
        self.upper = np.concatenate([bounds.u_upper, bounds.z_upper], axis=1).ravel()

    def step(self, x: Array) -> Step:
        steps, states, inputs = self.shape
        stages = x.reshape(steps, states + inputs)
        du, dz = stages[:, :inputs], np.zeros((steps + 1, states))
        dz[1:] = stages[:, inputs:]
        return Step(du=du, dz=dz, change=predicted_change(self.quadratic, dz, du))
