"""Brings a workcell up: ros2 launch robot_rt_control workcell.launch.py --show-args

robot_rt_control.bringup.bringup decides which processes that takes; this file passes them to launch.
"""

import sys
from pathlib import Path
from typing import Any

from launch import Event, EventHandler, LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    ExecuteProcess,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    Shutdown,
)
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from robot_rt_control.bringup.bringup import (
    BLUEPRINTS_HELP,
    CLOCK_HELP,
    CLOCKS,
    CONTROLLERS,
    CONTROLLERS_HELP,
    EDITOR_HELP,
    EDITOR_PORT_HELP,
    FACTOR_HELP,
    FOXGLOVE_HELP,
    FOXGLOVE_PORT_HELP,
    FRAMES_HELP,
    HARDWARE_HELP,
    OWN_TOPICS_HELP,
    PLANNER_HELP,
    SIMULATED_HELP,
    SIMULATOR_HELP,
    SIMULATORS,
    VIEW_HELP,
    BringupOptions,
    ProcessDescription,
    described_workcell,
    processes,
    remarks,
)
from robot_rt_control.bringup.launch_arguments import check_arguments, doubtful_arguments, is_launched_itself
from robot_rt_control.model.paths import shipped_workcells

YES, NO = "true", "false"

ARGUMENTS = [
    DeclareLaunchArgument(
        "workcell",
        default_value=BringupOptions.workcell,
        description="Workcell file, or the name of one that comes with the package: " + ", ".join(shipped_workcells()),
    ),
    DeclareLaunchArgument(
        "hardware",
        default_value="",
        description=f"{HARDWARE_HELP}; empty: the workcell's default.",
    ),
    DeclareLaunchArgument(
        "simulator",
        default_value="",
        choices=["", *SIMULATORS],
        description=f"{SIMULATOR_HELP}; empty: the first that is installed.",
    ),
    DeclareLaunchArgument(
        "simulated", default_value=NO, choices=[YES, NO], description=f"Whether to {SIMULATED_HELP}."
    ),
    DeclareLaunchArgument(
        "clock",
        default_value=BringupOptions.clock,
        choices=list(CLOCKS),
        description=f"What drives the loop. {CLOCK_HELP}.",
    ),
    DeclareLaunchArgument("real_time_factor", default_value="1.0", description=f"{FACTOR_HELP}."),
    DeclareLaunchArgument(
        "record",
        default_value="",
        description="File (.mcap), or folder, to which all ticks are recorded from the first one on; empty: none.",
    ),
    DeclareLaunchArgument("gui", default_value=NO, choices=[YES, NO], description="Show the simulation in a window."),
    DeclareLaunchArgument("rviz", default_value=NO, choices=[YES, NO], description="Start RViz, if it is installed."),
    DeclareLaunchArgument("frames", default_value=YES, choices=[YES, NO], description=f"Whether to {FRAMES_HELP}."),
    DeclareLaunchArgument("namespace", default_value="", description="Namespace of all nodes."),
    DeclareLaunchArgument(
        "own_topics", default_value=NO, choices=[YES, NO], description=f"Whether to {OWN_TOPICS_HELP}."
    ),
    DeclareLaunchArgument(
        "program",
        default_value="",
        description="Application program to run: file.py, file.py:function or package.module:function; empty: none.",
    ),
    DeclareLaunchArgument(
        "program_arguments", default_value="", description="Its arguments as text, with spaces between them."
    ),
    DeclareLaunchArgument(
        "exit_with_program",
        default_value=NO,
        choices=[YES, NO],
        description="Bring everything down when the program has ended.",
    ),
    DeclareLaunchArgument(
        "controllers",
        default_value=BringupOptions.controllers,
        choices=list(CONTROLLERS),
        description=f"Whether to {CONTROLLERS_HELP}.",
    ),
    DeclareLaunchArgument("planner", default_value=NO, choices=[YES, NO], description=f"Whether to {PLANNER_HELP}."),
    DeclareLaunchArgument(
        "blueprints", default_value=NO, choices=[YES, NO], description=f"Whether to {BLUEPRINTS_HELP}."
    ),
    DeclareLaunchArgument("editor", default_value=NO, choices=[YES, NO], description=f"Whether to {EDITOR_HELP}."),
    DeclareLaunchArgument("view", default_value=NO, choices=[YES, NO], description=f"Whether to {VIEW_HELP}."),
    DeclareLaunchArgument("editor_port", default_value="8420", description=f"{EDITOR_PORT_HELP}."),
    DeclareLaunchArgument("foxglove", default_value=NO, choices=[YES, NO], description=f"Whether to {FOXGLOVE_HELP}."),
    DeclareLaunchArgument("foxglove_port", default_value="8765", description=f"{FOXGLOVE_PORT_HELP}."),
    DeclareLaunchArgument(
        "realtime_cpu", default_value="-1", description="Processor of the real-time thread; -1: any."
    ),
    DeclareLaunchArgument(
        "realtime_priority",
        default_value="80",
        description="Priority of the real-time thread under SCHED_FIFO; 0: an ordinary thread.",
    ),
]


class Failed(Event):
    """A required process has failed."""

    name = "robot_rt_control.Failed"

    def __init__(self, reason: str) -> None:
        self.reason = reason


def ended(process: str, event: Any, context: LaunchContext) -> Shutdown | EmitEvent:
    """Bring all down after the end of a required process."""
    if event.returncode == 0 or context.is_shutdown:
        return Shutdown(reason=f"{process} has ended")
    return EmitEvent(event=Failed(f"{process} has failed with exit code {event.returncode}; all is brought down"))


def fail(context: LaunchContext) -> None:
    """An error is the only way to an exit code of ros2 launch that is not 0; it also brings all down."""
    raise RuntimeError(context.locals.event.reason)


ON_FAILED = RegisterEventHandler(
    EventHandler(matcher=lambda event: isinstance(event, Failed), entities=[OpaqueFunction(function=fail)])
)


def node(process: ProcessDescription) -> ExecuteProcess:
    """A process as a launch action."""
    required = {"on_exit": lambda event, context: ended(process.name, event, context)} if process.required else {}
    if process.command:
        return ExecuteProcess(cmd=list(process.command), name=process.name, output="screen", **required)
    return Node(
        package=process.package,
        executable=process.executable,
        name=process.node_name,
        namespace=process.namespace,
        arguments=list(process.arguments),
        parameters=[{name: value for name, value in process.parameters.items() if value != []}],
        remappings=list(process.remappings),
        output="screen",
        emulate_tty=True,
        # The executor brings its parts to rest before it ends; on a busy machine this takes longer.
        sigterm_timeout="30",
        sigkill_timeout="10",
        **required,
    )


def start(context: LaunchContext) -> list[ExecuteProcess | LogInfo]:
    """All processes of the workcell that the arguments describe."""
    known, given = [action.name for action in ARGUMENTS], context.launch_configurations
    warnings: list[str] = []
    if is_launched_itself(sys.orig_argv, Path(__file__).parent):
        check_arguments(given, known)
    else:
        warnings = doubtful_arguments(given, known)
    argument = {action.name: LaunchConfiguration(action.name).perform(context) for action in ARGUMENTS}
    options = BringupOptions.from_texts(argument)
    workcell = described_workcell(options)
    described = processes(options, workcell)
    said = [f"workcell {argument['workcell']}", *warnings, *remarks(options, described, workcell)]
    return [*(LogInfo(msg=text) for text in said), *(node(process) for process in described)]


def generate_launch_description() -> LaunchDescription:
    """The launch description for ros2 launch."""
    return LaunchDescription([*ARGUMENTS, ON_FAILED, OpaqueFunction(function=start)])
