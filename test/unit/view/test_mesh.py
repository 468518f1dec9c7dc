"""Meshes as browsers get them, and files that are not taken."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_rt_control.view import mesh
from robot_rt_control.view.mesh import mesh_bytes

OBJ = "mtllib m.mtl\nusemtl red\nv 0 0 0\nv 1 0 0\nv 0 2 0\nvn 0 0 1\nf 1//1 2//1 3//1\nusemtl none\nf 3 2 1\n"
DAE = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"><asset><unit meter="0.001"/></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="9">0 0 0 1000 0 0 0 1000 0</float_array>
<technique_common><accessor source="#a" count="3" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


def decoded(content: bytes) -> list[Any]:
    """Color, positions, normals, corners of each piece: read by another hand than wrote them."""
    (left,), at = struct.unpack_from("<I", content), 4
    found: list[Any] = []
    for _ in range(left):
        n, triangles, has_normals, *color = struct.unpack_from("<IIIfff", content, at)
        at += 24
        arrays = []
        for kind, rows in (("<f4", n), ("<f4", n * has_normals), ("<u4", triangles)):
            arrays.append(np.frombuffer(content, kind, 3 * rows, at).reshape(-1, 3).tolist())
            at += 12 * rows
        found.append((tuple(color), *arrays))
    assert at == len(content)
    return found


def test_an_obj_has_a_piece_for_each_material(tmp_path: Path) -> None:
    (tmp_path / "m.obj").write_text(OBJ)
    (tmp_path / "m.mtl").write_text("newmtl red\nKd 1 0.5 0\n")
    red, plain = decoded(mesh_bytes(tmp_path / "m.obj"))
    assert red == ((1, 0.5, 0), [[0, 0, 0], [1, 0, 0], [0, 2, 0]], [[0, 0, 1]] * 3, [[0, 1, 2]])
    assert np.isnan(plain[0]).all() and plain[2] == [] and plain[3] == [[2, 1, 0]]


def test_a_dae_is_in_metres_whatever_its_unit(tmp_path: Path) -> None:
    (tmp_path / "m.DAE").write_text(DAE)
    ((_, positions, normals, corners),) = decoded(mesh_bytes(tmp_path / "m.DAE"))
    assert positions == [[0, 0, 0], [1, 0, 0], [0, 1, 0]] and corners == [[0, 1, 2]] and normals == []


def test_what_is_not_taken_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = tmp_path / "large.stl"
    with large.open("wb") as file:
        file.truncate(200 << 20)
    with pytest.raises(ValueError, match=r"large.stl has 200 MB; expected at most 32 MB for .stl"):
        mesh_bytes(large)
    for name in ("passwd", "id_rsa.pem", "m.blend"):
        (tmp_path / name).write_text("secret")
        with pytest.raises(ValueError, match=r"expected one of .stl, .obj, .dae") as refused:
            mesh_bytes(tmp_path / name)
        assert "secret" not in str(refused.value)
    with pytest.raises(ValueError, match=r"nothing at /nowhere/m.stl"):
        mesh_bytes(Path("/nowhere/m.stl"))
    (tmp_path / "folder.obj").mkdir()
    with pytest.raises(ValueError, match=r"nothing at .*folder.obj"):
        mesh_bytes(tmp_path / "folder.obj")
    (tmp_path / "m.obj").write_text("v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    with pytest.raises(ValueError, match="a coordinate is not finite"):
        mesh_bytes(tmp_path / "m.obj")
    (tmp_path / "m.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\n" + "f 1 2 3\n" * 9)
    monkeypatch.setattr(mesh, "MOST_TRIANGLES", 8)
    with pytest.raises(ValueError, match=r"has 9 triangles; expected at most 8"):
        mesh_bytes(tmp_path / "m.obj")
