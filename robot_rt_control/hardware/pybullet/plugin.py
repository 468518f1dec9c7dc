"""The plugin `pybullet`: arms, grippers and sensors in a PyBullet simulation. Parameters: `pybullet_parameters`."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

import numpy as np
import pybullet

from robot_rt_control.hardware.interfaces import part_slices, standard_command_interfaces, standard_state_interfaces
from robot_rt_control.hardware.plugin import CallbackReturn, HardwareReturn
from robot_rt_control.hardware.pybullet.camera import picture_and_bodies
from robot_rt_control.hardware.pybullet.drives import Drives
from robot_rt_control.hardware.pybullet.shear import Shear
from robot_rt_control.hardware.pybullet.springs import Springs
from robot_rt_control.hardware.pybullet.world import PyBulletWorld
from robot_rt_control.hardware.world.io import SimulatedIo, simulated_io
from robot_rt_control.hardware.world.parameters import CameraParameters
from robot_rt_control.hardware.world.sensors import Sensor, make_sensors
from robot_rt_control.hardware.world.simulator import SimulatorPlugin, has_io, n_of_joints
from robot_rt_control.hardware.world.tools import ToolsOn
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError
from robot_rt_control.vocabulary.part_kinds import JOINTED_KINDS

_OK = HardwareReturn.OK


def _placer(state: np.ndarray, places: list[int]) -> Callable[[list[float]], None]:
    """A function that writes values to these places of a float64 array."""
    if places == list(range(places[0], places[0] + len(places))):
        packed, offset, memory = struct.Struct(f"{len(places)}d"), 8 * places[0], state.data.cast("B")

        # Half the time that assigning a list to a slice takes; it runs in every period.
        def pack(values: list[float]) -> None:
            packed.pack_into(memory, offset, *values)

        return pack
    indices = np.array(places)

    def scatter(values: list[float]) -> None:
        state[indices] = values

    return scatter


class PyBulletPlugin(SimulatorPlugin):
    """A world in PyBullet."""

    engine = "pybullet"

    _world: PyBulletWorld | None = None

    def on_configure(self) -> CallbackReturn:
        self._world = PyBulletWorld(self.info, self.parameters)
        try:
            self._connect_parts(self._world)
        except BaseException:
            self.close()
            raise
        return CallbackReturn.SUCCESS

    def _connect_parts(self, world: PyBulletWorld) -> None:
        state_slices = part_slices(standard_state_interfaces(self.info))
        command_slices = part_slices(standard_command_interfaces(self.info))
        self._states = {name: self.state[places] for name, places in state_slices.items()}
        self._commands = {name: self.command[places] for name, places in command_slices.items()}
        self._drives: dict[str, Drives] = {}
        springs = Springs(world, self.parameters.world.tools)
        shear = Shear(world, self.parameters.world.objects, self.info.period_s / world.substeps)
        self._pushes = [push.apply for push in (springs, shear) if push.exists]
        self._io: list[SimulatedIo] = []
        joints: dict[int, list[int]] = {}
        places: dict[int, list[int]] = {}
        for part in self.info.parts:
            if part.kind in JOINTED_KINDS:
                n, period_s = n_of_joints(part), self.info.period_s
                command, measured = self._commands[part.name][:n], self._states[part.name][:n]
                drives = Drives(world, part, self.parameters.gains, command, measured, period_s)
                self._drives[part.name] = drives
                joints.setdefault(drives.body, []).extend(drives.joints)
                first = state_slices[part.name].start
                places.setdefault(drives.body, []).extend(range(first, first + n))
            if has_io(part):
                n = n_of_joints(part)
                state, command = self._states[part.name], self._commands.get(part.name, self.command[:0])
                self._io.append(simulated_io(world, part, self.parameters.world, state[n:], command[n:]))
        self._bodies = [(body, indices, _placer(self.state, places[body])) for body, indices in joints.items()]
        self._effort_echo: list[tuple[np.ndarray, np.ndarray]] = []
        self._tools = ToolsOn(
            self.info.parts, self.command[len(standard_command_interfaces(self.info)) :], world.set_body
        )
        self._sensors: list[Sensor] = make_sensors(world, self.info, self.parameters.world, self._states)

    def on_activate(self) -> CallbackReturn:
        self.perform_command_mode_switch(
            {name: (CommandMode.NONE,) * len(drives.joints) for name, drives in self._drives.items()}
        )
        return CallbackReturn.SUCCESS

    def close(self) -> None:
        if self._world is not None:
            self._world.close()
            self._world = None

    def perform_command_mode_switch(self, modes: Mapping[str, tuple[CommandMode, ...]]) -> HardwareReturn:
        for name, of_joints in modes.items():
            if name in self._drives:
                drives = self._drives[name]
                states = pybullet.getJointStates(drives.body, drives.joints, physicsClientId=self.world.client)
                drives.switch(of_joints, [state[0] for state in states])
        # The simulator reports no effort of joints in effort mode; there it is the command.
        self._effort_echo = [
            (self._states[name][3 * j + 2 : 3 * j + 3], self._commands[name][3 * j + 2 : 3 * j + 3])
            for name, drives in self._drives.items()
            for j, mode in enumerate(drives.modes)
            if mode == CommandMode.EFFORT
        ]
        self._appliers = [apply for drives in self._drives.values() for apply in drives.appliers]
        self._effort_appliers = [apply for drives in self._drives.values() for apply in drives.effort_appliers]
        return _OK

    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        world = self._world
        assert world is not None
        for body, joints, place in self._bodies:
            values: list[float] = []
            for position, velocity, _, effort in pybullet.getJointStates(body, joints, world.client):
                values += (position, velocity, effort)
            place(values)
        for measured, commanded in self._effort_echo:
            measured[:] = commanded
        world.look()
        for sensor in self._sensors:
            sensor.read()
        for io in self._io:
            io.read()
        return _OK

    def write(self, time_s: float, period_s: float) -> HardwareReturn:
        world = self._world
        assert world is not None
        self._tools.follow()
        for apply in self._appliers:
            apply()
        for io in self._io:
            io.apply()
        for push in self._pushes:
            push()
        pybullet.stepSimulation(world.client)
        for _ in range(world.substeps - 1):
            for apply in self._effort_appliers:
                apply()
            for push in self._pushes:
                push()
            pybullet.stepSimulation(world.client)
        return _OK

    @property
    def world(self) -> PyBulletWorld:
        """The simulated world. Raises: HardwareError, when the plugin is not configured."""
        if self._world is None:
            raise HardwareError(f"hardware {self.info.name!r}: there is no world", hint="Configure the plugin first")
        return self._world

    def picture_and_bodies(self, camera: CameraParameters) -> tuple[np.ndarray, np.ndarray]:
        return picture_and_bodies(self.world, camera)
