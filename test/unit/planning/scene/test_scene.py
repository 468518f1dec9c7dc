"""The scene means what the URDF and PyBullet mean: poses, masses, gravity, mass matrix, friction, what collides."""

from pathlib import Path

import mujoco
import numpy as np
import pinocchio
import pytest

from robot_rt_control.model.paths import resolve_path
from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.scene.scene import build_scene
from robot_rt_control.planning.task import PairGroup, Start, Task
from robot_rt_control.vocabulary.errors import DefinitionError

CONFIG = Path(__file__).parents[4] / "config"


def push(**changes):
    values = {
        "workcell": CONFIG / "push.yaml",
        "body": "box",
        "target": Pose(position=(0.7, 0.0, 0.04)),
        "pairs": (PairGroup(robot="arm.peg", faces=("back", "left")),),
        "time": 1.0,
        "steps": 20,
    }
    return Task(**{**values, **changes})


@pytest.fixture(scope="module")
def scene():
    return build_scene(push())


@pytest.fixture(scope="module")
def bare():
    """The iiwa without its peg, as Pinocchio reads it."""
    path = resolve_path("package://robot_rt_control/config/robots/iiwa.urdf", Path.cwd(), "test")
    return pinocchio.buildModelFromUrdf(str(path))


def random_positions(count):
    random = np.random.default_rng(3)
    return random.uniform(-1.5, 1.5, size=(count, 7))


def test_link_poses_are_those_of_pinocchio(scene, bare):
    data, other = mujoco.MjData(scene.model), bare.createData()
    for q in random_positions(20):
        data.qpos[scene.actuated.q] = q
        mujoco.mj_kinematics(scene.model, data)
        pinocchio.framesForwardKinematics(bare, other, q)
        for i in range(8):
            name = f"lbr_iiwa_link_{i}"
            pose = other.oMf[bare.getFrameId(name)]
            body = mujoco.mj_name2id(scene.model, mujoco.mjtObj.mjOBJ_BODY, f"arm.{name}")
            assert data.xpos[body] == pytest.approx(pose.translation, abs=1e-9)
            assert data.xmat[body].reshape(3, 3) == pytest.approx(pose.rotation, abs=1e-9)


def test_mass_matrix_and_gravity_are_those_of_pinocchio(scene, bare):
    """With the peg's mass taken away from both: it is added by the workcell, not by the URDF."""
    model = scene.model
    peg = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, "arm.peg")
    mass, inertia, compensated = model.body_mass[peg], model.body_inertia[peg].copy(), model.body_gravcomp.copy()
    model.body_mass[peg], model.body_inertia[peg], model.body_gravcomp[:] = 0.0, 0.0, 0.0
    data, other = mujoco.MjData(model), bare.createData()
    M, v = np.zeros((model.nv, model.nv)), scene.actuated.v
    try:
        for q in random_positions(20):
            data.qpos[scene.actuated.q] = q
            mujoco.mj_forward(model, data)
            mujoco.mj_fullM(model, data, M)
            expected = pinocchio.crba(bare, other, q)
            expected = np.triu(expected) + np.triu(expected, 1).T
            assert M[np.ix_(v, v)] == pytest.approx(expected, abs=1e-6)
            gravity = pinocchio.computeGeneralizedGravity(bare, other, q)
            assert data.qfrc_bias[v] == pytest.approx(gravity, abs=1e-6)
    finally:
        model.body_mass[peg], model.body_inertia[peg], model.body_gravcomp[:] = mass, inertia, compensated


def test_no_armature_and_only_the_damping_of_the_urdf(scene):
    assert (scene.model.dof_armature == 0.0).all()
    assert scene.model.dof_damping[scene.actuated.v] == pytest.approx(np.full(7, 0.5))
    assert (scene.model.dof_damping[scene.body_v : scene.body_v + 6] == 0.0).all()


def test_friction_of_pairs_is_the_product_and_only_the_task_s_geometries_collide(scene):
    model = scene.model
    assert (model.geom_contype == 0).all() and (model.geom_conaffinity == 0).all()
    names = [model.geom(i).name for i in range(model.ngeom)]
    pairs = zip(model.pair_geom1, model.pair_geom2, model.pair_friction, strict=True)
    found = {frozenset((names[a], names[b])): friction[0] for a, b, friction in pairs}
    assert found == {
        frozenset(("box", "floor")): pytest.approx(0.5 * 1.0),
        frozenset(("box", "arm.peg/0")): pytest.approx(0.5 * 0.5),
        frozenset(("floor", "arm.peg/0")): pytest.approx(0.5 * 1.0),
    }
    assert scene.body_friction == pytest.approx(0.5)


def test_the_body_is_the_solid_box_of_the_workcell(scene):
    assert scene.body_mass == pytest.approx(0.155)
    x, y, z = 0.15, 0.30, 0.08
    expected = 0.155 / 12.0 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    assert sorted(scene.model.body_inertia[scene.body]) == pytest.approx(sorted(expected))


def test_limits_are_those_of_the_workcell(scene):
    assert scene.actuated.velocity == pytest.approx([1.48, 1.48, 1.75, 1.31, 2.27, 2.36, 2.36])
    joint = scene.model.joint("arm.lbr_iiwa_joint_1").id
    assert scene.model.jnt_actfrcrange[joint] == pytest.approx([-320.0, 320.0])


@pytest.mark.parametrize(
    "changes, text",
    [
        ({"body": "bocks"}, "body 'bocks'; expected"),
        ({"body": "floor"}, "body 'floor'; expected a free box or cylinder, whose faces have names"),
        ({"body": "arm.peg"}, "body 'arm.peg'; expected a free object, or a link that only joints of no part move"),
        ({"pairs": (PairGroup(robot="arm.pegg", faces=("back",)),)}, "did you mean 'arm.peg'"),
        ({"pairs": (PairGroup(robot="arm.peg", faces=("bak",)),)}, "did you mean 'back'"),
    ],
)
def test_what_the_workcell_does_not_have(changes, text):
    with pytest.raises(DefinitionError, match=text):
        build_scene(push(**changes))


@pytest.mark.parametrize(
    "changes, text",
    [
        ({"time": float("nan")}, "horizon, time; expected a positive number of seconds; got nan"),
        ({"steps": 0}, "horizon, steps; expected at least 1; got 0"),
        ({"pairs": ()}, "pairs; expected at least one contact pair; got none"),
        ({"pairs": (PairGroup(robot="a.b", faces=("back",), curvature=-1.0),)}, "curvature; expected a positive"),
    ],
)
def test_values_out_of_range(changes, text):
    with pytest.raises(DefinitionError, match=text):
        push(**changes)


# --- the start ---------------------------------------------------------------------------------------


def test_V4_the_start_is_the_task_s(scene):
    q = (0.1, 0.9, 0.0, -1.9, 0.0, 0.3, 0.0)
    pose = Pose(position=(0.7, 0.1, 0.04), orientation=(0.0, 0.0, 0.6, 0.8))
    found = build_scene(push(start=Start(joints={"arm": q}, body=pose)))
    assert found.qpos[found.actuated.q] == pytest.approx(q)
    assert found.qpos[found.body_q : found.body_q + 7] == pytest.approx([0.7, 0.1, 0.04, 0.8, 0.0, 0.0, 0.6])
    assert scene.qpos[scene.body_q : scene.body_q + 3] == pytest.approx([0.6, 0.0, 0.04]), "else the workcell's"


@pytest.mark.parametrize(
    "start, text",
    [
        (Start(joints={"arn": (0.0,) * 7}), "start, part 'arn'; expected .*did you mean 'arm'"),
        (Start(joints={"arm": (0.0,) * 6}), "start, part 'arm'; expected one position for each of 7 joints; got 6"),
        (
            Start(joints={"arm": (0.0, 2.5, 0.0, -1.9, 0.0, 0.3, 0.0)}),
            "start, joint 'arm.lbr_iiwa_joint_2'; expected its limits, -2.*rad; got 2.5 rad",
        ),
        (Start(joints={"arm": (0.0, float("nan"), *(0.0,) * 5)}), "start, joint 'arm.lbr_iiwa_joint_2'; .*got nan rad"),
        (
            Start(body=Pose(position=(0.53, 0.0, 0.04))),
            "start, 'arm.peg' and 'box'; expected a distance of at least 0 mm; got -15.0 mm",
        ),
        (
            Start(body=Pose(position=(0.6, 0.0, 0.03))),
            "start, 'floor' and 'box'; expected a distance of at least 0 mm; got -10.0 mm",
        ),
    ],
)
def test_V4_a_start_outside_limits_or_in_penetration_is_refused(start, text):
    with pytest.raises(DefinitionError, match=text):
        build_scene(push(start=start))


# --- other worlds ------------------------------------------------------------------------------------


CAN = (
    "        - {name: can, cylinder: {radius: 0.03, height: 0.1}, pose: {position: [1, 0, 0.05]}, mass: 0.2}\n"
)


def changed(tmp_path, *, objects="", tools="", name="push"):
    """The workcell with more objects or tools in its world."""
    text = (CONFIG / f"{name}.yaml").read_text()
    floor = "        - {name: floor, plane: true}\n"
    text = text.replace(floor, floor + objects)
    text = text.replace("      tools:\n", "      tools:\n" + tools)
    path = tmp_path / "cell.yaml"
    path.write_text(text)
    return path


def test_another_free_object_stands_there_and_touches_everything(tmp_path):
    cell = changed(tmp_path, objects=CAN)
    found = build_scene(push(workcell=cell))
    model = found.model
    assert model.nv == 7 + 6 + 6
    names = [model.geom(i).name for i in range(model.ngeom)]
    pairs = {frozenset((names[a], names[b])) for a, b in zip(model.pair_geom1, model.pair_geom2, strict=True)}
    assert {frozenset(("can", other)) for other in ("box", "floor", "arm.peg/0")} <= pairs


def test_a_cylinder_has_ends_and_four_sides(tmp_path):
    cell = changed(tmp_path, objects=CAN)
    pairs = (PairGroup(robot="arm.peg", faces=("back", "top")),)
    found = build_scene(push(workcell=cell, body="can", pairs=pairs))
    back, top = (pair.face for pair in found.pairs)
    assert back.center == pytest.approx([-0.03, 0.0, 0.0]) and back.half[1] == pytest.approx(0.05)
    assert 4.0 * top.half[0] * top.half[1] == pytest.approx(np.pi * 0.03**2), "a square of the same area"


def test_a_profile_is_one_convex_piece_for_each_line(tmp_path):
    cell = changed(
        tmp_path,
        objects="        - {name: hill, profile: {points: [[0, 0.1], [0.1, 0.2], [0.2, 0.1]], width: 0.4},"
        " pose: {position: [2, 0, 0]}}\n",
    )
    model = build_scene(push(workcell=cell)).model
    found = [i for i in range(model.ngeom) if model.geom(i).name.startswith("hill")]
    assert len(found) == 2
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    for i, geom in enumerate(found):
        mesh = model.geom_dataid[geom]
        first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        corners = data.geom_xpos[geom] + model.mesh_vert[first : first + count] @ data.geom_xmat[geom].reshape(3, 3).T
        assert corners[:, 0].min() == pytest.approx(2.0 + 0.1 * i, abs=1e-6)
        assert corners[:, 2].max() == pytest.approx(0.2, abs=1e-6)


def test_an_object_with_a_urdf_swings_free_and_may_be_touched(tmp_path):
    post = f"        - {{name: post, urdf: '{CONFIG}/robots/arm7.urdf', pose: {{position: [3, 0, 0]}}, fixed: true}}\n"
    found = build_scene(push(workcell=changed(tmp_path, objects=post)))
    model = found.model
    assert model.nv == 7 + 6 + 7 and len(found.actuated.names) == 7
    moving = [i for i in range(model.nbody) if model.body(i).name.startswith("post.") and model.body_weldid[i]]
    assert moving and not model.body_gravcomp[moving].any(), "no drive carries it"
    names = [model.geom(i).name for i in range(model.ngeom)]
    pairs = {frozenset((names[a], names[b])) for a, b in zip(model.pair_geom1, model.pair_geom2, strict=True)}
    touched = next(name for name in names if name.startswith("post.") and frozenset((name, "box")) in pairs)
    assert frozenset((touched, "arm.peg/0")) in pairs


def test_inertias_are_the_urdf_s_or_those_of_shapes_as_the_world_says(tmp_path, scene):
    text = (CONFIG / "push.yaml").read_text()
    (tmp_path / "cell.yaml").write_text(text.replace("inertia: urdf", "inertia: shapes"))
    of_shapes = build_scene(push(workcell=tmp_path / "cell.yaml")).model.body("arm.lbr_iiwa_link_3")
    of_urdf = scene.model.body("arm.lbr_iiwa_link_3")
    assert of_shapes.mass == of_urdf.mass and of_shapes.inertia != pytest.approx(of_urdf.inertia, rel=0.1)


def test_a_part_without_a_urdf_is_not_in_the_scene(tmp_path, scene):
    text = (CONFIG / "push.yaml").read_text()
    belt = """  belt:
    kind: gripper
    device: sim
    joints: [{name: belt, type: prismatic, position_lower: -1, position_upper: 1, velocity: 1}]
    limits: {acceleration: [1]}
"""
    (tmp_path / "cell.yaml").write_text(text.replace("parts:\n", "parts:\n" + belt))
    assert build_scene(push(workcell=tmp_path / "cell.yaml")).actuated.names == scene.actuated.names


def test_a_tool_on_a_spring_is_refused(tmp_path):
    digit = (
        "        - {name: digit, part_of: arm, link: lbr_iiwa_link_7, sphere: {radius: 0.01},"
        " spring: {way: [0, 0, -0.01], stiffness: 250, stop: 4000}}\n"
    )
    with pytest.raises(DefinitionError, match="tool 'digit'; expected a tool without spring"):
        build_scene(push(workcell=changed(tmp_path, tools=digit)))


def pusher(tmp_path, inertial):
    """The pusher's cell with another <inertial> of its tip."""
    urdf = (CONFIG / "robots" / "pusher.urdf").read_text()
    before, after = urdf[: urdf.index("    <inertial>")], urdf[urdf.index("    <visual>") :]
    (tmp_path / "pusher.urdf").write_text(before + inertial + after)
    text = (CONFIG / "pusher.yaml").read_text()
    shipped = "package://robot_rt_control/config/robots/pusher.urdf"
    (tmp_path / "cell.yaml").write_text(text.replace(shipped, "pusher.urdf"))
    pairs = (PairGroup(robot="pusher.tip", faces=("back",)),)
    return push(workcell=tmp_path / "cell.yaml", body="slider", pairs=pairs)


def test_a_joint_that_moves_no_mass_is_refused(tmp_path):
    with pytest.raises(DefinitionError, match="joint 'slide' moves the link 'tip'; expected a link with a mass"):
        build_scene(pusher(tmp_path, ""))


@pytest.mark.parametrize(
    "moments, text",
    [
        (
            (0.001, 0.001, 0.003),
            r"part 'pusher': link 'tip': <inertia>; expected each principal moment at most the sum of the others.*"
            r"0.003 > 0.001 \+ 0.001 = 0.002. Correct <inertia>: 0.001 kg m\^2 are missing",
        ),
        (
            (0.001, 0.0, 0.001),
            r"link 'tip': <inertia>; expected principal moments of at least 1e-14 kg m\^2; got principal moments 0",
        ),
    ],
)
def test_an_inertia_that_no_body_has_is_refused_with_its_link(tmp_path, moments, text):
    xx, yy, zz = moments
    inertia = f'<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"/>'
    with pytest.raises(DefinitionError, match=text):
        build_scene(pusher(tmp_path, f'<inertial><mass value="1"/>{inertia}</inertial>'))


# --- a link as the body ------------------------------------------------------------------------------


def torso(faces=("brick_1.top",), **changes):
    pairs = (PairGroup(robot="left_arm.left_hand", faces=faces),)
    return push(workcell=CONFIG / "humanoid.yaml", body="left_arm.torso", pairs=pairs, **changes)


def test_the_torso_swings_free_and_is_pushed_outward_from_a_brick():
    pose = Pose(position=(0.1, 0.0, 0.2), orientation=(0.0, 0.1, 0.0, float(np.sqrt(0.99))))
    found = build_scene(torso(start=Start(body=pose)))
    assert found.model.nv == 11 and len(found.actuated.names) == 8
    (pair,) = found.pairs
    assert (pair.name, pair.push(np.eye(3)).tolist()) == ("left_arm.left_hand brick_1.top", [0.0, 0.0, 1.0])
    p, R = found.motion.pose(found.qpos)
    assert p == pytest.approx(pose.position) and pytest.approx(pose.matrix[:3, :3]) == R
    assert (found.model.body_gravcomp[found.body] == 0.0).all()


def test_V4_a_pose_that_the_torso_cannot_take_is_refused():
    with pytest.raises(DefinitionError, match="start, body 'left_arm.torso'; expected a pose that the joints"):
        build_scene(torso(start=Start(body=Pose(position=(0.0, 0.1, 0.0)))))


def test_a_link_is_pushed_by_faces_of_fixed_objects():
    with pytest.raises(DefinitionError, match="face 'top'; expected .*brick_1"):
        build_scene(torso(faces=("top",)))
