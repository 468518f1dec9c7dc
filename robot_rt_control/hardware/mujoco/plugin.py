"""The plugin `mujoco`: arms, grippers and sensors in a MuJoCo simulation. Parameters: hardware/world/parameters.py, and
parameters.py beside this file."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robot_rt_control.hardware.interfaces import part_slices, standard_command_interfaces, standard_state_interfaces
from robot_rt_control.hardware.mujoco.camera import picture_and_bodies
from robot_rt_control.hardware.mujoco.drawn_scene import scene_solids
from robot_rt_control.hardware.mujoco.drives import Drives
from robot_rt_control.hardware.mujoco.parameters import MujocoParameters
from robot_rt_control.hardware.mujoco.scene_sensors import SceneChannels, SceneNames, SceneSensor
from robot_rt_control.hardware.mujoco.shear import Shear
from robot_rt_control.hardware.mujoco.springs import Stops
from robot_rt_control.hardware.mujoco.window import Window
from robot_rt_control.hardware.mujoco.world import MujocoWorld
from robot_rt_control.hardware.plugin import CallbackReturn, HardwarePart, HardwareReturn
from robot_rt_control.hardware.world.drawn_objects import Solid
from robot_rt_control.hardware.world.io import SimulatedIo, simulated_io
from robot_rt_control.hardware.world.parameters import CameraParameters
from robot_rt_control.hardware.world.sensors import make_sensors
from robot_rt_control.hardware.world.simulator import SimulatorPlugin, has_io, n_of_joints
from robot_rt_control.hardware.world.tools import ToolsOn
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError
from robot_rt_control.vocabulary.part_kinds import JOINTED_KINDS

_OK = HardwareReturn.OK


class MujocoPlugin(SimulatorPlugin):
    """A world in MuJoCo."""

    engine = "mujoco"
    parameter_model = MujocoParameters
    parameters: MujocoParameters

    _world: MujocoWorld | None = None
    _window: Window | None = None

    def on_configure(self) -> CallbackReturn:
        given = self.parameters.world
        world = self._world = MujocoWorld(self.info, self.parameters)
        slices = part_slices(standard_state_interfaces(self.info))
        states = {name: self.state[places] for name, places in slices.items()}
        slices = part_slices(standard_command_interfaces(self.info))
        commands = {name: self.command[places] for name, places in slices.items()}
        jointed: list[tuple[HardwarePart, np.ndarray, np.ndarray]] = []
        self._io: list[SimulatedIo | SceneChannels] = []
        names = SceneNames() if world.built.scene is None else world.built.scene.names
        self._pushes = [push.apply for push in (Stops(world, given.tools), Shear(world)) if push.exists]
        for part in self.info.parts:
            n = n_of_joints(part)
            state, command = states.get(part.name, self.state[:0]), commands.get(part.name, self.command[:0])
            if part.kind in JOINTED_KINDS:
                jointed.append((part, state[:n], command[:n]))
            if has_io(part):
                self._io.append(simulated_io(world, part, given, state[n:], command[n:]))
                inputs, outputs = names.inputs.get(part.name, {}), names.outputs.get(part.name, {})
                if inputs or outputs:
                    channels = SceneChannels(world.model, world.data, part, inputs, outputs, state[n:], command[n:])
                    self._io.append(channels)
        self._drives = Drives(world, jointed, self.parameters.gains, self.info.period_s)
        self._sensors = make_sensors(world, self.info, given, states, leave_out=names.sensors)
        for name, numbers in names.sensors.items():
            part = next(part for part in self.info.parts if part.name == name)
            self._sensors.append(SceneSensor(world.model, world.data, part, numbers, states[name]))
        self._tools = ToolsOn(
            self.info.parts, self.command[len(standard_command_interfaces(self.info)) :], world.set_body
        )
        if self.parameters.gui:
            self._window = Window(world, given.camera, f"hardware {self.info.name!r}")
        return CallbackReturn.SUCCESS

    def on_activate(self) -> CallbackReturn:
        self.perform_command_mode_switch({name: (CommandMode.NONE,) * n for name, n in self._drives.n_joints().items()})
        return CallbackReturn.SUCCESS

    def close(self) -> None:
        if self._window is not None:
            self._window.close()
        self._world = self._window = None

    def perform_command_mode_switch(self, modes: Mapping[str, tuple[CommandMode, ...]]) -> HardwareReturn:
        for name, of_joints in modes.items():
            if name in self._drives:
                self._drives.switch(name, of_joints)
        return _OK

    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        world = self._world
        assert world is not None
        world.refresh()
        self._drives.read()
        for sensor in self._sensors:
            sensor.read()
        for io in self._io:
            io.read()
        return _OK

    def write(self, time_s: float, period_s: float) -> HardwareReturn:
        world = self._world
        assert world is not None
        self._tools.follow()
        for io in self._io:
            io.apply()
        steer = self._drives.apply
        for _ in range(world.substeps):
            for joint in world.steered.values():
                joint.steer()
            steer()
            steer = self._drives.steer
            for push in self._pushes:
                push()
            world.step()
        if self._window is not None:
            self._window.show()
        return _OK

    @property
    def world(self) -> MujocoWorld:
        """The simulated world. Raises: HardwareError, when the plugin is not configured."""
        if self._world is None:
            raise HardwareError(f"hardware {self.info.name!r}: there is no world", hint="Configure the plugin first")
        return self._world

    def solids(self) -> list[Solid]:
        return super().solids() + scene_solids(self.info.name, self.world)

    def picture_and_bodies(self, camera: CameraParameters) -> tuple[np.ndarray, np.ndarray]:
        return picture_and_bodies(self.world, camera, self.parameters.camera)
