"""The plugin `franka`: an FR3 over the FCI. docs/franka.md is its manual.

The robot sends its state each millisecond and takes a command for it within 0.3 ms. `read` waits for the state; the
driver publishes it, waits for the loop's command of that state, and calls `write`, which sends what keeps the robot's
own limits (shaping.py). A command that is late is continued.

Efforts are without gravity, on both sides: the robot adds what holds it, and from what it measures its model's gravity
is subtracted. So no effort jumps when the mode changes, and an effort of 0 floats.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from robot_rt_control.hardware.franka import limits as fr3
from robot_rt_control.hardware.franka.parameters import FrankaParameters
from robot_rt_control.hardware.franka.probe import refusal, require_robot
from robot_rt_control.hardware.franka.shaping import Shaper
from robot_rt_control.hardware.parameters import checked
from robot_rt_control.hardware.plugin import CallbackReturn, HardwareInfo, HardwarePart, HardwarePlugin, HardwareReturn
from robot_rt_control.model.kinematics.chain import STANDARD_GRAVITY, load_chain, tool_pose
from robot_rt_control.model.pose import Pose
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import HardwareError
from robot_rt_control.vocabulary.franka_errors import (
    CODES,
    GUIDING,
    NETWORK_LOST,
    NOT_READY,
    ROBOT_ERRORS,
    USER_STOPPED,
)

_log = logging.getLogger(__name__)

_MODES = {CommandMode.POSITION: 0, CommandMode.VELOCITY: 1, CommandMode.EFFORT: 2}
"""Mode → place of its command among a joint's."""
_REST = 0.01
"""[rad/s] below which a joint is at rest."""
_SLOW = 0.1
"""[rad/s] from which a joint moves on purpose. What is slower is brought to rest before a change of mode: after late
commands or lost packets a joint may still be on its way when the loop's command is at rest."""
_FAR = 0.01
"""[rad] from the robot, at which the loop's first command is elsewhere."""
_STATES_BETWEEN = 10
"""States that are read between two motions."""
_BRAKE_CYCLES = 1500
"""States in which the plugin brings the robot to rest before it ends a motion."""
_FLANGE = 0.107
"""[m] of the flange from the frame of joint 7, along z."""
_FK_POSITION, _FK_ROTATION = 0.005, 0.03
"""[m], [rad] by which the URDF's flange may differ from the robot's."""


class FrankaPlugin(HardwarePlugin):
    """One robot: an arm with its 7 joints; a force-torque sensor has the external wrench, a sensor other values."""

    paces = True

    def on_init(self, info: HardwareInfo) -> CallbackReturn:
        self.info = info
        self._what = f"hardware {info.name!r}"
        self._given = checked(FrankaParameters, info.parameters, f"{self._what}, parameters of the franka plugin")
        self.reply_s = self._given.reply_s
        if info.period_s != fr3.PERIOD_S:
            raise HardwareError(f"{self._what}: period", expected=f"{fr3.PERIOD_S} s", got=f"{info.period_s} s")
        self._arm = self._find_arm()
        _check_limits(self._what, self._arm)
        self._library = _library()
        self._robot: Any = None
        self._has_settings = False
        self._control: Any = None
        self._mode = CommandMode.NONE
        self._shaper = Shaper()
        self._q, self._dq = np.zeros((2, fr3.JOINTS))
        return CallbackReturn.SUCCESS

    def _find_arm(self) -> HardwarePart:
        arms = [part for part in self.info.parts if part.kind == PartKind.ARM]
        allowed = (PartKind.ARM, PartKind.FORCE_TORQUE_SENSOR, PartKind.SENSOR)
        others = [part.name for part in self.info.parts if part.kind not in allowed]
        if len(arms) != 1 or others or len(arms[0].joint_names) != fr3.JOINTS:
            raise HardwareError(
                f"{self._what}: parts",
                expected=f"one arm with {fr3.JOINTS} joints; beside it force-torque sensors and sensors",
                got=", ".join(
                    f"{p.name} ({p.kind.name.lower()}, {len(p.joint_names)} joints)" for p in self.info.parts
                ),
                hint="A hand is a device of its own",
            )
        return arms[0]

    # --- life cycle -------------------------------------------------------------------------------

    def on_configure(self) -> CallbackReturn:
        self._places()
        self._connect()
        return CallbackReturn.SUCCESS

    def _connect(self) -> None:
        """Connect, check the robot, and set what the workcell file gives. Raises: HardwareError."""
        given, library = self._given, self._library
        self._robot = self._control = None
        what = f"Franka at {given.address!r}"
        require_robot(given.address, given.realtime)
        enforce = given.realtime == "enforce"
        config = library.RealtimeConfig.kEnforce if enforce else library.RealtimeConfig.kIgnore
        try:
            with nullcontext() if enforce else _own_priority():
                robot = library.Robot(given.address, config)
            state = robot.read_once()
        except Exception as error:  # each of the library's kinds
            raise refusal(what, str(error)) from None
        self._check_kinematics(state)
        self._has_settings = False
        if state.robot_mode == library.RobotMode.Idle:  # in other modes the robot takes no settings: before it moves
            self._apply_settings(robot)
        try:
            self._model = robot.load_model()
        except Exception as error:
            raise HardwareError(f"{what}: its model, for gravity", expected="a model", got=str(error)) from None
        self._robot = robot
        self._take(robot.read_once())

    def _apply_settings(self, robot: Any) -> None:
        """Set what the workcell file gives, unless this connection has it. Raises: HardwareError."""
        if self._has_settings:
            return
        given, library = self._given, self._library
        collision, load = given.collision, given.load
        torques, forces = (
            (collision.lower_torque, collision.upper_torque),
            (collision.lower_force, collision.upper_force),
        )
        xx, yy, zz, xy, xz, yz = load.inertia
        settings: dict[str, Callable[[], object]] = {
            "collision": lambda: robot.set_collision_behavior(*map(list, (*torques, *forces))),
            "load": lambda: robot.set_load(load.mass, list(load.center), [xx, xy, xz, xy, yy, yz, xz, yz, zz]),
        }
        if given.joint_impedance is not None:
            settings["joint_impedance"] = lambda: robot.set_joint_impedance(list(given.joint_impedance or ()))
        if given.cartesian_impedance is not None:
            settings["cartesian_impedance"] = lambda: robot.set_cartesian_impedance(
                list(given.cartesian_impedance or ())
            )
        if given.end_effector is not None:
            settings["end_effector"] = lambda: robot.set_EE(_columns(given.end_effector))
        if given.stiffness_frame is not None:
            settings["stiffness_frame"] = lambda: robot.set_K(_columns(given.stiffness_frame))
        for name, setting in settings.items():
            try:
                setting()
            except library.CommandException as error:
                what = f"Franka at {given.address!r}: parameter {name!r}"
                raise HardwareError(what, expected="one that it takes", got=str(error)) from None
        self._has_settings = True

    def _check_kinematics(self, state: Any) -> None:
        """Refuse a URDF whose joints are not the robot's: its flange is elsewhere."""
        arm = self._arm
        if arm.urdf is None or arm.base_link is None or arm.tip_link is None:
            return
        whole = load_chain(arm.urdf, arm.base_link, arm.tip_link)
        chain = load_chain(arm.urdf, arm.base_link, whole.joints[-1].child)
        X = tool_pose(chain, np.array(state.q))
        X[:3, 3] += _FLANGE * X[:3, 2]
        of_robot = _matrix(state.O_T_EE) @ np.linalg.inv(_matrix(state.F_T_EE))
        away = float(np.linalg.norm(X[:3, 3] - of_robot[:3, 3]))
        turned = float(np.arccos(np.clip((np.trace(X[:3, :3].T @ of_robot[:3, :3]) - 1.0) / 2.0, -1.0, 1.0)))
        if away > _FK_POSITION or turned > _FK_ROTATION:
            raise HardwareError(
                f"{self._what}: URDF of part {arm.name!r}",
                expected=f"the robot's own joints: its flange is at {np.round(of_robot[:3, 3], 4).tolist()} m",
                got=f"one at {np.round(X[:3, 3], 4).tolist()} m, turned by {turned:.3f} rad",
                hint="Use the URDF of this type of robot, from its base link, with its joints in their order",
            )

    def on_activate(self) -> CallbackReturn:
        self._read_state()
        return CallbackReturn.SUCCESS

    def on_deactivate(self) -> CallbackReturn:
        self._end_control()
        return CallbackReturn.SUCCESS

    def on_error(self) -> CallbackReturn:
        self.close()
        return CallbackReturn.FAILURE

    def close(self) -> None:
        if self._robot is None:
            return
        try:
            self._end_control()
        except Exception as error:  # the robot stops by itself when its client goes
            _log.error("%s: the motion could not be ended: %s", self._what, error)
        self._control = self._robot = None

    def recover(self) -> None:
        if self._robot is None:
            self._connect()
        robot, library = self._robot, self._library
        state = robot.read_once()
        if state.robot_mode in (library.RobotMode.Reflex, library.RobotMode.Other) or bool(state.current_errors):
            try:
                robot.automatic_error_recovery()
            except library.CommandException as error:
                raise HardwareError(f"{self._what}: automatic error recovery", got=str(error)) from None
            state = robot.read_once()
        self._take(state)
        if state.robot_mode == library.RobotMode.Idle:
            self._apply_settings(robot)
        self._judge(state)
        if self.stopped:
            raise HardwareError(f"{self._what}: {self.reason}")

    # --- modes ------------------------------------------------------------------------------------

    def prepare_command_mode_switch(self, modes: Mapping[str, tuple[CommandMode, ...]]) -> HardwareReturn:
        result = super().prepare_command_mode_switch(modes)
        wanted = modes.get(self._arm.name)
        if result != HardwareReturn.OK or wanted is None:
            return result
        if len(set(wanted)) > 1:
            names = ", ".join(mode.name for mode in wanted)
            self.reason = f"part {self._arm.name!r}: the robot takes one command mode for all joints, got {names}"
            return HardwareReturn.ERROR
        mode = wanted[0]
        if mode == CommandMode.NONE:
            return HardwareReturn.OK
        if self.stopped:
            self.reason = f"the robot has stopped: {self._text(self.stopped)}"
            return HardwareReturn.ERROR
        # A robot that only lags behind a loop that has come to rest is braked as its motion ends.
        moving = 0.0 if self._control is None else min(self._shaper.speed, self._shaper.wanted_speed)
        if mode != self._mode and moving > _SLOW:
            self.reason = (
                "the robot changes its command mode at rest only, and a joint moves at "
                f"{moving:.3f} rad/s: let the action end before one of mode {mode.name} starts"
            )
            return HardwareReturn.ERROR
        return HardwareReturn.OK

    def perform_command_mode_switch(self, modes: Mapping[str, tuple[CommandMode, ...]]) -> HardwareReturn:
        wanted = modes.get(self._arm.name)
        if wanted is None or wanted[0] == self._mode:
            return HardwareReturn.OK
        is_elsewhere = self._mode == CommandMode.EFFORT or self._shaper.speed > _SLOW
        self._end_control()
        if wanted[0] != CommandMode.NONE and not self.stopped:
            self._begin_control(wanted[0], is_elsewhere)
        return HardwareReturn.OK

    def _begin_control(self, mode: CommandMode, slowly: bool) -> None:
        robot, library = self._robot, self._library
        cartesian = self._given.controller == "cartesian_impedance"
        kind = library.ControllerMode.CartesianImpedance if cartesian else library.ControllerMode.JointImpedance
        try:
            # The end of the motion before has arrived then: franky-sim takes a late one for the end of the next motion,
            # of which it tells nobody, and the library waits for its answer for ever.
            for _ in range(_STATES_BETWEEN):
                robot.read_once()
            self._apply_settings(robot)  # it was not idle when it was connected
            if mode == CommandMode.POSITION:
                self._control = robot.start_joint_position_control(kind)
            elif mode == CommandMode.VELOCITY:
                self._control = robot.start_joint_velocity_control(kind)
            else:
                self._control = robot.start_torque_control()
            state, _ = self._control.readOnce()
        except Exception as error:  # a robot that refuses, or that is lost
            self._control = None
            self._lost(error)
            return
        self._mode = mode
        # The robot may have been braked meanwhile, and the loop's command has gone on: nothing springs to it.
        position = np.array(state.q_d if mode != CommandMode.EFFORT else state.q)
        slowly = slowly or (mode == CommandMode.POSITION and not np.allclose(self._wanted(), position, 0.0, _FAR))
        self._shaper.begin(mode, position, slowly=slowly)
        self._take(state)

    def _end_control(self) -> None:
        """Bring the robot to rest in the present mode, and end its motion."""
        if self._control is None:
            self._mode = CommandMode.NONE
            return
        try:
            for _ in range(_BRAKE_CYCLES):
                if not self._moves():
                    break
                self._send(self._shaper.next(self._wanted(), self._dq, fresh=True, braking=True))
                self._take(self._next_state())
            last = self._message(self._shaper.next(self._wanted(), self._dq, fresh=True, braking=True))
            last.motion_finished = True
            self._control.writeOnce(last)
        except Exception as error:
            self._lost(error)
        self._control, self._mode = None, CommandMode.NONE

    def _moves(self) -> bool:
        if self._mode == CommandMode.EFFORT:
            return bool(np.abs(self._dq).max() > _REST)
        return self._shaper.speed > 0.0 or bool(self._shaper.memory["commanded_acceleration"].any())

    # --- cycle ------------------------------------------------------------------------------------

    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        self._read_state()
        return HardwareReturn.OK

    def _read_state(self) -> None:
        if self._robot is None:  # lost
            self.state[:] = np.nan
            time.sleep(self.info.period_s)
            return
        try:
            state = self._robot.read_once() if self._control is None else self._next_state()
        except Exception as error:  # each of the library's kinds
            self._lost(error)
            return
        self._take(state)
        if not self.stopped:  # what has stopped it stays, until the fault is cleared
            self._judge(state)

    def _next_state(self) -> Any:
        """The next state of a motion. For those that were missed, the robot has gone on with the last acceleration."""
        state, duration = self._control.readOnce()
        skipped = round(duration.to_sec() / fr3.PERIOD_S) - 1
        if skipped > 0:
            self.missed += skipped
            self._shaper.skip(skipped)
        return state

    def write(self, time_s: float, period_s: float) -> HardwareReturn:
        if self._control is None:
            return HardwareReturn.OK
        try:
            self._send(self._shaper.next(self._wanted(), self._dq, fresh=self.fresh))
        except Exception as error:
            self._lost(error)
        return HardwareReturn.OK

    def _wanted(self) -> np.ndarray:
        place = _MODES[self._mode]
        return self.command[self._commands][place::3]

    def _message(self, values: np.ndarray) -> Any:
        library = self._library
        kind = {
            CommandMode.POSITION: library.JointPositions,
            CommandMode.VELOCITY: library.JointVelocities,
            CommandMode.EFFORT: library.Torques,
        }[self._mode]
        return kind(values.tolist())

    def _send(self, values: np.ndarray) -> None:
        self._control.writeOnce(self._message(values))

    # --- states -----------------------------------------------------------------------------------

    def _places(self) -> None:
        """Where the numbers of parts are among the interfaces."""
        states, commands = self.export_state_interfaces(), self.export_command_interfaces()
        arm = self._arm.name
        at = [i for i, s in enumerate(states) if s.part == arm and s.item]
        self._joints = slice(at[0], at[-1] + 1)
        at = [i for i, c in enumerate(commands) if c.part == arm and c.item]
        self._commands = slice(at[0], at[-1] + 1)
        sensors = {part.name for part in self.info.parts if part.kind == PartKind.FORCE_TORQUE_SENSOR}
        self._wrenches = [
            slice(i, i + 6) for i, s in enumerate(states) if s.part in sensors and s.interface == "force.x"
        ]
        self._values: list[tuple[int, Callable[[Any], float]]] = []
        own = {part.name for part in self.info.parts if part.kind == PartKind.SENSOR}
        for i, interface in enumerate(states):
            if interface.part in own:
                if interface.interface.endswith("_age"):
                    self._values.append((i, lambda _: 0.0))
                else:
                    self._values.append((i, self._value(interface.part, interface.interface)))

    def _value(self, part: str, name: str) -> Callable[[Any], float]:
        simple: dict[str, Callable[[Any], float]] = {
            "command_success_rate": lambda state: float(state.control_command_success_rate),
            "missed_states": lambda _: float(self.missed),
            "error": lambda _: float(self.stopped),
            "mode": lambda state: float(int(state.robot_mode)),
        }
        if name in simple:
            return simple[name]
        fields = {"q_d": "q_d", "dq_d": "dq_d", "tau_d": "tau_J_d", "tau_ext": "tau_ext_hat_filtered"}
        field, _, number = name.rpartition("_")
        if field in fields and number in "1234567" and len(number) == 1:
            attribute, j = fields[field], int(number) - 1
            return lambda state: float(getattr(state, attribute)[j])
        raise HardwareError(
            f"{self._what}, part {part!r}: value {name!r}",
            expected=", ".join(simple) + ", or one of " + ", ".join(f"{f}_1 to {f}_7" for f in fields),
        )

    def _take(self, state: Any) -> None:
        self._q[:], self._dq[:] = state.q, state.dq
        joints = self.state[self._joints]
        joints[0::3], joints[1::3] = self._q, self._dq
        if not any(state.O_ddP_O):  # a simulator that does not report gravity
            state.O_ddP_O = list(STANDARD_GRAVITY)
        joints[2::3] = np.subtract(state.tau_J, self._model.gravity(state))
        for places in self._wrenches:
            self.state[places] = self._given.wrench_sign * np.array(state.K_F_ext_hat_K)
        for place, value in self._values:
            self.state[place] = value(state)

    def _judge(self, state: Any) -> None:
        """Set `stopped` and its reason from the robot's errors and mode."""
        library, mode = self._library, state.robot_mode
        if self._control is not None and mode == library.RobotMode.Move:
            return
        errors = str(state.current_errors) if bool(state.current_errors) else ""
        names = [name for name in ROBOT_ERRORS if errors and getattr(state.current_errors, name, False)]
        found = names[0] if names else ""
        if not found and mode == library.RobotMode.UserStopped:
            found = USER_STOPPED
        elif not found and mode == library.RobotMode.Guiding:
            found = GUIDING
        elif not found and mode not in (library.RobotMode.Idle, library.RobotMode.Move):
            found = NOT_READY
        self._stop(found, ", ".join(names))

    def _lost(self, error: Exception) -> None:
        """A call of the library failed: the robot has stopped, or does not answer any more."""
        library, text = self._library, str(error)
        self._control, self._mode = None, CommandMode.NONE
        if isinstance(error, library.NetworkException):
            self._robot = None
            self.state[:] = np.nan
            self._stop(NETWORK_LOST, text)
            return
        named = [name for name in ROBOT_ERRORS if name in text]
        if named:
            self._stop(named[0], text)
            return
        try:
            state = self._robot.read_once()
        except Exception as other:  # it is lost as well
            self._robot = None
            self._stop(NETWORK_LOST, str(other))
            return
        self._take(state)
        self._judge(state)
        if not self.stopped:
            self._stop(NOT_READY, text)

    def _stop(self, name: str, text: str) -> None:
        self.stopped = CODES[name] if name else 0
        self.reason = f"{name}: {text}" if text and text != name else name

    def _text(self, code: int) -> str:
        return next(name for name, of_name in CODES.items() if of_name == code)


@contextmanager
def _own_priority() -> Iterator[None]:
    """Keep this thread's scheduling: to connect, the library takes the highest real-time priority there is. A robot
    needs its answers so soon; beside a simulator it would only take the processor from all others, and all processes
    that this one starts later would have it, too."""
    policy, param = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        yield
    finally:
        if os.sched_getscheduler(0) != policy or os.sched_getparam(0).sched_priority != param.sched_priority:
            os.sched_setscheduler(0, policy, param)


def _library() -> Any:
    """pylibfranka. Raises: HardwareError."""
    try:
        import pylibfranka
    except ImportError as error:
        newer = sys.version_info >= (3, 13)
        raise HardwareError(
            "hardware plugin 'franka'",
            expected="the package pylibfranka",
            got=f"{error}; Python {sys.version_info[0]}.{sys.version_info[1]}",
            hint="Its maker has wheels for Python up to 3.12: use one of these"
            if newer
            else "Install it with `pip install pylibfranka`",
        ) from None
    return pylibfranka


def _check_limits(what: str, arm: HardwarePart) -> None:
    """Refuse system limits beyond what the robot permits at every position (limits.py)."""
    bounds = (
        ("position_lower", fr3.BOUND_POSITION_LOWER, -1.0),
        ("position_upper", fr3.BOUND_POSITION_UPPER, 1.0),
        ("velocity", fr3.BOUND_VELOCITY, 1.0),
        ("acceleration", fr3.BOUND_ACCELERATION, 1.0),
        ("effort", fr3.BOUND_EFFORT, 1.0),
    )
    for name, bound, sign in bounds:
        for joint, value, most in zip(arm.joint_names, getattr(arm.limits, name), bound.tolist(), strict=True):
            if sign * value > sign * most + 1e-9:
                raise HardwareError(
                    f"{what}, part {arm.name!r}, joint {joint!r}: system limit {name}",
                    expected=f"at {'most' if sign > 0 else 'least'} {most:.4f}, which an FR3 permits at all positions",
                    got=f"{value:.4f}",
                    hint="Set limits and system_limits as in config/fr3.yaml",
                )


def _matrix(columns: Any) -> np.ndarray:
    return np.array(columns, float).reshape(4, 4).T


def _columns(pose: Pose | None) -> list[float]:
    assert pose is not None
    return [float(x) for x in pose.matrix.T.ravel()]
