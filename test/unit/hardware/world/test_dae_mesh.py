"""Meshes in the format COLLADA."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.hardware.from_workcell import hardware_part
from robot_rt_control.hardware.world.dae_mesh import read_dae
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.errors import HardwareError

DT = 0.001
HEAD = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit name="millimeter" meter="0.001"/><up_axis>Y_UP</up_axis></asset>
  <library_effects><effect id="e"><profile_COMMON><technique sid="t"><phong>
    <diffuse><color>1 0.5 0 1</color></diffuse></phong></technique></profile_COMMON></effect></library_effects>
  <library_materials><material id="orange"><instance_effect url="#e"/></material></library_materials>
"""
MESH = """
  <library_geometries><geometry id="g"><mesh>
    <source id="p"><float_array id="pa" count="{count}">{points}</float_array>
      <technique_common><accessor source="#pa" stride="3"/></technique_common></source>
    <source id="n"><float_array id="na" count="3">0 0 2</float_array>
      <technique_common><accessor source="#na" stride="3"/></technique_common></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    {faces}
  </mesh></geometry></library_geometries>
  <library_nodes><node id="used"><instance_geometry url="#g"><bind_material><technique_common>
    <instance_material symbol="skin" target="#orange"/></technique_common></bind_material></instance_geometry></node>
  </library_nodes>
  <library_visual_scenes><visual_scene id="s">{nodes}</visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>
"""
SQUARE = "0 0 0  1000 0 0  1000 1000 0  0 1000 0"
INPUTS = '<input semantic="VERTEX" source="#v" offset="0"/><input semantic="NORMAL" source="#n" offset="1"/>'
TRIANGLE = f'<triangles material="skin" count="1">{INPUTS}<p>0 0 1 0 2 0</p></triangles>'


def document(faces: str, nodes: str, points: str = SQUARE) -> str:
    return HEAD + MESH.format(count=len(points.split()), points=points, faces=faces, nodes=nodes)


def corners(piece):
    return piece.vertices[piece.faces].round(9).tolist()


def test_units_nodes_and_colors_count_and_the_up_axis_does_not(tmp_path: Path):
    nodes = """
      <node><translate>0 0 500</translate><rotate>0 0 1 90</rotate>
        <node><scale>2 1 1</scale><instance_node url="#used"/></node></node>
      <node><matrix>-1 0 0 0  0 1 0 0  0 0 1 0  0 0 0 1</matrix><instance_geometry url="#g"/></node>"""
    (tmp_path / "m.dae").write_text(document(TRIANGLE, nodes))
    turned, mirrored = read_dae(tmp_path / "m.dae")
    assert corners(turned) == [[[0, 0, 0.5], [0, 2, 0.5], [-1, 2, 0.5]]]
    assert turned.normals == pytest.approx(np.array([[0.0, 0.0, 1.0]] * 3))
    assert turned.color == (1.0, 0.5, 0.0)
    # A mirror turns the order of the corners, which is counter-clockwise seen from outside.
    assert corners(mirrored) == [[[-1, 1, 0], [-1, 0, 0], [0, 0, 0]]]
    assert mirrored.color is None and mirrored.texcoords.shape == (0, 2)


@pytest.mark.parametrize(
    "faces",
    [
        f"<polylist>{INPUTS}<vcount>4</vcount><p>0 0 1 0 2 0 3 0</p></polylist>",
        f"<polygons>{INPUTS}<p>0 0 1 0 2 0 3 0</p></polygons>",
        f"<lines>{INPUTS}<p>0 0 1 0</p></lines><triangles>{INPUTS}<p>0 0 1 0 2 0 0 0 2 0 3 0</p></triangles>",
    ],
)
def test_polygons_are_cut_into_triangles(tmp_path: Path, faces: str):
    (tmp_path / "m.dae").write_text(document(faces, '<node><instance_geometry url="#g"/></node>'))
    (piece,) = read_dae(tmp_path / "m.dae")
    assert corners(piece) == [[[0, 0, 0], [1, 0, 0], [1, 1, 0]], [[0, 0, 0], [1, 1, 0], [0, 1, 0]]]


NODE = '<node><instance_geometry url="#g"/></node>'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<COLLADA/>", "has no triangles"),
        ("<COLLADA", "is no valid COLLADA"),
        (document(TRIANGLE, '<node><instance_geometry url="#h"/></node>'), "is no valid COLLADA: 'h'"),
        (document(TRIANGLE.replace("2 0<", "9 0<"), NODE), "a face names point 10 of 4"),
        (document(TRIANGLE.replace("2 0<", "x 0<"), NODE), "invalid literal"),
        (document(TRIANGLE, '<node id="r"><instance_node url="#r"/></node>'), "more than 64 levels"),
    ],
)
def test_a_file_that_is_not_valid_says_why(tmp_path: Path, text: str, reason: str):
    (tmp_path / "m.dae").write_text(text)
    with pytest.raises(ValueError, match=reason):
        read_dae(tmp_path / "m.dae")


BOX = " ".join(f"{x} {y} {z}" for x in (-100, 100) for y in (-100, 100) for z in (-100, 100))
SIDES = "0 1 3 2  4 6 7 5  0 4 5 1  2 3 7 6  0 2 6 4  1 5 7 3"
URDF = """
<robot name="arm">
  <link name="base">
    <visual><geometry><mesh filename="package://my_arm/meshes/box.dae"/></geometry></visual>
    <collision><geometry><mesh filename="package://my_arm/meshes/box.dae"/></geometry></collision>
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/>
    <origin xyz="1 0 0"/><limit velocity="1" effort="10"/></joint>
  <link name="tip"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>
"""
CELL = """
name: cell
parts: {arm: {kind: arm, device: sim, urdf: arm.urdf, base_link: base, tip_link: tip}}
devices: {sim: {mock: {}, world: {}}}
"""


@pytest.fixture
def arm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The robot of a URDF that names its mesh by a package elsewhere."""
    monkeypatch.setenv("ROBOT_RT_CONTROL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "install"))
    meshes = tmp_path / "install/share/my_arm/meshes"
    meshes.mkdir(parents=True)
    sides = f'<polylist><input semantic="VERTEX" source="#v" offset="0"/><vcount>{"4 " * 6}</vcount><p>{SIDES}</p>'
    (meshes / "box.dae").write_text(document(sides + "</polylist>", NODE, BOX))
    (tmp_path / "arm.urdf").write_text(URDF)
    (tmp_path / "cell.yaml").write_text(CELL)
    return hardware_part(load_workcell(tmp_path / "cell.yaml", "mock").part("arm")), meshes


def test_a_collada_mesh_of_a_package_is_touched(start, arm):
    ball = {"name": "ball", "sphere": {"radius": 0.05}, "mass": 0.1, "pose": {"position": [0.0, 0.0, 0.152]}}
    sim = start(arm[0], world={"objects": [ball]})
    for _ in range(500):
        sim.write(0.0, DT)
        sim.read(0.0, DT)
    assert sim.plugin.world.object_pose("ball").position[2] == pytest.approx(0.15, abs=2e-3)


@pytest.mark.parametrize("what", ["file", "package"])
def test_a_mesh_that_is_missing_is_named(start, arm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str):
    part, meshes = arm
    start(part)
    (meshes / "box.dae").unlink()
    expected = f"a file; got nothing at {meshes / 'box.dae'}"
    if what == "package":
        monkeypatch.setenv("AMENT_PREFIX_PATH", "/nowhere")
        expected = (
            "share/my_arm in one of the folders of AMENT_PREFIX_PATH; got no such folder. Source the workspace that "
            "contains it, or add to AMENT_PREFIX_PATH the folder that has share/my_arm"
        )
    part = hardware_part(load_workcell(tmp_path / "cell.yaml", "mock").part("arm"))
    with pytest.raises(HardwareError) as caught:
        start(part)
    item = "hardware 'sim', part 'arm': link 'base', <collision>, mesh 'package://my_arm/meshes/box.dae'"
    assert f"{item}; expected {expected}" in str(caught.value)
