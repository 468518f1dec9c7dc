import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.model.kinematics.cholesky import factor, solve, trace_of_inverse


@given(seed=st.integers(0, 10**6), n=st.integers(1, 6), shift=st.floats(1e-3, 10.0))
def test_factor_solve_and_trace(seed, n, shift):
    random = np.random.default_rng(seed)
    B = random.normal(size=(n, n))
    A = np.zeros((6, 6))
    A[:n, :n] = B @ B.T
    L = np.zeros((6, 6))
    assert factor(A, shift, n, L)
    full = A[:n, :n] + shift * np.eye(n)
    np.testing.assert_allclose(L[:n, :n] @ L[:n, :n].T, full, rtol=1e-12, atol=1e-12)
    b = random.normal(size=6)
    x = b.copy()
    solve(L, n, x)
    np.testing.assert_allclose(full @ x[:n], b[:n], rtol=1e-6, atol=1e-8)
    assert (x[n:] == b[n:]).all()
    assert trace_of_inverse(L, n, np.zeros(6)) == pytest.approx(np.trace(np.linalg.inv(full)), rel=1e-8)


@pytest.mark.parametrize("bad", [-1.0, 0.0, np.nan, np.inf])
def test_what_is_not_positive_definite_is_refused(bad):
    A = np.eye(6)
    A[3, 3] = bad
    assert not factor(A, 0.0, 6, np.zeros((6, 6)))
