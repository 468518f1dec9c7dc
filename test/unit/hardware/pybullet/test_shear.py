"""Friction of objects that give way sideways: a spring until it slides, then Coulomb's law."""

import math
import re
from random import Random

import pybullet
import pytest

from robot_rt_control.hardware.lifecycle import HardwareLifecycle
from robot_rt_control.hardware.plugin import HardwareInfo
from robot_rt_control.hardware.pybullet.plugin import PyBulletPlugin
from robot_rt_control.hardware.pybullet.shear import slide
from robot_rt_control.testing.simulated_devices import iiwa
from robot_rt_control.vocabulary.errors import HardwareError

DT = 0.001
NORMAL = (0.0, 0.0, 1.0)


def test_it_is_a_spring_until_it_slides_and_springs_back():
    deformation = (0.0, 0.0, 0.0)
    for _ in range(100):
        deformation, force = slide(deformation, (0.001, 0.0, 0.5), NORMAL, 1e4, 2.0, DT)
    assert deformation == pytest.approx((1e-4, 0.0, 0.0)) and force == pytest.approx((-1.02, 0.0, 0.0))
    for _ in range(1000):
        deformation, force = slide(deformation, (0.001, 0.0, 0.0), NORMAL, 1e4, 2.0, DT)
    assert force == pytest.approx((-2.0, 0.0, 0.0)) and deformation == pytest.approx((2e-4, 0.0, 0.0))
    for _ in range(200):
        deformation, force = slide(deformation, (-0.001, 0.0, 0.0), NORMAL, 1e4, 2.0, DT)
    assert abs(force[0]) < 0.05, "it has sprung back by 2 N / (10 kN/m)"


def test_never_more_than_coulomb_permits_and_never_along_the_normal():
    random, deformation = Random(1), (0.0, 0.0, 0.0)
    for _ in range(2000):
        x, y, z = (random.gauss(0.0, 1.0) for _ in range(3))
        size = math.dist((x, y, z), (0.0, 0.0, 0.0))
        normal = (x / size, y / size, z / size)
        most = random.choice((0.0, random.uniform(0.0, 10.0)))
        velocity = (random.gauss(0.0, 0.1), random.gauss(0.0, 0.1), random.gauss(0.0, 0.1))
        deformation, force = slide(deformation, velocity, normal, 1e4, most, DT)
        assert math.dist(force, (0.0, 0.0, 0.0)) <= most * (1.0 + 1e-9)
        assert abs(sum(a * b for a, b in zip(force, normal, strict=True))) < 1e-9 * (1.0 + most)


def simulated(substeps=1, push=0.0, fixed=True, steps=400):
    """(way [m], velocity [m/s]) of a cube of 1 kg on a block that gives way, pushed sideways; gravity is 10 m/s^2."""
    objects = [
        {"name": "block", "box": {"size": [1.0, 1.0, 0.1]}, "pose": {"position": [2.0, 0.0, 0.0]}, "fixed": fixed,
         "friction": 0.8, "shear": 1e4},
        {"name": "cube", "box": {"size": [0.1, 0.1, 0.1]}, "pose": {"position": [2.0, 0.0, 0.1]}, "mass": 1.0,
         "friction": 0.5},
    ]  # fmt: skip
    world = {"gravity": [0, 0, -10.0], "objects": objects, "timestep": DT / substeps}
    plugin = PyBulletPlugin()
    info = HardwareInfo(name="sim", parts=(iiwa(start_position=(0.0,) * 7),), parameters={"world": world})
    lifecycle = HardwareLifecycle(plugin, info)
    try:
        lifecycle.configure()
        lifecycle.activate()
        cube, client = plugin.world.objects["cube"], plugin.world.client
        for step in range(steps):
            if step >= 200:  # it has come to rest; for one step of the simulation, so with one substep only
                at = pybullet.getBasePositionAndOrientation(cube, physicsClientId=client)[0]
                at = (at[0], at[1], at[2] - 0.05)
                pybullet.applyExternalForce(cube, -1, (push, 0, 0), at, pybullet.WORLD_FRAME, physicsClientId=client)
            lifecycle.read(0.0, DT)
            lifecycle.write(0.0, DT)
        way = pybullet.getBasePositionAndOrientation(cube, physicsClientId=client)[0][0] - 2.0
        return way, pybullet.getBaseVelocity(cube, physicsClientId=client)[0][0]
    finally:
        lifecycle.shutdown()


def test_a_body_gives_way_below_the_friction_and_slides_above_it():
    way, velocity = simulated(push=2.0, steps=1200)
    assert way == pytest.approx(2.0 / 1e4, rel=0.1) and abs(velocity) < 1e-3
    assert simulated(push=6.0)[1] == pytest.approx((6.0 - 0.8 * 0.5 * 10.0) * 0.2, rel=0.1), "0.2 s of 2 N on 1 kg"


def test_at_rest_it_stays_where_it_is_also_in_smaller_steps():
    for substeps in (1, 4):
        way, velocity = simulated(substeps=substeps)
        assert abs(way) < 1e-4 and abs(velocity) < 1e-3


def test_an_object_that_can_move_is_refused():
    with pytest.raises(HardwareError, match=re.escape("shear; expected shear of a fixed object only")):
        simulated(fixed=False)
