"""Findings on machines that the tests make up."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from robot_rt_control.command_line import doctor
from robot_rt_control.command_line.exit_codes import ExitCode
from robot_rt_control.command_line.findings.finding import Finding, Level, Machine
from robot_rt_control.command_line.findings.machine import (
    clock_source,
    compilers,
    governor,
    isolation,
    kernel,
    memory_lock,
    priority_limit,
    shared_memory,
)
from robot_rt_control.command_line.findings.ros_setup import (
    OPTIONAL,
    REQUIRED,
    code_cache,
    discovery,
    foreign_hardware,
    lost_packets,
    messages_in_memory,
    middleware,
    packages,
)
from robot_rt_control.command_line.main import main

GOOD = {
    "proc/sys/kernel/osrelease": "6.1.0-rt",
    "sys/kernel/realtime": "1",
    "proc/self/limits": "Limit  Soft\nMax realtime priority  98  98\nMax locked memory  unlimited  unlimited",
    "sys/devices/system/cpu/isolated": "3",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc",
    "dev/shm/x": "",
    "ros/share/ament_index/resource_index/rmw_typesupport/rmw_fastrtps_cpp": "",
} | {f"ros/share/ament_index/resource_index/packages/{package}": "" for package in (*REQUIRED, *OPTIONAL)}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """One on which all is in order."""
    for name, text in GOOD.items():
        write(tmp_path, name, text)
    return Machine(
        root=tmp_path,
        environment={"AMENT_PREFIX_PATH": str(tmp_path / "ros"), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"},
        take_fifo=lambda _: "",
        free_bytes=lambda _: 1 << 30,
        writable=lambda _: True,
        importable=lambda _: False,
        find_program=lambda name: f"/usr/bin/{name}",
    )


def write(root: Path, name: str, text: str) -> None:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + "\n")


def test_nothing_to_complain_about(machine: Machine) -> None:
    found = list(doctor.findings(machine))
    assert [f.level for f in found] == [Level.OK] * 16
    assert len({f.name for f in found}) == 16 and all(f.seen for f in found)


Check = Callable[[Machine], Finding]


@pytest.mark.parametrize(
    ("check", "file", "text", "level", "seen", "mend"),
    [
        (kernel, "sys/kernel/realtime", "0", Level.WARNING, "6.1.0-rt, without PREEMPT_RT", "linux-image-rt"),
        (memory_lock, "proc/self/limits", "Max locked memory  8388608 8388608", Level.WARNING, "8388608", "memlock"),
        (isolation, "sys/devices/system/cpu/isolated", "", Level.WARNING, "none of ", "isolcpus"),
        (
            *(governor, "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave", Level.WARNING),
            *("performance, powersave", "cpupower"),
        ),
        (
            *(clock_source, "sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet", Level.WARNING),
            *("hpet", "tsc"),
        ),
    ],
)
def test_what_a_machine_lacks(
    machine: Machine, check: Check, file: str, text: str, level: Level, seen: str, mend: str
) -> None:
    write(machine.root, file, text)
    found = check(machine)
    assert found.level == level and seen in found.seen and mend in found.mend and found.why


def test_a_kernel_says_in_its_version_that_it_is_a_real_time_one(machine: Machine) -> None:
    (machine.root / "sys/kernel/realtime").unlink()
    assert kernel(machine).level == Level.WARNING
    write(machine.root, "proc/version", "Linux version 6.1.0 #1 SMP PREEMPT_RT Debian")
    assert kernel(machine).level == Level.OK


def test_a_capability_stands_for_a_limit(machine: Machine) -> None:
    write(machine.root, "proc/self/limits", "Max locked memory  8388608 8388608")
    write(machine.root, "proc/self/status", "Name: x\nCapEff:\t0000000000004000")
    assert memory_lock(machine).level == Level.OK


def test_no_governor_is_in_order(machine: Machine) -> None:
    (machine.root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").unlink()
    assert governor(machine).level == Level.OK


def test_a_refused_priority_is_a_problem(machine: Machine) -> None:
    write(machine.root, "proc/self/limits", "Max realtime priority  0  0")
    found = priority_limit(replace(machine, take_fifo=lambda _: "Operation not permitted"))
    assert found.level == Level.PROBLEM and "--cap-add SYS_NICE" in found.mend
    assert found.seen == "SCHED_FIFO 80 refused: Operation not permitted; limit rtprio 0"


def test_little_shared_memory_is_a_problem(machine: Machine) -> None:
    found = shared_memory(replace(machine, free_bytes=lambda _: 10 << 20))
    assert found.level == Level.PROBLEM and found.seen == "10 MB free in /dev/shm"


@pytest.mark.parametrize(
    ("variables", "level", "text"),
    [
        ({}, Level.OK, ""),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}, Level.WARNING, "can command and stop this workcell"),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET", "ROS_SECURITY_ENABLE": "true"}, Level.OK, ""),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHSOT"}, Level.PROBLEM, "did you mean 'LOCALHOST'"),
        ({"ROS_DOMAIN_ID": "150"}, Level.PROBLEM, "a domain from 0 to 101"),
        ({"ROS_DOMAIN_ID": "x"}, Level.PROBLEM, "a domain from 0 to 101"),
    ],
)
def test_who_finds_the_nodes(machine: Machine, variables: dict[str, str], level: Level, text: str) -> None:
    found = discovery(replace(machine, environment={**machine.environment, **variables}))
    assert found.level == level and text in found.why


@pytest.mark.parametrize(
    ("variables", "level"),
    [
        ({}, Level.OK),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}, Level.WARNING),
        ({"ROS_STATIC_PEERS": "192.168.1.20"}, Level.WARNING),
        ({"ROS_DISCOVERY_SERVER": "192.168.1.10:11811"}, Level.WARNING),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET", "FASTDDS_DEFAULT_PROFILES_FILE": "fastdds.xml"}, Level.OK),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET", "RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp"}, Level.OK),
    ],
)
def test_lost_packets_are_sent_again_soon(machine: Machine, variables: dict[str, str], level: Level) -> None:
    found = lost_packets(replace(machine, environment={**machine.environment, **variables}))
    assert found.level == level and ("3 s" in found.why) == (level == Level.WARNING)


def test_local_users_read_shared_memory_unless_the_profile_counts(machine: Machine) -> None:
    def found(reach: str, profile: str) -> tuple[Level, str]:
        variables = {"ROS_AUTOMATIC_DISCOVERY_RANGE": reach, "FASTDDS_DEFAULT_PROFILES_FILE": profile}
        made = messages_in_memory(replace(machine, environment={**machine.environment, **variables}))
        return made.level, made.seen

    without = "/x/fastdds_no_shared_memory.xml"
    assert found("LOCALHOST", "") == (Level.OK, "readable by local users, as by default: docs/security.md")
    assert found("SYSTEM_DEFAULT", without) == (Level.OK, "none")
    assert found("LOCALHOST", without) == (Level.PROBLEM, f"{without}, LOCALHOST")


def test_fast_dds_2_reads_profiles_of_its_own(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "share/fastrtps").mkdir(parents=True)
    variables = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET", "FASTDDS_DEFAULT_PROFILES_FILE": "fastdds.xml"}
    variables["AMENT_PREFIX_PATH"] = f"{tmp_path}"
    found = lost_packets(replace(machine, environment=variables))
    assert "FASTRTPS_DEFAULT_PROFILES_FILE=…/share/robot_rt_control/config/fastrtps.xml" in found.mend
    variables["FASTRTPS_DEFAULT_PROFILES_FILE"] = "fastrtps.xml"
    assert lost_packets(replace(machine, environment=variables)).level == Level.OK


def test_another_users_cache_is_a_problem(machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROBOT_RT_CONTROL_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    found = code_cache(machine)
    assert found.level == Level.PROBLEM and found.seen == f"{tmp_path}/cache can be written by others (mode 777)"


def test_the_middleware_must_be_installed(machine: Machine) -> None:
    wanted = {**machine.environment, "RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp"}
    found = middleware(replace(machine, environment=wanted))
    assert found.level == Level.PROBLEM and found.seen == "rmw_cyclonedds_cpp; installed: rmw_fastrtps_cpp"
    assert middleware(replace(machine, environment={})).seen == "the default; installed: none"


def test_missing_packages_are_told_with_what_they_are_for(machine: Machine) -> None:
    folder = machine.root / "ros/share/ament_index/resource_index/packages"
    (folder / "rclpy").unlink()
    (folder / "rviz2").unlink()
    required, optional = packages(machine)
    assert (required.level, required.seen, required.why) == (Level.PROBLEM, "missing: rclpy", "rclpy: all nodes.")
    assert (optional.level, optional.why) == (Level.WARNING, "rviz2: a picture of the robot.")
    (folder / "tf2_msgs").unlink()
    assert "./run interfaces" in list(packages(machine))[1].mend and "./run interfaces" not in optional.mend
    assert all(found.level == Level.OK for found in packages(replace(machine, importable=lambda _: True)))


def test_I28_the_driver_for_ros2_control_hardware_is_told(machine: Machine) -> None:
    found = foreign_hardware(machine)
    assert (found.level, found.seen[:43]) == (Level.OK, "left out, as ros2_control is not installed:")
    (machine.root / "ros/share/ament_index/resource_index/packages/hardware_interface").touch()
    found = foreign_hardware(machine)
    assert found.level == Level.WARNING and "Build this package with colcon" in found.mend
    program = machine.root / "ros/lib/robot_rt_control/ros2_control_driver"
    program.parent.mkdir(parents=True)
    program.touch()
    assert foreign_hardware(machine).seen == str(program)


def test_the_cache_must_be_writable(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROBOT_RT_CONTROL_CACHE", str(machine.root / "new" / "cache"))
    assert code_cache(machine).seen == f"{machine.root / 'new' / 'cache'}, 0 compiled functions"
    # What decides is the folder that exists.
    found = code_cache(replace(machine, writable=lambda folder: folder != machine.root))
    assert found.level == Level.PROBLEM
    assert code_cache(replace(machine, writable=lambda folder: folder == machine.root)).level == Level.OK


def test_the_compilers_of_c_are_found_as_builds_find_them(machine: Machine) -> None:
    assert compilers(machine).seen == "C: /usr/bin/cc, C++: /usr/bin/c++"
    ours = replace(machine, environment={**machine.environment, "CC": "ccache gcc-13 -m64", "CXX": "nowhere"})
    found = compilers(replace(ours, find_program=lambda name: None if name == "nowhere" else f"/opt/{name}"))
    assert found.seen == "C: /opt/ccache gcc-13 -m64; missing: C++ (looked for $CXX = nowhere)"
    none = compilers(replace(machine, find_program=lambda name: None))
    assert none.level == Level.WARNING and none.seen.startswith("none; missing: C (looked for cc, gcc, clang), C++")
    assert "apt install build-essential" in none.mend


def test_only_problems_fail_unless_strict(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "this_machine", lambda: machine)
    write(machine.root, "sys/devices/system/cpu/isolated", "")
    assert main(["doctor"]) == ExitCode.DONE
    assert "warning  processor isolation: none of" in capsys.readouterr().out
    assert main(["doctor", "--strict"]) == ExitCode.FAILED
    monkeypatch.setattr(doctor, "this_machine", lambda: replace(machine, take_fifo=lambda _: "no"))
    capsys.readouterr()
    assert main(["doctor", "--json"]) == ExitCode.FAILED
    levels = [finding["level"] for finding in json.loads(capsys.readouterr().out)["findings"]]
    assert levels.count("problem") == 1 and levels.count("warning") == 1


def test_this_machine_can_be_examined() -> None:
    assert len(list(doctor.findings(doctor.this_machine()))) == 16
