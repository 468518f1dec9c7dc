"""What is PyBullet's own: its clients, its files, and links that would touch nothing."""

import dataclasses
from pathlib import Path

import pybullet
import pytest

from robot_rt_control.testing.simulated_devices import GANTRY_URDF, gantry, iiwa
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError


@pytest.fixture
def engine():
    return "pybullet"


def test_a_robot_that_would_pass_through_everything_is_refused(start, tmp_path):
    part = gantry(tmp_path)
    path = tmp_path / "short.urdf"
    text = GANTRY_URDF.format(x=0, y=0, roll=0)
    mount, lift = text.index('  <joint name="mount"'), text.index('  <joint name="lift"')
    path.write_text((text[:mount] + text[lift:]).replace('"rail"', '"frame"'))
    with pytest.raises(HardwareError, match="link 'tool' would touch nothing; expected a fixed joint before 'lift'"):
        start(dataclasses.replace(part, urdf=str(path)))


def test_a_file_that_it_cannot_load_is_named(start, tmp_path):
    (tmp_path / "broken.urdf").write_text("<robot")
    with pytest.raises(HardwareError, match="broken.urdf:1: URDF; expected well-formed XML"):
        start(iiwa(urdf=str(tmp_path / "broken.urdf")))


def test_a_failed_configuration_leaves_no_client_behind(start):
    before = [pybullet.isConnected(client) for client in range(8)]
    with pytest.raises(HardwareError):
        start(iiwa(), world={"objects": [{"name": "x", "urdf": "no/such.urdf"}]})
    assert [pybullet.isConnected(client) for client in range(8)] == before


def test_the_file_of_a_robot_with_tools_goes_with_the_simulation(start):
    probe = {"name": "probe", "part_of": "arm", "link": "lbr_iiwa_link_7", "sphere": {"radius": 0.01}}
    sim = start(iiwa(), world={"tools": [probe]})
    folder = Path(sim.plugin.world._folder.name)
    assert [f.name for f in folder.iterdir()] == ["arm.urdf"]
    sim.shutdown()
    assert not folder.exists()


def test_only_what_changes_crosses_the_border(start, monkeypatch):
    """PyBullet keeps the goals of motors, and gives the states of a body's joints at once."""
    calls: list[str] = []

    def counted(name):
        function = getattr(pybullet, name)

        def call(*args, **kwargs):
            calls.append(name)
            return function(*args, **kwargs)

        return call

    sim = start(iiwa())
    names = ("getJointStates", "setJointMotorControlArray", "stepSimulation")
    for name in names:
        monkeypatch.setattr(pybullet, name, counted(name))

    def cycle():
        calls.clear()
        sim.read(0.0, 0.001)
        sim.write(0.0, 0.001)
        return tuple(calls.count(name) for name in names)

    cycle()
    assert cycle() == (1, 0, 1)  # it is held
    sim.command[0:21:3] = iiwa().start_position
    sim.switch_modes({"arm": CommandMode.POSITION})
    cycle()
    sim.command[0] += 1e-4
    assert cycle() == (1, 1, 1)
    assert cycle() == (1, 1, 1)  # the speed of the goal is 0 again
    assert cycle() == (1, 0, 1)
