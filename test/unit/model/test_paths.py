from pathlib import Path

import pytest

from robot_rt_control.model.paths import (
    find_workcell,
    mesh_uri,
    package_folder,
    pybullet_data_folder,
    resolve_path,
)
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.errors import DefinitionError


@pytest.fixture
def share(tmp_path, monkeypatch):
    """An installed ROS package `my_robot` with one file in it."""
    folder = tmp_path / "prefix" / "share" / "my_robot"
    folder.mkdir(parents=True)
    (folder / "arm.urdf").write_text("<robot/>")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere:{tmp_path / 'prefix'}")
    return folder


def test_every_scheme(tmp_path, share, monkeypatch):
    file = tmp_path / "arm.urdf"
    file.write_text("<robot/>")
    for text in ("arm.urdf", str(file), file.as_uri(), "./arm.urdf"):
        assert resolve_path(text, tmp_path, "arm") == file
    assert resolve_path("package://my_robot/arm.urdf", tmp_path, "arm") == share / "arm.urdf"
    monkeypatch.setattr("robot_rt_control.model.paths.pybullet_data_folder", lambda: tmp_path)
    assert resolve_path("pybullet_data://arm.urdf", Path("/nowhere"), "arm") == file
    own = resolve_path("package://robot_rt_control/config/robots/arm7.urdf", tmp_path, "arm")
    assert own == Path(__file__).resolve().parents[3] / "config" / "robots" / "arm7.urdf"


@pytest.mark.parametrize(
    "text", ["a\0b", "file:///a%00b.urdf", "package://my_robot/\0", "pybullet_data://\0", "package://my_robot/a%00b"]
)
def test_S28_a_path_with_nul_is_a_mistake_and_not_a_traceback(tmp_path, share, text):
    with pytest.raises(DefinitionError, match=r"^arm: .*; expected (a text without the character NUL|a file); got "):
        resolve_path(text, tmp_path, "arm")
    if "%00" in text:
        with pytest.raises(DefinitionError, match="mesh: .*; expected a text without the character NUL"):
            mesh_uri(text, tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("none.urdf", "arm: 'none.urdf'; expected a file; got nothing at /"),
        ("http://x/y.urdf", "expected an absolute or relative path, or one with file://, package:// or pybullet_data"),
        (
            "package://nowhere_to_be_found/y.urdf",
            "expected share/nowhere_to_be_found in one of the folders",
        ),
    ],
)
def test_refusals(tmp_path, text, message):
    with pytest.raises(DefinitionError) as error:
        resolve_path(text, tmp_path, "arm")
    assert message in str(error.value)


def test_missing_pybullet_data_has_a_way_out(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert pybullet_data_folder() is None
    with pytest.raises(DefinitionError, match="expected pybullet_data to be installed.*such as config/arm7.yaml"):
        resolve_path("pybullet_data://kuka_iiwa/model.urdf", tmp_path, "arm")


def test_finding_pybullet_data_does_not_import_it():
    import subprocess
    import sys

    code = (
        "import sys; from robot_rt_control.model.paths import pybullet_data_folder as f; "
        "f(); assert not {'pybullet', 'pybullet_data'} & set(sys.modules)"
    )
    root = Path(__file__).resolve().parents[3]
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)


def test_packages(share):
    assert package_folder("my_robot") == share
    assert package_folder("other") is None
    assert package_folder("robot_rt_control") is not None


def test_meshes(tmp_path, share):
    (tmp_path / "meshes").mkdir()
    mesh = tmp_path / "meshes" / "a.stl"
    mesh.write_text("")
    for text in ("meshes/a.stl", "package://meshes/a.stl", "package://unknown/meshes/a.stl", mesh.as_uri()):
        assert mesh_uri(text, tmp_path) == mesh.as_uri()
    assert mesh_uri("package://my_robot/arm.urdf", tmp_path) == (share / "arm.urdf").as_uri()
    assert mesh_uri("package://unknown/b.stl", tmp_path) == "package://unknown/b.stl"


def test_a_plain_python_environment_has_its_share_folder_at_its_root(monkeypatch, tmp_path):
    (tmp_path / "share" / "some_package").mkdir(parents=True)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    assert package_folder("some_package") == tmp_path / "share" / "some_package"
    assert package_folder("other_package") is None


def test_workcells_are_found_by_name_and_by_path(tmp_path):
    file = tmp_path / "iiwa.yaml"
    file.touch()
    assert find_workcell("iiwa").name == "iiwa.yaml" and load_workcell("iiwa").name == "iiwa_cell"
    assert find_workcell(file) == file
    with pytest.raises(DefinitionError) as caught:
        find_workcell("nowhere.yaml")
    path = Path("nowhere.yaml").resolve()
    shipped = sorted(file.stem for file in (Path(__file__).parents[3] / "config").glob("*.yaml"))
    assert {"arm7", "iiwa", "panda"} <= set(shipped)
    shown = f"{', '.join(shipped[:12])}, … ({len(shipped)} in all)"
    assert str(caught.value) == f"workcell 'nowhere.yaml'; expected a file, or one of: {shown}; got no file {path}"
    with pytest.raises(DefinitionError, match="expected a file, or one of the known names; did you mean 'iiwa'"):
        find_workcell("iiwaa")


def test_a_mesh_of_the_package_that_the_urdf_lies_in_or_beside_is_found_without_installing_it(tmp_path):
    for package in ("my_arm", "my_tool"):
        (tmp_path / package / "meshes").mkdir(parents=True)
        (tmp_path / package / "meshes/a.stl").touch()
    folder = tmp_path / "my_arm/robots/urdf"
    for package in ("my_arm", "my_tool"):
        mesh = tmp_path / package / "meshes/a.stl"
        assert mesh_uri(f"package://{package}/meshes/a.stl", folder) == mesh.as_uri()
