"""Meshes in the format STL: binary and text."""

import struct
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.hardware.world.stl_mesh import read_stl

SQUARE = [[[0, 0, 0], [1, 0, 0], [1, 1, 0]], [[0, 0, 0], [1, 1, 0], [0, 1, 0]]]


def binary(triangles: list, *, begin: bytes = b"", more: bytes = b"") -> bytes:
    records = [struct.pack("<12fH", 0, 0, 1, *np.ravel(corners), 0) for corners in triangles]
    return begin.ljust(80) + struct.pack("<I", len(triangles)) + b"".join(records) + more


def text(triangles: list) -> bytes:
    lines = [
        "facet normal 0 0 1\n outer loop\n"
        + "".join(f"  vertex {x} {y} {z}e0\n" for x, y, z in corners)
        + " endloop\nendfacet\n"
        for corners in triangles
    ]
    return ("solid square\n" + "".join(lines) + "endsolid\n").encode()


# A binary file may begin with the word of text files.
@pytest.mark.parametrize("content", [binary(SQUARE), binary(SQUARE, begin=b"solid made by"), text(SQUARE)])
def test_triangles_share_their_corners(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m.stl").write_bytes(content)
    (piece,) = read_stl(tmp_path / "m.stl")
    assert piece.vertices[piece.faces].tolist() == SQUARE
    assert len(piece.vertices) == 4 and piece.color is None and not len(piece.normals)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is no valid STL: neither text, nor binary with 0 triangles"),
        (binary(SQUARE)[:-1], "neither text, nor binary with 2 triangles"),
        (binary(SQUARE, more=b"x"), "neither text, nor binary with 2 triangles"),
        (binary([]), "has no triangles"),
        (b"solid nothing\nendsolid", "has no triangles"),
        (text(SQUARE).replace(b"vertex 1 1 0e0", b"", 1), "5 corners are not three for each triangle"),
        (text(SQUARE).replace(b"1 1 0e0", b"1 1 nan", 1), "a coordinate is not finite"),
        (binary([[[0, 0, 0], [1, np.inf, 0], [0, 1, 0]]]), "a coordinate is not finite"),
    ],
)
def test_what_is_no_mesh_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "m.stl").write_bytes(content)
    with pytest.raises(ValueError, match=said):
        read_stl(tmp_path / "m.stl")
