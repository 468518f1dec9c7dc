"""The state machine of CiA 402, from the side of the controller: statusword to state, state to controlword."""

from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import MotorStatus

SHUTDOWN = 0x06
SWITCH_ON = 0x07
ENABLE_OPERATION = 0x0F
DISABLE_VOLTAGE = 0x00
FAULT_RESET = 0x80

_NOT_READY = int(MotorStatus.NOT_READY)
_SWITCH_ON_DISABLED = int(MotorStatus.SWITCH_ON_DISABLED)
_READY = int(MotorStatus.READY_TO_SWITCH_ON)
_SWITCHED_ON = int(MotorStatus.SWITCHED_ON)
_ENABLED = int(MotorStatus.ENABLED)
_QUICK_STOP = int(MotorStatus.QUICK_STOP)
_FAULT_REACTION = int(MotorStatus.FAULT_REACTION)
_FAULT = int(MotorStatus.FAULT)


def status_of_motor(statusword: int) -> int:
    """The MotorStatus that a statusword (object 6041h) shows; for Python."""
    low = statusword & 0x4F
    if low == 0x08:
        return _FAULT
    if low == 0x0F:
        return _FAULT_REACTION
    if low == 0x40:
        return _SWITCH_ON_DISABLED
    low = statusword & 0x6F
    if low == 0x21:
        return _READY
    if low == 0x23:
        return _SWITCHED_ON
    if low == 0x27:
        return _ENABLED
    if low == 0x07:
        return _QUICK_STOP
    return _NOT_READY


motor_status = realtime(status_of_motor)
"""The same in real-time code. Called from Python it would load the compiler."""


@realtime
def controlword(status, last, follow, enable, clear):
    """The next controlword (object 6040h) of a motor.

    Args:
        status: MotorStatus.
        last: the previous controlword: a fault is reset by a rising edge.
        follow: it is to stay enabled, if it is.
        enable: it is to become enabled. Without this, a motor that has left the state never gets back.
        clear: its fault is to be reset.
    """
    if status == _FAULT:
        return FAULT_RESET if clear and last & FAULT_RESET == 0 else DISABLE_VOLTAGE
    if status == _FAULT_REACTION or status == _QUICK_STOP:
        return DISABLE_VOLTAGE
    if status == _ENABLED and (follow or enable):
        return ENABLE_OPERATION
    if enable and status == _SWITCHED_ON:
        return ENABLE_OPERATION
    if enable and status == _READY:
        return SWITCH_ON
    return SHUTDOWN
