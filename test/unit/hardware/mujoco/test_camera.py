"""A picture shows the world, and what is seen where; it can be taken in a copy of the process after another one."""

import sys
import types
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.hardware.lifecycle import HardwareLifecycle
from robot_rt_control.hardware.mujoco.plugin import MujocoPlugin
from robot_rt_control.hardware.picture import PictureInCopy
from robot_rt_control.hardware.plugin import HardwareInfo, Pose
from robot_rt_control.model.paths import resolve_path
from robot_rt_control.model.robot.urdf_reader import read_urdf
from robot_rt_control.testing.simulated_devices import iiwa
from robot_rt_control.vocabulary.errors import HardwareError

EYE, BALL_AT = (1.5, 1.5, 1.2), (0.6, 0.6, 0.72)
BALL = {"name": "ball", "sphere": {"radius": 0.1}, "pose": {"position": BALL_AT}, "color": [0, 1, 0]}
CAMERA = {"eye": EYE, "target": [0.0, 0.0, 0.4], "width": 160, "height": 120}


@pytest.fixture
def plugin():
    objects = [{"name": "floor", "plane": True}, BALL]
    info = HardwareInfo(
        name="sim", parts=(iiwa(),), parameters={"world": {"objects": objects, "camera": CAMERA}}
    )
    plugin = MujocoPlugin()
    lifecycle = HardwareLifecycle(plugin, info)
    lifecycle.configure()
    yield plugin
    lifecycle.shutdown()


def seen(plugin):
    return plugin.picture_and_bodies(plugin.parameters.world.camera)


def test_what_is_in_the_middle_is_what_seen_as_says(plugin):
    pixels, bodies = seen(plugin)
    assert (pixels.shape, pixels.dtype, bodies.shape) == ((120, 160, 3), np.uint8, (120, 160))
    ball = np.isin(bodies, plugin.world.seen_as("ball"))
    # Eye, ball and target are in one line; its radius is seen under this angle.
    distance = np.linalg.norm(np.subtract(EYE, BALL_AT))
    radius = 60 / np.tan(np.radians(25.0)) * np.tan(np.arcsin(0.1 / distance))
    rows, columns = np.nonzero(ball)
    assert (rows.mean(), columns.mean()) == pytest.approx((59.5, 79.5), abs=1.0)
    assert np.count_nonzero(ball) == pytest.approx(np.pi * radius**2, rel=0.05)
    red, green, blue = pixels[ball].mean(axis=0)
    assert green > 100
    assert max(red, blue) < 0.2 * green
    assert np.isin(bodies, plugin.world.seen_as("floor"))[-1].all()
    assert (bodies[0] == -1).all()  # the sky
    plugin.move_object("ball", Pose(position=(50.0, 0.0, 0.0)))
    pixels, bodies = seen(plugin)
    assert not np.isin(bodies, plugin.world.seen_as("ball")).any()
    arm = np.isin(bodies, plugin.world.seen_as("arm"))
    links = [np.count_nonzero(np.isin(bodies, plugin.world.seen_as(f"arm.lbr_iiwa_link_{i}"))) for i in range(8)]
    assert sum(links) == np.count_nonzero(arm) > 300
    red = pixels[arm][:, 0]
    assert np.count_nonzero(red < 80) > 40, "its dark foot and flange"
    assert np.count_nonzero(red > 150) > 100, "its light links"


def test_the_size_is_that_of_the_picture_asked_for(plugin, tmp_path):
    assert plugin.take_picture(tmp_path / "wide.png", width=1300, height=100).shape == (100, 1300, 3)


def test_a_colour_changes_while_it_runs(plugin):
    plugin.world.paint("ball", (1.0, 0.0, 0.0, 1.0))
    pixels, bodies = seen(plugin)
    red, green, _ = pixels[np.isin(bodies, plugin.world.seen_as("ball"))].mean(axis=0)
    assert red > 100
    assert green < 0.2 * red
    with pytest.raises(HardwareError, match="object 'bal'"):
        plugin.world.paint("bal", (1.0, 0.0, 0.0, 1.0))


def test_what_is_drawn_has_no_mass_and_no_contact_and_no_ray_sees_it(plugin):
    from robot_rt_control.hardware.mujoco.shapes import RAY_GROUPS, VISUAL_GROUP

    model = plugin.world.model
    visual = np.flatnonzero(model.geom_group == VISUAL_GROUP)
    assert len(visual) >= 9  # of eight links, and the floor
    assert not np.isin(model.pair_geom1, visual).any() and not np.isin(model.pair_geom2, visual).any()
    assert not model.geom_contype[visual].any() and not model.geom_conaffinity[visual].any()
    assert not np.isin(plugin.world.geoms("arm", "test"), visual).any()
    assert RAY_GROUPS[VISUAL_GROUP] == 0
    masses = [model.body_mass[plugin.world.body("arm", "test", f"lbr_iiwa_link_{i}")] for i in range(8)]
    links = read_urdf(resolve_path(str(iiwa().urdf), Path.cwd(), "test")).links
    inertials = [links[f"lbr_iiwa_link_{i}"] for i in range(8)]
    assert masses == pytest.approx([0.0 if inertial is None else inertial.mass for inertial in inertials])


def test_a_copy_of_the_process_draws_after_the_process_itself_did(plugin, tmp_path):
    here = plugin.take_picture(tmp_path / "here.png")
    PictureInCopy(plugin, tmp_path / "copy.png", 0, 0).wait(60.0)
    assert (tmp_path / "copy.png").read_bytes() == (tmp_path / "here.png").read_bytes()
    assert (plugin.take_picture(tmp_path / "again.png") == here).all()


@pytest.mark.parametrize("asked", ["", "osmesa"])
def test_without_opengl_an_error_says_what_to_install(plugin, monkeypatch, asked):
    def missing(width, height):
        raise AttributeError("'NoneType' object has no attribute 'eglQueryString'")

    monkeypatch.setenv("MUJOCO_GL", asked)
    monkeypatch.setattr("mujoco.GLContext", missing, raising=False)
    monkeypatch.setitem(sys.modules, "mujoco.egl", types.SimpleNamespace(GLContext=missing))
    with pytest.raises(HardwareError) as caught:
        seen(plugin)
    expected = "what MUJOCO_GL=osmesa names" if asked else "EGL"
    assert str(caught.value) == (
        f"a picture cannot be drawn: OpenGL is missing; expected {expected}; got AttributeError: 'NoneType' object has "
        "no attribute 'eglQueryString'. Debian, Ubuntu: apt install libegl1 libgl1-mesa-dri; or libosmesa6, with "
        "MUJOCO_GL=osmesa"
    )


LINK = """
<robot name="thing"><link name="base">
  <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  {visual}
  <collision><geometry><box size="0.4 0.4 0.4"/></geometry></collision>
</link></robot>
"""
SHAPE = "<visual><geometry>{}</geometry><material name='m'><color rgba='1 0 0 1'/></material></visual>"


@pytest.mark.parametrize(
    ("visual", "is_drawn"),
    [("", True), (SHAPE.format('<mesh filename="a.dae"/>'), True), (SHAPE.format('<sphere radius="0.3"/>'), False)],
)
def test_a_link_without_a_readable_visual_is_drawn_by_its_collision_shape(tmp_path, visual, is_drawn):
    (tmp_path / "a.dae").write_text("<COLLADA/>")
    (tmp_path / "thing.urdf").write_text(LINK.format(visual=visual))
    thing = {"name": "thing", "urdf": str(tmp_path / "thing.urdf"), "pose": {"position": [0.0, 0.0, 0.4]}}
    info = HardwareInfo(name="sim", parts=(), parameters={"world": {"objects": [thing], "camera": CAMERA}})
    plugin = MujocoPlugin()
    lifecycle = HardwareLifecycle(plugin, info)
    lifecycle.configure()
    model = plugin.world.model
    (collision,) = plugin.world.geoms("thing", "test")
    (drawn,) = plugin.world.seen_as("thing")
    assert (drawn == collision) == is_drawn
    pixels, bodies = seen(plugin)
    assert bodies[60, 80] == drawn
    red, green, _ = pixels[60, 80].astype(int)
    assert (red == green) == is_drawn
    body = plugin.world.body("thing", "test")
    assert (model.body_mass[body], model.body_inertia[body].tolist()) == (2.0, pytest.approx([2 / 12 * 0.32] * 3))
    lifecycle.shutdown()
