"""The processes of a workcell, as plain data, for the supervisor and the launch file."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from robot_rt_control.editor.installed import FOXGLOVE_PORT, PORT, require_editor, require_foxglove
from robot_rt_control.hardware.clocks import AUTO as AUTO
from robot_rt_control.hardware.clocks import CLOCK_HELP as CLOCK_HELP
from robot_rt_control.hardware.clocks import CLOCKS as CLOCKS
from robot_rt_control.hardware.clocks import FACTOR_HELP as FACTOR_HELP
from robot_rt_control.hardware.clocks import LOCKSTEP, chosen_clock
from robot_rt_control.hardware.franka.simulator import simulator_command
from robot_rt_control.model.paths import find_executable as find_executable
from robot_rt_control.model.paths import package_folder
from robot_rt_control.model.workcell.simulators import SIMULATORS as SIMULATORS
from robot_rt_control.model.workcell.workcell import (
    EXTERNAL,
    NOT_PYTHON,
    TOPIC,
    DeviceDescription,
    Workcell,
    load_workcell,
)
from robot_rt_control.planning.solve.engines import require_engines
from robot_rt_control.ros.missing_messages import how_to_get
from robot_rt_control.vocabulary.errors import DefinitionError

PACKAGE = "robot_rt_control"

DEFAULT_WORKCELL = "arm7"
"""This workcell needs nothing outside this package."""

HARDWARE_HELP = "what all devices run on: mock, simulator (of their `world`), one of its names, or module:Class"
SIMULATED_HELP = (
    "start the simulators that speak the protocol of the workcell's robots beside it: franky-sim for a franka"
)
SIMULATOR_HELP = "what runs the world of a workcell that is simulated"

CONTROLLERS = (AUTO, "true", "false")
CONTROLLERS_HELP = (
    "run the controller manager, for ros2 control, MoveIt and spawners; auto: if its messages are installed"
)
PLANNER_HELP = (
    "run the planner, which plans through contact as the action plan_contact; it needs the packages mujoco and piqp"
)
BLUEPRINTS_HELP = "run the node blueprints, which executes blueprints, and what draws and watches them talks to"
EDITOR_HELP = (
    "serve the blueprint editor to browsers on this machine, and print the links to open; it needs the package aiohttp"
)
VIEW_HELP = "show the robots in browsers on this machine, and print the links to open; the editor serves it, too"
EDITOR_PORT_HELP = "TCP port of the blueprint editor and the view; 0: any free one"
FOXGLOVE_HELP = "serve the topics to the application Foxglove on this machine, read only; it needs foxglove-sdk"
FOXGLOVE_PORT_HELP = "TCP port of the server for Foxglove; 0: any free one"
_CONTROLLER_MESSAGES = ("control_msgs", "controller_manager_msgs")

SHARED_TOPICS = ("/clock", "/diagnostics", "/tf", "/tf_static")
"""Topics that ROS shares between all nodes, in any namespace."""

OWN_TOPICS_HELP = (
    f"put {', '.join(SHARED_TOPICS)} into the namespace: for several workcells in simulated time, "
    "which have a /clock each, or with the same frame names"
)

FRAMES_HELP = (
    "publish all frames on /tf and /tf_static: by robot_state_publisher if it is installed, else by frame_publisher"
)
Value = bool | int | float | str | list[str]
"""Type of a ROS parameter."""

_THEIRS, _OURS = "robot_state_publisher", "frame_publisher"
"""Executables that publish TF; the former's package has its name."""

Find = Callable[[str, str], Path | None]
"""(package, executable) → its file; None: not installed."""


@dataclass(frozen=True, kw_only=True)
class BringupOptions:
    """How to bring a workcell up."""

    workcell: Path | str = DEFAULT_WORKCELL
    """The workcell file, or the name of one that comes with the package."""
    hardware: str = ""
    """See HARDWARE_HELP; empty: the workcell's default."""
    simulator: str = ""
    """See SIMULATOR_HELP; empty: the first that is installed."""
    simulated: bool = False
    """See SIMULATED_HELP."""
    clock: str = AUTO
    """One of CLOCKS: see CLOCK_HELP."""
    real_time_factor: float = 1.0
    """Simulated seconds per second in lockstep; 0: as fast as possible; negative: by the service step only."""
    record: str = ""
    """File, or folder, to which all ticks are recorded from the first one on; empty: they are not."""
    gui: bool = False
    """Show the simulation in a window."""
    rviz: bool = False
    """Start RViz, with the project's view."""
    frames: bool = True
    """See FRAMES_HELP."""
    namespace: str = ""
    """Namespace of all nodes."""
    own_topics: bool = False
    """Whether to put SHARED_TOPICS into the namespace, so that several workcells can run side by side."""
    program: str = ""
    """Application program to run: file.py, file.py:function or package.module:function; empty: none."""
    program_arguments: tuple[str, ...] = ()
    exit_with_program: bool = False
    """Bring everything down when the program has ended."""
    controllers: str = AUTO
    """One of CONTROLLERS: see CONTROLLERS_HELP."""
    planner: bool = False
    """See PLANNER_HELP."""
    blueprints: bool = False
    """See BLUEPRINTS_HELP."""
    editor: bool = False
    """See EDITOR_HELP."""
    view: bool = False
    """See VIEW_HELP."""
    editor_port: int = PORT
    """See EDITOR_PORT_HELP."""
    foxglove: bool = False
    """See FOXGLOVE_HELP."""
    foxglove_port: int = FOXGLOVE_PORT
    """See FOXGLOVE_PORT_HELP."""
    realtime_cpu: int = -1
    """Processor of the real-time thread; -1: any."""
    realtime_priority: int = 80
    """Priority of the real-time thread under SCHED_FIFO; 0: an ordinary thread."""

    @classmethod
    def from_texts(cls, texts: Mapping[str, str]) -> BringupOptions:
        """Options from the texts of a command line or launch file: numbers, true and false, words separated by spaces.

        Raises:
            DefinitionError: a text is not what its option expects.
        """
        defaults = cls()
        return cls(**{name: _read(name, text, getattr(defaults, name)) for name, text in texts.items()})


_EXPECTED = {"real_time_factor": "a number of simulated seconds per second; 0: as fast as possible, negative: by step"}
_TRUTH = {"true": True, "false": False}


def _read(name: str, text: str, default: Any) -> Any:
    """A text converted to the type of its option's default."""
    if isinstance(default, tuple):
        return tuple(text.split())
    if isinstance(default, str):
        return text
    kinds: dict[type, tuple[Callable[[str], Any], str]] = {
        bool: (lambda word: _TRUTH[word.lower()], "true or false"),
        int: (int, "a whole number"),
        float: (_finite, "a number"),
    }
    read, expected = kinds[type(default)]
    try:
        return read(text)
    except (KeyError, ValueError):
        raise DefinitionError(name, expected=_EXPECTED.get(name, expected), got=repr(text)) from None


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


@dataclass(frozen=True, kw_only=True)
class ProcessDescription:
    """One process of a workcell."""

    name: str
    """Unique; also the displayed name."""
    executable: str
    package: str = PACKAGE
    node_name: str
    namespace: str = ""
    parameters: dict[str, Value] = field(default_factory=dict)
    remappings: tuple[tuple[str, str], ...] = ()
    """(name, new name) of topics."""
    arguments: tuple[str, ...] = ()
    """Arguments of the executable itself, before those for ROS."""
    command: tuple[str, ...] = ()
    """The whole command of a program that is no node; the names above only name it."""
    required: bool = True
    """When it ends, everything is brought down."""
    consequence: str = ""
    """Text: what the other processes do when it dies."""


def has_messages(package: str) -> bool:
    """Whether the messages of a ROS package can be imported."""
    return find_spec(package) is not None


def publishes_frames(described: Iterable[ProcessDescription]) -> bool:
    """Whether one of these processes publishes TF."""
    return any(process.executable in (_THEIRS, _OURS) for process in described)


def remarks(options: BringupOptions, described: Iterable[ProcessDescription], workcell: Workcell) -> list[str]:
    """What is left out although nobody asked for that, and what somebody has to start, in one line each.

    Args:
        options: see Options.
        described: the processes.
        workcell: as for `processes`.
    """
    found = [_by_hand(options, workcell, device) for device in _started_by_hand(workcell)]
    if options.editor and not options.blueprints:
        found.append("the editor without the node blueprints: it shows programs only, until one is started")
    if options.frames and not publishes_frames(described):
        hint = how_to_get(["tf2_msgs"])
        found.append(f"no TF: neither robot_state_publisher nor tf2_msgs, for frame_publisher, is installed. {hint}")
    missing = _missing_messages() if options.controllers == AUTO else []
    if missing:
        found.append(f"without the controller manager: no {' and '.join(missing)}. {how_to_get(missing)}")
    return found


def described_workcell(options: BringupOptions) -> Workcell:
    """The workcell that the options name. Raises: as `load_workcell`."""
    return load_workcell(options.workcell, options.hardware or None, simulator=options.simulator)


def processes(
    options: BringupOptions, workcell: Workcell | None = None, *, find: Find = find_executable
) -> list[ProcessDescription]:
    """All processes of a workcell, in the order to start them; they are ended in the reverse order.

    Args:
        options: see Options.
        workcell: as loaded from the file that the options name; None: it is loaded.
        find: (package, executable) → its file; None: not installed.

    Raises:
        DefinitionError: the workcell file is not valid, options contradict each other, or RViz is not installed.
        RobotControlError: the planner, the editor or the server for Foxglove is asked for, and its packages are not
            installed.
        HardwareError: the clock is `auto`, and a device's plugin cannot be loaded.
    """
    workcell = workcell or described_workcell(options)
    if workcell.recoveries:  # what reads programs is a third of what the supervisor loads before it starts anything
        from robot_rt_control.program.recovery_programs import recovery_programs

        recovery_programs(workcell.recoveries)  # otherwise the control server would refuse them, later
    options = replace(options, clock=chosen_clock(options.clock, workcell))
    if options.clock == "hardware":
        workcell.driving_device()  # refuses a workcell without a clock
    described = [
        *_simulators(options, workcell),
        *_drivers(options, workcell),
        _executor(options, workcell),
        _own(
            options,
            "control_server",
            _common(options, workcell),
            "the executor brings the parts of all sessions to safety",
            required=True,
        ),
        *_controllers(options, workcell),
        *_planner(options, workcell),
        *_blueprints(options, workcell),
        *_editor(options, workcell),
        *_foxglove(options),
        *_viewers(options, workcell, find),
    ]
    if options.program:
        described.append(_application(options))
    if options.own_topics:
        own = tuple((topic, topic[1:]) for topic in SHARED_TOPICS)
        described = [replace(process, remappings=own) for process in described]
    return described


def _own(
    options: BringupOptions, name: str, parameters: dict[str, Value], consequence: str, *, required: bool = False
) -> ProcessDescription:
    """A process of this package that has the name of its executable and node."""
    return ProcessDescription(
        name=name,
        executable=name,
        node_name=name,
        namespace=options.namespace,
        parameters=parameters,
        required=required,
        consequence=consequence,
    )


def _common(options: BringupOptions, workcell: Workcell) -> dict[str, Value]:
    return {"workcell": str(workcell.path), "hardware": workcell.hardware, **_time(options)}


def _time(options: BringupOptions) -> dict[str, Value]:
    """In simulated time all nodes use it."""
    return {"use_sim_time": True} if options.clock == LOCKSTEP else {}


def _simulators(options: BringupOptions, workcell: Workcell) -> list[ProcessDescription]:
    """The simulated counterpart of each device that has one of its own."""
    if not options.simulated:
        return []
    robots: dict[str, list[str]] = {}
    for device in workcell.devices:
        if device.plugin in ("franka", "franka_hand"):
            robots.setdefault(str(device.config.get("address", "")), []).append(device.name)
    if not robots:
        plugins = ", ".join(sorted({device.plugin for device in workcell.devices}))
        raise DefinitionError(
            "simulated", expected="a device on the plugin franka", got=f"devices on {plugins}", hint="Leave it out"
        )
    return [
        ProcessDescription(
            name=f"simulator_{devices[0]}",
            package="franky-sim",
            executable="franky-sim",
            node_name="",
            command=simulator_command(address),
            consequence=f"the parts of {', '.join(map(repr, devices))} are faulted",
        )
        for address, devices in robots.items()
    ]


def _drivers(options: BringupOptions, workcell: Workcell) -> list[ProcessDescription]:
    """A process for each device with a Python plugin, and for each foreign driver that is not started by hand."""
    devices = [device for device in workcell.devices if device.plugin not in NOT_PYTHON]
    if options.gui and not devices:
        raise DefinitionError(
            "gui", expected="hardware with a window, a simulator", got=f"hardware {workcell.hardware!r}"
        )
    if options.clock == LOCKSTEP:
        return []  # the executor's process hosts the plugins: they step with the loop
    described = [_foreign_driver(options, workcell, d) for d in workcell.devices if d.driver_command]
    for device in devices:
        name = "hardware_driver" if len(devices) == 1 else f"hardware_driver_{device.name}"
        described.append(
            ProcessDescription(
                name=name,
                executable="hardware_driver",
                node_name=name,
                namespace=options.namespace,
                parameters={**_common(options, workcell), "device": device.name, "gui": options.gui},
                # No moving part depends on a device on topics: without it, its values are unknown.
                required=device.plugin != TOPIC,
                consequence=f"the parts of device {device.name!r} are "
                + ("unknown" if device.plugin == TOPIC else "faulted"),
            )
        )
    return described


def _foreign_driver(options: BringupOptions, workcell: Workcell, device: DeviceDescription) -> ProcessDescription:
    name = f"hardware_driver_{device.name}"
    hardware = ("--hardware", workcell.hardware) if workcell.hardware else ()
    namespace = ("--namespace", options.namespace) if options.namespace else ()
    return ProcessDescription(
        name=name,
        executable="external_driver",
        node_name=name,
        namespace=options.namespace,
        arguments=(str(workcell.path), device.name, *hardware, *namespace),
        consequence=f"the parts of device {device.name!r} are faulted",
    )


def _started_by_hand(workcell: Workcell) -> list[DeviceDescription]:
    return [device for device in workcell.devices if device.plugin == EXTERNAL and not device.driver_command]


def _by_hand(options: BringupOptions, workcell: Workcell, device: DeviceDescription) -> str:
    words = [str(workcell.path), device.name, *(["--namespace", options.namespace] if options.namespace else [])]
    return (
        f"device {device.name!r}: no driver is started, and the executor waits for one: hardware_driver_{device.name}. "
        f"What it needs to know: external_driver {shlex.join(words)} --print"
    )


def _executor(options: BringupOptions, workcell: Workcell) -> ProcessDescription:
    parameters: dict[str, Value] = {
        **_common(options, workcell),
        "clock": options.clock,
        "realtime_cpu": options.realtime_cpu,
        "realtime_priority": options.realtime_priority,
    }
    if options.record:
        parameters["record"] = str(Path(options.record).resolve())
    if options.clock == LOCKSTEP:
        parameters |= {"real_time_factor": float(options.real_time_factor), "gui": options.gui}
    consequence = "the drivers bring their devices to rest"
    return _own(options, "realtime_executor", parameters, consequence, required=True)


def _missing_messages() -> list[str]:
    return [package for package in _CONTROLLER_MESSAGES if not has_messages(package)]


def _controllers(options: BringupOptions, workcell: Workcell) -> list[ProcessDescription]:
    if options.controllers not in CONTROLLERS:
        expected = "one of: " + ", ".join(CONTROLLERS)
        raise DefinitionError("controllers", expected=expected, got=repr(options.controllers))
    missing = _missing_messages()
    if options.controllers == "false" or (missing and options.controllers == AUTO):
        return []
    if missing:
        raise DefinitionError(
            "controllers",
            expected=f"the messages of {' and '.join(missing)}",
            got="no such package",
            hint=how_to_get(missing),
        )
    consequence = "its sessions end with their leases, and their parts are brought to safety"
    return [_own(options, "controller_manager", _common(options, workcell), consequence)]


def _planner(options: BringupOptions, workcell: Workcell) -> list[ProcessDescription]:
    if not options.planner:
        return []
    require_engines()
    consequence = "its plan is lost; the session of one that it runs ends, and the parts are brought to safety"
    return [_own(options, "planner", _common(options, workcell), consequence)]


def _blueprints(options: BringupOptions, workcell: Workcell) -> list[ProcessDescription]:
    if not options.blueprints:
        return []
    consequence = (
        "its runs are interrupted; their sessions end with their leases, and their parts are brought to safety"
    )
    return [_own(options, "blueprints", _common(options, workcell), consequence)]


def _editor(options: BringupOptions, workcell: Workcell) -> list[ProcessDescription]:
    if not options.editor and not options.view:
        return []
    require_editor()
    consequence = "no run is disturbed; open pages say that they have lost it, and the next editor prints new links"
    arguments = ("--port", str(options.editor_port), *(("--namespace", options.namespace) if options.namespace else ()))
    arguments += ("--workcell", str(workcell.path))
    if not options.editor:
        arguments += ("--view",)
    return [replace(_own(options, "blueprint_editor", {}, consequence), arguments=arguments)]


def _foxglove(options: BringupOptions) -> list[ProcessDescription]:
    if not options.foxglove:
        return []
    require_foxglove()
    namespace = ("--namespace", options.namespace) if options.namespace else ()
    process = _own(options, "foxglove", {}, "the application Foxglove has lost its connection; nothing else")
    return [replace(process, arguments=("--port", str(options.foxglove_port), *namespace))]


def _viewers(options: BringupOptions, workcell: Workcell, find: Find) -> list[ProcessDescription]:
    """What publishes frames, and RViz if requested."""
    common: dict[str, Any] = {"namespace": options.namespace, "required": False}
    described = []
    parameters: dict[str, Value] = _time(options)
    # Theirs keeps the description that it is started with, so the frame of a tool that is changed would stay.
    changes_tools = any(part.tools for part in workcell.parts)
    if options.frames and not changes_tools and find(_THEIRS, _THEIRS) is not None:
        parameters["robot_description"] = workcell.robot_description()
        theirs = ProcessDescription(
            name=_THEIRS, package=_THEIRS, executable=_THEIRS, node_name=_THEIRS, parameters=parameters, **common
        )
        described.append(theirs)
    elif options.frames and has_messages("tf2_msgs"):
        ours = ProcessDescription(name=_OURS, executable=_OURS, node_name=_OURS, parameters=parameters, **common)
        described.append(ours)
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
                parameters=_time(options),
                **common,
            )
        )
    return described


def view_file() -> Path:
    """The project's RViz view.

    Raises:
        DefinitionError: it is missing in the installation.
    """
    folder = package_folder(PACKAGE)
    path = None if folder is None else folder / "config" / "workcell.rviz"
    if path is None or not path.is_file():
        expected = "config/workcell.rviz in the package's share folder"
        raise DefinitionError("RViz's view", expected=expected, got=str(path))
    return path


def _application(options: BringupOptions) -> ProcessDescription:
    parameters: dict[str, Value] = {
        **_time(options),
        "program": options.program,
        "program_arguments": list(options.program_arguments),
        "exit_at_end": options.exit_with_program,
    }
    consequence = "its sessions end with their leases, and their parts are brought to safety"
    return _own(options, "application", parameters, consequence, required=options.exit_with_program)
