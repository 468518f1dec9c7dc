"""The scene of a workcell: links, joints and shapes as browsers get them, and what is not drawn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_rt_control.model.paths import shipped_workcells
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.view import scene
from robot_rt_control.view.scene import scene_of
from robot_rt_control.vocabulary.errors import DefinitionError

OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
LIMIT = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'


def robot(*links: str, joints: str = "") -> str:
    """A URDF of links a, b, …, the others fixed to the first one."""
    names = "abcdefgh"[: len(links)]
    fixed = [
        f'<joint name="{n}_j" type="fixed"><parent link="a"/><child link="{n}"/></joint>'
        for n in names[1:]
        if f'child link="{n}"' not in joints
    ]
    return (
        '<robot name="r">'
        + "".join(f'<link name="{n}">{inside}</link>' for n, inside in zip(names, links, strict=True))
        + "".join(fixed)
        + joints
        + "</robot>"
    )


def shape(inside: str, tag: str = "visual", more: str = "") -> str:
    return f"<{tag}><geometry>{inside}</geometry>{more}</{tag}>"


def mesh(file: Path | str, tag: str = "visual") -> str:
    return shape(f'<mesh filename="file://{file}" scale="2 2 2"/>', tag)


def kinds(link: dict[str, Any]) -> list[str]:
    return [each["kind"] for each in link["shapes"]]


@pytest.mark.parametrize("name", shipped_workcells())
def test_each_shipped_workcell_is_drawn_whole(name: str) -> None:
    try:
        description = load_workcell(shipped_workcells()[name]).robot_description()
    except DefinitionError as error:
        pytest.skip(str(error))
    found = scene_of(description)
    json.dumps(found.as_json(), allow_nan=False)
    assert [p for p in found.problems if "floating" not in p] == []
    assert all(link["parent"] < n for n, link in enumerate(found.links)), "parents come first"
    assert sum(len(link["shapes"]) for link in found.links) >= description.count("<visual>")


def test_shapes_have_their_places_sizes_and_colors() -> None:
    colored = '<material name="m"><color rgba="1 0.5 0 0.3"/></material>'
    origin = '<origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>'
    found = scene_of(
        robot(
            shape('<box size="1 2 3"/>', more=origin + colored),
            shape('<sphere radius="0.5"/>', more='<material name="m"/>'),
            shape('<cylinder radius="0.1" length="2"/>', "collision"),
        )
    )
    (box,), (sphere,), (cylinder,) = (link["shapes"] for link in found.links)
    assert (box["kind"], box["size"], box["color"]) == ("box", [1, 2, 3], [1, 0.5, 0, 0.3])
    assert np.allclose(np.reshape(box["X"], (4, 4)).T, [[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]])
    assert (sphere["size"], sphere["color"]) == ([0.5], [1, 0.5, 0, 0.3]), "a material of another link, by its name"
    assert cylinder["size"] == [0.1, 2], "what has no <visual> is drawn as its <collision>"
    assert found.problems == []


def test_joints_and_those_that_mimic_them() -> None:
    joints = f"""
    <joint name="turn" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 2"/>{LIMIT}</joint>
    <joint name="slide" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="1 0 0"/>{LIMIT}
    <mimic joint="turn" multiplier="2" offset="0.5"/></joint>
    <joint name="free" type="floating"><parent link="a"/><child link="d"/></joint>"""
    found = scene_of(robot("", "", "", "", joints=joints))
    assert found.joints == [{"name": "turn", "follows": None}, {"name": "slide", "follows": [0, 2, 0.5]}]
    assert [(link["name"], link["parent"], link["motion"], link["joint"]) for link in found.links] == [
        ("a", -1, "fixed", -1),
        ("b", 0, "turn", 0),
        ("d", 0, "fixed", -1),
        ("c", 1, "slide", 1),
    ]
    assert found.links[1]["axis"] == [0, 0, 1]
    assert found.problems == ["joint 'free' is floating: what is below it is drawn where it is at rest"]


def test_a_mesh_is_sent_once_and_named_by_what_it_contains(tmp_path: Path) -> None:
    for name in ("m.obj", "copy.obj"):
        (tmp_path / name).write_text(OBJ)
    found = scene_of(robot(mesh(tmp_path / "m.obj") * 2, mesh(tmp_path / "copy.obj")))
    assert {each["mesh"] for link in found.links for each in link["shapes"]} == set(found.meshes)
    assert len(found.meshes) == 1 and found.links[0]["shapes"][0]["size"] == [2, 2, 2]
    assert str(tmp_path) not in json.dumps(found.as_json()), "browsers learn no paths"


def test_a_missing_mesh_is_named_and_drawn_as_its_collision_shape(tmp_path: Path) -> None:
    (tmp_path / "m.obj").write_text(OBJ)
    box = shape('<box size="1 1 1"/>', "collision")
    missing = mesh(tmp_path / "none.stl")
    found = scene_of(
        robot(
            missing + box,
            missing + mesh(tmp_path / "m.obj"),
            missing + mesh(tmp_path / "m.obj", "collision"),
            missing,
            shape('<mesh filename="package://nobody/m.stl"/>') + box,
        )
    )
    assert [kinds(link) for link in found.links] == [["box"], ["mesh"], ["mesh"], [], ["box"]]
    assert found.problems == [
        f"link 'a': its mesh is not drawn: nothing at {tmp_path}/none.stl",
        "link 'e': its mesh is not drawn: nothing at package:/nobody/m.stl",
    ]


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        (shape('<box size="1 2"/>'), "link 'a', <visual>: a box needs 3 finite numbers"),
        (shape('<sphere radius="inf"/>'), "link 'a', <visual>: a sphere needs 1 finite numbers"),
        (shape('<cylinder radius="1"/>'), "link 'a', <visual>: could not convert string to float: 'None'"),
        (shape('<box size="a b c"/>'), "link 'a', <visual>: could not convert string to float: 'a'"),
        (shape('<box size="1e9 1 1"/>'), "link 'a', <visual>: more than 1e+06 m"),
        (shape('<box size="1 1 1"/>', more='<origin xyz="1 2"/>'), "link 'a', <visual>: could not broadcast"),
        ('<visual><material name="m"><color rgba="red"/></material></visual>', "materials: could not convert"),
    ],
)
def test_what_cannot_be_drawn_is_said_and_the_rest_is_drawn(inside: str, said: str) -> None:
    found = scene_of(robot(inside + shape('<box size="3 3 3"/>', "collision"), shape('<sphere radius="1"/>')))
    assert len(found.problems) == 1 and found.problems[0].startswith(said)
    assert kinds(found.links[1]) == ["sphere"]


def test_a_parser_that_fails_in_any_way_costs_its_mesh_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(file: Path) -> bytes:
        raise RecursionError

    monkeypatch.setattr(scene, "mesh_bytes", fails)
    found = scene_of(robot(mesh("/m.obj") + shape('<box size="1 1 1"/>', "collision")))
    assert kinds(found.links[0]) == ["box"]
    assert found.problems == ["link 'a': its mesh is not drawn: /m.obj: RecursionError"]


def test_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, x in (("m.obj", 1), ("n.obj", 2)):
        (tmp_path / name).write_text(OBJ.replace("v 1", f"v {x}"))
    monkeypatch.setattr(scene, "MOST_BYTES", 100)
    found = scene_of(robot(mesh(tmp_path / "m.obj"), mesh(tmp_path / "n.obj")))
    assert [kinds(link) for link in found.links] == [["mesh"], []] and "all meshes together" in found.problems[0]
    monkeypatch.setattr(scene, "MOST_LINKS", 2)
    found = scene_of(robot("", "", ""))
    assert len(found.links) == 2 and found.problems == ["3 links; those beyond 2 are not drawn"]
    monkeypatch.setattr(scene, "MOST_SHAPES", 1)
    found = scene_of(robot(shape('<box size="1 1 1"/>'), shape('<box size="1 1 1"/>')))
    assert [len(link["shapes"]) for link in found.links] == [1, 0] and len(found.problems) == 1


def test_a_text_that_is_no_robot_is_refused() -> None:
    with pytest.raises(DefinitionError, match="robot_description:1: URDF; expected well-formed XML"):
        scene_of("<robot")
