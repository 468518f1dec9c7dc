"""A workcell from a URDF alone: which joints become which part, and what is guessed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from robot_rt_control.model.robot.urdf_reader import read_urdf
from robot_rt_control.model.workcell.from_urdf import workcell_from_urdf
from robot_rt_control.model.workcell.urdf_plan import plan_of_urdf
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.errors import DefinitionError

ROBOTS = Path(__file__).parents[4] / "config/robots"
LIMIT = '<limit lower="-2" upper="2" velocity="{velocity}" effort="{effort}"/>'


def joint(name: str, parent: str, child: str, kind: str = "revolute", xyz: str = "0 0 0.3", extra: str = "") -> str:
    axis = "0 0 1" if name.endswith("1") else "0 1 0"
    limit = "" if kind == "fixed" else LIMIT.format(velocity=2, effort=50)
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}"/>'
        f'<axis xyz="{axis}"/>{extra or limit}</joint>'
    )


def robot(*joints: str) -> str:
    text = "".join(joints)
    links = dict.fromkeys(re.findall(r'<(?:parent|child) link="(\w+)"', text))
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    return f'<robot name="r">{"".join(f"<link name={name!r}>{inertial}</link>" for name in links)}{text}</robot>'


ARM = [joint(f"j{i}", f"l{i - 1}", f"l{i}") for i in range(1, 7)]
TOOL = joint("flange_joint", "l6", "tool0", "fixed", "0 0 0.1")
FINGERS = [
    joint("finger_left", "l6", "left", "prismatic"),
    joint("finger_right", "l6", "right", "prismatic", extra='<limit lower="0" upper="1"/><mimic joint="finger_left"/>'),
]


@pytest.fixture
def made(tmp_path: Path):
    """Write a URDF and its workcell; returns the plan and what was written."""

    def make(*joints: str, tip: str = ""):
        (tmp_path / "r.urdf").write_text(robot(*joints))
        urdf = read_urdf(tmp_path / "r.urdf")
        written = workcell_from_urdf("cell", urdf, "r.urdf", tip=tip)
        (tmp_path / "cell.yaml").write_text(written.text)
        return plan_of_urdf(urdf, tip=tip), written

    return make


def names(joints) -> list[str]:
    return [one.name for one in joints]


def test_arm_gripper_and_tool_are_found(made, tmp_path: Path) -> None:
    plan, written = made(*ARM, TOOL, *FINGERS, joint("lid", "l0", "lid_link"), tip="tool0")
    assert (plan.base_link, plan.tip_link, names(plan.arm)) == ("l0", "tool0", [f"j{i}" for i in range(1, 7)])
    assert names(plan.gripper) == ["finger_left"] and names(plan.unused) == ["lid"]
    cell = load_workcell(tmp_path / "cell.yaml", "mock")
    assert cell.name == "cell" and [part.name for part in cell.parts] == ["arm", "gripper"]
    gripper = cell.part("gripper")
    assert (gripper.mounted_on, [m.name for m in gripper.followers]) == ("arm", ["finger_right"])
    assert "finger_right" in written.text and "these joints belong to no part" in written.text
    assert written.notes == [
        "accelerations are guessed, as a URDF has none: full speed in 0.5 s",
        "these joints belong to no part, and are held where they are: lid",
    ]
    assert cell.part("arm").initial_record.acceleration_limit[:6].tolist() == [4.0] * 6


@pytest.mark.parametrize(
    ("more", "tip"),
    [
        ([TOOL, *FINGERS], "tool0"),
        ([TOOL], "tool0"),
        ([], "l6"),
        (FINGERS, "l6"),
        ([joint("jaw", "l6", "jaw_link")], "l6"),
    ],
)
def test_the_tip_is_where_the_fingers_begin(made, more: list[str], tip: str) -> None:
    plan, written = made(*ARM, *more)
    assert plan.tip_link == tip and f"tip_link: {tip}  # a guess" in written.text
    assert names(plan.arm) == [f"j{i}" for i in range(1, 7)]


def test_of_several_arms_one_is_named(made) -> None:
    second = [text.replace('"j', '"k').replace('link="l', 'link="m').replace('"m0"', '"l0"') for text in ARM]
    with pytest.raises(DefinitionError, match="got 2 that begin at link 'l0': j1, k1. Name the .* --tip LINK"):
        made(*ARM, *second)
    plan, _ = made(*ARM, *second, tip="m6")
    assert names(plan.arm) == [f"k{i}" for i in range(1, 7)] and len(plan.unused) == 6
    with pytest.raises(DefinitionError, match="joints from 'l0' to 'l0'; expected at least one that moves; got none"):
        made(*ARM, tip="l0")
    with pytest.raises(DefinitionError, match="at least one that moves"):
        made(TOOL)


def test_what_the_urdf_does_not_limit_is_guessed_and_marked(made, tmp_path: Path) -> None:
    bare = joint("j6", "l5", "l6", "continuous", extra='<limit velocity="0" effort="0"/>')
    _, written = made(*ARM[:5], bare)
    limits = yaml.safe_load(written.text)["parts"]["arm"]["limits"]
    assert limits == {"velocity": [2, 2, 2, 2, 2, 1], "acceleration": [4, 4, 4, 4, 4, 2]}
    for part in ("velocities are guessed, as the URDF limits none of these joints: j6", "limits no effort of j6"):
        assert any(part in note for note in written.notes) and part in written.text
    assert "# turns without end: j6" in written.text
    modes = load_workcell(tmp_path / "cell.yaml", "mock").part("arm").command_modes
    assert [mode.name for mode in modes] == ["POSITION", "VELOCITY"]


def test_missing_masses_and_meshes_are_noted(tmp_path: Path) -> None:
    mesh = '<collision><geometry><mesh filename="package://no_arm/a.stl"/></geometry></collision></link>'
    text = robot(*ARM).replace("</link>", mesh, 1)
    begin = text.index("<inertial>", text.index("<link name='l6'>"))
    text = text[:begin] + text[text.index("</inertial>", begin) + len("</inertial>") :]
    (tmp_path / "r.urdf").write_text(text)
    notes = workcell_from_urdf("cell", read_urdf(tmp_path / "r.urdf"), "r.urdf").notes
    assert "links that the arm moves have no mass in the URDF: l6" in notes
    assert "1 meshes are missing, and simulators refuse the robot without them: 'package://no_arm/a.stl'" in notes[-1]


@pytest.mark.parametrize("name", ["iiwa", "panda", "arm7"])
def test_the_start_is_within_limits_above_the_floor_and_away_from_singularities(name: str, tmp_path: Path) -> None:
    file = ROBOTS / f"{name}.urdf"
    (tmp_path / "cell.yaml").write_text(workcell_from_urdf("cell", read_urdf(file), str(file)).text)
    arm = load_workcell(tmp_path / "cell.yaml", "mock").part("arm")
    assert arm.dof == 7
    record = arm.initial_record
    assert 0.2 < record.tool_position[2] < 1.2 and record.tool_position[0] > 0.1
    q = np.asarray(arm.start_position)
    assert (q > record.position_lower[:7]).all() and (q < record.position_upper[:7]).all()
    again = workcell_from_urdf("cell", read_urdf(file), str(file)).text
    assert again == (tmp_path / "cell.yaml").read_text()
