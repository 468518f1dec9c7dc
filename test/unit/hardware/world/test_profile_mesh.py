"""Objects whose top follows a line, against geometry."""

import math

import numpy as np
import pytest

from robot_rt_control.hardware.info import HardwarePart
from robot_rt_control.hardware.world.parameters import Profile
from robot_rt_control.hardware.world.profile_mesh import profile_mesh
from robot_rt_control.testing.simulated_devices import gantry
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import HardwareError

DT = 0.001
POINTS = [[-0.5, 0.1], [-0.2, 0.3], [0.1, 0.3], [0.5, 0.15]]


@pytest.fixture
def simulate(tmp_path, start):
    """Make an active simulation of a gantry with a rangefinder that looks down."""

    def make(*objects, at=(0.0, 0.0)):
        pose = {"position": [*at, -0.25], "orientation": [1, 0, 0, 0]}
        sensor = {"type": "rangefinder", "part_of": "gantry", "link": "tool", "pose": pose}
        world = {"gravity": [0, 0, -10.0], "objects": list(objects), "sensors": {"sensor": sensor}}
        part = HardwarePart(name="sensor", index=1, kind=PartKind.RANGEFINDER)
        return start(gantry(tmp_path), part, world=world)

    return make


def plate(**changes):
    return {"name": "plate", "profile": {"points": POINTS, "width": 0.4}, **changes}


@pytest.mark.parametrize("x", [-0.45, -0.3, -0.2, 0.0, 0.3, 0.49])
def test_a_rangefinder_sees_the_line_of_a_profile(simulate, x):
    sim = simulate(plate(), at=(x, 0.15))
    assert sim.state[3] == pytest.approx(0.75 - np.interp(x, *np.transpose(POINTS)), abs=1e-5)


def test_beside_it_nothing_is_seen(simulate):
    assert simulate(plate(), at=(0.0, 0.21)).state[3] == math.inf
    assert simulate(plate(), at=(0.51, 0.0)).state[3] == math.inf


def test_a_profile_does_not_fall(simulate):
    sim = simulate(plate())
    before = sim.state[3]
    for _ in range(100):
        sim.write(0.0, DT)
        sim.read(0.0, DT)
    assert sim.plugin.object_pose("plate").position == (0.0, 0.0, 0.0)
    assert sim.state[3] == pytest.approx(before, abs=1e-4), "only the gantry gives way a little"


def test_the_mesh_of_a_profile_is_closed_and_looks_outwards():
    vertices, indices, normals = profile_mesh(Profile(points=((0.0, 1.0), (1.0, 2.0), (2.0, 1.0)), width=2.0))
    corners = np.array(vertices)[np.array(indices)].reshape(-1, 3, 3)
    # Divergence theorem: a closed surface that looks outwards encloses its volume, 2 m x 1.5 m^2.
    volume = np.sum(np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))) / 6.0
    assert volume == pytest.approx(6.0)
    directions = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    assert directions == pytest.approx(np.array(normals)[np.array(indices)[::3]])


@pytest.mark.parametrize(
    ("points", "text"),
    [
        ([[0, 1], [0, 2]], "profile.points; expected points with increasing x; got"),
        ([[0, 1], [1, 0]], "profile.points; expected points above the bottom, z = 0; got"),
        ([[0, 1]], "profile.points; expected .*at least 2 items"),
    ],
)
def test_a_wrong_profile_is_explained(simulate, points, text):
    with pytest.raises(HardwareError, match=text):
        simulate(plate(profile={"points": points, "width": 0.4}))
