"""ros2_control and this package beside each other: seven joints on mock hardware at 1 kHz, in turns, on the same core.

    python bench/beside_ros2_control.py [--quick] [--output FOLDER]

It needs an installation of ROS with ros2_control and joint_trajectory_controller, and the machine for itself. Results
are a table, `beside_ros2_control.json` and `beside_ros2_control.png`. docs/compared.md says what was measured.
"""

from __future__ import annotations

import argparse
import gc
import os
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import compared_tasks as tasks  # noqa: E402  (needs the path)
from bench.compared_traces import (  # noqa: E402
    Trace,
    first_beyond,
    largest_acceleration,
    switched_at,
)
from bench.goal_latency import time_goals_of  # noqa: E402
from bench.process_usage import (  # noqa: E402
    processor_seconds,
    pss_bytes,
    with_descendants,
)
from bench.report import Options, Report, load_average, machine, save, show  # noqa: E402
from bench.ros2_control_host import (  # noqa: E402
    CONTROLLER,
    JOINTS,
    OTHER,
    START,
    Cycles,
    Ros2ControlHost,
    durations_and_wakes,
    later_than_due,
    measured_positions,
    node_program,
    trace_of,
    versions,
    wait_until,
)
from bench.soak import busy_loops  # noqa: E402
from bench.wakeup_lateness import of_cyclictest  # noqa: E402
from robot_rt_control.memory.histogram import BINS_PER_OCTAVE  # noqa: E402
from robot_rt_control.memory.layout import channel_dtype  # noqa: E402
from robot_rt_control.memory.segment_names import channel_name  # noqa: E402
from robot_rt_control.memory.shared_memory import Segment  # noqa: E402
from robot_rt_control.recording.tick_reader import TickFile  # noqa: E402

_NAME = "beside_ros2_control"
_ROUNDS, _GOALS, _SWITCHES = 3, 20, 4
_SECONDS = 4.0
_SETTLE_S = 2.0
_RATE, _PRIORITY, _CPU = 1000, 80, 1
_BUSY, _NICE = 2, -10
_STARTUP_S = 900.0
"""The first time after a change, the loop is compiled."""
_PERIOD_NS = 10**9 // _RATE
_THRESHOLD = 0.25
"""Of the task "switch on a sensor" [rad]."""
_TASK_S = 60.0
_LOADS = (("calm", 0), ("busy", _BUSY))
_QUANTILES = ((0.5, 1), (0.99, 50), (0.999, 500))
"""Each with the number of values from which on it is shown."""
THEIRS, OURS = "ros2_control", "here"

Samples = dict[str, list[float]]
"""What was measured → its values."""


@dataclass
class Measured:
    """All turns.

    Attributes:
        samples: of each side.
        ran: of each side, the tasks that were run, with what ran.
        reference: of cyclictest, calm and busy: latenesses [µs], to the bin's edge. Empty: it is not installed.
        loads: load averages before the turns.
        came, due: cycles of ros2_control whose statistics have come, and all that there were, calm and busy.
    """

    samples: dict[str, Samples] = field(default_factory=lambda: {THEIRS: defaultdict(list), OURS: defaultdict(list)})
    ran: dict[str, dict[str, str]] = field(default_factory=lambda: {THEIRS: {}, OURS: {}})
    reference: Samples = field(default_factory=lambda: defaultdict(list))
    loads: list[float] = field(default_factory=list)
    came: Counter[str] = field(default_factory=Counter)
    due: Counter[str] = field(default_factory=Counter)


def measure(options: Options, of: dict[str, Any]) -> Report:
    """Measure both sides in turns.

    Args:
        options: how much.
        of: what the numbers belong to: goes into the file that each round writes anew.

    Raises:
        FileNotFoundError: ros2_control is not installed.
    """
    node_program()  # before anything starts: is it there?
    from robot_rt_control.testing.ros_domain import claim_domain

    os.environ["ROS_DOMAIN_ID"] = str(claim_domain("bench"))
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    found = Measured()
    for i in range(1 if options.quick else _ROUNDS):
        for turn in (_their_turn, _our_turn):
            found.loads.append(load_average())
            turn(options, found, run_tasks=i == 0)
        if shutil.which("cyclictest") is not None:
            for name, busy in _LOADS:
                with busy_loops(busy):
                    found.reference[name] += _values(of_cyclictest(_RATE, _SECONDS)[0])
        report = _report(options, found)
        save(report, _NAME, options.output, of)  # the rounds until now, should a later one fail
    return report


def _report(options: Options, found: Measured) -> Report:
    theirs, ours = found.samples[THEIRS], found.samples[OURS]
    rows = [
        [name, *shown(theirs.get(name, [])), *shown(ours.get(name, []))]
        for name in dict.fromkeys([*theirs, *ours])  # in the order of measuring
    ]
    lines = {
        side: {task: tasks.lines_of_task(folder, task) for task in tasks.TASKS}
        for side, folder in ((THEIRS, tasks.ROS2_CONTROL), (OURS, tasks.HERE))
    }
    for task, name in tasks.TASKS.items():
        cells = [[str(lines[side][task]), "", ""] for side in (THEIRS, OURS)]
        rows.append([f"lines of user code: {name}", *cells[0], *cells[1]])
    picture = options.output / f"{_NAME}.png"
    draw({**{side: found.samples[side] for side in found.samples}, "cyclictest": found.reference}, picture)
    reference = ", ".join(f"{name} {np.percentile(x, 99.9):.0f} µs" for name, x in found.reference.items())
    return Report(
        title="ros2_control and this package, seven joints on mock hardware at 1 kHz",
        columns=["", "ros2_control: median", "p99", "p99.9", "here: median", "p99", "p99.9"],
        rows=rows,
        notes=[
            f"In turns, real-time threads under SCHED_FIFO {_PRIORITY} on processor {_CPU}; "
            f"load average {min(found.loads):.2f} to {max(found.loads):.2f} before them. "
            f"Busy: beside {_BUSY} processes that only compute. "
            "A wake-up is late by what it came later than the earliest one of its turn; there, by stamps of messages, "
            f"of which {_share(found, 'calm')} came, and {_share(found, 'busy')} busy, without whole periods.",
            f"Lateness of cyclictest in the same run, p99.9: {reference or 'it is not installed'}.",
            *(
                f"Tasks that ran, {side}: {'; '.join(f'{a}: {b}' for a, b in of.items())}."
                for side, of in found.ran.items()
            ),
            "How soon an edited behaviour runs is not measured: a controller of ros2_control would have to be built.",
            f"Plot: {picture}",
        ],
        data={
            **{side: {name: np.round(x, 2).tolist() for name, x in of.items()} for side, of in found.samples.items()},
            "cyclictest": {name: np.round(x, 2).tolist() for name, x in found.reference.items()},
            "lines": lines,
            "ran": found.ran,
            "versions": versions(),
            "load_average": found.loads,
        },
    )


def _share(found: Measured, name: str) -> str:
    return f"{100.0 * found.came[name] / found.due[name]:.0f} %"


def shown(values: Sequence[float]) -> list[str]:
    """Median, p99 and p99.9, as far as there are values enough for them."""
    if not values:
        return ["", "", ""]
    return [f"{np.quantile(values, q):,.1f}" if len(values) >= least else "" for q, least in _QUANTILES]


def _of_processes(pid: int, into: Samples) -> None:
    """Memory and processor time of a process and all that it started."""
    tree = with_descendants(pid)
    into["memory of all processes, PSS [MB]"].append(sum(map(pss_bytes, tree)) / 1e6)
    before = sum(map(processor_seconds, tree))
    time.sleep(_SECONDS)
    used = sum(map(processor_seconds, tree)) - before
    into["processor, idle [% of one]"].append(100.0 * used / _SECONDS)


def _their_turn(options: Options, found: Measured, run_tasks: bool) -> None:
    from robot_rt_control.client import Client

    into, log = found.samples[THEIRS], options.output / "ros2_control.log"
    with (
        Client("bench") as client,  # its node spins in a thread
        Ros2ControlHost(client.node, log, rate=_RATE, priority=_PRIORITY, cpu=_CPU) as host,
    ):
        into["start until active [ms]"].append(1e3 * host.started_s)
        time.sleep(_SETTLE_S)
        _of_processes(host.pid, into)
        for name, busy in _LOADS:
            with host.statistics() as cycles, busy_loops(busy), favoured():
                time.sleep(0.5)
                cycles.clear()
                time.sleep(_SECONDS)
                taken, wakes = durations_and_wakes(cycles)
            found.came[name] += len(wakes)
            found.due[name] += 1 + round((wakes[-1] - wakes[0]) / _PERIOD_NS)
            into[f"cycle, {name} [µs]"] += (taken / 1e3).tolist()
            into[f"lateness, {name} [µs]"] += (later_than_due(wakes, _PERIOD_NS) / 1e3).tolist()
        with host.interfaces() as interfaces:
            _their_goals(client.node, options, interfaces, into)
            for _ in range(options.amount(_SWITCHES)):
                _their_switch(client.node, host, interfaces, into)
            found.ran[THEIRS][tasks.TASKS["switch_on_sensor"]] = "as above"
            if run_tasks:
                _their_tasks(client.node, interfaces, found.ran[THEIRS])


def _their_goals(node: Any, options: Options, interfaces: Cycles, into: Samples) -> None:
    command = f"command_interface.{JOINTS[0]}/position"
    first: list[float] = []

    def changed() -> float:
        """Stamp [s] of the first cycle whose command is not `first`; 0: none yet."""
        for stamp, (value,) in interfaces.take(command):
            if not first:
                first.append(value)
            elif value != first[0]:
                return stamp * 1e-9
        return 0.0

    def clear() -> None:
        first.clear()
        interfaces.clear()
        wait_until(lambda: changed() or bool(first), "a cycle")

    def trace() -> Trace:
        found = trace_of(interfaces)
        interfaces.clear()
        return found

    _goals(
        node,
        options,
        positions=lambda: measured_positions(interfaces),
        clear=clear,
        commanded=changed,
        cancelled=(interfaces.clear, trace),
        into=into,
    )


def _their_switch(node: Any, host: Ros2ControlHost, interfaces: Cycles, into: Samples) -> None:
    """From the cycle that measures a joint beyond a threshold to the first one that the other controller commands."""
    _send(node, START, 1.5)
    with _their_program("switch_on_sensor") as program:
        wait_until(lambda: node.count_subscribers(f"{CONTROLLER}/controller_state"), "the node of the task")
        time.sleep(0.5)
        interfaces.clear()
        _send(node, (1.0, *START[1:]), 2.0, follow=False)
        if program.wait(_TASK_S):
            raise RuntimeError(f"the task ended with code {program.returncode}")
    time.sleep(0.1)
    trace = trace_of(interfaces)
    begin = first_beyond(trace, _THRESHOLD)
    end = switched_at(trace, begin)
    into["condition on a joint → other behaviour commands [ms]"].append(
        1e3 * (trace.seconds[end] - trace.seconds[begin])
    )
    host.switch(CONTROLLER, OTHER)


@contextmanager
def _their_program(task: str) -> Iterator[subprocess.Popen[bytes]]:
    (file,) = (f for f in tasks.files(tasks.ROS2_CONTROL, task) if f.suffix == ".py")
    program = subprocess.Popen([sys.executable, str(file)])
    try:
        yield program
    finally:
        program.kill()
        program.wait()


def _their_tasks(node: Any, interfaces: Cycles, ran: dict[str, str]) -> None:
    """Run what can be run without more packages; whoever is not named was not run."""
    from geometry_msgs.msg import WrenchStamped
    from rclpy.qos import qos_profile_sensor_data

    for task in ("follow_trajectory", "follow_stream", "stop_on_contact"):
        _send(node, START, 1.5)
        interfaces.clear()
        wrench = node.create_publisher(WrenchStamped, "force_torque_sensor_broadcaster/wrench", qos_profile_sensor_data)
        with _their_program(task) as program:
            end = time.monotonic() + _TASK_S
            message = WrenchStamped()
            while program.poll() is None and time.monotonic() < end:
                time.sleep(0.01)
                if task == "stop_on_contact":
                    measured = measured_positions(interfaces)[0]
                    message.wrench.force.z = 6.0 if measured > 0.2 else 0.0
                    wrench.publish(message)
            if program.returncode != 0:
                raise RuntimeError(f"{task} of ros2_control ended with code {program.returncode}")
        node.destroy_publisher(wrench)
        if task == "stop_on_contact":
            time.sleep(0.2)
            interfaces.clear()
            at = measured_positions(interfaces)[0]
            if not 0.2 < at < 0.5:
                raise RuntimeError(f"the arm did not stop on contact, but at {at:.3f} rad")
        ran[tasks.TASKS[task]] = (
            "with wrenches that the benchmark publishes" if task == "stop_on_contact" else "as above"
        )


def _send(node: Any, positions: Sequence[float], seconds: float, *, follow: bool = True) -> None:
    """Send the trajectory controller to a point, and wait until it is there if asked to."""
    from action_msgs.msg import GoalStatus
    from builtin_interfaces.msg import Duration
    from control_msgs.action import FollowJointTrajectory
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    from robot_rt_control.ros.goal_client import GoalClient

    client = GoalClient(node, FollowJointTrajectory, f"{CONTROLLER}/follow_joint_trajectory")
    try:
        if not client.wait_for_server(_TASK_S):
            raise TimeoutError(f"{CONTROLLER} offers no follow_joint_trajectory")
        time_from_start = Duration(sec=int(seconds), nanosec=int(seconds % 1 * 1e9))
        point = JointTrajectoryPoint(positions=list(map(float, positions)), time_from_start=time_from_start)
        goal = FollowJointTrajectory.Goal(trajectory=JointTrajectory(joint_names=list(JOINTS), points=[point]))
        sent = client.send_goal_async(goal)
        wait_until(sent.done, "an answer to a goal")
        if not sent.result().accepted:
            raise RuntimeError("a goal was rejected: the log says why")
        if follow:
            result = sent.result().get_result_async()
            wait_until(result.done, "the end of a goal")
            if result.result().status != GoalStatus.STATUS_SUCCEEDED:
                raise RuntimeError(f"a goal ended with status {result.result().status}: the log says why")
    finally:
        client.destroy()


def _our_turn(options: Options, found: Measured, run_tasks: bool) -> None:
    from robot_rt_control.client import Client
    from robot_rt_control.demo.demo_workcell import DemoWorkcell

    into = found.samples[OURS]
    arguments = ["--workcell", "arm7", "--hardware", "mock", "--controllers", "true", "--no-frames"]
    arguments += ["--cpu", str(_CPU), "--priority", str(_PRIORITY)]
    begin = time.monotonic()
    with DemoWorkcell(arguments, options.output / "own_workcell.log") as workcell, Client("bench") as client:
        workcell.wait_until_ready(client, lambda _: None, _STARTUP_S)
        into["start until active [ms]"].append(1e3 * (time.monotonic() - begin))
        time.sleep(_SETTLE_S)
        _of_processes(workcell.pid, into)
        for name, busy in _LOADS:
            with busy_loops(busy), loop_timing() as timing:
                time.sleep(0.5)
                lateness, compute = timing.lateness.copy(), timing.compute.copy()
                time.sleep(_SECONDS)
                late, taken = _values(timing.lateness - lateness), _values(timing.compute - compute)
                del timing
            into[f"cycle, {name} [µs]"] += taken
            into[f"lateness, {name} [µs]"] += [x - late[0] for x in late]
        _our_goals(client, options, into)
        for _ in range(options.amount(_SWITCHES)):
            _our_switch(client, into)
        found.ran[OURS][tasks.TASKS["switch_on_sensor"]] = "as above"
        if run_tasks:
            for task in ("follow_trajectory", "follow_stream"):
                client.run_action("move_joint", "arm", position=list(START))
                tasks.load(task).main(client)
                found.ran[OURS][tasks.TASKS[task]] = "as above"
    if run_tasks:
        _our_tasks_in_simulated_time(found.ran[OURS])


def _our_goals(client: Any, options: Options, into: Samples) -> None:
    started: list[float] = []

    def listen(event: Any) -> None:
        if event.kind == "action_started" and event.session:
            started.append(event.time)

    client.add_listener(listen)
    joints = [f"arm.{joint}.position" for joint in JOINTS]
    _goals(
        client.node,
        options,
        positions=lambda: [client.value(joint) for joint in joints],
        clear=started.clear,
        commanded=lambda: started[0] if started else 0.0,
        cancelled=(lambda: client.record(True), lambda: _recorded(client)),
        into=into,
    )
    client.remove_listener(listen)


def _recorded(client: Any) -> Trace:
    """End the recording of the executor, and read it."""
    path = Path(client.record(False))
    arrays = TickFile(path).arrays()
    path.unlink()
    return Trace(
        seconds=1e-9 * (arrays["time_ns"] - arrays["time_ns"][0]),
        measured=arrays["arm.position"][:, 0],
        commanded=arrays["arm.commanded_position"][:, 0],
        behaviour=arrays["arm.action"],
    )


def _our_switch(client: Any, into: Samples) -> None:
    """As `_their_switch`."""
    client.run_action("move_joint", "arm", position=list(START))
    client.record(True)
    tasks.load("switch_on_sensor").main(client)
    trace = _recorded(client)
    begin = first_beyond(trace, _THRESHOLD)
    end = switched_at(trace, begin)
    into["condition on a joint → other behaviour commands [ms]"].append(
        1e3 * (trace.seconds[end] - trace.seconds[begin])
    )


def _our_tasks_in_simulated_time(ran: dict[str, str]) -> None:
    """What needs a sensor that feels something."""
    from robot_rt_control.testing.lockstep_client import LockstepClient

    config = Path(__file__).resolve().parents[1] / "config"
    with LockstepClient(config / "arm7.yaml") as client:
        client.cell.drive_sensor("wrist/force.z", lambda: 6.0 if client.value("arm.position[0]") > 0.2 else 0.0)
        tasks.load("stop_on_contact").main(client)
        if not 0.2 < client.value("arm.position[0]") < 0.5:
            raise RuntimeError("the arm did not stop on contact")
    ran[tasks.TASKS["stop_on_contact"]] = "in simulated time, with a mock sensor"
    with LockstepClient(config / "contact.yaml") as client:
        weight = client.value("wrist.force.z")
        tasks.load("hold_force").main(client)
        felt = weight - client.value("wrist.force.z")
        if not 4.5 < abs(felt) < 5.5:
            raise RuntimeError(f"the arm presses with {felt:.2f} N, not with 5 N")
    ran[tasks.TASKS["hold_force"]] = "in simulated time, on a simulated surface"


@contextmanager
def favoured() -> Iterator[None]:
    """The threads of this process get processor time before busy loops, to take messages as they come, if permitted."""
    threads = [int(task.name) for task in Path("/proc/self/task").iterdir()]
    with suppress(PermissionError):
        for thread in threads:
            os.setpriority(os.PRIO_PROCESS, thread, _NICE)
    try:
        yield
    finally:
        for thread in threads:
            with suppress(OSError):  # it has ended, or nothing was permitted
                os.setpriority(os.PRIO_PROCESS, thread, 0)


@contextmanager
def loop_timing() -> Iterator[Any]:
    """The histograms of the running executor's loop. Keep no reference to them."""
    segment = Segment.attach(channel_name("/", os.environ["ROS_DOMAIN_ID"]), channel_dtype.itemsize)
    try:
        yield np.frombuffer(segment.buffer, channel_dtype, 1)[0].timing
    finally:
        gc.collect()
        segment.close()


def _values(counts: np.ndarray) -> list[float]:
    """The upper edge [µs] of each count's bin, in order."""
    edges = 2.0 ** (np.arange(1, len(counts) + 1) / BINS_PER_OCTAVE) * 1e-3
    return np.repeat(edges, counts).tolist()


def _goals(
    node: Any,
    options: Options,
    *,
    positions: Callable[[], list[float]],
    clear: Callable[[], object],
    commanded: Callable[[], float],
    cancelled: tuple[Callable[[], object], Callable[[], Trace]],
    into: Samples,
) -> None:
    n = max(2, options.amount(_GOALS))
    measured = time_goals_of(node, JOINTS, positions=positions, clear=clear, commanded=commanded, n=n)
    for name, seconds in measured.items():
        into[f"goal: {name} [ms]"] += (1e3 * seconds[1:]).tolist()
    into["the first goal after the start: the first command leaves [ms]"].append(
        1e3 * measured["the first command leaves"][0]
    )
    begin, end = cancelled
    traces: list[Trace] = []
    # One more goal, whose cancellation is traced: what the drive of the joint would see.
    time_goals_of(
        node,
        JOINTS,
        positions=positions,
        clear=clear,
        commanded=commanded,
        n=1,
        before_cancel=begin,
        after_rest=lambda: traces.append(end()),
    )
    into["cancel: largest commanded acceleration [rad/s²]"].append(largest_acceleration(traces[0]))


def draw(latenesses: dict[str, Samples], path: Path) -> None:
    """Which fraction of the wake-ups is later than so much, calm and busy."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    colors = {THEIRS: "tab:orange", OURS: "tab:blue", "cyclictest": "tab:gray"}
    figure, both = pyplot.subplots(1, 2, figsize=(9, 3.8), sharex=True, sharey=True, layout="constrained")
    for axes, (name, _) in zip(both, _LOADS, strict=True):
        for side, samples in latenesses.items():
            values = np.sort(samples.get(f"lateness, {name} [µs]", samples.get(name, [])))
            if len(values):
                later = 1.0 - np.arange(1, len(values) + 1) / len(values)
                axes.step(values[:-1], later[:-1], color=colors[side], label=side)
        axes.set(xscale="log", yscale="log", xlabel="lateness [µs]", title=name, xlim=(1.0, None))
        axes.grid(True, which="both", alpha=0.3)
    both[0].set_ylabel("fraction of wake-ups that are later")
    both[0].legend(frameon=False)
    figure.savefig(path, dpi=100)
    pyplot.close(figure)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="measure a fraction: to see that all works")
    parser.add_argument("--output", type=Path, default=Path(".build/bench"), help="folder (default: %(default)s)")
    given = parser.parse_args(argv)
    given.output.mkdir(parents=True, exist_ok=True)
    console = Console() if sys.stdout.isatty() else Console(width=140)
    of = machine()
    try:
        report = measure(Options(quick=given.quick, output=given.output, console=console), of)
    except FileNotFoundError as error:
        print(f"beside_ros2_control: {error}", file=sys.stderr)
        return 1
    show(console, report)
    print(save(report, _NAME, given.output, of))
    return 0


if __name__ == "__main__":
    sys.exit(main())
