"""`authoring.limited`: from any motion, whatever an action commands, the limits hold. Also the actions that authors see
first: each is started at random moments of another motion."""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_rt_control.actions.authoring import POSITION, ActionType, PartKind, Slot, limited, limited_dtype
from robot_rt_control.actions.move_joint import MoveJoint
from robot_rt_control.command_line.new_action import write_action
from robot_rt_control.model.kinematics.kinematics import forward
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakeArm, FakePart

EXAMPLES = Path(__file__).parents[3] / "examples"
DT = 0.001
BENT = (0.0, 0.3, 0.0, -1.6, 0.0, 1.2, 0.0)
FAR = (1.2, -0.9, 1.4, -0.4, 1.0, -0.6, -1.3)


class Commands(ActionType):
    """Command what a test has put into the state."""

    name = "commands"
    slots = (Slot(name="arm", kinds=(PartKind.ARM,)),)
    State = {"wish": (float, 7), "is_given": (float, 7), "motion": limited_dtype}

    @staticmethod
    def control(state, params, arm):
        arm.command_mode = POSITION
        for j in range(arm.dof):
            if state.is_given[j] != 0.0:
                arm.position_command[j] = state.wish[j]
        return limited(state.motion, arm)


def moving_arm(ticks: int, speed: float = 1.0) -> tuple[FakeArm, list[np.ndarray]]:
    """An arm on its way, and its positions so far."""
    arm = FakeArm(position=BENT)
    harness = ActionHarness(MoveJoint, parts={"part": arm}, parameters={"position": list(FAR)}, speed=speed)
    harness.start()
    rows = [np.array(BENT)] * 3
    for _ in range(ticks):
        harness.step()
        rows.append(arm.live.commanded_position[:7].copy())
    return arm, rows


def check_limits(rows: list[np.ndarray], arm: FakeArm, jerk_scale: float = 1.0) -> None:
    q, live = np.array(rows), arm.live
    for order, limit in ((1, live.velocity_limit), (2, live.acceleration_limit), (3, jerk_scale * live.jerk_limit)):
        highest = np.abs(np.diff(q, order, axis=0)).max(axis=0) / DT**order
        assert (highest <= limit[:7] * (1 + 1e-3) + 1e-5).all(), (order, highest)
    assert (q >= live.position_lower[:7] - 1e-9).all() and (q <= live.position_upper[:7] + 1e-9).all()


@settings(max_examples=8, deadline=None)
@given(ticks=st.integers(0, 800), seed=st.integers(0, 10_000), speed=st.sampled_from([1.0, 0.4]))
def test_whatever_is_commanded_from_any_motion_the_limits_hold(ticks: int, seed: int, speed: float):
    random = np.random.default_rng(seed)
    arm, rows = moving_arm(ticks, speed)
    harness = ActionHarness(Commands, parts={"arm": arm}, speed=speed)
    harness.start()
    wish, kinds = np.array(BENT), random.integers(0, 4, 7)
    for tick in range(600):
        if tick % 150 == 0:
            kinds = random.integers(0, 4, 7)
            wish = random.uniform(-4.0, 4.0, 7)
        wave = 0.4 * math.sin(5.0 * tick * DT)
        given = np.select(
            [kinds == 0, kinds == 1, kinds == 2],
            [wish, wish + wave, arm.live.commanded_position[:7] + random.normal(0.0, 0.02, 7)],
        )
        harness.state.wish[:], harness.state.is_given[:] = given, kinds < 3
        assert harness.step() == 0
        rows.append(arm.live.commanded_position[:7].copy())
    check_limits(rows, arm)


def test_what_is_within_the_limits_is_followed():
    arm = FakeArm(position=BENT)
    harness = ActionHarness(Commands, parts={"arm": arm}, compiled=True)
    harness.start()
    harness.step()
    for tick in range(3000):
        wave = 0.2 * (1.0 - math.cos(math.pi * tick * DT))
        harness.state.wish[:] = np.array(BENT) + wave
        harness.state.is_given[:] = (1, 1, 1, 1, 1, 1, 0)
        assert harness.step() == 0
        assert np.abs(arm.live.commanded_position[:6] - harness.state.wish[:6]).max() < (5e-4 if tick > 300 else 5e-3)
        assert arm.live.commanded_position[6] == BENT[6], "a joint that is not commanded"
    harness.state.wish[2] = math.nan
    assert harness.step() != 0


def example(name: str) -> Any:
    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    spec = importlib.util.spec_from_file_location(f"start_of_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def wave(_: Path) -> tuple[type[ActionType], dict[str, Any], dict[str, FakePart]]:
    return example("04_custom_action").Wave, {"amplitude": 0.3, "frequency": 1.0}, {}


def template(folder: Path) -> tuple[type[ActionType], dict[str, Any], dict[str, FakePart]]:
    write_action("nod", folder)
    spec = importlib.util.spec_from_file_location("start_of_nod", folder / "nod.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.Nod, {"angle": 0.4, "count": 3}, {}


def kept_distance(_: Path) -> tuple[type[ActionType], dict[str, Any], dict[str, FakePart]]:
    sensor = FakePart(name="sensor", kind=PartKind.RANGEFINDER)
    sensor.live.distance = 0.11
    return example("07_kept_distance").KeepDistance, {"distance": 0.1, "speed": 0.1}, {"sensor": sensor}


def comply(_: Path) -> tuple[type[ActionType], dict[str, Any], dict[str, FakePart]]:
    wrist = FakePart(name="wrist", kind=PartKind.FORCE_TORQUE_SENSOR)
    module = example("08_contact_admittance")
    return module.Comply, {**module.SOFT, "weight": 0.0}, {"wrist": wrist}


def glue(_: Path) -> tuple[type[ActionType], dict[str, Any], dict[str, FakePart]]:
    valve = FakePart(name="valve", kind=PartKind.IO, outputs=["flow"])
    return example("09_gluing").ApplyGlue, {"speed": 0.1}, {"valve": valve}


def at_the_nozzle(arm: FakeArm) -> dict[str, Any]:
    """A seam of 0.1 m that begins where the tool is."""
    p, q = np.zeros(3), np.zeros(4)
    forward(arm.live.chain, arm.live.commanded_position, p, q)
    return {"begin": p.tolist(), "end": [p[0], p[1] + 0.1, p[2]]}


@pytest.mark.parametrize("make", [wave, template, kept_distance, comply, glue], ids=lambda make: make.__name__)
def test_what_authors_see_first_starts_smoothly_at_any_moment(make: Callable[..., Any], tmp_path: Path):
    action_type, parameters, others = make(tmp_path)
    for ticks in (0, *np.random.default_rng(6).integers(1, 1200, 5).tolist()):
        arm, rows = moving_arm(ticks)
        place = at_the_nozzle(arm) if make is glue else {}
        harness = ActionHarness(action_type, parts={"arm": arm, **others}, parameters={**parameters, **place})
        harness.start()
        for _ in range(800):
            if harness.step() != 0:
                break
            rows.append(arm.live.commanded_position[:7].copy())
        assert len(rows) > ticks + 500
        check_limits(rows, arm, 50.0 if make in (comply, kept_distance) else 1.0)
