"""What faults a part on drives: the compiled judgement against the plain one, and against the rules."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.hardware.drives.bus_exchange import REPORTED, TEST_BUS
from robot_rt_control.hardware.drives.exchange import ALL_ENABLED, IN_ERROR, NOT_ENABLED
from robot_rt_control.memory.atomics import address_of
from robot_rt_control.memory.drive_layout import drives_dtype
from robot_rt_control.memory.layout import world_dtype
from robot_rt_control.realtime.tick.drive_step import find_drive_fault
from robot_rt_control.testing.interpreted_tick import interpreted
from robot_rt_control.vocabulary.enums import CommandMode, FaultReason, OperationalState

MAX_AGE = 3
ENABLED, DISABLED, FAULTED = OperationalState.ENABLED, OperationalState.DISABLED, OperationalState.FAULTED

ticks = st.fixed_dictionaries(
    {
        "state": st.sampled_from([ENABLED, DISABLED, FAULTED]),
        "enabling": st.integers(0, 3),
        "age": st.integers(0, MAX_AGE + 1),
        "device_age": st.integers(0, MAX_AGE + 1),
        "faulted": st.booleans(),
        "motors": st.sampled_from([ALL_ENABLED, NOT_ENABLED, IN_ERROR]),
        "clear": st.one_of(st.none(), st.integers(0, 3)),
        "position": st.sampled_from([0.0, math.nan, math.inf]),
        "velocity": st.sampled_from([0.0, math.nan]),
        "joint": st.integers(0, 1),
    }
)


class Side:
    """A part with two joints on drives, in a memory of its own."""

    def __init__(self, network: int, efforts_alone: bool) -> None:
        self.world = np.zeros(1, world_dtype)[0]
        self.drives = np.zeros(1, drives_dtype)[0]
        w = self.world
        w.n_parts = 1
        w.parts[0].dof = 2
        w.devices[0].max_age, w.devices[0].drives = MAX_AGE, address_of(self.drives)
        self.drives.network = network
        mode = CommandMode.EFFORT if efforts_alone else CommandMode.POSITION
        w.limits[0].supported_modes = 1 << int(mode)
        w.feedback[0].velocities = 0b11

    def set(self, tick: dict) -> None:
        w, drives, j = self.world, self.drives, tick["joint"]
        w.parts_runtime[0].state, w.parts_runtime[0].enabling = tick["state"], tick["enabling"]
        w.devices[0].age, w.devices[0].faulted = tick["device_age"], tick["faulted"]
        drives.age[0], drives.part_state[0] = tick["age"], tick["motors"]
        drives.silent_joint[0], drives.part_joint[0], drives.part_code[0] = j, 1 - j, 0x4310
        if tick["clear"] is not None:
            drives.clear[0] = tick["clear"]
        w.parts[0].position[:2], w.parts[0].velocity[:2] = 0.0, 0.0
        w.parts[0].position[j], w.parts[0].velocity[j] = tick["position"], tick["velocity"]


@settings(deadline=None, max_examples=tries(15, whole=60))
@given(st.lists(ticks, min_size=1, max_size=20), st.sampled_from([REPORTED, TEST_BUS]), st.booleans())
def test_D23_compiled_plain_and_the_rule_agree_on_random_sequences(
    sequence: list[dict], network: int, efforts_alone: bool
) -> None:
    plain = interpreted("robot_rt_control.realtime.tick.drive_step").find_drive_fault
    one, two = Side(network, efforts_alone), Side(network, efforts_alone)
    for tick in sequence:
        for side in (one, two):
            side.set(tick)
        left = int(one.drives.clear[0])
        got = find_drive_fault(one.world, 0)
        assert got == plain(two.world, 0)
        assert one.drives.tobytes() == two.drives.tobytes()
        enabling = tick["enabling"] > 0
        if not enabling and tick["state"] != ENABLED:
            assert got[0] == 0, "nothing faults a part that is not to move"
            continue
        gone = tick["age"] > MAX_AGE or tick["faulted"] or not math.isfinite(tick["position"])
        assert bool(got[0]) or not gone, "nothing is waited for that is lost, in error or unknown"
        resets = network != REPORTED or enabling
        counts = left <= 1 if resets else left == 0
        if tick["motors"] == IN_ERROR and counts and tick["age"] <= MAX_AGE:
            assert got == (FaultReason.MOTOR_ERROR, 1 - tick["joint"], 0x4310)
        known = not math.isnan(tick["velocity"]) or (enabling and not efforts_alone)
        if not gone and known and tick["motors"] == NOT_ENABLED:
            assert (got[0] == FaultReason.MOTOR_NOT_ENABLED) == (tick["enabling"] <= 1), "it is waited for"
        if not gone and known and tick["motors"] == ALL_ENABLED:
            assert got[0] == 0


def test_D23_reasons_in_their_order() -> None:
    side = Side(REPORTED, False)
    usual: dict[str, Any] = {"state": DISABLED, "enabling": 3, "age": 0, "device_age": 0, "faulted": False}
    usual |= {"motors": NOT_ENABLED}
    usual |= {"clear": 2, "position": 0.0, "velocity": 0.0, "joint": 1}
    reasons = FaultReason
    for changes, reason, joint in (
        ({}, 0, -1),
        ({"position": math.nan}, reasons.UNKNOWN_FEEDBACK, 1),
        ({"faulted": True, "position": math.nan}, reasons.HARDWARE_ERROR, -1),
        ({"motors": IN_ERROR, "faulted": True}, reasons.HARDWARE_ERROR, -1),
        ({"motors": IN_ERROR, "clear": 1, "faulted": True}, reasons.MOTOR_ERROR, 0),
        ({"age": MAX_AGE + 1, "motors": IN_ERROR, "faulted": True}, reasons.DRIVE_SILENT, 1),
        ({"age": MAX_AGE + 1, "device_age": MAX_AGE + 1, "faulted": True}, reasons.STALE_HARDWARE, -1),
        ({"enabling": 1}, reasons.MOTOR_NOT_ENABLED, 0),
    ):
        side.set({**usual, **changes})
        assert find_drive_fault(side.world, 0)[:2] == (reason, joint), changes
