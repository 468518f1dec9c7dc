"""From URDF to chain table: merged bodies against Pinocchio, and clear refusals."""

import numpy as np
import pytest

from robot_rt_control.model.kinematics.chain import load_chain
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError

LINKS = "".join(f'<link name="{name}"/>' for name in ("base", "a", "b", "c"))


def _joint(name, kind, parent, child, inner='<axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="2"/>'):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inner}</joint>'


@pytest.fixture
def write(tmp_path):
    def urdf(body):
        path = tmp_path / "robot.urdf"
        path.write_text(f'<robot name="r">{body}</robot>')
        return path

    return urdf


def test_mass_properties_of_real_arms(arm):
    for j in range(arm.n):
        expected = arm.model.inertias[j + 1]
        assert arm.record.mass[j] == pytest.approx(expected.mass, abs=1e-12)
        np.testing.assert_allclose(arm.record.center_of_mass[j], expected.lever, atol=1e-12)
        np.testing.assert_allclose(arm.record.inertia[j], expected.inertia, atol=1e-12)


def test_fixed_joints_are_merged_into_origins_and_tool(write):
    path = write(
        LINKS
        + _joint("f1", "fixed", "base", "a", '<origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/>')
        + _joint("j", "prismatic", "a", "b", '<origin xyz="1 0 0"/><axis xyz="0 2 0"/><limit lower="0" upper="3"/>')
        + _joint("f2", "fixed", "b", "c", '<origin xyz="0 0 0.5"/>')
    )
    chain = load_chain(path, "base", "c")
    assert chain.joint_names == ("j",)
    record = chain.record
    assert record.n_joints == 1 and record.joint_type[0] == 1
    np.testing.assert_allclose(record.origin[0][:, 3], [0, 1, 1], atol=1e-12)
    np.testing.assert_allclose(record.axis[0], [0, 1, 0])
    np.testing.assert_allclose(record.tool[:, 3], [0, 0, 0.5])
    assert (chain.joints[0].lower, chain.joints[0].upper) == (0.0, 3.0)
    assert chain.joints[0].velocity is None and chain.joints[0].effort is None


def test_a_chain_may_start_behind_the_root(write):
    path = write(
        LINKS
        + _joint("j1", "revolute", "base", "a", '<origin xyz="0 0 2"/><limit lower="-1" upper="1"/>')
        + _joint("j2", "continuous", "a", "b")
        + _joint("j3", "revolute", "b", "c")
    )
    chain = load_chain(path, "a", "c")
    assert chain.joint_names == ("j2", "j3")
    assert chain.joints[0].lower == -np.inf and chain.joints[0].upper == np.inf
    np.testing.assert_allclose(chain.X_RB[:3, 3], [0, 0, 2])


@pytest.mark.parametrize("kind", ["floating", "planar"])
def test_joints_without_a_single_axis_are_refused(write, kind):
    path = write(
        LINKS
        + _joint("strange", kind, "base", "a", "")
        + _joint("j", "revolute", "a", "b")
        + _joint("f", "fixed", "b", "c")
    )
    with pytest.raises(DefinitionError) as error:
        load_chain(path, "base", "c")
    assert str(error.value) == (
        f"{path}:1: joint 'strange' in the chain from 'base' to 'c'; "
        "expected revolute, continuous, prismatic or fixed; "
        f"got {kind}. Choose a base_link after this joint"
    )
    assert load_chain(path, "a", "c").joint_names == ("j",)


def test_mimic_is_refused_in_a_chain(write):
    limit = '<limit lower="-1" upper="1"/>'
    path = write(
        LINKS
        + _joint("j", "revolute", "base", "a")
        + _joint("k", "revolute", "a", "b", f'{limit}<mimic joint="j" multiplier="2"/>')
        + _joint("f", "fixed", "b", "c")
    )
    with pytest.raises(
        DefinitionError, match="joint 'k' in the chain.*expected a joint that moves on its own; got one "
    ):
        load_chain(path, "base", "c")


def test_the_tip_must_be_behind_the_base(write):
    path = write(
        LINKS
        + _joint("j", "revolute", "base", "a")
        + _joint("k", "revolute", "a", "b")
        + _joint("l", "fixed", "a", "c")
    )
    with pytest.raises(DefinitionError, match="chain from 'b' to 'c'; expected a tip_link below the base_link"):
        load_chain(path, "b", "c")
    with pytest.raises(DefinitionError, match="chain from 'a' to 'c'; expected at least one movable joint; got none"):
        load_chain(path, "a", "c")
    with pytest.raises(DefinitionError, match="tip_link 'hand'; expected one of: a, b, base, c"):
        load_chain(path, "base", "hand")


def test_too_many_joints(write):
    links = "".join(f'<link name="l{i}"/>' for i in range(19))
    path = write(links + "".join(_joint(f"j{i}", "revolute", f"l{i}", f"l{i + 1}") for i in range(18)))
    with pytest.raises(CapacityError, match="expected at most MAX_JOINTS = 16 movable joints; got 18"):
        load_chain(path, "l0", "l18")
    assert load_chain(path, "l0", "l16").record.n_joints == 16
