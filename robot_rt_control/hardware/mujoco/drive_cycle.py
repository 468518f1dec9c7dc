"""The laws of all joints' drives of a device in MuJoCo, compiled: in NumPy they took longer than MuJoCo's own step."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from robot_rt_control.memory.atomics import load_relaxed, record_at
from robot_rt_control.memory.layout import record
from robot_rt_control.memory.plain_access import load_f8, store_f8
from robot_rt_control.native.entries import python_call
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import CommandMode

READ, APPLY, STEER = 1, 2, 4
"""What a call does: fill the states; take commands; find the speeds that motors reach in the next step."""

joint_dtype = record(
    [
        ("q", "i8"),  # addresses: of its position in qpos ...
        ("v", "i8"),  # ... of its velocity in qvel ...
        ("motor_velocity", "i8"),  # ... of what the world has for it under these names ...
        ("motor_effort", "i8"),
        ("effort", "i8"),
        ("state", "i8"),  # ... and of position, velocity and effort among states ...
        ("command", "i8"),  # ... and among commands
        ("mode", "i8"),
        ("last", "f8"),  # where it is held, or the next position command moves it from
        ("goal", "f8"),
        ("forward", "f8"),  # the speed of the goal
        ("reach", "f8"),  # the most that a position changes in a period
        ("most", "f8"),  # effort
    ]
)
follower_dtype = record(
    [
        ("leader", "i8"),  # address of a `joint_dtype`
        ("q", "i8"),
        ("motor_velocity", "i8"),
        ("multiplier", "f8"),
        ("offset", "f8"),
    ]
)
drives_dtype = record(
    [
        ("n_joints", "i8"),
        ("joints", "i8"),  # address of the first one
        ("n_followers", "i8"),
        ("followers", "i8"),
        ("velocities", "i8"),  # of the world: addresses of qvel ...
        ("motor_velocities", "i8"),
        ("n_motors", "i8"),  # ... of the number of joints with a motor, of their places in qvel ...
        ("motors", "i8"),
        ("references", "i8"),  # ... and of the accelerations that their motors aim at
        ("step", "f8"),  # [s]
        ("rate", "f8"),  # what a position drive takes away of an error in a step, by the step
        ("feed_forward", "f8"),
        ("velocity_gain", "f8"),
    ]
)

_POSITION, _VELOCITY, _EFFORT = int(CommandMode.POSITION), int(CommandMode.VELOCITY), int(CommandMode.EFFORT)
_JOINT, _FOLLOWER = joint_dtype.itemsize, follower_dtype.itemsize
_joint_at = record_at(joint_dtype)
_follower_at = record_at(follower_dtype)
_drives_at = record_at(drives_dtype)


@realtime
def _within(value, most):
    """A value not beyond the bounds -most and most; NaN stays."""
    if value > most:
        return most
    if value < -most:
        return -most
    return value


@realtime
def _read(joint):
    store_f8(joint.state, load_f8(joint.q))
    store_f8(joint.state + 8, load_f8(joint.v))
    store_f8(joint.state + 16, load_f8(joint.effort if joint.mode == _EFFORT else joint.motor_effort))


@realtime
def _apply(joint, drives):
    if joint.mode == _POSITION:
        change = _within(load_f8(joint.command) - joint.last, joint.reach)
        joint.last += change
        # Its next speed is k * error / period + (1 - k) * change / period: both parts keep the limit.
        joint.forward = drives.feed_forward * change
        measured = load_f8(joint.q)
        joint.goal = measured + _within(joint.last - measured, joint.reach)
    elif joint.mode == _EFFORT:
        store_f8(joint.effort, _within(load_f8(joint.command + 16), joint.most))


@realtime
def _steer(joint, drives):
    if joint.mode == _VELOCITY:
        v = load_f8(joint.v)
        speed = v + drives.velocity_gain * (load_f8(joint.command + 8) - v)
    else:
        speed = drives.rate * (joint.goal - load_f8(joint.q)) + joint.forward
    store_f8(joint.motor_velocity, speed)


@realtime
def _steer_follower(follower, drives):
    """It follows the goal of its leader, and takes away its own error."""
    leader = _joint_at(follower.leader)
    if leader.mode == _VELOCITY:
        speed = load_f8(leader.command + 8) * follower.multiplier
    else:
        goal = leader.goal * follower.multiplier + follower.offset
        speed = drives.rate * (goal - load_f8(follower.q)) + leader.forward * follower.multiplier
    store_f8(follower.motor_velocity, speed)


@realtime
def cycle(drives, what):
    """READ, APPLY and STEER, as far as they are asked for, in this order.

    Args:
        drives: record of `drives_dtype`.
        what: the sum of them.
    """
    for i in range(drives.n_joints):
        joint = _joint_at(drives.joints + i * _JOINT)
        if what & READ:
            _read(joint)
        if what & APPLY:
            _apply(joint, drives)
        if what & STEER:
            _steer(joint, drives)
    if what & STEER:
        for i in range(drives.n_followers):
            _steer_follower(_follower_at(drives.followers + i * _FOLLOWER), drives)
        for i in range(load_relaxed(int(drives.n_motors))):
            place = 8 * load_relaxed(int(drives.motors) + 8 * i)
            missing = load_f8(drives.motor_velocities + place) - load_f8(drives.velocities + place)
            store_f8(drives.references + 8 * i, missing / drives.step)


def _run(drives: int, what: int) -> None:
    cycle(_drives_at(drives), what)


@cache
def drive_cycle() -> Callable[[int, int], None]:
    """`cycle` of the address of a `drives_dtype`. Compiled on first use; a call takes half a microsecond."""
    return python_call(__name__, "_run", 2, returns=False)
