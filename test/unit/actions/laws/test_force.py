"""The law force, on one degree of freedom."""

from __future__ import annotations

import math

import pytest

from robot_rt_control.actions.laws.force import Force, largest_rate
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakePart
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError


def harness(**parameters: float) -> ActionHarness:
    return ActionHarness(
        Force, parts={"axis": FakePart(name="arm.slide", kind=PartKind.AXIS, dof=1)}, parameters=parameters
    )


def velocity_at(pressed: float, **parameters: float) -> float:
    """The velocity that it takes to reach 5 N, at this measured push."""
    h = harness(force=5.0, **parameters)
    h.part("axis").inputs[0] = pressed
    h.start()
    h.step(300)
    return float(h.part("axis").commanded_velocity[0])



@pytest.mark.parametrize(
    ("pressed", "expected"),
    [(0.0, 0.02), (4.0, 0.01), (5.0, 0.0), (7.0, -0.02), (9.0, -0.02), (math.nan, 0.0), (math.inf, -0.02)],
)
def test_the_velocity_follows_the_missing_force(pressed: float, expected: float) -> None:
    assert velocity_at(pressed, velocity=0.02, compliance=0.01) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("pressed", "expected"), [(3.0, 0.01), (4.0, 0.0), (6.0, 0.0), (7.0, -0.01)])
def test_within_the_band_it_stands_still(pressed: float, expected: float) -> None:
    assert velocity_at(pressed, band=1.0, compliance=0.01) == pytest.approx(expected, abs=1e-9)


def test_new_parameters_take_effect_while_it_governs() -> None:
    h = harness(force=5.0, compliance=0.01)
    h.part("axis").inputs[0] = 5.0
    h.start()
    h.step(100)
    h.set_parameters(force=6.0)
    h.step(300)
    assert h.part("axis").commanded_velocity[0] == pytest.approx(0.01)


def test_a_velocity_above_the_limit_is_refused() -> None:
    with pytest.raises(DefinitionError, match="velocity of 'arm.slide' is above its limit; expected at most 1.5000"):
        harness(force=5.0, velocity=1.6)


def test_the_velocity_follows_with_the_time_constant_of_the_virtual_mass() -> None:
    h = harness(force=5.0, velocity=0.02, compliance=0.002, smoothing=0.1)
    h.part("axis").inputs[0] = 0.0
    h.start()
    h.step(100)
    assert h.part("axis").commanded_velocity[0] == pytest.approx(0.01 * (1.0 - math.exp(-1.0)), rel=0.02)


@pytest.mark.parametrize(("smoothing", "delay"), [(0.0, 0.004), (0.005, 0.004), (0.05, 0.001)])
def test_the_largest_rate_has_the_promised_phase_margin_in_the_sampled_loop(smoothing: float, delay: float) -> None:
    """Simulated tick by tick against a spring: damped at that rate, growing beyond the rate without a margin."""
    rate, dt = largest_rate(smoothing, delay), 1e-4

    def swing(rate: float) -> float:
        missing, velocity, late = 1.0, 0.0, [0.0] * round(delay / dt)
        seen = []
        for _ in range(20_000):
            late.append(missing)
            velocity += (rate * late.pop(0) - velocity) * dt / (smoothing + dt)
            missing -= velocity * dt
            seen.append(abs(missing))
        return max(seen[-2000:])

    assert swing(rate) < 1e-3 and swing(largest_rate(smoothing, delay, -0.2)) > 1.0


def test_a_compliance_that_is_not_stable_with_the_stiffness_is_refused() -> None:
    with pytest.raises(
        DefinitionError,
        match=r"compliance of 'arm.slide' is too large for a contact of stiffness 100000; expected at most 0\.000991 "
        r"rad/s for each unit of force: with smoothing 0\.005 s and delay 0\.004 s, that is a phase margin of 45 "
        r"degrees; got 0\.002",
    ):
        harness(force=5.0, stiffness=1e5)
    harness(force=5.0, stiffness=1e5, compliance=0.0009)
