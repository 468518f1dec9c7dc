"""The arms that come with the package: read by both simulators, and where their makers' joints are."""

import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from robot_rt_control.model.kinematics.chain import chain_of
from robot_rt_control.model.kinematics.forward import forward
from robot_rt_control.model.paths import pybullet_data_folder
from robot_rt_control.model.robot.urdf_reader import read_urdf

ROBOTS = Path(__file__).resolve().parents[4] / "config" / "robots"
ARMS = {
    "iiwa": ("kuka_iiwa/model.urdf", "lbr_iiwa_link_0", "lbr_iiwa_link_7"),
    "panda": ("franka_panda/panda.urdf", "panda_link0", "panda_grasptarget"),
}
HALF = math.pi / 2
DH = {  # (a, alpha, d) of each joint, after Craig [m, rad, m], and the way from the last joint's frame to the tip
    # d of the first one: from the ground; the elbow is 0.42 m from the shoulder, the wrist 0.4 m from the elbow
    "iiwa": [
        (0, 0, 0.36), (0, -HALF, 0), (0, HALF, 0.42), (0, HALF, 0), (0, -HALF, 0.4), (0, -HALF, 0),
        (0, HALF, 0.081),
    ],
    # the maker's table
    "panda": [
        (0, 0, 0.333), (0, -HALF, 0), (0, HALF, 0.316), (0.0825, HALF, 0), (-0.0825, -HALF, 0.384), (0, HALF, 0),
        (0.088, HALF, 0),
    ],
}


def tool(urdf, base, tip, q):
    p, quaternion = np.zeros(3), np.zeros(4)
    forward(chain_of(urdf, base, tip).record, q, p, quaternion)
    return np.array([*p, *quaternion])


def positions(urdf, base, tip, count=50):
    joints = chain_of(urdf, base, tip).joints
    random = np.random.default_rng(7)
    return random.uniform([j.lower for j in joints], [j.upper for j in joints], (count, len(joints)))


def craig(table, q):
    X = np.eye(4)
    for (a, alpha, d), theta in zip(table, q, strict=True):
        ca, sa, ct, st = math.cos(alpha), math.sin(alpha), math.cos(theta), math.sin(theta)
        X = X @ [[ct, -st, 0, a], [st * ca, ct * ca, -sa, -d * sa], [st * sa, ct * sa, ca, d * ca], [0, 0, 0, 1]]
    return X


@pytest.mark.parametrize("name", ARMS)
def test_links_are_as_long_as_the_maker_says(name):
    urdf, base = read_urdf(ROBOTS / f"{name}.urdf"), ARMS[name][1]
    last = {"iiwa": "lbr_iiwa_link_7", "panda": "panda_link7"}[name]
    for q in positions(urdf, base, last):
        assert tool(urdf, base, last, q)[:3] == pytest.approx(craig(DH[name], q)[:3, 3], abs=1e-9)


@pytest.mark.parametrize("name", ARMS)
def test_joints_are_those_of_the_description_that_pybullet_brings(name):
    folder = pybullet_data_folder()
    if folder is None:
        raise ModuleNotFoundError("the robots of pybullet_data", name="pybullet_data")
    file, base, tip = ARMS[name]
    own, other = read_urdf(ROBOTS / f"{name}.urdf"), read_urdf(folder / file)
    assert list(own.links) == list(other.links) and set(own.joints) == set(other.joints)
    for joint, theirs in other.joints.items():
        mine = own.joints[joint]
        assert (mine.type, mine.parent, mine.child) == (theirs.type, theirs.parent, theirs.child)
        assert mine.mimic == theirs.mimic
        assert [mine.lower, mine.upper] == pytest.approx([theirs.lower, theirs.upper], abs=1e-9)
        if mine.type != "fixed":
            assert mine.axis == pytest.approx(theirs.axis, abs=1e-9)
        np.testing.assert_allclose(mine.X_PJ, theirs.X_PJ, atol=1e-9)
    for q in positions(own, base, tip):
        assert tool(own, base, tip, q) == pytest.approx(tool(other, base, tip, q), abs=1e-9)


def vertices(file):
    rows = [line.split() for line in file.read_text().splitlines()]
    points = np.array([[float(x) for x in row[1:]] for row in rows if row[0] == "v"])
    faces = [[int(word.split("/")[0]) - 1 for word in row[1:]] for row in rows if row[0] == "f"]
    return points, faces


def elements(name, kind):
    for link in ElementTree.parse(ROBOTS / f"{name}.urdf").getroot().findall("link"):
        for element in link.findall(kind):
            mesh = element.find("geometry/mesh")
            assert mesh is not None
            yield link, ROBOTS / str(mesh.get("filename"))


@pytest.mark.parametrize("name", ARMS)
def test_what_collides_is_convex_and_holds_what_is_seen(name):
    for link, file in elements(name, "collision"):
        points, faces = vertices(file)
        hull = ConvexHull(points)
        assert len(hull.vertices) == len(points), f"{file.name}: a vertex inside"
        own = [other for owner, other in elements(name, "visual") if owner.get("name") == link.get("name")]
        seen = np.vstack([vertices(other)[0] for other in own])
        outside = (seen @ hull.equations[:, :3].T + hull.equations[:, 3]).max()
        assert outside < 0.003, f"{file.name}: {1e3 * outside:.1f} mm of what is seen stand out"


@pytest.mark.parametrize("name", ARMS)
def test_surfaces_are_closed(name):
    """Each edge belongs to two faces, which run along it in opposite directions."""
    for kind in ("visual", "collision"):
        for _, file in elements(name, kind):
            edges = [pair for face in vertices(file)[1] for pair in zip(face, [*face[1:], face[0]], strict=True)]
            assert len(set(edges)) == len(edges), file.name
            assert {(b, a) for a, b in edges} == set(edges), file.name


@pytest.mark.parametrize("name", ARMS)
def test_a_link_has_its_mass_within_its_shape_and_a_possible_inertia(name):
    urdf = read_urdf(ROBOTS / f"{name}.urdf")
    for link, file in elements(name, "collision"):
        inertial = urdf.links[str(link.get("name"))]
        assert inertial is not None
        turned = link.find("collision/origin") is not None
        center = inertial.center_of_mass * ([-1, -1, 1] if turned else 1)
        hull = ConvexHull(vertices(file)[0])
        assert (hull.equations[:, :3] @ center + hull.equations[:, 3]).max() < 0.0
        a, b, c = np.linalg.eigvalsh(inertial.inertia)
        assert a > 0.0 and c <= a + b, "a body's moments"


def test_the_fingers_meet_in_the_middle():
    """Where the library's programs and examples press, grasp and slide."""
    points = vertices(ROBOTS / "meshes" / "panda" / "finger_hull.obj")[0]
    pad = points[points[:, 1] == 0.0]
    assert points[:, 1].min() == 0.0 and points[:, 2].max() == 0.0538
    assert (pad[:, 2].min(), pad[:, 2].max()) == (0.0362, 0.0537)
    assert (pad[:, 0].min(), pad[:, 0].max()) == (-0.0093, 0.0093)


@pytest.mark.parametrize("name", ARMS)
def test_both_simulators_read_the_meshes(name):
    import mujoco

    for _, file in elements(name, "collision"):
        spec = mujoco.MjSpec()
        mesh = spec.add_mesh(name="mesh", file=str(file), inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX)
        geom = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=mesh.name)
        assert geom is not None and spec.compile().nmeshvert == len(vertices(file)[0])


def test_pybullet_reads_all_shapes():
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
    try:
        for name in ARMS:
            body = pybullet.loadURDF(str(ROBOTS / f"{name}.urdf"), useFixedBase=True, physicsClientId=client)
            seen = pybullet.getVisualShapeData(body, physicsClientId=client)
            assert sorted(Path(row[4].decode()) for row in seen) == sorted(file for _, file in elements(name, "visual"))
    finally:
        pybullet.disconnect(client)
