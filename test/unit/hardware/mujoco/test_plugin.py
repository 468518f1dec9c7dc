"""What is MuJoCo's own: a simulation that diverges, and what it refuses."""

import math
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.hardware.lifecycle import LifecycleState
from robot_rt_control.hardware.world.simulator import SimulatorPlugin
from robot_rt_control.testing.simulated_devices import GANTRY_URDF, gantry, iiwa
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError

DT = 0.001
DIVERGED = "hardware 'sim': the simulation has diverged; expected finite .*; got no finite acceleration of {}. Look for"


@pytest.fixture
def engine():
    return "mujoco"


def fails(sim, what):
    """In the next cycle the device fails with this reason; after that it is closed."""
    with pytest.raises(HardwareError, match=DIVERGED.format(what)):
        sim.write(0.0, DT)
    assert sim.lifecycle_state == LifecycleState.FINALIZED
    with pytest.raises(HardwareError, match="write; expected state ACTIVE; got FINALIZED"):
        sim.write(0.0, DT)
    with pytest.raises(HardwareError, match="there is no world"):
        assert isinstance(sim.plugin, SimulatorPlugin)
        sim.plugin.object_pose("box")


@pytest.mark.parametrize("mode", [CommandMode.POSITION, CommandMode.VELOCITY, CommandMode.EFFORT])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_command_that_is_not_finite(start, mode, value):
    sim = start(iiwa())
    sim.command[0:21:3] = iiwa().start_position
    sim.switch_modes({"arm": mode})
    sim.write(0.0, DT)
    sim.command[3 + (CommandMode.POSITION, CommandMode.VELOCITY, CommandMode.EFFORT).index(mode)] = value
    if math.isnan(value):
        fails(sim, "anything")
        return
    # An infinite position is approached at the limited speed, an infinite effort is limited.
    for _ in range(100):
        sim.write(0.0, DT)
        sim.read(0.0, DT)
    assert np.isfinite(sim.state).all()


def test_a_position_that_is_not_finite(start):
    sim = start(iiwa())
    sim.plugin.world.object_joint("arm", "lbr_iiwa_joint_3", "test").place(math.nan)
    fails(sim, "anything")


def test_an_object_that_is_nowhere(start):
    box = {"name": "box", "box": {"size": [0.1, 0.1, 0.1]}, "pose": {"position": [2, 0, 0.5]}}
    sim = start(iiwa(), world={"objects": [box]})
    sim.plugin.world.push("box", (math.nan, 0.0, 0.0), (2.0, 0.0, 0.5))
    fails(sim, "anything")


def test_a_speed_beyond_all_bounds(start):
    """A push of 1e9 N on a body of 1 g."""
    box = {"name": "box", "box": {"size": [0.1, 0.1, 0.1]}, "pose": {"position": [2, 0, 0.5]}, "mass": 1e-3}
    sim = start(iiwa(), world={"objects": [box]})
    sim.plugin.world.push("box", (0.0, 0.0, 1e9), (2.0, 0.0, 0.5))
    fails(sim, "'box'")


def test_warnings_leave_no_file(start, tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    test_an_object_that_is_nowhere(start)
    assert list(tmp_path.iterdir()) == []
    assert "Nan, Inf or huge value in QACC" in caplog.text


def test_a_link_without_mass_that_moves_is_refused(start, tmp_path):
    part = gantry(tmp_path)
    mass = '<mass value="2"/>'
    text = GANTRY_URDF.format(x=0, y=0, roll=0)
    assert text.count(mass) == 1
    text = text.replace(mass, '<mass value="0"/>').replace('<mass value="1"/>', '<mass value="0"/>')
    Path(part.urdf or "").write_text(text)
    text = "joint 'lift' moves the link 'carriage'; expected a link with a mass: <inertial>; got none, nor behind it"
    with pytest.raises(HardwareError, match=text):
        start(part)


def test_an_object_without_mass_that_moves_is_refused(start, tmp_path):
    (tmp_path / "ghost.urdf").write_text('<robot name="ghost"><link name="ghost"/></robot>')
    ghost = {"name": "ghost", "urdf": str(tmp_path / "ghost.urdf")}
    with pytest.raises(HardwareError, match="object 'ghost'; expected a mass: <inertial> in its URDF, or `mass`"):
        start(iiwa(), world={"objects": [ghost]})
    start(iiwa(), world={"objects": [{**ghost, "fixed": True}]})
    sim = start(iiwa(), world={"gravity": [0, 0, -10.0], "objects": [{**ghost, "mass": 0.5}]})
    for _ in range(100):
        sim.write(0.0, DT)
    assert sim.plugin.object_pose("ghost").position[2] == pytest.approx(-0.5 * 10.0 * 0.1**2, rel=0.02)
