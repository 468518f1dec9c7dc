"""Kernel, limits, processors, memory: what a real-time thread needs of the machine."""

from __future__ import annotations

import re

from robot_rt_control.command_line.findings.finding import Finding, Level, Machine

PRIORITY = 80
"""The default of `realtime_priority`."""
_CAP_IPC_LOCK = 14
_SHM_BYTES = 64 << 20
"""For the channel, the images of several drivers, and Fast DDS; also what Docker gives."""
_LIMITS = "Write it to /etc/security/limits.d/realtime.conf and log in again; in Docker: --cap-add SYS_NICE "
_LIMITS += "--ulimit rtprio=98 --ulimit memlock=-1"
_QUICK_CLOCKS = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter")


def kernel(machine: Machine) -> Finding:
    """Whether the kernel is a PREEMPT_RT one."""
    release = machine.read("proc/sys/kernel/osrelease") or "unknown"
    realtime = machine.read("sys/kernel/realtime") == "1" or "PREEMPT_RT" in machine.read("proc/version")
    if realtime:
        return Finding("kernel", Level.OK, f"{release}, PREEMPT_RT")
    return Finding(
        "kernel",
        Level.WARNING,
        f"{release}, without PREEMPT_RT",
        "Under load an ordinary kernel wakes the loop up late, at times by milliseconds. Simulation does not mind.",
        "Install a PREEMPT_RT kernel and boot it (Debian: apt install linux-image-rt-amd64; Ubuntu: pro enable "
        "realtime-kernel)",
    )


def priority_limit(machine: Machine) -> Finding:
    """The limit rtprio, and whether a thread gets SCHED_FIFO."""
    limit = _limit(machine, "Max realtime priority")
    refusal = machine.take_fifo(PRIORITY)
    seen = f"SCHED_FIFO {PRIORITY} {'refused: ' + refusal if refusal else 'granted'}; limit rtprio {limit or 'unknown'}"
    if not refusal:
        return Finding("real-time priority", Level.OK, seen)
    return Finding(
        "real-time priority",
        Level.PROBLEM,
        seen,
        "The loop runs as an ordinary thread: every other process delays it.",
        f"Allow it: '<user> - rtprio 98'. {_LIMITS}. For simulation alone set realtime_priority to 0",
    )


def memory_lock(machine: Machine) -> Finding:
    """The limit memlock."""
    limit = _limit(machine, "Max locked memory")
    capabilities = re.search(r"^CapEff:\s*([0-9a-f]+)", machine.read("proc/self/status"), re.MULTILINE)
    capable = capabilities is not None and bool(int(capabilities[1], 16) >> _CAP_IPC_LOCK & 1)
    seen = f"limit memlock {limit or 'unknown'}" + (", and the capability to exceed it" if capable else "")
    if limit == "unlimited" or capable:
        return Finding("memory lock", Level.OK, seen)
    return Finding(
        "memory lock",
        Level.WARNING,
        seen,
        "The loop's memory cannot be locked: a page that was swapped out makes a tick late.",
        f"Allow it: '<user> - memlock unlimited'. {_LIMITS}",
    )


def isolation(machine: Machine) -> Finding:
    """Processors that the kernel keeps free."""
    isolated = machine.read("sys/devices/system/cpu/isolated")
    if isolated:
        return Finding("processor isolation", Level.OK, f"isolated: {isolated}; name one of them in realtime_cpu")
    return Finding(
        "processor isolation",
        Level.WARNING,
        f"none of {machine.read('sys/devices/system/cpu/online') or 'unknown'} is isolated",
        "Other processes and interrupts share the loop's processor.",
        "Boot with isolcpus=N nohz_full=N rcu_nocbs=N, and start with realtime_cpu:=N",
    )


def governor(machine: Machine) -> Finding:
    """The governors of the processors' frequency."""
    files = sorted(machine.root.glob("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"))
    governors = {machine.read(str(file.relative_to(machine.root))) for file in files}
    if not governors:
        return Finding("frequency governor", Level.OK, "none: the frequency is fixed, or the machine is a virtual one")
    seen = ", ".join(sorted(governors))
    if governors == {"performance"}:
        return Finding("frequency governor", Level.OK, seen)
    return Finding(
        "frequency governor",
        Level.WARNING,
        seen,
        "A processor that sleeps between ticks is slow when a tick begins.",
        "cpupower frequency-set -g performance; also limit deep idle states (cpupower idle-set -D 10)",
    )


def clock_source(machine: Machine) -> Finding:
    """The clock that the kernel reads."""
    source = machine.read("sys/devices/system/clocksource/clocksource0/current_clocksource") or "unknown"
    if source in _QUICK_CLOCKS:
        return Finding("clock source", Level.OK, source)
    return Finding(
        "clock source",
        Level.WARNING,
        source,
        "Each reading of the time may take microseconds; the loop reads it several times in a tick.",
        "Let the kernel use tsc: remove clocksource= and notsc from its command line, update the firmware",
    )


def shared_memory(machine: Machine) -> Finding:
    """Free space for the channel between the processes."""
    free = machine.free_bytes(machine.root / "dev/shm")
    seen = f"{free >> 20} MB free in /dev/shm"
    if free >= _SHM_BYTES:
        return Finding("shared memory", Level.OK, seen)
    return Finding(
        "shared memory",
        Level.PROBLEM,
        seen,
        f"Executor, control server, drivers and DDS share memory there: they need about {_SHM_BYTES >> 20} MB.",
        "mount -o remount,size=512M /dev/shm; in Docker: --shm-size 512m; remove what is left of dead processes",
    )


def compilers(machine: Machine) -> Finding:
    """The compilers of action types in C and C++."""
    from robot_rt_control.native.c_compiler import Language, command_of, wanted

    found = {each: command_of(each, machine.environment, machine.find_program) for each in Language}
    absent = [each for each, command in found.items() if not command]
    missing = [f"{each} (looked for {wanted(each, machine.environment)})" for each in absent]
    seen = ", ".join(f"{each}: {' '.join(command)}" for each, command in found.items() if command) or "none"
    if not missing:
        return Finding("C and C++ compilers", Level.OK, seen)
    return Finding(
        "C and C++ compilers",
        Level.WARNING,
        f"{seen}; missing: {', '.join(missing)}",
        "Action types whose real-time code is C or C++ cannot be loaded. Those in Python need no compiler.",
        "Debian, Ubuntu: apt install build-essential; or name one in CC and CXX",
    )


def _limit(machine: Machine, name: str) -> str:
    """A soft limit of this process; empty: unknown."""
    found = re.search(rf"^{name}\s+(\S+)", machine.read("proc/self/limits"), re.MULTILINE)
    return found[1] if found else ""
