"""Both simulators against mechanics: each tolerance is in the table of docs/simulators.md.

In test/unit/hardware/world: a gripper's force in test_simulator.py, a grip's in test_io.py, a rangefinder over an
uneven plate in test_profile_mesh.py, a hanging weight's wrench in test_sensors.py, and rest, slopes and Hooke's law in
test_surfaces.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import pytest

from robot_rt_control.hardware.lifecycle import HardwareLifecycle
from robot_rt_control.hardware.world.simulator import SimulatorPlugin
from robot_rt_control.model.pose import Pose
from robot_rt_control.testing.simulated_devices import gantry, iiwa
from robot_rt_control.vocabulary.enums import CommandMode

Start = Callable[..., HardwareLifecycle]
DT, G, SPEED = 0.001, 10.0, 0.05
IIWA = Path(__file__).parents[3] / "config" / "robots" / "iiwa.urdf"
FLOOR = {"name": "floor", "plane": True}
MAT = {"name": "mat", "box": {"size": [1, 1, 0.1]}, "fixed": True, "pose": {"position": [0, 0, 0.05]}}
BALL = {"name": "ball", "sphere": {"radius": 0.05}, "mass": 2.0}
FAR = Pose(position=(9.0, 0.0, 0.0))


def things(start: Start, *objects: dict[str, Any], gravity: float = G, **world: Any) -> SimulatorPlugin:
    """A world of objects, the arm far away."""
    sim = start(iiwa(base=FAR), world={"gravity": [0, 0, -gravity], "objects": list(objects), **world})
    assert isinstance(sim.plugin, SimulatorPlugin)
    return sim.plugin


def at(thing: dict[str, Any], *position: float) -> dict[str, Any]:
    return {**thing, "pose": {"position": list(position)}}


def test_free_fall_and_free_flight(start: Start) -> None:
    plugin = things(start, at(BALL, 0.0, 0.0, 50.0))
    for _ in range(100):
        plugin.world.push("ball", (20.0, 0.0, 0.0), plugin.object_pose("ball").position)
        plugin.write(0.0, DT)
    x0, _, _ = plugin.object_pose("ball").position
    for _ in range(1000):
        plugin.write(0.0, DT)
    x, _, z = plugin.object_pose("ball").position
    assert 50.0 - z == pytest.approx(G * 1.1**2 / 2.0, rel=1e-3), "the step of 1 ms makes 0.09 % of it"
    assert x - x0 == pytest.approx(1.0, rel=1e-6), "it keeps its 1 m/s"


PENDULUM = """<robot name="pendulum">
  <link name="stand"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="swing" type="revolute"><parent link="stand"/><child link="rod"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="100" velocity="10"/></joint>
  <link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>"""


def test_a_pendulum_s_period_and_amplitude(start: Start, tmp_path: Path) -> None:
    path, amplitude, swings = tmp_path / "pendulum.urdf", 1.0, 5
    path.write_text(PENDULUM)
    thing = {"name": "pendulum", "urdf": str(path), "fixed": True, "pose": {"position": [0, 0, 2]}}
    plugin = things(start, thing, inertia="urdf")
    swing = plugin.world.object_joint("pendulum", "swing", "test")
    swing.place(amplitude)
    angles = [amplitude]
    for _ in range(9000):
        plugin.write(0.0, DT)
        angles.append(swing.position())
    q = np.array(angles)
    down = np.flatnonzero((q[:-1] > 0.0) & (q[1:] <= 0.0))
    times = (down + q[down] / (q[down] - q[down + 1])) * DT
    # By the arithmetic-geometric mean, exact for any amplitude.
    a, b = 1.0, math.cos(amplitude / 2.0)
    for _ in range(6):
        a, b = (a + b) / 2.0, math.sqrt(a * b)
    inertia, moment = 2.0 * 0.5**2 + 0.02, 2.0 * G * 0.5
    period = 2.0 * math.pi * math.sqrt(inertia / moment) / a
    assert (times[swings] - times[0]) / swings == pytest.approx(period, rel=1e-5)
    assert q[down[swings - 1] :].max() == pytest.approx(amplitude, rel=1e-5)


def test_efforts_against_gravity_in_ten_poses(engine: str, start: Start) -> None:
    arm, random = iiwa(), np.random.default_rng(1)
    sim = start(arm)
    assert isinstance(sim.plugin, SimulatorPlugin)
    model = pinocchio.buildModelFromUrdf(str(IIWA))
    data = model.createData()
    for _ in range(10):
        pose = random.uniform(-0.9, 0.9, 7) * np.array(arm.limits.position_upper)
        sim.switch_modes({"arm": CommandMode.EFFORT})
        for name, q in zip(arm.joint_names, pose, strict=True):
            sim.plugin.world.object_joint("arm", name, "test").place(float(q))
        sim.read(0.0, DT)
        sim.switch_modes({"arm": CommandMode.NONE})
        for _ in range(100):
            sim.write(0.0, DT)
            sim.read(0.0, DT)
        assert sim.state[0:21:3] == pytest.approx(pose, abs=1e-5)
        # PyBullet's solver ends early in one of them, with 0.13 Nm of 42 Nm; in the others the error is 5e-5 Nm.
        error = {"pybullet": 0.2, "mujoco": 1e-3}[engine]
        assert sim.state[2:21:3] == pytest.approx(pinocchio.computeGeneralizedGravity(model, data, pose), abs=error)


def test_a_pushed_box_slides_as_far_as_coulomb_says(start: Start) -> None:
    """1 kg, pushed with 14 N for 0.1 s; the friction coefficient is 0.5 * 0.8."""
    box = {"name": "box", "box": {"size": [0.1, 0.1, 0.1]}, "friction": 0.5}
    plugin = things(start, {**FLOOR, "friction": 0.8}, at(box, 2.0, 0.0, 0.05))
    way = []
    for step in range(900):
        x, y, z = plugin.object_pose("box").position
        way.append(x)
        if 300 <= step < 400:
            plugin.world.push("box", (14.0, 0.0, 0.0), (x, y, z - 0.04))
        plugin.write(0.0, DT)
    pushed, braked = (way[401] - way[400]) / DT, (way[501] - way[500]) / DT
    assert pushed == pytest.approx((14.0 - 4.0) * 0.1, rel=0.03)
    assert (pushed - braked) / 0.1 == pytest.approx(4.0, rel=0.02)
    assert way[-1] - way[300] == pytest.approx(10.0 * 0.1**2 / 2.0 + 1.0 / (2.0 * 4.0), rel=1e-3)
    assert way[-1] == pytest.approx(way[800], abs=1e-5), "it lies still"


def spring_and_damper(mass: float, stiffness: float, damping: float, seconds: float) -> np.ndarray:
    """[N] in each period, of a mass that meets a spring and damper with SPEED: mechanics in steps of 1 us."""
    x, v, h, forces = 0.0, SPEED, 1e-6, []
    for step in range(round(seconds / h)):
        if step % 1000 == 0:
            forces.append(max(stiffness * x + damping * v, 0.0))
        v += h * (G - max(stiffness * x + damping * v, 0.0) / mass)
        x += h * v
    return np.array(forces)


@pytest.mark.parametrize(("stiffness", "damping"), [(1e4, 100.0), (1e4, 10.0)])
def test_a_body_meets_something_soft(start: Start, stiffness: float, damping: float) -> None:
    """2 kg with 0.05 m/s, on a spring and damper: peak, weight, and how soon it is at rest."""
    ball = at(BALL, 0.0, 0.0, 0.15 + SPEED**2 / (2.0 * G))
    plugin = things(start, MAT, ball, surfaces=[{"body": "mat", "stiffness": stiffness, "damping": damping}])
    forces = []
    for _ in range(1500):
        plugin.write(0.0, DT)
        forces.append(plugin.world.contact_force("ball", "mat"))
    # A spring that is integrated implicitly in steps h has a damping of h K beside its own.
    got, expected = np.array(forces), spring_and_damper(2.0, stiffness, damping + DT * stiffness, 1.5)
    assert got.max() == pytest.approx(expected.max(), rel=0.01)
    assert got[-1] == pytest.approx(2.0 * G, rel=1e-3)

    def settled(values: np.ndarray) -> int:
        """[ms] from the first touch until the force stays within 5 % of the weight."""
        return int(np.flatnonzero(np.abs(values - 2.0 * G) > G / 10.0)[-1] - np.flatnonzero(values)[0])

    assert settled(got) == pytest.approx(settled(expected), abs=5)


def test_a_body_meets_something_hard(start: Start) -> None:
    """Its momentum is stopped, and it does not bounce: the peak is that of one step, and says nothing of a real one."""
    plugin = things(start, FLOOR, at(BALL, 0.0, 0.0, 0.05 + SPEED**2 / (2.0 * G)))
    forces = []
    for _ in range(300):
        plugin.write(0.0, DT)
        forces.append(plugin.world.contact_force("ball", "floor"))
    touched = int(np.flatnonzero(forces)[0])
    impulse = (sum(forces[touched : touched + 50]) - 50 * 2.0 * G) * DT
    assert impulse == pytest.approx(2.0 * SPEED, rel=1e-3)
    assert forces[-1] == pytest.approx(2.0 * G, rel=1e-3)


def test_a_driven_tool_meets_something_soft(start: Start, tmp_path: Path) -> None:
    """At 0.05 m/s into a surface, stopped at 1 mm: F = K x + B v all the way, then K x."""
    ball = at({**BALL, "fixed": True}, 0.0, 0.0, 0.0)
    world = {"gravity": [0, 0, -G], "objects": [ball]}
    world["surfaces"] = [{"body": "ball", "stiffness": 1e4, "damping": 50.0}]
    sim = start(gantry(tmp_path), world=world)
    assert isinstance(sim.plugin, SimulatorPlugin)
    # The tool's end is at z = 0.8 m + q, the ball's top at 0.05 m.
    position, end, forces = -0.749, -0.751, []
    sim.plugin.world.object_joint("gantry", "lift", "test").place(position)
    sim.read(0.0, DT)
    sim.switch_modes({"gantry": CommandMode.POSITION})
    for _ in range(400):
        position = max(position - SPEED * DT, end)
        sim.command[0] = position
        sim.write(0.0, DT)
        sim.read(0.0, DT)
        forces.append((position, sim.state[0], sim.plugin.world.contact_force("gantry", "ball")))
    way = np.array(forces)
    pressing = (way[:, 0] < -0.7502) & (way[:, 0] > end + 1e-4)
    expected = 1e4 * (-0.75 - way[pressing, 1]) + 50.0 * SPEED
    assert way[pressing, 2] == pytest.approx(expected, abs=0.2)
    assert way[-1, 2] == pytest.approx(10.0, rel=0.01)
    assert way[:, 2].max() < 10.0 + 50.0 * SPEED + 0.5
