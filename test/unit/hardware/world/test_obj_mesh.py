"""Meshes in the format OBJ: a piece for each material."""

import numpy as np
import pytest

from robot_rt_control.hardware.world.obj_mesh import read_obj

MESH = """
mtllib m.mtl
o first
v 0 0 0
v 1 0 0  # a comment
v 1 1 0
v 0 1 0
vt 0 0
vt 1 0
vt 1 1
vn 0 0 1
usemtl red
f 1//1 2//1 3//1 4//1
o second
usemtl picture
f -4/1 -3/2 -2/3
usemtl red
f 1//1 3//1 4//1
"""
MATERIALS = "newmtl red\nKd 1 0 0\nnewmtl picture\nKd 1 1 1\nmap_Kd p.png\nnewmtl unused\nmap_Kd missing.png\n"


def test_each_material_is_a_piece(tmp_path):
    (tmp_path / "m.obj").write_text(MESH)
    (tmp_path / "m.mtl").write_text(MATERIALS)
    (tmp_path / "p.png").touch()
    red, picture = read_obj(tmp_path / "m.obj")
    assert (red.color, red.texture) == ((1, 0, 0), None)
    assert red.vertices[red.faces].tolist() == [
        [[0, 0, 0], [1, 0, 0], [1, 1, 0]],
        [[0, 0, 0], [1, 1, 0], [0, 1, 0]],
        [[0, 0, 0], [1, 1, 0], [0, 1, 0]],
    ]
    assert red.normals.tolist() == [[0, 0, 1]] * 4
    assert red.texcoords.shape == (0, 2)
    assert (picture.color, picture.texture) == ((1, 1, 1), tmp_path / "p.png")
    assert picture.vertices[picture.faces].tolist() == [[[0, 0, 0], [1, 0, 0], [1, 1, 0]]]
    assert picture.texcoords[picture.faces].tolist() == [[[0, 0], [1, 0], [1, 1]]]
    assert picture.normals.shape == (0, 3)


def test_a_mesh_that_changed_is_read_again(tmp_path):
    file = tmp_path / "m.obj"
    file.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    (piece,) = read_obj(file)
    assert (piece.color, piece.texture, len(piece.faces)) == (None, None, 1)
    assert np.array_equal(piece.vertices, [[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    file.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 5\n")
    with pytest.raises(ValueError, match="a face names point 5 of 3"):
        read_obj(file)
    file.write_text("v 0 0 0\n")
    with pytest.raises(ValueError, match="has no faces"):
        read_obj(file)
