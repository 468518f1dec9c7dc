"""Laws of the whole kernel: no allocation, and the compiled code does what its Python text says."""

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from robot_rt_control.model.kinematics import kinematics as k

KERNELS = ("forward", "tool_state", "tool_twist", "jacobian", "pose_and_jacobian", "gravity_torque")


def _arguments(name, record, q):
    scratch = np.zeros(1, k.kinematics_scratch_dtype)[0]
    dq = np.cos(q)
    p, quat, V, J, tau = np.zeros(3), np.zeros(4), np.zeros(6), np.zeros((6, 16)), np.zeros(16)
    return {
        "forward": (record, q, p, quat),
        "tool_state": (record, q, dq, p, quat, V),
        "tool_twist": (record, q, dq, V),
        "jacobian": (record, q, J),
        "pose_and_jacobian": (record, q, p, quat, J),
        "gravity_torque": (record, q, tau, scratch),
        "differential_inverse": (record, q, np.linspace(-1, 1, 6), 0.05, tau, scratch),
    }[name]


@pytest.mark.parametrize("name", [*KERNELS, "differential_inverse"])
def test_compiled_equals_interpreted(arm, name):
    kernel = getattr(k, name)
    interpreted = getattr(kernel, "py_func", kernel)
    for q in arm.configurations(5):
        first, second = _arguments(name, arm.record, q), _arguments(name, arm.record, q)
        assert kernel(*first) == interpreted(*second)
        for a, b in zip(first, second, strict=True):
            if isinstance(a, np.ndarray):
                np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15)


@numba.njit(error_model="numpy")
def _many(record, q, dq, p, quat, V, J, tau, scratch, n):
    for _ in range(n):
        k.forward(record, q, p, quat)
        k.tool_state(record, q, dq, p, quat, V)
        k.pose_and_jacobian(record, q, p, quat, J)
        k.gravity_torque(record, q, tau, scratch)
        k.differential_inverse(record, q, V, 0.05, tau, scratch)
        k.orientation_error(quat, quat, p)
        k.quaternion_slerp(quat, quat, 0.5, quat)
        k.compose_pose(p, quat, p, quat, p, quat)


def test_nothing_is_allocated(iiwa):
    scratch = np.zeros(1, k.kinematics_scratch_dtype)[0]
    q = np.full(16, 0.3)
    arrays = (q, q.copy(), np.zeros(3), np.zeros(4), np.zeros(6), np.zeros((6, 16)), np.zeros(16))
    _nrt_python.memsys_enable_stats()
    _many(iiwa.record, *arrays, scratch, 1)
    allocated = []
    for n in (10, 1000):
        before = rtsys.get_allocation_stats()
        _many(iiwa.record, *arrays, scratch, n)
        after = rtsys.get_allocation_stats()
        allocated.append((after.alloc - before.alloc, after.mi_alloc - before.mi_alloc))
    assert allocated[0] == allocated[1]
