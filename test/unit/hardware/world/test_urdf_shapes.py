"""What is drawn of a link: shapes with the colors of their materials."""

import numpy as np

from robot_rt_control.hardware.world.urdf_shapes import collision_shapes, visual_shapes
from robot_rt_control.model.robot.urdf_reader import read_urdf

ROBOT = """
<robot name="r">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <material name="grey"><texture filename="none.png"/></material>
  <link name="base">
    <visual><origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/><geometry><box size="1 2 3"/></geometry>
      <material name="red"/></visual>
    <visual><geometry><sphere radius="0.5"/></geometry>
      <material name="of_base"><color rgba="0 1 0 0.5"/></material></visual>
    <collision><geometry><cylinder radius="0.1" length="0.2"/></geometry></collision>
  </link>
  <link name="tip">
    <visual><geometry><mesh filename="meshes/a b.dae" scale="2 2 2"/></geometry><material name="of_base"/></visual>
    <visual><geometry><sphere radius="1"/></geometry></visual>
    <visual><geometry><sphere radius="2"/></geometry><material name="grey"/></visual>
  </link>
  <joint name="j" type="fixed"><parent link="base"/><child link="tip"/></joint>
</robot>
"""


def test_visual_shapes_have_the_colors_of_their_materials(tmp_path):
    (tmp_path / "r.urdf").write_text(ROBOT)
    urdf = read_urdf(tmp_path / "r.urdf")
    box, ball = visual_shapes(urdf, "base")
    assert (box.kind, box.size, box.color) == ("box", (1, 2, 3), (1, 0, 0, 1))
    np.testing.assert_allclose(box.X_LS, [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]], atol=1e-12)
    assert (ball.kind, ball.color) == ("sphere", (0, 1, 0, 0.5))
    mesh, none, without = visual_shapes(urdf, "tip")
    assert (mesh.kind, mesh.size, mesh.file) == ("mesh", (2, 2, 2), tmp_path / "meshes" / "a b.dae")
    assert [mesh.color, none.color, without.color] == [(0, 1, 0, 0.5), None, None]
    assert [shape.kind for shape in collision_shapes(urdf, "base")] == ["cylinder"]
    assert collision_shapes(urdf, "tip") == ()
