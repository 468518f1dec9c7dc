"""The ROS installation, DDS, and the cache of compiled code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from robot_rt_control.command_line.findings.finding import Finding, Level, Machine
from robot_rt_control.ros.missing_messages import BUILT, how_to_get
from robot_rt_control.vocabulary.errors import RobotControlError, unknown
from robot_rt_control.vocabulary.names import ROS2_CONTROL_DRIVER

_RESOURCES = "share/ament_index/resource_index"
_DISCOVERY = ("SUBNET", "LOCALHOST", "OFF", "SYSTEM_DEFAULT")
_LAST_DOMAIN = 101
"""The ports of higher ones meet those that Linux hands out to programs."""
NO_SHARED_MEMORY = "_no_shared_memory.xml"
REQUIRED = {
    "rclpy": "all nodes",
    "lifecycle_msgs": "life cycles of the nodes",
    "diagnostic_msgs": "/diagnostics",
    "visualization_msgs": "markers",
    "robot_rt_control": "its messages: build and source them, or `pip install .`",
}
"""Package → what it is for."""
OPTIONAL = {
    "launch_ros": "ros2 launch; without it, the command `workcell`",
    "robot_state_publisher": "frames on /tf from joint_states",
    "rviz2": "a picture of the robot",
    "xacro": "URDF files with macros",
    "control_msgs": "trajectories of MoveIt, gripper commands, joint jogs",
    "controller_manager_msgs": "the command `ros2 control`, spawners, MoveIt's controller manager",
    "tf2_msgs": "frames on /tf",
    "pal_statistics_msgs": "state variables in PlotJuggler and Foxglove",
    "rosbag2_transport": "ros2 bag",
}


def middleware(machine: Machine) -> Finding:
    """The DDS middleware."""
    wanted = machine.environment.get("RMW_IMPLEMENTATION", "")
    installed = sorted(set(_resources(machine, "rmw_typesupport")) - {"rmw_implementation"})
    seen = f"{wanted or 'the default'}; installed: {', '.join(installed) or 'none'}"
    if installed and (not wanted or wanted in installed):
        return Finding("DDS middleware", Level.OK, seen)
    return Finding(
        "DDS middleware",
        Level.PROBLEM,
        seen,
        "No node can start without it.",
        f"Set RMW_IMPLEMENTATION to {unknown('installed middleware', wanted, installed)}; or install it",
    )


def discovery(machine: Machine) -> Finding:
    """Who finds the nodes: domain, range, security."""
    environment = machine.environment
    domain, range_ = environment.get("ROS_DOMAIN_ID", "0"), environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")
    peers, server = environment.get("ROS_STATIC_PEERS", ""), environment.get("ROS_DISCOVERY_SERVER", "")
    secure = environment.get("ROS_SECURITY_ENABLE", "") == "true"
    seen = f"ROS_DOMAIN_ID {domain}, range {range_}" + (f", peers {peers}" if peers else "")
    seen += (f", server {server}" if server else "") + (", SROS 2 on" if secure else "")
    name = "discovery"
    if not (domain.isdigit() and int(domain) <= _LAST_DOMAIN):
        why = f"Expected a domain from 0 to {_LAST_DOMAIN}: the ports of others are not free, or do not exist."
        return Finding(name, Level.PROBLEM, seen, why, "export ROS_DOMAIN_ID=…")
    if range_ not in _DISCOVERY:
        why = f"Expected {unknown('range', range_, _DISCOVERY)}."
        return Finding(name, Level.PROBLEM, seen, why, "export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST")
    alone = range_ == "SYSTEM_DEFAULT" and NO_SHARED_MEMORY in _profiles(machine)[1]
    if range_ in ("SUBNET", "SYSTEM_DEFAULT") and not secure and not alone:
        return Finding(
            name,
            Level.WARNING,
            seen,
            "Every machine on the network with this domain can command and stop this workcell.",
            "ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST if all runs on one machine; else SROS 2: docs/security.md",
        )
    return Finding(name, Level.OK, seen)


def lost_packets(machine: Machine) -> Finding:
    """How soon a lost packet is sent again."""
    environment, (variable, profiles) = machine.environment, _profiles(machine)
    alone = environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET") in ("LOCALHOST", "OFF") and not any(
        environment.get(name, "") for name in ("ROS_STATIC_PEERS", "ROS_DISCOVERY_SERVER")
    )
    fast_dds = environment.get("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp").startswith("rmw_fastrtps")
    seen = profiles or "no profiles of Fast DDS"
    if profiles or alone or not fast_dds:
        return Finding("lost packets", Level.OK, seen)
    return Finding(
        "lost packets",
        Level.WARNING,
        seen,
        "Between machines, Fast DDS sends a lost packet again after up to 3 s: a lease may run out before.",
        f"{variable}=…/share/robot_rt_control/config/{variable.split('_')[0].lower()}.xml: docs/several_machines.md",
    )


def messages_in_memory(machine: Machine) -> Finding:
    """Whether local users can read what nodes of this machine send each other."""
    environment, name = machine.environment, "messages in shared memory"
    _, profiles = _profiles(machine)
    without, reach = NO_SHARED_MEMORY in profiles, environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")
    if without and reach == "LOCALHOST":
        why = "LOCALHOST makes rmw_fastrtps_cpp use shared memory whatever the profile says: local users can read it."
        return Finding(name, Level.PROBLEM, f"{profiles}, {reach}", why, "ROS_AUTOMATIC_DISCOVERY_RANGE=SYSTEM_DEFAULT")
    return Finding(name, Level.OK, "none" if without else "readable by local users, as by default: docs/security.md")


def packages(machine: Machine) -> Iterator[Finding]:
    """ROS packages, with what the missing ones are for."""
    installed = set(_resources(machine, "packages"))
    for level, wanted, name in (
        (Level.PROBLEM, REQUIRED, "ROS packages"),
        (Level.WARNING, OPTIONAL, "optional ROS packages"),
    ):
        missing = [package for package in wanted if package not in installed and not machine.importable(package)]
        if missing:
            why = "; ".join(f"{package}: {wanted[package]}" for package in missing)
            mend = "Source the ROS installation. Debian, Ubuntu: apt install ros-$ROS_DISTRO-<name with dashes>"
            if built := [package for package in missing if package in BUILT]:
                mend = f"{mend}. Without one: {how_to_get(built, {})}"
            yield Finding(name, level, f"missing: {', '.join(missing)}", f"{why}.", mend)
        else:
            yield Finding(name, Level.OK, f"all {len(wanted)} are installed")


def foreign_hardware(machine: Machine) -> Finding:
    """The executable that hosts components of ros2_control."""
    name, page = "driver for ros2_control hardware", "docs/foreign_drivers.md"
    for prefix in filter(None, machine.environment.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        path = Path(prefix) / "lib" / "robot_rt_control" / ROS2_CONTROL_DRIVER
        if path.is_file():
            return Finding(name, Level.OK, str(path))
    why = "Hardware whose driver is a plugin of ros2_control cannot be driven. Nothing else needs it."
    if "hardware_interface" in set(_resources(machine, "packages")):
        seen = "left out, although hardware_interface is installed"
        return Finding(name, Level.WARNING, seen, why, f"Build this package with colcon in this installation: {page}")
    return Finding(name, Level.OK, f"left out, as ros2_control is not installed: {page}")


def code_cache(machine: Machine) -> Finding:
    """The folder of compiled code."""
    from robot_rt_control.native.cache_folder import cache_root, own_folder

    folder = cache_root()
    try:
        own_folder(folder)
    except RobotControlError as error:
        return Finding("compiled code", Level.PROBLEM, error.got, "It is refused: it is code that runs.", error.hint)
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    compiled = sum(1 for _ in folder.rglob("*.nbc")) if folder.exists() else 0
    seen = f"{folder}, {compiled} compiled functions"
    if not machine.writable(existing):
        why = "Compiled code cannot be kept: each start compiles the loop again, for minutes."
        return Finding("compiled code", Level.PROBLEM, seen, why, "Set ROBOT_RT_CONTROL_CACHE to a folder of your own")
    if not compiled:
        why = "The first start compiles the loop, for one to five minutes. Nothing to mend."
        return Finding("compiled code", Level.OK, seen, why)
    return Finding("compiled code", Level.OK, seen)


def _profiles(machine: Machine) -> tuple[str, str]:
    """The variable that Fast DDS reads, and the file that it names. Fast DDS 2 (ROS 2 Jazzy) has another name."""
    prefixes = filter(None, machine.environment.get("AMENT_PREFIX_PATH", "").split(os.pathsep))
    second = any((Path(prefix) / "share/fastrtps").is_dir() for prefix in prefixes)
    variable = "FASTRTPS_DEFAULT_PROFILES_FILE" if second else "FASTDDS_DEFAULT_PROFILES_FILE"
    return variable, machine.environment.get(variable, "")


def _resources(machine: Machine, kind: str) -> Iterator[str]:
    for prefix in machine.environment.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        folder = Path(prefix) / _RESOURCES / kind
        if prefix and folder.is_dir():
            yield from (file.name for file in folder.iterdir())
