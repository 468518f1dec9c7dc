"""Simulations that cannot go on: the device fails with what happened, to what, and what to do. None is reset."""

import math

import mujoco
import pytest

from robot_rt_control.hardware.lifecycle import LifecycleState
from robot_rt_control.testing.simulated_devices import iiwa
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError

DT = 0.001
BOX = '<body name="box" pos="0.3 0 0.225">'


@pytest.fixture
def engine():
    return "mujoco"


def failure(sim, cycles=1):
    """The reason with which the device fails within so many cycles; after that it is closed."""
    with pytest.raises(HardwareError) as found:
        for _ in range(cycles):
            sim.write(0.0, DT)
            sim.read(0.0, DT)
    assert sim.lifecycle_state == LifecycleState.FINALIZED
    return str(found.value)


def balls(n, height=0.4):
    """In a heap above the table, not yet in touch with anything."""
    places = [(0.3 + 0.045 * (i % 6), 0.045 * (i // 6 % 6), height + 0.045 * (i // 36)) for i in range(n)]
    return [
        {"name": f"ball_{i}", "sphere": {"radius": 0.02}, "mass": 0.05, "pose": {"position": list(place)}}
        for i, place in enumerate(places)
    ]


def test_I24_a_gain_that_is_too_high_for_its_mass(start_scene):
    servo = ('kp="800" kv="60" forcerange="-60 60"', 'kp="1e14"')
    sim = start_scene(scene=(servo,))
    sim.switch_modes({"arm": CommandMode.POSITION})
    sim.command[0:9:3] = (0.5, -0.6, 2.17)
    text = failure(sim)
    assert "hardware 'sim': the simulation has diverged; expected finite positions, " in text
    assert "got no finite acceleration of 'yaw'" in text and "gains that are too high" in text


def test_I24_masses_that_cannot_be_computed_with(start_scene):
    speck = '<body name="speck"><joint name="spin" armature="0" damping="0"/><inertial pos="0 0 0" mass="1e-9"'
    speck += ' diaginertia="1e-14 1e-14 1e-14"/><body pos="0 0 1"><joint name="swing" armature="0"/><geom size="0.1"'
    speck += ' contype="0" conaffinity="0" mass="1e9"/></body></body>'
    text = failure(start_scene(scene=((BOX, speck + BOX),)))
    assert "hardware 'sim': the inertia at joint 'spin'; expected masses that can be computed with" in text
    assert "Give the links behind it a mass, or the joint an armature" in text


def test_I24_a_command_that_is_not_finite_for_an_actuator(start_scene):
    sim = start_scene()
    sim.switch_modes({"arm": CommandMode.POSITION})
    sim.command[0:9:3] = (math.nan, -0.6, 2.17)
    text = failure(sim)
    assert "hardware 'sim': the control of actuator 'yaw_servo'; expected a finite number; got one that is not" in text


@pytest.mark.parametrize("field", ["qpos", "qvel"])
def test_I24_what_is_not_a_number_inside_mujoco(start_scene, field):
    sim = start_scene()
    sim.write(0.0, DT)
    getattr(sim.plugin.world.data, field)[1] = math.nan
    sim.plugin.world.changed()
    assert "the simulation has diverged; expected finite positions, velocities and accelerations" in failure(sim, 2)


@pytest.mark.parametrize("height", [0.22, 0.4])
def test_I24_contacts_for_which_there_is_no_memory(start_scene, height):
    """At the start, or once a heap has fallen on the table."""
    scene = (('<compiler angle="radian"/>', '<compiler angle="radian"/><size memory="500K"/>'),)
    objects = "".join(f"- {ball}\n        " for ball in balls(216, height))
    with pytest.raises(HardwareError) as found:
        sim = start_scene(("- {name: ball,", objects + "- {name: ball,"), scene=scene)
        for _ in range(1000):
            sim.write(0.0, DT)
            sim.read(0.0, DT)
    assert "hardware 'sim': MuJoCo has no memory for all contacts and constraints; got " in str(found.value)
    assert 'with an MJCF, give it more: <size memory="64M"/>' in str(found.value)


def test_I24_a_scene_cannot_have_itself_reset(start_scene):
    sim = start_scene(scene=(('impratio="10"/>', 'impratio="10"><flag autoreset="enable"/></option>'),))
    assert sim.plugin.world.model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)


def test_I24_things_that_begin_inside_each_other(start):
    """A heavy ball in the middle of a light one: whatever happens, all states are finite or the device fails."""
    world = {
        "objects": [
            {"name": "floor", "plane": True},
            {"name": "light", "sphere": {"radius": 0.2}, "pose": {"position": [2, 0, 0.1]}, "mass": 0.001},
            {"name": "heavy", "sphere": {"radius": 0.2}, "pose": {"position": [2, 0, 0.1001]}, "mass": 3000},
        ]
    }
    sim = start(iiwa(), world=world)
    try:
        for _ in range(500):
            sim.write(0.0, DT)
            sim.read(0.0, DT)
    except HardwareError as error:
        assert "the simulation has diverged" in str(error)
        return
    for name in ("light", "heavy"):
        assert all(math.isfinite(x) for x in sim.plugin.object_pose(name).position)
