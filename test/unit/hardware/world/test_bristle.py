"""Friction of objects that give way sideways: a spring until it slides, then Coulomb's law."""

import math
import re
from random import Random

import pytest

from robot_rt_control.hardware.world.bristle import slide
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


@pytest.fixture
def simulated(start):
    """(way [m], velocity [m/s]) of a cube of 1 kg on a block that gives way, pushed sideways; gravity is 10 m/s^2."""

    def found(substeps=1, push=0.0, fixed=True, steps=400):
        block = {"name": "block", "box": {"size": [1.0, 1.0, 0.1]}, "pose": {"position": [2.0, 0.0, 0.0]}}
        cube = {"name": "cube", "box": {"size": [0.1, 0.1, 0.1]}, "pose": {"position": [2.0, 0.0, 0.1]}}
        objects = [
            block | {"fixed": fixed, "friction": 0.8, "shear": 1e4},
            cube | {"mass": 1.0, "friction": 0.5},
        ]
        world = {"gravity": [0, 0, -10.0], "objects": objects, "timestep": DT / substeps}
        sim = start(iiwa(start_position=(0.0,) * 7), world=world)
        before = at = sim.plugin.object_pose("cube").position
        for step in range(steps):
            if step >= 200:  # it has come to rest; for one step of the simulation, so with one substep only
                sim.plugin.world.push("cube", (push, 0.0, 0.0), (at[0], at[1], at[2] - 0.05))
            sim.write(0.0, DT)
            sim.read(0.0, DT)
            before, at = at, sim.plugin.object_pose("cube").position
        return at[0] - 2.0, (at[0] - before[0]) / DT

    return found


def test_a_body_gives_way_below_the_friction_and_slides_above_it(simulated):
    way, velocity = simulated(push=2.0, steps=1200)
    assert way == pytest.approx(2.0 / 1e4, rel=0.1) and abs(velocity) < 1e-3
    assert simulated(push=6.0)[1] == pytest.approx((6.0 - 0.8 * 0.5 * 10.0) * 0.2, rel=0.1), "0.2 s of 2 N on 1 kg"


def test_at_rest_it_stays_where_it_is_also_in_smaller_steps(simulated):
    for substeps in (1, 4):
        way, velocity = simulated(substeps=substeps)
        assert abs(way) < 1e-4 and abs(velocity) < 1e-3


def test_an_object_that_can_move_is_refused(simulated):
    with pytest.raises(HardwareError, match=re.escape("shear; expected shear of a fixed object only")):
        simulated(fixed=False)
