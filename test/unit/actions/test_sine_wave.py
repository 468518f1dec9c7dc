"""The worked example of a custom action: smooth, exact, the same compiled and interpreted, without allocation."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_rt_control.actions.sine_wave import NO_ROOM, STEP_CURVATURE, STEP_SLOPE, SineWave, smooth_step
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakeArm
from robot_rt_control.vocabulary.errors import DefinitionError

DT = 0.001
JOINT = 3


def run(harness, ticks):
    """Commanded position, velocity and acceleration of all joints, shape (ticks, 3, 7)."""
    arm = harness.part("arm")
    rows = np.empty((ticks, 3, 7))
    for row in rows:
        assert harness.step() == 0
        row[0] = arm.commanded_position[:7]
        row[1] = arm.commanded_velocity[:7]
        row[2] = arm.commanded_acceleration[:7]
    return rows


def test_it_swings_about_where_it_stood():
    arm = FakeArm(position=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    harness = ActionHarness(SineWave, parts={"arm": arm}, parameters={"amplitude": 0.2, "frequency": 0.5})
    harness.start()
    rows = run(harness, 4000)
    t = DT * np.arange(1, 4001)
    after = t > 1.0
    np.testing.assert_allclose(rows[after, 0, JOINT], 0.4 + 0.2 * np.sin(np.pi * t[after]), atol=1e-9)
    others = [j for j in range(7) if j != JOINT]
    assert (rows[:, 0, others] == rows[0, 0, others]).all()
    assert harness.state.settled == 1.0
    assert harness.state.elapsed == pytest.approx(4.0)
    assert harness.state.amplitude == pytest.approx(0.2)


motion = st.floats(-1.0, 1.0)


@settings(max_examples=15, deadline=None)
@given(
    velocity=st.lists(motion, min_size=7, max_size=7),
    acceleration=st.lists(motion, min_size=7, max_size=7),
    amplitude=st.floats(0.0, 0.25),
    frequency=st.floats(0.0, 0.6),
    ramp_time=st.floats(0.6, 2.0),
)
def test_position_velocity_and_acceleration_never_jump(velocity, acceleration, amplitude, frequency, ramp_time):
    arm = FakeArm()
    arm.live.commanded_velocity[:7] = velocity
    arm.live.commanded_acceleration[:7] = arm.live.former_acceleration[:7] = acceleration
    harness = ActionHarness(
        SineWave,
        parts={"arm": arm},
        parameters={"amplitude": amplitude, "frequency": frequency, "ramp_time": ramp_time},
    )
    harness.start()
    before = np.stack([np.zeros(7), velocity, acceleration])[None]
    rows = np.concatenate([before, run(harness, 300)])
    # Third derivatives: of the wave, of its growth, and of the motion that fades.
    rate = 2.0 * np.pi * frequency
    jerk = amplitude * (rate + 4.0 / ramp_time) ** 3 + 12.0 * np.abs(velocity) / ramp_time**2 + 12.0 / ramp_time
    assert (np.abs(np.diff(rows[:, 2], axis=0)) <= 3.0 * DT * np.max(jerk) + 1e-6).all()
    assert (np.abs(np.diff(rows[:, 1], axis=0)) <= DT * (2.0 + 10.0)).all()


def test_new_parameters_are_led_to_without_a_jump():
    harness = ActionHarness(SineWave, parameters={"amplitude": 0.2, "frequency": 0.4})
    harness.start()
    first = run(harness, 1500)
    harness.set_parameters(amplitude=0.1, frequency=0.6)
    second = run(harness, 2500)
    change = np.abs(np.diff(np.concatenate([first, second])[:, 2], axis=0)).max()
    assert change < 0.02, "acceleration [rad/s^2] from one tick to the next"
    assert harness.state.settled == 1.0 and harness.state.amplitude == pytest.approx(0.1)
    swing = second[-1667:, 0, JOINT]  # one period at 0.6 Hz
    assert swing.max() - swing.min() == pytest.approx(0.2, abs=1e-4)


def test_derivatives_of_the_ramp():
    x = np.linspace(0.0, 1.0, 20001)
    y = np.array([smooth_step(float(v)) for v in x])
    slope = np.gradient(y, x)
    assert slope.max() == pytest.approx(STEP_SLOPE, rel=1e-4)
    assert np.abs(np.gradient(slope, x)[2:-2]).max() == pytest.approx(STEP_CURVATURE, rel=1e-3)


@settings(max_examples=15, deadline=None)
@given(amplitude=st.floats(0.0, 0.6), frequency=st.floats(0.0, 1.0), ramp_time=st.floats(0.1, 2.0))
def test_what_is_accepted_keeps_the_limits(amplitude, frequency, ramp_time):
    parameters = {"amplitude": amplitude, "frequency": frequency, "ramp_time": ramp_time}
    try:
        harness = ActionHarness(SineWave, parameters=parameters)
    except DefinitionError:
        return
    harness.start()
    rows = np.abs(run(harness, 1000))
    arm = harness.part("arm")
    assert rows[:, 1].max() <= arm.velocity_limit[0] * (1 + 1e-6)
    assert rows[:, 2].max() <= arm.acceleration_limit[0] * (1 + 1e-3)


REFUSED = {
    "joint": ({"joint": 7, "amplitude": 0.1, "frequency": 0.1}, r"part 'arm': joint; expected 0 to 6; got 7"),
    "amplitude": (
        {"amplitude": 3.0, "frequency": 0.0, "ramp_time": 60.0},
        r"joint 'arm_joint_4': amplitude; .* 2.9 rad",
    ),
    "velocity": ({"amplitude": 1.0, "frequency": 0.25}, r"velocity; .* 1.5 rad/s; got 3.446. Take a smaller"),
    "acceleration": ({"amplitude": 0.02, "frequency": 5.0}, r"acceleration; expected at most 10 rad/s\^2; got 22.21"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_waves_beyond_the_limits_are_refused(what):
    parameters, message = REFUSED[what]
    with pytest.raises(DefinitionError, match=message):
        ActionHarness(SineWave, parameters=parameters)


def test_no_room_where_it_stands():
    arm = FakeArm(position=[0, 0, 0, 2.8, 0, 0, 0])
    harness = ActionHarness(SineWave, parts={"arm": arm}, parameters={"amplitude": 0.2, "frequency": 0.3})
    harness.start()
    assert harness.step() == NO_ROOM


@settings(max_examples=6, deadline=None)
@given(velocity=motion, amplitude=st.floats(0.0, 0.2), frequency=st.floats(0.0, 0.6), change=st.integers(0, 300))
def test_compiled_equals_interpreted(velocity, amplitude, frequency, change):
    results = []
    for compiled in (False, True):
        arm = FakeArm()
        arm.live.commanded_velocity[:7] = velocity
        harness = ActionHarness(
            SineWave,
            parts={"arm": arm},
            parameters={"amplitude": amplitude, "frequency": frequency, "ramp_time": 0.8},
            compiled=compiled,
        )
        harness.start()
        rows = [run(harness, change)]
        harness.set_parameters(amplitude=0.5 * amplitude)
        rows.append(run(harness, 300))
        results.append((np.concatenate(rows).tobytes(), harness.state.tobytes()))
    assert results[0] == results[1], "bit by bit"


ALLOCATIONS = textwrap.dedent(
    """
    from numba.core.runtime import rtsys
    from robot_rt_control.actions.sine_wave import SineWave
    from robot_rt_control.testing.action_harness import ActionHarness
    harness = ActionHarness(SineWave, parameters={"amplitude": 0.1, "frequency": 0.5}, compiled=True)
    harness.start()
    harness.step(10)
    before = rtsys.get_allocation_stats()
    harness.step(2000)
    after = rtsys.get_allocation_stats()
    import numba, numpy as np
    @numba.njit
    def makes(n):
        return np.zeros(n)
    makes(3)
    counts = rtsys.get_allocation_stats().alloc > after.alloc
    print(after.alloc - before.alloc, after.mi_alloc - before.mi_alloc, counts)
    """
)


def test_it_allocates_nothing():
    done = subprocess.run(
        [sys.executable, "-c", ALLOCATIONS],
        env=os.environ | {"NUMBA_NRT_STATS": "1"},
        capture_output=True,
        text=True,
        cwd=os.getcwd(),
    )
    assert done.stdout.split() == ["0", "0", "True"], done.stderr


TWIN = textwrap.dedent(
    """
    import hashlib, sys
    from robot_rt_control.actions.sine_wave import SineWave
    from robot_rt_control.testing.action_harness import ActionHarness
    parameters = {"amplitude": 0.1, "frequency": 0.5}
    harness = ActionHarness(SineWave, parameters=parameters, compiled=sys.argv[1] == "compiled")
    harness.start()
    digest = hashlib.sha256()
    for _ in range(1500):
        assert harness.step() == 0
        digest.update(harness.state.tobytes() + harness.part("arm").commanded_position.tobytes())
    print(digest.hexdigest())
    """
)


@pytest.mark.long
def test_plain_python_without_the_compiler_does_the_same():
    results = [
        subprocess.run(
            [sys.executable, "-c", TWIN, mode], env=os.environ | extra, capture_output=True, text=True, cwd=os.getcwd()
        )
        for mode, extra in (("compiled", {}), ("interpreted", {"NUMBA_DISABLE_JIT": "1"}))
    ]
    assert len(results[0].stdout) == 65, results[0].stderr
    assert results[0].stdout == results[1].stdout, results[1].stderr
