"""A scripted stand-in for the module pylibfranka: one robot that does as it is told, and checks what it gets."""

from __future__ import annotations

from enum import IntEnum
from types import SimpleNamespace
from typing import Any

import numpy as np

from robot_rt_control.vocabulary.franka_errors import ROBOT_ERRORS

START = (0.0, 0.0, 0.0, -1.57, 0.0, 1.57, 0.785)
GRAVITY = np.array([0.0, -29.9, 0.1, 22.3, 0.8, 2.2, 0.0])
"""[Nm] that holds the robot."""
FLANGE: tuple[float, ...] = (
    *(0.70739, -0.70683, 0.0, 0.0, -0.70683, -0.70739, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0),
    *(0.55443, 0.0, 0.62481, 1.0),
)
"""O_T_F of an FR3 at START, column by column."""


class RobotMode(IntEnum):
    Other, Idle, Move, Guiding, Reflex, UserStopped, AutomaticErrorRecovery = range(7)


class ControllerMode(IntEnum):
    JointImpedance, CartesianImpedance = range(2)


class RealtimeConfig(IntEnum):
    kEnforce, kIgnore = range(2)


class CommandException(RuntimeError):
    pass


class ControlException(RuntimeError):
    pass


class NetworkException(RuntimeError):
    pass


class InvalidOperationException(RuntimeError):
    pass


class Errors:
    def __init__(self, *names: str) -> None:
        self.names = names
        for name in ROBOT_ERRORS:
            setattr(self, name, name in names)

    def __bool__(self) -> bool:
        return bool(self.names)

    def __str__(self) -> str:
        return str(list(self.names))


class _Command:
    def __init__(self, values: list[float]) -> None:
        self.values, self.motion_finished = np.array(values), False


class JointPositions(_Command):
    pass


class JointVelocities(_Command):
    pass


class Torques(_Command):
    pass


class Control:
    """An active control: ends with motion_finished, or as the test raises an error."""

    def __init__(self, robot: Robot, kind: type[_Command]) -> None:
        self.robot, self.kind = robot, kind

    def readOnce(self) -> tuple[Any, Any]:  # noqa: N802
        assert self.robot.control is self
        self.robot.raise_planned()
        periods, self.robot.periods = self.robot.periods, 1
        return self.robot.state(), SimpleNamespace(to_sec=lambda: 1e-3 * periods)

    def writeOnce(self, command: _Command) -> None:  # noqa: N802
        robot = self.robot
        assert robot.control is self and type(command) is self.kind and np.isfinite(command.values).all()
        robot.raise_planned()
        robot.sent.append(command.values)
        if self.kind is JointPositions:
            robot.dq, robot.q = (command.values - robot.q) / 1e-3, command.values.copy()
        elif self.kind is JointVelocities:
            robot.q, robot.dq = robot.q + 1e-3 * command.values, command.values.copy()
        else:
            robot.dq = robot.dq + 1e-3 * command.values  # unit inertias
            robot.q = robot.q + 1e-3 * robot.dq
        if command.motion_finished:
            robot.calls.append("finished")
            robot.control, robot.mode = None, RobotMode.Idle


class Robot:
    """What a test sets: `mode`, `errors`, `raises` (of the next call of the cycle), `refuses` (calls → exception)."""

    made: list[Robot] = []
    refuses: dict[str, Exception] = {}
    flange: tuple[float, ...] = FLANGE
    first_mode = RobotMode.Idle
    """In which a client finds it."""

    def __init__(self, address: str, realtime: RealtimeConfig) -> None:
        if "connect" in Robot.refuses:
            raise Robot.refuses["connect"]
        self.calls: list[str] = [f"connect {address} {realtime.name}"]
        self.settings: dict[str, tuple[Any, ...]] = {}
        self.q, self.dq = np.array(START), np.zeros(7)
        self.mode, self.errors = Robot.first_mode, Errors()
        self.raises: Exception | None = None
        self.periods = 1
        self.control: Control | None = None
        self.sent: list[np.ndarray] = []
        Robot.made.append(self)

    def raise_planned(self) -> None:
        if self.raises is not None:
            error, self.raises = self.raises, None
            self.control = None
            raise error

    def state(self) -> Any:
        return SimpleNamespace(
            q=self.q.tolist(), q_d=self.q.tolist(), dq=self.dq.tolist(), dq_d=self.dq.tolist(),
            tau_J=(GRAVITY + 1.0).tolist(), tau_J_d=[0.0] * 7, tau_ext_hat_filtered=[0.5] * 7,
            K_F_ext_hat_K=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], O_ddP_O=[0.0, 0.0, -9.81],
            O_T_EE=list(Robot.flange), F_T_EE=np.eye(4).ravel().tolist(), robot_mode=self.mode,
            current_errors=self.errors, control_command_success_rate=0.97,
        )  # fmt: skip

    def read_once(self) -> Any:
        if self.control is not None:
            raise InvalidOperationException("another control or read operation is running")
        self.raise_planned()
        return self.state()

    def load_model(self) -> Any:
        return SimpleNamespace(gravity=lambda state: GRAVITY.tolist())

    def _set(self, name: str, *values: Any) -> None:
        if self.mode != RobotMode.Idle:
            raise CommandException(f"libfranka: {name} command rejected: command not possible in the current mode!")
        if name in Robot.refuses:
            raise Robot.refuses[name]
        self.settings[name] = values

    def set_collision_behavior(self, *values: Any) -> None:
        self._set("collision", *values)

    def set_load(self, *values: Any) -> None:
        self._set("load", *values)

    def set_joint_impedance(self, *values: Any) -> None:
        self._set("joint_impedance", *values)

    def set_cartesian_impedance(self, *values: Any) -> None:
        self._set("cartesian_impedance", *values)

    def set_EE(self, *values: Any) -> None:  # noqa: N802
        self._set("end_effector", *values)

    def set_K(self, *values: Any) -> None:  # noqa: N802
        self._set("stiffness_frame", *values)

    def automatic_error_recovery(self) -> None:
        self.calls.append("recovery")
        if "recovery" in Robot.refuses:
            raise Robot.refuses["recovery"]
        self.mode, self.errors = RobotMode.Idle, Errors()

    def _start(self, name: str, kind: type[_Command]) -> Control:
        if self.control is not None:
            raise InvalidOperationException("another control or read operation is running")
        if "start" in Robot.refuses:
            raise Robot.refuses["start"]
        assert np.abs(self.dq).max() < 0.02, "a control begins at rest"
        self.calls.append(name)
        self.mode, self.control = RobotMode.Move, Control(self, kind)
        return self.control

    def start_joint_position_control(self, controller: ControllerMode) -> Control:
        return self._start(f"position {controller.name}", JointPositions)

    def start_joint_velocity_control(self, controller: ControllerMode) -> Control:
        return self._start(f"velocity {controller.name}", JointVelocities)

    def start_torque_control(self) -> Control:
        return self._start("effort", Torques)
