"""The plugin `pybullet`: arms, grippers and sensors in a PyBullet simulation. Parameters: `pybullet_parameters`."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pybullet

from robot_rt_control.hardware.info import HardwarePart
from robot_rt_control.hardware.interfaces import part_slices, standard_command_interfaces, standard_state_interfaces
from robot_rt_control.hardware.parameters import checked
from robot_rt_control.hardware.plugin import CallbackReturn, HardwareInfo, HardwarePlugin, HardwareReturn
from robot_rt_control.hardware.pybullet.camera import picture, write_png
from robot_rt_control.hardware.pybullet.drives import Drives
from robot_rt_control.hardware.pybullet.io import SimulatedIo
from robot_rt_control.hardware.pybullet.io_parameters import IoParameters
from robot_rt_control.hardware.pybullet.parameters import CameraParameters, PyBulletParameters
from robot_rt_control.hardware.pybullet.sensors import Sensor, make_sensors
from robot_rt_control.hardware.pybullet.shear import Shear
from robot_rt_control.hardware.pybullet.springs import Springs
from robot_rt_control.hardware.pybullet.world import PyBulletWorld
from robot_rt_control.model.pose import Pose
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import HardwareError, unknown
from robot_rt_control.vocabulary.part_kinds import JOINT_INTERFACES, JOINTED_KINDS

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


def _has_io(part: HardwarePart) -> bool:
    """Whether the simulation reads inputs of the part, or acts by its outputs; those of sensor parts are sensors."""
    return (part.kind == PartKind.IO or part.kind in JOINTED_KINDS) and bool(part.inputs or part.outputs)


def _n_of_joints(part: HardwarePart) -> int:
    """How many of a part's states, and of its commands, are those of its joints: the first ones."""
    return len(JOINT_INTERFACES) * len(part.joint_names)


class PyBulletPlugin(HardwarePlugin):
    """One simulated world. `read` looks, `write` sets the drives and steps by one period.

    The same commands give the same states, bit by bit, in each run.
    """

    simulated = True

    _world: PyBulletWorld | None = None

    def on_init(self, info: HardwareInfo) -> CallbackReturn:
        self.info = info
        where = f"hardware {info.name!r}, parameters of the pybullet plugin"
        self.parameters = checked(PyBulletParameters, info.parameters, where)
        return CallbackReturn.SUCCESS

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
        self._springs = Springs(world, self.parameters.world.tools)
        self._shear = Shear(world, self.parameters.world.objects, self.info.period_s / world.substeps)
        self._check_io()
        self._io: list[SimulatedIo] = []
        joints: dict[int, list[int]] = {}
        places: dict[int, list[int]] = {}
        for part in self.info.parts:
            if part.kind in JOINTED_KINDS:
                n, period_s = _n_of_joints(part), self.info.period_s
                command, measured = self._commands[part.name][:n], self._states[part.name][:n]
                drives = Drives(world, part, self.parameters.gains, command, measured, period_s)
                self._drives[part.name] = drives
                joints.setdefault(drives.body, []).extend(drives.joints)
                first = state_slices[part.name].start
                places.setdefault(drives.body, []).extend(range(first, first + n))
            if _has_io(part):
                self._io.append(self._connect_io(world, part))
        self._bodies = [(body, indices, _placer(self.state, places[body])) for body, indices in joints.items()]
        self._effort_echo: list[tuple[np.ndarray, np.ndarray]] = []
        self._sensors: list[Sensor] = make_sensors(
            world, self.info, self.parameters.world.sensors, self._states, self.parameters.world.seed
        )

    def _check_io(self) -> None:
        """Each entry of `world.io` is a part with inputs or outputs, and the only one that speaks of its inputs."""
        known = [part.name for part in self.info.parts if _has_io(part)]
        for name in self.parameters.world.io:
            what = f"hardware {self.info.name!r}: world.io.{name}"
            if name not in known:
                raise HardwareError(what, expected=unknown("part with inputs or outputs", name, known), got=repr(name))
            if name in self.parameters.world.sensors:
                raise HardwareError(what, expected="its inputs here or in world.sensors, not in both")

    def _connect_io(self, world: PyBulletWorld, part: HardwarePart) -> SimulatedIo:
        n = _n_of_joints(part)
        states = self._states[part.name][n:]
        commands = self._commands.get(part.name, self.command[:0])[n:]
        given = self.parameters.world.io.get(part.name, IoParameters())
        return SimulatedIo(world, part, given, states[: len(part.inputs)], states[len(part.inputs) :], commands)

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
        return _OK

    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        world = self._world
        assert world is not None
        for body, joints, place in self._bodies:
            values: list[float] = []
            for position, velocity, _, effort in pybullet.getJointStates(body, joints, physicsClientId=world.client):
                values += (position, velocity, effort)
            place(values)
        for measured, commanded in self._effort_echo:
            measured[:] = commanded
        for sensor in self._sensors:
            sensor.read()
        for io in self._io:
            io.read()
        return _OK

    def write(self, time_s: float, period_s: float) -> HardwareReturn:
        world = self._world
        assert world is not None
        for drives in self._drives.values():
            drives.apply()
        for io in self._io:
            io.apply()
        self._springs.apply()
        self._shear.apply()
        pybullet.stepSimulation(physicsClientId=world.client)
        for _ in range(world.substeps - 1):
            for drives in self._drives.values():
                drives.apply_effort()
            self._springs.apply()
            self._shear.apply()
            pybullet.stepSimulation(physicsClientId=world.client)
        return _OK

    # --- beyond the contract: what tests and demonstrations ask of a simulation --------------------------

    @property
    def world(self) -> PyBulletWorld:
        """The simulated world. Raises: HardwareError, when the plugin is not configured."""
        if self._world is None:
            raise HardwareError(f"hardware {self.info.name!r}: there is no world", hint="Configure the plugin first")
        return self._world

    def object_pose(self, name: str) -> Pose:
        """X_WO: where an object is."""
        return self.world.object_pose(name)

    def move_object(self, name: str, pose: Pose) -> None:
        """Put an object somewhere else, at rest."""
        self.world.move_object(name, pose)

    @property
    def has_window(self) -> bool:
        """Whether the scene is shown in a window."""
        return self.parameters.gui

    def take_picture(self, path: str | Path, width: int = 0, height: int = 0) -> np.ndarray:
        """Write what the camera sees as PNG; returns uint8 of shape (height, width, 3).

        Args:
            path: of the file.
            width, height: [pixels]; 0: as the parameters say.

        Raises:
            HardwareError: the size is not possible.
        """
        camera = self.parameters.world.camera
        if width or height:
            size = {"width": width or camera.width, "height": height or camera.height}
            camera = checked(CameraParameters, camera.model_dump() | size, "size of the picture")
        pixels = picture(self.world, camera)
        write_png(pixels, path)
        return pixels
