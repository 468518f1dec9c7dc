"""Inertias that no body has are refused with their figures: those, and only those, that MuJoCo refuses as well."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from robot_rt_control.hardware.info import HardwareInfo, HardwarePart, JointLimits
from robot_rt_control.hardware.mujoco.inertias import balance, refuse_impossible
from robot_rt_control.hardware.mujoco.parameters import MujocoParameters
from robot_rt_control.hardware.mujoco.simulated_model import build_simulated
from robot_rt_control.hardware.world.parameters import WorldParameters
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import HardwareError

ROBOT = """<robot name="rail"><link name="rail"/>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/>
    <axis xyz="1 0 0"/><limit lower="-1" upper="1" velocity="1" effort="10"/></joint>
  <link name="cart">
    <inertial><mass value="2"/><inertia ixx="0.01" iyy="0.02" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.1 0.2 0.3"/></geometry></collision>
  </link></robot>"""


def taken_by_mujoco(tensor):
    spec = mujoco.MjSpec()
    spec.compiler.autolimits = False
    body = spec.worldbody.add_body(name="body")
    body.add_freejoint()
    body.explicitinertial, body.mass = True, 1.0
    body.fullinertia = [*np.diag(tensor), tensor[0, 1], tensor[0, 2], tensor[1, 2]]
    try:
        spec.compile()
    except ValueError:
        return False
    return True


def taken(tensor):
    try:
        refuse_impossible(tensor, "link")
    except HardwareError:
        return False
    return True


def test_what_is_refused_is_what_mujoco_refuses():
    random, found = np.random.default_rng(4), []
    for _ in range(300):
        R = np.linalg.qr(random.normal(size=(3, 3)))[0]
        tensor = R @ np.diag(random.uniform(-0.2, 1.0, size=3)) @ R.T
        tensor = 0.5 * (tensor + tensor.T)
        found.append(taken(tensor))
        assert found[-1] == taken_by_mujoco(tensor), tensor
    assert 50 < sum(found) < 250, "some of both"


def built(tmp_path: Path, inertia):
    (tmp_path / "rail.urdf").write_text(ROBOT)
    one = (1.0,)
    limits = JointLimits(position_lower=(-1.0,), position_upper=one, velocity=one, acceleration=one, effort=(10.0,))
    part = HardwarePart(
        name="cart", index=0, kind=PartKind.ARM, joint_names=("slide",), urdf=str(tmp_path / "rail.urdf"), limits=limits
    )
    parameters = MujocoParameters(world=WorldParameters(inertia=inertia))
    return build_simulated(HardwareInfo(name="sim", parts=(part,)), parameters).compiled()


def test_the_error_names_the_link_and_says_what_is_missing(tmp_path):
    text = (
        r"hardware 'sim', part 'cart': link 'cart': <inertia>; expected each principal moment at most the sum of the "
        r"others \(triangle inequality\); got principal moments 0.01, 0.02 and 0.04 kg m\^2: "
        r"0.04 > 0.01 \+ 0.02 = 0.03. Correct <inertia>: 0.01 kg m\^2 are missing, perhaps by rounding"
    )
    with pytest.raises(HardwareError, match=text):
        built(tmp_path, "urdf")


def test_on_request_the_smaller_moments_are_raised(tmp_path):
    assert sorted(built(tmp_path, "balanced").body("cart.cart").inertia) == pytest.approx([0.015, 0.025, 0.04])


def test_what_is_balanced_is_taken_and_what_a_body_can_have_stays():
    random = np.random.default_rng(1)
    for _ in range(50):
        R = np.linalg.qr(random.normal(size=(3, 3)))[0]
        tensor = R @ np.diag(random.uniform(-0.2, 1.0, size=3)) @ R.T
        tensor = 0.5 * (tensor + tensor.T)
        balanced = balance(tensor)
        assert taken(balanced)
        if taken(tensor):
            assert balanced == pytest.approx(tensor)


def test_it_does_not_count_where_inertias_are_those_of_shapes(tmp_path):
    model = built(tmp_path, "shapes")
    expected = 2.0 / 12.0 * np.array([0.2**2 + 0.3**2, 0.1**2 + 0.3**2, 0.1**2 + 0.2**2])
    assert sorted(model.body("cart.cart").inertia) == pytest.approx(sorted(expected))
