"""Whether a part is a planar base, and where its axes are."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.model.workcell.planar_base import planar_base
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.errors import DefinitionError

CONFIG = Path(__file__).parents[4] / "config"
URDF = (CONFIG / "robots" / "mobile_base.urdf").read_text()
NAMED = {"x": "base_x", "y": "base_y", "yaw": "base_yaw"}
TURNED = "{orientation: [0.0, 0.0, 0.479425538604203, 0.8775825618903728]}"
"""1 rad about z."""


def part(
    folder: Path,
    *changes: tuple[str, str],
    joints: str = "[base_x, base_y, base_yaw]",
    pose: str = "{}",
    urdf: str = URDF,
) -> PartDescription:
    """The base of mobile_base.yaml with changes of its URDF; without a URDF if this is empty."""
    for old, new in changes:
        assert old in urdf
        urdf = urdf.replace(old, new)
    (folder / "base.urdf").write_text(urdf)
    source = "urdf: base.urdf, " if urdf else ""
    (folder / "cell.yaml").write_text(
        "name: cell\ndevices: {sim: {mock: {}}}\n"
        f"parts: {{base: {{kind: base, device: sim, {source}base_pose: {pose}, joints: {joints}}}}}\n"
    )
    return load_workcell(folder / "cell.yaml").part("base")


def plain(*joints: tuple[str, str]) -> str:
    """Joints without a URDF: names and types."""
    ends = "position_lower: -9, position_upper: 9"
    return "[" + ", ".join(f"{{name: {name}, type: {kind}, {ends}, velocity: 1}}" for name, kind in joints) + "]"


XYT = plain(("a", "prismatic"), ("b", "prismatic"), ("c", "revolute"))


def test_the_urdf_tells_the_joints_and_the_frames(tmp_path: Path) -> None:
    found = planar_base(part(tmp_path))
    assert found.joints == (0, 1, 2) and found.heading == 0.0
    assert found.own == {"base_footprint": 0.0, "base_link": 0.0} and found.fixed == {"world": 0.0, "odom": 0.0}
    assert planar_base(part(tmp_path), NAMED) == found


def test_the_order_of_the_joints_does_not_matter(tmp_path: Path) -> None:
    assert planar_base(part(tmp_path, joints="[base_yaw, base_y, base_x]")).joints == (2, 1, 0)


def test_axes_and_frames_may_be_turned(tmp_path: Path) -> None:
    yaw = '<child link="base_footprint"/>'
    found = planar_base(part(tmp_path, (yaw, f'{yaw}<origin rpy="0 0 0.5"/>'), pose=TURNED))
    assert found.heading == pytest.approx(0.5) and found.own["base_link"] == 0.0
    assert found.fixed == pytest.approx({"world": -1.0, "odom": 0.0})
    found = planar_base(part(tmp_path, ('xyz="0 0 0.15"', 'rpy="0 0 0.3"')))
    assert found.own == pytest.approx({"base_footprint": 0.0, "base_link": 0.3})
    found = planar_base(part(tmp_path, ('xyz="0 0 0.15"', 'rpy="0.1 0 0"')))
    assert found.own == {"base_footprint": 0.0}, "a tilted link has no axes in the plane"


def test_x_and_y_are_in_the_order_in_which_yaw_turns_them(tmp_path: Path) -> None:
    axes = ('<axis xyz="1 0 0"/>', '<axis xyz="0 1 0"/>')
    crossed = part(tmp_path, (axes[0], "<axis/>"), (axes[1], axes[0]), ("<axis/>", axes[1]))
    assert planar_base(crossed).joints == (1, 0, 2)
    with pytest.raises(DefinitionError, match=r"got the axes base_x \(0, 1, 0\), base_y \(1, 0, 0\), base_yaw"):
        planar_base(crossed, NAMED)
    backwards = part(tmp_path, (axes[0], '<axis xyz="-1 0 0"/>'))
    found = planar_base(backwards)
    assert found.joints == (1, 0, 2) and found.heading == pytest.approx(-math.pi / 2)


def test_without_a_urdf_the_joints_are_named(tmp_path: Path) -> None:
    given = {"x": "b", "y": "a", "yaw": "c"}
    base = part(tmp_path, urdf="", joints=XYT, pose=TURNED)
    found = planar_base(base, given)
    assert found.joints == (1, 0, 2) and found.heading == pytest.approx(0.0)
    assert found.own == {} and found.fixed == pytest.approx({"world": -1.0})
    with pytest.raises(DefinitionError) as caught:
        planar_base(base)
    assert str(caught.value).startswith("part 'base': joints; expected {x: …, y: …, yaw: …}, as no URDF says how they")


@pytest.mark.parametrize(
    ("changes", "options", "joints", "text"),
    [
        ((), {"joints": plain(("left_wheel", "revolute"), ("right_wheel", "revolute")), "urdf": ""}, None,
         "part 'base' is not a planar base; expected two prismatic joints x and y at right angles, and above them a "
         "joint yaw about z, which turns x to y; got left_wheel (revolute), right_wheel (revolute). A base that is "
         "given by its wheels is not driven"),
        ((), {"joints": "[base_x, base_yaw]"}, None, "got base_x (prismatic), base_yaw (continuous)"),
        ((), {}, {**NAMED, "x": "base_z"}, "part 'base': joints: x; expected one of the known names; did you"),
        ((), {}, {**NAMED, "x": "base_y", "y": "base_yaw", "yaw": "base_x"}, "got base_x (prismatic), base_y"),
        ((('"0 1 0"', '"0 0.1 1"'),), {}, None, "got the axes base_x (1, 0, 0), base_y (0, 0.0995, 0.995), base_yaw"),
        ((('"0 0 1"', '"0 0 -1"'),), {}, None, "base_yaw (0, 0, -1) in the world"),
        ((('<child link="base_footprint"/>', '<child link="base_footprint"/><origin rpy="3.14159265 0 0"/>'),
          ('"0 0 1"', '"0 0 -1"')), {}, None, "got a joint base_yaw whose link is tilted"),
        ((), {"pose": "{orientation: [0.6, 0.0, 0.0, 0.8]}"}, None, "got the axes base_x (1, 0, 0), base_y (0, 0.28"),
        ((('<parent link="base_along_y"/>', '<parent link="base_along_x"/>'),), {}, None,
         "got a chain to 'base_footprint' with the joints base_x, base_yaw"),
    ],
)  # fmt: skip
def test_another_part_is_refused(
    tmp_path: Path, changes: tuple[tuple[str, str], ...], options: dict[str, Any], joints: Any, text: str
) -> None:
    given = part(tmp_path, *changes, **options)
    with pytest.raises(DefinitionError) as caught:
        planar_base(given, joints)
    assert text in str(caught.value)
