"""The convex subproblem of SCVX: the quadratic model of the cost, under linear dynamics, in the trust region.

    min  Σ gᵀ δz + ½ δzᵀ H δz + Σ hᵀ δu + ½ δuᵀ D δu
    s.t. δz₀ = 0,  δz_{i+1} = A_i δz_i + B_i δu_i
         limits of joint positions and velocities on δz, limits of inputs and the trust region on δu

Solved with PIQP, whose multistage backend uses the order of the variables: u₀, z₁, u₁, …, z_N.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from robot_rt_control.planning.optimise.cost import Quadratic
from robot_rt_control.planning.optimise.trajectory import Linearization

Array = NDArray[np.float64]

_REGULARIZATION = 1e-6
"""On all variables: states without cost have no curvature."""
_TOLERANCE = 1e-7


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Bounds of the deviations; lower ≤ 0 ≤ upper, infinite where there is none."""

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
        cost, dynamics = _patterns(steps, states, inputs)
        hessians = quadratic.z_hessian[1:] + _REGULARIZATION * np.eye(states)
        self.P = cost.matrix(np.concatenate([(quadratic.u_hessian + _REGULARIZATION).ravel(), hessians.ravel()]))
        self.c = np.concatenate([quadratic.u_gradient, quadratic.z_gradient[1:]], axis=1).ravel()
        minus = -np.ones(steps * states)
        self.A = dynamics.matrix(np.concatenate([linear.B.ravel(), minus, linear.A[1:].ravel()]))
        self.b = np.zeros(steps * states)
        self.lower = np.concatenate([bounds.u_lower, bounds.z_lower], axis=1).ravel()
        self.upper = np.concatenate([bounds.u_upper, bounds.z_upper], axis=1).ravel()

    def step(self, x: Array) -> Step:
        steps, states, inputs = self.shape
        stages = x.reshape(steps, states + inputs)
        du, dz = stages[:, :inputs], np.zeros((steps + 1, states))
        dz[1:] = stages[:, inputs:]
        return Step(du=du, dz=dz, change=predicted_change(self.quadratic, dz, du))


@dataclass(frozen=True, kw_only=True)
class _Pattern:
    """Where the entries of a sparse matrix are."""

    order: NDArray[np.intp]
    """Order of the given values, as the matrix stores them."""
    indices: NDArray[np.intp]
    pointers: NDArray[np.intp]
    shape: tuple[int, int]

    @classmethod
    def of(cls, rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, int]) -> _Pattern:
        found = sparse.csc_matrix((np.arange(1, len(rows) + 1), (rows, columns)), shape=shape)
        return cls(order=found.data - 1, indices=found.indices, pointers=found.indptr, shape=shape)

    def matrix(self, values: Array) -> sparse.csc_matrix:
        """With these values."""
        return sparse.csc_matrix((values[self.order], self.indices, self.pointers), shape=self.shape)


@lru_cache(maxsize=16)
def _patterns(steps: int, states: int, inputs: int) -> tuple[_Pattern, _Pattern]:
    """Patterns of the Hessian (diagonals of inputs, then blocks of states) and of the dynamics (B, -1, A from 1 on)."""
    size, i = states + inputs, np.arange(steps)[:, None, None]
    u, z, to = np.arange(inputs), np.arange(states), np.arange(states)[:, None]

    def places(row: NDArray[np.intp], column: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        row, column = np.broadcast_arrays(row, column)
        return row.ravel(), column.ravel()

    diagonal = i * size + u
    after = i * size + inputs
    hessian = [places(diagonal, diagonal), places(after + to, after + z)]
    parts = [
        places(i * states + to, i * size + u),
        places(i * states + z, after + z),
        places(i[1:] * states + to, after[:-1] + z),
    ]
    shapes = (steps * size, steps * size), (steps * states, steps * size)
    first, second = (
        _Pattern.of(np.concatenate([r for r, _ in its]), np.concatenate([c for _, c in its]), shape)
        for its, shape in zip((hessian, parts), shapes, strict=True)
    )
    return first, second
