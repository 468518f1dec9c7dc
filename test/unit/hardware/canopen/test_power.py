"""The tables of the state machine, against the standard's patterns and the nodes' own state machine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cia402_node import DISABLED, ENABLED, FAULT, STATUSWORDS, NodeNetwork, Servo
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.hardware.canopen.power import Goal, controlwords, motor_states
from robot_rt_control.vocabulary.enums import MotorStatus


@given(st.integers(0, 0xFFFF))
def test_the_state_does_not_depend_on_other_bits(word: int) -> None:
    [state] = motor_states(np.array([word], np.uint16))
    patterns = {
        # CiA 402-2, table 30: bits 6 5 3 2 1 0; None: any
        MotorStatus.NOT_READY: (0, None, 0, 0, 0, 0),
        MotorStatus.SWITCH_ON_DISABLED: (1, None, 0, 0, 0, 0),
        MotorStatus.READY_TO_SWITCH_ON: (0, 1, 0, 0, 0, 1),
        MotorStatus.SWITCHED_ON: (0, 1, 0, 0, 1, 1),
        MotorStatus.ENABLED: (0, 1, 0, 1, 1, 1),
        MotorStatus.QUICK_STOP: (0, 0, 0, 1, 1, 1),
        MotorStatus.FAULT_REACTION: (0, None, 1, 1, 1, 1),
        MotorStatus.FAULT: (0, None, 1, 0, 0, 0),
    }
    bits = [word >> i & 1 for i in (6, 5, 3, 2, 1, 0)]
    fits = [s for s, p in patterns.items() if all(b in (a, None) or a is None for a, b in zip(p, bits, strict=True))]
    assert len(fits) <= 1
    assert state == (fits[0] if fits else MotorStatus.NOT_READY)


EDS = Path(__file__).resolve().parents[4] / "config" / "eds" / "cia402_servo.eds"


@pytest.fixture(scope="module")
def servo() -> Servo:
    return Servo(NodeNetwork("power"), 9, str(EDS))


@pytest.mark.parametrize("start", range(8))
@pytest.mark.parametrize(("goal", "ends"), [(Goal.ENABLED, {ENABLED}), (Goal.QUICK_STOP, {DISABLED, 0, FAULT})])
def test_every_state_leads_to_the_goal(servo: Servo, start: int, goal: Goal, ends: set[int]) -> None:
    servo.state, control = start, 0
    for _ in range(20):
        status = motor_states(np.array([STATUSWORDS[servo.state]], np.uint16))
        last, control = control, int(controlwords(status, np.array([goal]))[0])
        servo.state = servo._next(last, control) if servo.state else DISABLED
    assert servo.state in ends


@pytest.mark.parametrize("start", range(8))
def test_off_never_enables_and_never_resets(servo: Servo, start: int) -> None:
    servo.state, control = start, 0
    for _ in range(20):
        status = motor_states(np.array([STATUSWORDS[servo.state]], np.uint16))
        last, control = control, int(controlwords(status, np.array([Goal.OFF]))[0])
        assert control & 0x88 == 0
        servo.state = servo._next(last, control)
    assert servo.state != ENABLED
    assert (servo.state == FAULT) == (start in (6, 7))
