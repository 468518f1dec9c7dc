"""What is wrong in an MJCF, or does not fit the workcell: each error names file and line, item,"
" near names, and a way out."""

import re

import pytest

from robot_rt_control.vocabulary.errors import HardwareError

FINGER = "{name: left_fingr, type: prismatic, position_lower: 0, position_upper: 0.03, velocity: 0.2}"
TOOL = "{part_of: arm, link: hand, name: tip, sphere: {radius: 0.01}}"
YAW_SPEED = '<velocity name="yaw_speed" joint="yaw" kv="80" forcerange="-60 60"/>'
ELBOW = '<motor name="elbow_motor" joint="elbow" gear="50" ctrlrange="-1 1"/>'
YAW = '<position name="yaw_servo" joint="yaw" kp="800" kv="60" forcerange="-60 60"/>'


@pytest.fixture
def refused(start_scene, tmp_path):
    """The text of the error, its paths and lines as {cell}, {scene} and the texts in those lines."""

    def find(*cell, scene=()):
        with pytest.raises(HardwareError) as found:
            start_scene(*cell, scene=scene)
        text = str(found.value).replace(str(tmp_path / "scenes" / "table_arm.xml"), "SCENE")
        file = tmp_path / "cell.yaml"
        lines = file.read_text().splitlines()
        return re.sub(rf"{file}:(\d+)", lambda m: f"[{lines[int(m[1]) - 1].strip()}]", text)

    return find


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        # XML and MuJoCo's own refusals, with the MJCF's lines
        (("</worldbody>", ""), "MuJoCo refuses SCENE; got XML parse error 14: Error=XML_ERROR_MISMATCHED_ELEMENT"),
        (
            ('<joint name="yaw" axis', '<joint name="yaw" axes'),
            "unrecognized attribute: 'axes' Element 'joint', line 26",
        ),
        (("<motor name", "<engine name"), "unrecognized element Element 'engine', line 76"),
        (('joint="elbow" gear', 'joint="elbo" gear'), "unknown transmission target 'elbo' for actuator id = 3 Element"),
        (
            ('<geom class="finger" mass="0.05"/>\n                <site', '<geom type="mesh" mesh="pad"/>\n <site'),
            "MuJoCo refuses SCENE; got Error: mesh 'pad' not found in geom",
        ),
        (
            ("  <worldbody>", '  <asset><mesh name="pad" file="pad.stl"/></asset>\n  <worldbody>'),
            "MuJoCo refuses SCENE; got Error: Error opening file",
        ),
        (
            ('<geom type="cylinder" fromto="0 0 0 0 0 0.1" size="0.05" mass="2"/>', ""),
            "got Error: mass and inertia of moving bodies must be larger than mjMINVAL Element name"
            " 'turret', id 3, line 25",
        ),
        (
            ("<freejoint/>\n      <geom", "<freejoint/>\n      <site"),
            "MuJoCo refuses SCENE; got XML Error: Schema violation: unrecognized attribute: 'mass'",
        ),
        # what the plugin cannot simulate
        (('integrator="implicitfast"', 'integrator="RK4"'), '<option integrator="RK4">; expected Euler, implicit or'),
        (('impratio="10"/>', 'impratio="10"><flag frictionloss="disable"/></option>'), "expected enable: drives are"),
        (
            ('timestep="0.0005"', 'timestep="0.0007"'),
            "the timestep in SCENE; expected the period 0.001 s or a whole fraction",
        ),
        # joints
        (
            ('<joint name="yaw" axis="0 0 1" range="-2 2"/>', '<joint name="yaw" type="slide" axis="0 0 1"/>'),
            "part 'arm': joint 'yaw'; expected a hinge joint in SCENE; got a slide joint",
        ),
        (('<compiler angle="radian"/>', ""), 'are read as degrees: add <compiler angle="radian"/> to the MJCF'),
        (
            ('range="-2 2"', 'range="-114.6 114.6"'),
            "Its numbers are degrees and are read as radians: remove angle=\"radian\" from the MJCF",
        ),
        (
            ('range="-2 2"', 'range="-2 1.5"'),
            "joint 'yaw'; expected limits within the range in SCENE, -2 to 1.5 rad; got -2 to 2 rad."
            " Give the part limits",
        ),
        (
            ('<joint name="elbow" axis="0 1 0"', '<joint name="elbow" axis="0 -1 0"'),
            "joint 'elbow' with all joints at 0; expected the same axis in table_arm.urdf and SCENE; got opposite",
        ),
        (
            ('<joint name="elbow" axis="0 1 0"', '<joint name="elbow" axis="0 0 1"'),
            "got 90.0 degrees between them. Compare the part's base_pose",
        ),
        (
            ('<body name="base">', '<body name="base" pos="0 0.5 0">'),
            "joint 'yaw' with all joints at 0; .* got 0.500 m between them; the MJCF's is at [+]0.000, [+]0.500",
        ),
        # actuators
        (
            (ELBOW, '<muscle name="elbow_motor" joint="elbow"/>'),
            "part 'arm': actuator 'elbow_motor' of joint 'elbow'; expected motor, position, velocity"
            " or intvelocity, or one"
            " of their gain and bias, in SCENE; got gain muscle, bias muscle, dyn muscle. Remove it, and",
        ),
        ((ELBOW, '<damper name="d" joint="elbow" kv="1" ctrlrange="0 1"/>'), "got gain affine, bias none, dyn none"),
        (
            (YAW, YAW + YAW.replace("yaw_servo", "other")),
            "one actuator for each command mode of joint 'yaw' in SCENE; got 'yaw_servo' and"
            " 'other', both for position",
        ),
        (
            (YAW, YAW.replace("/>", ' ctrlrange="-1 1"/>')),
            "expected limits of the joint within its ctrlrange in SCENE, -1 to 1; got -2 to 2. Give the part limits",
        ),
        (
            ('<joint joint="right_finger" coef="0.5"/>', '<joint joint="elbow" coef="0.5"/>'),
            "actuator 'grip' of joint 'elbow'; expected a tendon with joints of the part, .* got 'left_finger' as well",
        ),
        # sensors
        (
            ('<rangefinder name="eye" site="eye"/>', '<rangefinder name="eyes" site="eye"/>'),
            r"\[eye:  # its rangefinder `eye`\]: hardware 'sim', sensor 'eye'; expected a rangefinder"
            r" called 'eye', in SCENE:"
            " one of the known names; did you mean 'eyes'; got none. `sensors: {eye: ",
        ),
        (
            ('<rangefinder name="eye" site="eye"/>', '<touch name="eye" site="left_pad"/>'),
            "sensor `rangefinder`; got touch",
        ),
        (
            ('<framequat name="box_turn" objtype="body" objname="box"/>', ""),
            "sensor 'box'; expected a sensor 'box' with the part's values, framepos and framequat of"
            " 'box', or one for each",
        ),
        (
            ('name="touched" site', 'name="touch" site'),
            r"\[inputs: {touched: .*\]: hardware 'sim', input 'touched' of 'io'; expected one of the"
            r" known names; did you mean"
            " 'touch', in SCENE; got none. Or describe it in world.io.io.inputs.",
        ),
        (
            ('<touch name="touched" site="left_pad"/>', '<force name="touched" site="left_pad"/>'),
            "input 'touched' of 'io'; expected one value, in SCENE; got a sensor with 3 values",
        ),
    ],
)  # fmt: skip
def test_X13_what_is_wrong_in_the_mjcf(refused, change, expected):
    text = refused(scene=(change,))
    assert re.search(expected, text) or expected in text, text


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            ("mjcf: scenes/table_arm.xml", "mjcf: scenes/table.xml"),
            r"\[mjcf: scenes/table.xml\]: hardware 'sim', mjcf: 'scenes/table.xml'; expected a file; got nothing at",
        ),
        (
            ("mjcf: scenes/table_arm.xml", "mjcf: package://robot_rt_control/config/robots/table_arm.urdf"),
            r"\[mjcf: package.*\]: hardware 'sim', mjcf: .*table_arm.urdf; expected an MJCF file, .*;"
            r" got a URDF. Give a URDF as",
        ),
        (
            ("joints: [left_finger]", f"joints: [{FINGER}]"),
            r"\[joints: .*\]: hardware 'sim', part 'gripper': joint 'left_fingr'; expected one of the"
            r" known names; did you mean"
            " 'left_finger' or 'right_finger', in SCENE; got 'left_fingr'. A part's joints are those",
        ),
        (
            ("mjcf: scenes", "sensors: {box: [box_place, box_trn]}\n      mjcf: scenes"),
            r"\[sensors: {box: .*\]: hardware 'sim', sensor 'box'; expected one of the known names;"
            r" did you mean 'box_turn'",
        ),
        (
            ("mjcf: scenes", "sensors: {box: [box_place]}\n      mjcf: scenes"),
            "sensor 'box': 'box_place' in SCENE; expected 7 values, as the part has; got 3 values",
        ),
        (
            ("mjcf: scenes", "sensors: {bax: [box_place]}\n      mjcf: scenes"),
            "sensors.bax; expected one of the known names; did you mean 'box'; got 'bax'",
        ),
        (
            ("camera: overview", "camera: over"),
            r"\[camera: over\]: .*: mujoco.camera; expected .* did you mean 'overview'",
        ),
        (
            ("camera: overview", "keyframe: home"),
            r"\[keyframe: home\]: hardware 'sim': mujoco.keyframe; expected one of: box_aside, in SCENE; got 'home'",
        ),
        (
            ("mjcf: scenes/table_arm.xml\n", ""),
            r"\[camera: overview\]: .* camera; expected mjcf, the file that has them",
        ),
        (
            ("    world:\n", "    world:\n      gravity: [0, 0, -1.6]\n"),
            r"\[gravity: .*\]: .* expected that of SCENE, \[0.0, 0.0",
        ),
        (
            ("    world:\n", "    world:\n      timestep: 0.0003\n"),
            "world.timestep; expected the period 0.001 s or a whole",
        ),
        (
            ("{name: ball,", "{name: box,"),
            r"\[objects: .*\]: .* world.objects; expected a name that no body of SCENE has; got 'box'",
        ),
        (
            ("    world:\n", f"    world:\n      tools: [{TOOL}]\n"),
            "world.tools; expected none: tools are bodies of the MJCF; got 'tip'",
        ),
    ],
)  # fmt: skip
def test_X13_what_is_wrong_in_the_workcell(refused, change, expected):
    text = refused(change)
    assert re.search(expected, text), text


def test_X13_surfaces_need_elliptic_cones(refused):
    surface = ("    world:\n", "    world:\n      surfaces: [{body: ball, stiffness: 1000, damping: 1}]\n")
    assert '<option cone="elliptic"/> in SCENE' in refused(surface, scene=((' cone="elliptic"', ""),))


def test_X13_all_mistakes_of_a_kind_are_reported_together(refused):
    scene = tuple((f'<joint name="{name}" axis', f'<joint name="{name}s" axis') for name in ("yaw", "shoulder"))
    scene += (('joint="shoulder" k', 'joint="shoulders" k'), (YAW, ""), (YAW_SPEED, ""))
    first, second = refused(scene=scene).splitlines()
    assert "joint 'yaw'; expected one of" in first and "joint 'shoulder'; expected one of" in second


def test_a_scene_without_a_time_step_takes_the_period(start_scene):
    sim = start_scene(scene=((' timestep="0.0005"', ""),))
    assert (sim.plugin.world.substeps, sim.plugin.world.step_s) == (1, 0.001)
