"""Brings a workcell up: ros2 launch robot_rt_control workcell.launch.py --show-args

robot_rt_control.application.bringup decides which processes that takes; this file passes them to launch.
"""

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from robot_rt_control.application.bringup import (
    CLOCK_HELP,
    CLOCKS,
    FACTOR_HELP,
    OWN_TOPICS_HELP,
    BringupOptions,
    ProcessDescription,
    processes,
    shipped_workcells,
)

YES, NO = "true", "false"

ARGUMENTS = [
    DeclareLaunchArgument(
        "workcell",
        default_value=BringupOptions.workcell,
        description="Workcell file, or the name of one that comes with the package: "
        + ", ".join(shipped_workcells()),
    ),
    DeclareLaunchArgument(
        "hardware",
        default_value="",
        description="Plugin that all devices run on: mock, pybullet, or module:Class; empty: the workcell's default.",
    ),
    DeclareLaunchArgument(
        "clock",
        default_value=BringupOptions.clock,
        choices=list(CLOCKS),
        description=f"What drives the loop. {CLOCK_HELP}.",
    ),
    DeclareLaunchArgument("real_time_factor", default_value="1.0", description=f"{FACTOR_HELP}."),
    DeclareLaunchArgument(
        "gui", default_value=NO, choices=[YES, NO], description="Show the simulation in a window."
    ),
    DeclareLaunchArgument("rviz", default_value=NO, choices=[YES, NO], description="Start RViz, if it is installed."),
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
        "realtime_cpu", default_value="-1", description="Processor of the real-time thread; -1: any."
    ),
    DeclareLaunchArgument(
        "realtime_priority",
        default_value="80",
        description="Priority of the real-time thread under SCHED_FIFO; 0: an ordinary thread.",
    ),
]


def node(process: ProcessDescription) -> Node:
    """A process as a launch action."""
    required = {"on_exit": Shutdown(reason=f"{process.name} has ended")} if process.required else {}
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


def start(context: LaunchContext) -> list[Node | LogInfo]:
    """All processes of the workcell that the arguments describe."""
    argument = {action.name: LaunchConfiguration(action.name).perform(context) for action in ARGUMENTS}
    described = processes(BringupOptions.from_texts(argument))
    return [LogInfo(msg=f"workcell {argument['workcell']}"), *(node(process) for process in described)]


def generate_launch_description() -> LaunchDescription:
    """The launch description for ros2 launch."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=start)])
