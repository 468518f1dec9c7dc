import json
import math
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

from robot_rt_control.model.kinematics.inverse import differential_inverse, kinematics_scratch_dtype
from robot_rt_control.model.kinematics.inverse_kinematics import inverse_kinematics
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.workcell.mount import Mount
from robot_rt_control.model.workcell.simulators import SIMULATORS
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

CELLS = ("iiwa", "panda", "arm7")


@pytest.fixture
def copy(config_folder, tmp_path):
    """A copy of the arm7 workcell that may be changed."""
    shutil.copytree(config_folder, tmp_path / "config")
    return tmp_path / "config" / "arm7.yaml"


@pytest.mark.parametrize("cell", CELLS)
def test_shipped_workcells(config_folder, cell):
    workcell = load_workcell(config_folder / f"{cell}.yaml", "mock")
    arm = workcell.part("arm")
    assert arm.kind == PartKind.ARM and arm.dof == 7
    assert (arm.default_action, arm.safety_action) == ("hold", "stop")
    assert arm.command_modes == (CommandMode.POSITION, CommandMode.VELOCITY, CommandMode.EFFORT)
    assert 0 < workcell.digest < 2**63
    record = arm.record
    # at rest within 0.5 s from full speed
    v, a, j = record.velocity_limit[:7], record.acceleration_limit[:7], record.jerk_limit[:7]
    assert (v / a + a / j < 0.5).all()


@pytest.mark.parametrize("cell", CELLS)
def test_arms_start_pointing_down_far_from_singularities(config_folder, cell):
    arm = load_workcell(config_folder / f"{cell}.yaml", "mock").part("arm")
    record = arm.record
    x, y, z, w = record.tool_orientation
    assert 1 - 2 * (x * x + y * y) == pytest.approx(-1.0, abs=1e-6)  # z of the tool along -z of the world
    scratch = np.zeros(1, kinematics_scratch_dtype)[0]
    dq = np.zeros(7)
    differential_inverse(record.chain, arm.start_position, np.ones(6), 0.05, dq, scratch)
    assert scratch.damping == 0.0


def test_the_iiwa_has_room_to_go_up_and_down(config_folder):
    arm = load_workcell(config_folder / "iiwa.yaml", "mock").part("arm")
    record = arm.record
    limits = (record.position_lower[:7], record.position_upper[:7])
    assert record.tool_position[2] == pytest.approx(0.5, abs=1e-3)
    scratch = np.zeros(1, kinematics_scratch_dtype)[0]
    q = arm.start_position
    for dz in np.linspace(-0.15, 0.15, 13):
        goal = np.array(record.tool_position) + [0, 0, dz]
        q = inverse_kinematics(record.chain, goal, record.tool_orientation, q, limits)
        assert np.minimum(q - limits[0], limits[1] - q).min() > 0.25
        differential_inverse(record.chain, q, np.ones(6), 0.05, np.zeros(7), scratch)
        assert scratch.damping == 0.0


def test_iiwa_limits_and_world(config_folder):
    workcell = load_workcell(config_folder / "iiwa.yaml")
    assert workcell.hardware in SIMULATORS
    device = workcell.device("sim")
    assert device.plugin == workcell.hardware and device.max_age_ticks is None
    assert device.parts == ("arm", "rangefinder", "wrist")
    assert device.config["world"]["sensors"] == {"rangefinder": {"type": "rangefinder", "noise": 0.0}}
    wrist, eye = workcell.part("wrist").mount, workcell.part("rangefinder")
    assert wrist == Mount(part="arm", link="lbr_iiwa_link_7", pose=Pose())
    assert eye.mount is not None and eye.mount.pose.position == (0.0, 0.0, 0.05)
    assert (eye.range, eye.field_of_view) == ((0.02, 2.0), 0.03)
    record = workcell.part("arm").record
    assert record.velocity_limit[0] == 1.48 and record.effort_limit[6] == 40.0
    assert load_workcell(config_folder / "iiwa.yaml", "mock").device("sim").config == {"time_constant": 0.0}


def test_unknown_names(config_folder):
    workcell = load_workcell(config_folder / "arm7.yaml")
    with pytest.raises(DefinitionError, match="part 'amr'; expected one of the known names; did you mean 'arm'"):
        workcell.part("amr")
    with pytest.raises(DefinitionError, match="device 'x'; expected one of: sim"):
        workcell.device("x")


def test_the_digest_is_the_same_in_another_process_and_for_other_hardware(config_folder):
    path = config_folder / "arm7.yaml"
    code = (
        "import sys; from robot_rt_control.model.workcell.workcell import load_workcell; "
        "print(load_workcell(sys.argv[1], 'mock').digest)"
    )
    root = config_folder.parent
    other = subprocess.run(
        [sys.executable, "-c", code, str(path)], check=True, cwd=root, capture_output=True, text=True
    )
    assert int(other.stdout) == load_workcell(path).digest


def test_the_digest_does_not_depend_on_where_the_file_is(copy, config_folder):
    assert load_workcell(copy).digest == load_workcell(config_folder / "arm7.yaml").digest


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("arm7.yaml", "inputs: 4", "inputs: 3"),
        ("arm7.yaml", "time_constant: 0.0", "time_constant: 0.1"),
        ("robots/arm7.urdf", '<mass value="5"/>', '<mass value="6"/>'),
        ("robots/arm7.urdf", "0.25 0.27", "0.26 0.27"),
    ],
)
def test_the_digest_changes_with_every_content(copy, file, old, new):
    before = load_workcell(copy).digest
    path = copy.parent / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    assert load_workcell(copy).digest != before


def test_the_order_of_parts_counts(copy):
    before = load_workcell(copy).digest
    text = copy.read_text()
    line = "  io: {kind: io, device: sim, inputs: 4, outputs: 4}\n"
    assert line in text
    copy.write_text(text.replace(line, "").replace("parts:\n", "parts:\n" + line))
    workcell = load_workcell(copy)
    assert workcell.parts[0].name == "io" and [p.index for p in workcell.parts] == [0, 1, 2, 3, 4]
    assert workcell.digest != before


def test_action_types(copy):
    (copy.parent / "my_action.py").write_text("class Mine: ...\n")
    copy.write_text(copy.read_text() + 'action_types: ["my_action.py:Mine", "a.b:Other", my_action.py, gluing]\n')
    mine, other, all_of_it, entry_point = load_workcell(copy).action_types
    assert [s.text for s in (all_of_it, entry_point)] == [str(copy.parent / "my_action.py"), "gluing"]
    assert mine.path == copy.parent / "my_action.py" and mine.class_name == "Mine" and mine.module is None
    assert other.module == "a.b" and other.class_name == "Other" and other.path is None
    assert load_workcell(copy).allow_code_upload is False
    copy.write_text(copy.read_text() + "allow_code_upload: true\n")
    assert load_workcell(copy).allow_code_upload is True
    assert load_workcell(copy).trusted_native_code == ()
    copy.write_text(copy.read_text() + "trusted_native_code: [., /opt/laws]\n")
    assert load_workcell(copy).trusted_native_code == (copy.parent.resolve(), pathlib.Path("/opt/laws"))


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("mine.py:", "expected file.py, file.py:ClassName, package.module:ClassName, or the name of an entry point"),
        ("none.py:Mine", "action_types[0]; expected a Python file; got nothing at"),
        ("a b:Mine", "expected file.py, file.py:ClassName, package.module:ClassName"),
        ("a.b:1", "expected file.py, file.py:ClassName, package.module:ClassName"),
    ],
)
def test_action_types_that_are_none(copy, entry, text):
    copy.write_text(copy.read_text() + f"action_types: [{json.dumps(entry)}]\n")
    with pytest.raises(DefinitionError) as error:
        load_workcell(copy)
    assert text in str(error.value)


def test_loading_needs_neither_pybullet_nor_yourdfpy(config_folder):
    code = (
        "import sys; from robot_rt_control.model.workcell.workcell import load_workcell; load_workcell(sys.argv[1]); "
        "assert not {'pybullet', 'pybullet_data', 'yourdfpy', 'trimesh', 'rclpy'} & set(sys.modules)"
    )
    path = str(config_folder / "iiwa.yaml")
    load_workcell(path)
    subprocess.run([sys.executable, "-c", code, path], check=True, cwd=config_folder.parent)


def test_continuous_joints_have_no_position_limits(copy):
    text = copy.read_text().replace(
        "type: prismatic, position_lower: 0.0, position_upper: 0.04, velocity: 0.2, effort: 40",
        "type: continuous, velocity: 0.2, effort: 40",
    )
    copy.write_text(text)
    gripper = load_workcell(copy).part("gripper")
    assert gripper.record.position_upper[0] == math.inf and gripper.units[0] == "rad"
    assert (gripper.start_position == 0).all()


def test_S28_nul_in_a_workcell_file_or_in_its_path_is_a_mistake_with_a_line(tmp_path):
    with pytest.raises(DefinitionError, match="workcell file: .*; expected a text without the character NUL"):
        load_workcell("a\0b.yaml")
    file = tmp_path / "cell.yaml"
    file.write_text('name: cell\naction_type_folders: ["a\\0b"]\n')
    with pytest.raises(DefinitionError) as caught:
        load_workcell(file)
    assert str(caught.value) == f"{file}:2: a text; expected no character NUL; got one in 'a\\x00b'"
