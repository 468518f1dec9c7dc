"""Which processes a workcell needs, as plain data: the supervisor and the launch file start what is said here."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robot_rt_control.model.paths import package_folder
from robot_rt_control.model.workcell import MOCK, TOPIC, Workcell, load_workcell
from robot_rt_control.vocabulary.errors import DefinitionError

PACKAGE = "robot_rt_control"

DEFAULT_WORKCELL = "arm7"
"""It runs without anything that this package does not bring."""

CLOCKS = ("realtime", "lockstep", "hardware")

Value = bool | int | float | str | list[str]
"""Of a ROS parameter."""

Find = Callable[[str, str], Path | None]
"""(package, executable) → its file; None: not installed."""


@dataclass(frozen=True, kw_only=True)
class BringupOptions:
    """How to bring a workcell up."""

    workcell: Path | str = DEFAULT_WORKCELL
    """The workcell file, or the name of one that comes with the package: arm7, iiwa, panda."""
    hardware: str = ""
    """Plugin that all devices run on: mock, pybullet, or module:Class; empty: the workcell's default."""
    clock: str = "realtime"
    """realtime: the wall clock; lockstep: simulated time, loop and simulator wait for each other;
    hardware: the cycle of a device's driver drives the loop."""
    simulation_speed: float = 1.0
    """Lockstep: simulated seconds per second; 0: as fast as possible; negative: by the service step only."""
    gui: bool = False
    """Show the simulation in a window."""
    rviz: bool = False
    """Start RViz, with the project's view."""
    namespace: str = ""
    """Of all nodes."""
    program: str = ""
    """Application program to run: file.py, file.py:function or package.module:function; empty: none."""
    program_arguments: tuple[str, ...] = ()
    exit_with_program: bool = False
    """Bring everything down when the program has ended."""
    realtime_cpu: int = -1
    """Processor of the real-time thread; -1: any."""
    realtime_priority: int = 80
    """Of the real-time thread under SCHED_FIFO; 0: an ordinary thread."""


@dataclass(frozen=True, kw_only=True)
class ProcessDescription:
    """One process of a workcell."""

    name: str
    """Unique among them; what people see."""
    executable: str
    package: str = PACKAGE
    node_name: str
    namespace: str = ""
    parameters: dict[str, Value] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    """Of the executable itself, before those for ROS."""
    required: bool = True
    """Without it the rest is of no use: when it ends, everything is brought down."""
    consequence: str = ""
    """What the others do when it dies, in words."""


def find_executable(package: str, executable: str) -> Path | None:
    """The file of a ROS package's executable, in the folders of AMENT_PREFIX_PATH."""
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        path = Path(prefix) / "lib" / package / executable
        if prefix and path.is_file() and os.access(path, os.X_OK):
            return path
    return None


def find_workcell(workcell: Path | str) -> Path:
    """The file of a workcell.

    Args:
        workcell: a path, or the name of a workcell that comes with the package.

    Raises:
        DefinitionError: there is none.
    """
    path = Path(workcell).expanduser()
    if path.is_file():
        return path
    share = package_folder(PACKAGE)
    shipped = {} if share is None else {file.stem: file for file in sorted((share / "config").glob("*.yaml"))}
    try:
        return shipped[str(workcell)]
    except KeyError:
        raise DefinitionError(
            f"workcell {str(workcell)!r}",
            expected="a file, or one of: " + ", ".join(shipped),
            got=f"no file {path.resolve()}",
        ) from None


def processes(options: BringupOptions, *, find: Find = find_executable) -> list[ProcessDescription]:
    """All processes of a workcell, in the order to start them; they are ended in the reverse order.

    Args:
        options: what is wanted.
        find: tells which executables of other packages are installed.

    Raises:
        DefinitionError: the workcell file is not valid, options contradict each other, or RViz is not installed.
    """
    if options.clock not in CLOCKS:
        raise DefinitionError("clock", expected="one of: " + ", ".join(CLOCKS), got=repr(options.clock))
    workcell = load_workcell(find_workcell(options.workcell), options.hardware or None)
    if options.clock == "hardware":
        workcell.driving_device()  # refuses a workcell without one
    described = [
        *_drivers(options, workcell),
        _executor(options, workcell),
        ProcessDescription(
            name="control_server",
            executable="control_server",
            node_name="control_server",
            namespace=options.namespace,
            parameters=_common(workcell),
            consequence="the executor brings the parts of all sessions to safety",
        ),
        *_viewers(options, workcell, find),
    ]
    if options.program:
        described.append(_application(options))
    return described


def _common(workcell: Workcell) -> dict[str, Value]:
    return {"workcell": str(workcell.path), "hardware": workcell.hardware}


def _drivers(options: BringupOptions, workcell: Workcell) -> list[ProcessDescription]:
    """One for each device with a plugin in Python."""
    devices = [device for device in workcell.devices if device.plugin != MOCK]
    if options.gui and not devices:
        raise DefinitionError(
            "gui", expected="hardware with a window, such as pybullet", got=f"hardware {workcell.hardware!r}"
        )
    if options.clock == "lockstep":
        return []  # the executor's process hosts the plugins: they step with the loop
    described = []
    for device in devices:
        name = "hardware_driver" if len(devices) == 1 else f"hardware_driver_{device.name}"
        described.append(
            ProcessDescription(
                name=name,
                executable="hardware_driver",
                node_name=name,
                namespace=options.namespace,
                parameters={**_common(workcell), "device": device.name, "gui": options.gui},
                # Nothing that moves hangs on a device on topics: its values are unknown without it.
                required=device.plugin != TOPIC,
                consequence=f"the parts of device {device.name!r} are "
                + ("unknown" if device.plugin == TOPIC else "faulted"),
            )
        )
    return described


def _executor(options: BringupOptions, workcell: Workcell) -> ProcessDescription:
    parameters: dict[str, Value] = {
        **_common(workcell),
        "clock": options.clock,
        "realtime_cpu": options.realtime_cpu,
        "realtime_priority": options.realtime_priority,
    }
    if options.clock == "lockstep":
        parameters |= {"simulation_speed": float(options.simulation_speed), "gui": options.gui}
    return ProcessDescription(
        name="realtime_executor",
        executable="realtime_executor",
        node_name="realtime_executor",
        namespace=options.namespace,
        parameters=parameters,
        consequence="the drivers bring their devices to rest",
    )


def _viewers(options: BringupOptions, workcell: Workcell, find: Find) -> list[ProcessDescription]:
    """Programs of other packages: robot_state_publisher where it is installed, RViz where it is asked for."""
    simulated_time: dict[str, Value] = {"use_sim_time": options.clock == "lockstep"}
    common: dict[str, Any] = {"namespace": options.namespace, "required": False}
    described = []
    if find("robot_state_publisher", "robot_state_publisher") is not None:
        described.append(
            ProcessDescription(
                name="robot_state_publisher",
                package="robot_state_publisher",
                executable="robot_state_publisher",
                node_name="robot_state_publisher",
                parameters={**simulated_time, "robot_description": workcell.robot_description()},
                **common,
            )
        )
    if options.rviz:
        if find("rviz2", "rviz2") is None:
            raise DefinitionError(
                "rviz",
                expected="the package rviz2 in one of the folders of AMENT_PREFIX_PATH",
                got="no such package",
                hint="Install it (Debian, Ubuntu: apt install ros-$ROS_DISTRO-rviz2) and source the ROS installation",
            )
        described.append(
            ProcessDescription(
                name="rviz2",
                package="rviz2",
                executable="rviz2",
                node_name="rviz2",
                arguments=("-d", str(view_file())),
                parameters=simulated_time,
                **common,
            )
        )
    return described


def view_file() -> Path:
    """The project's RViz view.

    Raises:
        DefinitionError: it is not where it is installed to.
    """
    folder = package_folder(PACKAGE)
    path = None if folder is None else folder / "config" / "workcell.rviz"
    if path is None or not path.is_file():
        expected = "config/workcell.rviz in the package's share folder"
        raise DefinitionError("RViz's view", expected=expected, got=str(path))
    return path


def _application(options: BringupOptions) -> ProcessDescription:
    return ProcessDescription(
        name="application",
        executable="application",
        node_name="application",
        namespace=options.namespace,
        parameters={
            "program": options.program,
            "program_arguments": list(options.program_arguments),
            "exit_at_end": options.exit_with_program,
        },
        required=options.exit_with_program,
        consequence="its sessions end with their leases, and their parts are brought to safety",
    )
