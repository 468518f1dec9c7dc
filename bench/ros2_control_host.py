"""ros2_control with two trajectory controllers on mock hardware, in a process of its own: the measure of this package.

It needs an installation of ROS with ros2_control and its controllers. What is measured comes from the topics of its
controller manager: the state and command of each cycle, and how long the cycle took.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from bench.compared_traces import Trace
from robot_rt_control.processes.parent_death import end_with_parent

ROBOT = Path(__file__).resolve().parents[1] / "config" / "robots" / "arm7.urdf"
JOINTS = tuple(f"joint_{i}" for i in range(1, 8))
START = (0.0, 0.5236, 0.0, 1.5708, 0.0, 1.0472, 0.0)
CONTROLLER, OTHER = "arm_controller", "hold_controller"
_TYPE = "joint_trajectory_controller/JointTrajectoryController"
_NEEDED = ("controller_manager", "hardware_interface", "joint_trajectory_controller")
_PATIENCE_S = 30.0
_BIN_NS, _FEW = 10_000, 0.002
"""Of phases of wake-ups; and the share of all that a bin has at least where they begin to come."""
_EARLY_NS = 50_000
"""As much before that phase a wake-up is on time."""
_KEPT = 1_000_000
"""Messages of each topic: more than a turn has."""


def node_program() -> Path:
    """The program `ros2_control_node` of this installation.

    Raises:
        FileNotFoundError: packages are missing; the text names them.
    """
    from ament_index_python.packages import PackageNotFoundError, get_package_prefix

    prefixes, missing = {}, []
    for package in _NEEDED:
        try:
            prefixes[package] = get_package_prefix(package)
        except PackageNotFoundError:
            missing.append(package)
    program = Path(prefixes.get("controller_manager", "")) / "lib" / "controller_manager" / "ros2_control_node"
    if not missing and not program.is_file():
        missing.append(str(program))
    if missing:
        raise FileNotFoundError(
            f"ros2_control is not installed: {', '.join(missing)} not found. Install it (ros-$ROS_DISTRO-ros2-control, "
            "ros-$ROS_DISTRO-joint-trajectory-controller), source that installation and this package, and call again"
        )
    return program


def versions() -> dict[str, str]:
    """Package → version, of what is measured."""
    from ament_index_python.packages import get_package_share_directory

    found = {}
    for package in _NEEDED:
        manifest = (Path(get_package_share_directory(package)) / "package.xml").read_text()
        found[package] = manifest.partition("<version>")[2].partition("</version>")[0].strip()
    return found


def description() -> str:
    """The arm's URDF with a tag for mock hardware."""
    joints = "".join(
        f'<joint name="{name}"><command_interface name="position"/><state_interface name="position">'
        f'<param name="initial_value">{start}</param></state_interface><state_interface name="velocity"/></joint>'
        for name, start in zip(JOINTS, START, strict=True)
    )
    plugin = "<hardware><plugin>mock_components/GenericSystem</plugin></hardware>"
    tag = f'<ros2_control name="mock" type="system">{plugin}{joints}</ros2_control>'
    return ROBOT.read_text().replace("</robot>", f"{tag}</robot>")


class Cycles:
    """What a topic of statistics says of each cycle, in the order of cycles.

    Args:
        node: that subscribes.
        topic: of the controller manager, without `/names` and `/values`.
    """

    def __init__(self, node: Any, topic: str) -> None:
        from pal_statistics_msgs.msg import StatisticsNames, StatisticsValues
        from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

        self._type = StatisticsValues
        self._names: dict[int, list[str]] = {}
        self._raw: deque[bytes] = deque(maxlen=_KEPT)
        latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        # Not read as they come, at 1 kHz: that would be work beside what is measured.
        fast = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
        name = f"controller_manager/{topic}"
        self._subscriptions = [
            node.create_subscription(StatisticsNames, f"{name}/names", self._named, latched),
            node.create_subscription(
                StatisticsValues, f"{name}/values", lambda message: self._raw.append(message), fast, raw=True
            ),
        ]
        self._node = node

    def close(self) -> None:
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def _named(self, message: Any) -> None:
        self._names[message.names_version] = list(message.names)

    def has_come(self) -> bool:
        """Whether names and values have come."""
        return bool(self._names and self._raw)

    def clear(self) -> None:
        """Forget what has come."""
        self._raw.clear()

    def take(self, *names: str) -> Iterator[tuple[int, list[float]]]:
        """The cycles that have come and were not taken: the stamp [ns] of each, and the values of these names."""
        from rclpy.serialization import deserialize_message

        while self._raw:
            message = deserialize_message(self._raw.popleft(), self._type)
            known = self._names.get(message.names_version, [])
            if all(name in known for name in names):
                stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
                yield stamp, [message.values[known.index(name)] for name in names]


class Ros2ControlHost:
    """A `ros2_control_node` with the controllers `arm_controller`, active, and `hold_controller`, inactive.

    Use it in a `with` statement.

    Args:
        node: that spins in another thread.
        log: file for the output.
        rate: of cycles [Hz].
        priority: of their thread, SCHED_FIFO.
        cpu: its processor.
    """

    def __init__(self, node: Any, log: Path, *, rate: int, priority: int, cpu: int) -> None:
        self._node, self._log, self._program = node, log, node_program()
        self._rate, self._priority, self._cpu = rate, priority, cpu
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="ros2_control_")
        self._clients: dict[str, Any] = {}

    def __enter__(self) -> Self:
        from rclpy.qos import DurabilityPolicy, QoSProfile
        from std_msgs.msg import String

        begin = time.monotonic()
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._description = self._node.create_publisher(String, "robot_description", latched)
        self._description.publish(String(data=description()))
        file = Path(self._folder.name) / "parameters.yaml"
        file.write_text(self._parameters(file))
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(
                [str(self._program), "--ros-args", "--params-file", str(file)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                preexec_fn=end_with_parent(signal.SIGINT),
                start_new_session=True,
            )
        try:
            self._start_controllers()
            self.started_s = time.monotonic() - begin
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(10.0)
        except subprocess.TimeoutExpired:
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._node.destroy_publisher(self._description)
        for client in self._clients.values():
            self._node.destroy_client(client)
        self._folder.cleanup()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def _parameters(self, file: Path) -> str:
        manager = [f"update_rate: {self._rate}", f"thread_priority: {self._priority}", f"cpu_affinity: [{self._cpu}]"]
        manager += [f"{name}: {{type: {_TYPE}, params_file: ['{file}']}}" for name in (CONTROLLER, OTHER)]
        text = "controller_manager:\n  ros__parameters:\n" + "".join(f"    {line}\n" for line in manager)
        for name in (CONTROLLER, OTHER):
            text += f"{name}:\n  ros__parameters:\n    joints: [{', '.join(JOINTS)}]\n"
            text += "    command_interfaces: [position]\n    state_interfaces: [position, velocity]\n"
        return text

    def _start_controllers(self) -> None:
        """What a spawner does, without the start of a process for it."""
        from controller_manager_msgs.srv import ConfigureController, LoadController

        for name in (CONTROLLER, OTHER):
            for service, type in (("load_controller", LoadController), ("configure_controller", ConfigureController)):
                if not self._call(service, type, name=name).ok:
                    raise RuntimeError(f"{service} of {name} failed: {self._log} says why")
        self.switch(CONTROLLER, "")

    def switch(self, start: str, stop: str) -> None:
        """Switch controllers; an empty name is none."""
        from controller_manager_msgs.srv import SwitchController

        answer = self._call(
            "switch_controller",
            SwitchController,
            activate_controllers=[start] if start else [],
            deactivate_controllers=[stop] if stop else [],
            strictness=SwitchController.Request.STRICT,
        )
        if not answer.ok:
            raise RuntimeError(f"{start or 'none'} was not activated instead of {stop or 'none'}: {self._log} says why")

    def _call(self, service: str, type: Any, **request: Any) -> Any:
        client = self._clients.get(service)
        if client is None:
            client = self._clients[service] = self._node.create_client(type, f"controller_manager/{service}")
            if not client.wait_for_service(_PATIENCE_S):
                raise TimeoutError(f"no service {service} within {_PATIENCE_S:g} s: {self._log} says why")
        answer = client.call_async(type.Request(**request))
        wait_until(answer.done, f"an answer of {service}")
        return answer.result()

    @contextmanager
    def statistics(self) -> Iterator[Cycles]:
        """How long cycles take. Nothing is published while nobody listens."""
        yield from self._topic("statistics")

    @contextmanager
    def interfaces(self) -> Iterator[Cycles]:
        """States and commands of cycles."""
        yield from self._topic("introspection_data")

    def _topic(self, name: str) -> Iterator[Cycles]:
        cycles = Cycles(self._node, name)
        try:
            wait_until(cycles.has_come, f"a cycle on {name}")
            yield cycles
        finally:
            cycles.close()


def durations_and_wakes(cycles: Cycles) -> tuple[np.ndarray, np.ndarray]:
    """Of the cycles that have come: how long they took, and when they began, on the system's clock [ns].

    The statistics are stamped at the cycle's end, just after its time was taken.
    """
    found = list(cycles.take("controller_manager.total_time"))
    taken = np.array([1e3 * values[0] for _, values in found])
    return taken, np.array([stamp for stamp, _ in found], float) - taken


def measured_positions(interfaces: Cycles) -> list[float]:
    """Of the last cycle that has come [rad]."""
    names = [f"state_interface.{joint}/position" for joint in JOINTS]
    found: list[list[float]] = []

    def came() -> bool:
        found.extend(values for _, values in interfaces.take(*names))
        return bool(found)

    wait_until(came, "a cycle")
    return found[-1]


def trace_of(interfaces: Cycles, joint: str = JOINTS[0]) -> Trace:
    """The cycles that have come, of one joint."""
    names = (f"state_interface.{joint}/position", f"command_interface.{joint}/position")
    found = list(interfaces.take(*names))
    values = np.array([values for _, values in found])
    return Trace(
        seconds=1e-9 * np.array([stamp - found[0][0] for stamp, _ in found]),
        measured=values[:, 0],
        commanded=values[:, 1],
    )


def wait_until(condition: Callable[[], object], what: str, timeout_s: float = _PATIENCE_S) -> None:
    """Poll a condition.

    Raises:
        TimeoutError: it did not come.
    """
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not come within {timeout_s:g} s")
        time.sleep(0.0005)


def later_than_due(wakes: np.ndarray, period_ns: int) -> np.ndarray:
    """How late each wake-up came [ns]. Each is due at the phase of the period where most come.

    One that comes alone, well before that phase, is late by almost a period: so begins the cycle after an overrun.
    Whole periods are left out: such a wake-up cannot be told from one whose message was lost.
    """
    phases = np.mod(wakes, period_ns)
    bins = max(1, round(period_ns / _BIN_NS))
    counts = np.bincount((phases * bins / period_ns).astype(int) % bins, minlength=bins)
    first = int(np.argmax(counts))
    enough = max(2.0, _FEW * len(wakes))
    while counts[first - 1] >= enough and first > -bins:
        first -= 1
    begin = first * period_ns / bins
    late = np.mod(phases - begin + _EARLY_NS, period_ns) - _EARLY_NS
    return np.maximum(late - late[late >= 0.0].min(), 0.0)
