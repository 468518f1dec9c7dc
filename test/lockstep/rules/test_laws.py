"""Rules F1 to F4 of docs/semantics/laws.md: the built-in laws, on a joint before a wall that a sensor sees or feels."""

from __future__ import annotations

import math

import numpy as np
import pytest

from robot_rt_control.client.actions import Action, Strategy
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import DefinitionError

SEES = {"distance": "rangefinder.distance"}
FEELS = {"force": "show.force"}


def start(cell: LockstepCell, *strategies: Strategy) -> None:
    session = cell.session("left", "rangefinder")
    show = Action("show", "show", parts="rangefinder")  # what it measures, as a force and as a velocity
    session.add(show, Action("a", "hold", parts="left", strategies={"x": strategies}))
    session.start("a", "show")


def x(cell: LockstepCell) -> float:
    return float(cell.part("left").commanded_position[0])


def v(cell: LockstepCell) -> float:
    return float(cell.part("left").commanded_velocity[0])


def trace(cell: LockstepCell, ticks: int) -> np.ndarray:
    """The positions of x in so many ticks."""
    return np.array([x(cell) for _ in range(ticks) if cell.step() or True])


def test_F1_velocity_is_followed_faster_and_slower_both_ways(cell: LockstepCell) -> None:
    fast = Strategy("fast", "velocity", when="io.input[0]", velocity=0.3)
    back = Strategy("back", "velocity", when="io.input[1]", velocity=-0.1)
    start(cell, fast, back, Strategy("slow", "velocity", velocity=0.05))
    for inputs, expected in (((0, 0), 0.05), ((1, 0), 0.3), ((0, 0), 0.05), ((0, 1), -0.1)):
        for i, value in enumerate(inputs):
            cell.set_sensor(f"io/input_{i}", float(value))
        cell.step(400)
        assert v(cell) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_F2_distance_is_approached_with_hardly_any_overshoot_and_kept(cell: LockstepCell, way: float) -> None:
    wall = 0.3
    cell.drive_sensor("rangefinder/distance", lambda: wall - way * x(cell))
    start(cell, Strategy("keep", "distance", distance=0.1, velocity=0.25 * way, inputs=SEES))
    forward = way * trace(cell, 2500)
    assert np.diff(forward).max() == pytest.approx(0.25e-3, rel=1e-3), "at most its velocity"
    assert forward.max() <= 0.2 + 1e-4 and forward[-1] == pytest.approx(0.2, abs=1e-4)
    wall = 0.26  # it comes nearer
    assert way * trace(cell, 2500)[-1] == pytest.approx(0.16, abs=1e-4)


@pytest.mark.parametrize("distance", [math.nan, -math.inf])
def test_F2_an_unknown_distance_or_one_below_the_range_brings_it_to_rest(cell: LockstepCell, distance: float) -> None:
    cell.set_sensor("rangefinder/distance", 0.9)
    start(cell, Strategy("keep", "distance", distance=0.1, velocity=0.25, inputs=SEES))
    cell.step(300)
    assert v(cell) == pytest.approx(0.25)
    cell.set_sensor("rangefinder/distance", math.inf)
    cell.step(300)
    assert v(cell) == pytest.approx(0.25), "nothing is within the range"
    cell.set_sensor("rangefinder/distance", distance)
    cell.step(300)
    assert v(cell) == 0.0


@pytest.mark.parametrize(("way", "stiffness"), [(1.0, 5_000.0), (-1.0, 5_000.0), (1.0, 20_000.0)])
def test_F3_force_is_reached_and_held_also_if_the_surface_moves(
    cell: LockstepCell, way: float, stiffness: float
) -> None:
    surface = 0.02
    feel = lambda: way * stiffness * max(way * x(cell) - surface, 0.0)  # noqa: E731
    cell.drive_sensor("rangefinder/distance", feel)
    press = Strategy("press", "force", when=f"show.force {'>' if way > 0 else '<'} {2.0 * way}",
                     force=5.0 * way, compliance=10.0 / stiffness, inputs=FEELS)  # fmt: skip
    start(cell, press, Strategy("approach", "velocity", velocity=0.02 * way))
    forces = np.array([way * feel() for _ in range(2500) if cell.step() or True])
    assert forces[-500:] == pytest.approx(5.0, rel=0.01)
    assert forces.max() < 5.0 + stiffness * 0.001, "its peak is the way in which it brakes, below 1 mm"
    for _ in range(1000):
        surface += 2.0 * 10.0 / stiffness * 0.001
        cell.step()
    assert way * feel() == pytest.approx(3.0, abs=0.1), "it lags by the surface's velocity / compliance, here 2 N"
    cell.step(1000)
    assert way * feel() == pytest.approx(5.0, rel=0.01)


def test_F3_within_its_band_it_stands_still_and_an_unknown_force_brings_it_to_rest(cell: LockstepCell) -> None:
    cell.set_sensor("rangefinder/distance", 4.2)
    start(cell, Strategy("press", "force", force=5.0, band=1.0, velocity=0.03, compliance=0.01, inputs=FEELS))
    assert np.ptp(trace(cell, 100)) == 0.0
    cell.set_sensor("rangefinder/distance", 0.0)
    cell.step(300)
    assert v(cell) == pytest.approx(0.03), "at most its velocity"
    cell.set_sensor("rangefinder/distance", math.nan)
    cell.step(300)
    assert v(cell) == 0.0
    cell.set_sensor("rangefinder/distance", 6.5)
    cell.step(300)
    assert v(cell) == pytest.approx(-0.01 * 0.5), "the deviation beyond the band counts"


def test_F11_a_force_law_that_is_not_stable_at_the_stated_stiffness_is_refused(cell: LockstepCell) -> None:
    with pytest.raises(
        DefinitionError,
        match="compliance of 'left.x' is too large for a contact of stiffness 50000; expected at most 0.0",
    ):
        start(cell, Strategy("press", "force", force=5.0, compliance=0.01, stiffness=5e4, inputs=FEELS))


def test_F11_what_is_accepted_settles(cell: LockstepCell) -> None:
    stiffness, surface = 5e4, 0.02
    feel = lambda: stiffness * max(x(cell) - surface, 0.0)  # noqa: E731
    cell.drive_sensor("rangefinder/distance", feel)
    press = Strategy("press", "force", when="show.force > 2", force=5.0, velocity=0.005, compliance=0.0019,
                     stiffness=stiffness, inputs=FEELS)  # fmt: skip
    start(cell, press, Strategy("approach", "velocity", velocity=0.005))
    forces = np.array([feel() for _ in range(5500) if cell.step() or True])
    assert forces[-500:] == pytest.approx(5.0, rel=0.01)


@pytest.mark.parametrize(("direction", "way"), [("forward", 1.0), ("backward", -1.0)])
def test_F4_stop_at_goes_no_further_and_lets_go_back(cell: LockstepCell, direction: str, way: float) -> None:
    cell.set_sensor("rangefinder/distance", 0.2 * way)
    stop = Strategy("stop", "stop_at", when="io.input[0]", direction=direction, inputs={"velocity": "show.velocity"})
    start(cell, stop, Strategy("go", "velocity", velocity=0.1 * way))
    cell.step(300)
    cell.set_sensor("io/input_0", 1.0)
    braking = way * trace(cell, 200)
    assert (np.diff(braking) >= -1e-12).all() and braking[-1] == braking[-50], "it stops, although more is wanted"
    assert braking[-1] - braking[0] < 0.01, "as soon as its limits allow"
    cell.set_sensor("rangefinder/distance", -0.05 * way)
    assert way * np.diff(trace(cell, 300))[-1] == pytest.approx(-0.05e-3), "the way back is free"
    cell.set_sensor("rangefinder/distance", math.nan)
    cell.step(200)
    assert v(cell) == 0.0


def test_F4_without_a_wanted_velocity_it_only_stops(cell: LockstepCell) -> None:
    stop = Strategy("stop", "stop_at", when="io.input[0]", direction="backward")
    start(cell, stop, Strategy("go", "velocity", velocity=0.1))
    cell.step(300)
    cell.set_sensor("io/input_0", 1.0)
    cell.step(200)
    assert v(cell) == 0.0
