"""Cholesky factors of symmetric positive definite matrices up to 6 by 6, in the caller's memory."""

from __future__ import annotations

import math

import numpy as np

from robot_rt_control.native.realtime_code import realtime


@realtime
def factor(A: np.ndarray, shift: float, n: int, L: np.ndarray) -> bool:
    """L L^T = A + shift I for the leading n by n block.

    Args:
        A: symmetric; the lower triangle is read.
        L: out, the lower triangle is written; may be A itself.

    Returns:
        False if the matrix is not positive definite, or not finite.
    """
    for i in range(n):
        for k in range(i + 1):
            s = A[i, k]
            for m in range(k):
                s -= L[i, m] * L[k, m]
            if i == k:
                s += shift
                if not (0.0 < s < math.inf):
                    return False
                L[i, i] = math.sqrt(s)
            else:
                L[i, k] = s / L[k, k]
    return True


@realtime
def solve(L: np.ndarray, n: int, x: np.ndarray) -> None:
    """Replace the right-hand side b in x (n,) by the solution of L L^T x = b."""
    for i in range(n):
        s = x[i]
        for m in range(i):
            s -= L[i, m] * x[m]
        x[i] = s / L[i, i]
    for i in range(n - 1, -1, -1):
        s = x[i]
        for m in range(i + 1, n):
            s -= L[m, i] * x[m]
        x[i] = s / L[i, i]


@realtime
def trace_of_inverse(L: np.ndarray, n: int, column: np.ndarray) -> float:
    """trace((L L^T)^-1), the sum of the squares of L^-1; `column` (n,) is scratch."""
    total = 0.0
    for k in range(n):
        for i in range(k, n):
            s = 1.0 if i == k else 0.0
            for m in range(k, i):
                s -= L[i, m] * column[m]
            column[i] = s / L[i, i]
            total += column[i] * column[i]
    return total
