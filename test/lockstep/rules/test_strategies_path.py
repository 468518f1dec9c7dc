"""Rule Y21 of docs/semantics: a nominal path, and laws that correct it (document 1, paragraphs 34 and 101)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from robot_rt_control.client.actions import Action, Reaction, Strategy
from robot_rt_control.client.session import Session
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import RobotControlError

SURFACE = Path(__file__).parents[3] / "config" / "surface.yaml"
SENSOR = 0.0299
"""[m] The rangefinder `beside` above the needle's tip."""
Y = np.linspace(-0.16, 0.15, 32)
WAVE = np.column_stack((0.5 + 0.03 * np.sin(20.0 * (Y + 0.16)), Y, 0.0 * Y + 0.115))


def follow(session: Session, points: Any, s: list[Strategy], **given: Any) -> None:
    exits = [Reaction("is_done", start="there", event="there")]
    strategies = {"s": s, **given.pop("strategies", {})}
    path = Action("follow", "govern_path", parts="arm", points=points, strategies=strategies, reactions=exits, **given)
    session.add(path, Action("there", "hold", parts="arm"))


@pytest.fixture
def simulated() -> Iterator[LockstepCell]:
    with LockstepCell(SURFACE, hardware="simulator") as cell:
        cell.step(20)
        yield cell


@pytest.fixture(scope="module")
def mock() -> Iterator[LockstepCell]:
    with LockstepCell(SURFACE) as cell:
        yield cell


@pytest.fixture
def session(mock: LockstepCell) -> Iterator[Session]:
    made = mock.session("arm")
    yield made
    if not made.ended:
        made.close()
    mock.step(1000)


def tool(cell: LockstepCell) -> np.ndarray:
    return np.array(cell.part("arm").tool_position)


@pytest.mark.long
def test_Y21_half_a_millimetre_is_kept_along_a_curved_path_over_the_uneven_plate(simulated: LockstepCell) -> None:
    cell, session = simulated, simulated.session("arm")
    keep = Strategy(
        "keep",
        "distance",
        inputs={"distance": "beside.distance"},
        distance=SENSOR + 5e-4,
        velocity=-0.1,
        smoothing=0.01,
    )
    wait = Strategy("wait", "velocity", when=f"beside.distance > {SENSOR + 1e-3}", velocity=0.0)
    go = Strategy("go", "velocity", velocity=0.03)
    follow(session, WAVE.ravel(), [wait, go], strategies={"z": [keep]}, start_tolerance=0.03)
    above = [*WAVE[0, :2], 0.135]
    session.add(
        Action("above", "move_linear", parts="arm", position=above, reactions=[Reaction("is_settled", start="follow")])
    )
    session.start("above")
    cell.step_until(lambda: cell.active("arm") == "follow" and cell.value(session.id, "follow.way") > 0.002)
    seen, ways = [], []
    while cell.active("arm") == "follow":
        cell.step()
        seen.append(tool(cell))
        ways.append(cell.value(session.id, "follow.way"))
    x, y, z = np.array(seen).T
    plate = next(o for o in _objects() if o["name"] == "plate")["profile"]["points"]
    distance = z - np.interp(y, *np.array(plate).T)
    assert np.sqrt(np.mean((distance - 5e-4) ** 2)) < 8e-5, "[m]"
    assert distance.min() > 3e-4 and distance.max() < 7e-4, "on ramps of 12 mm/s"
    assert np.ptp(z) > 0.02, "by this much the plate differs from the flat path"
    assert np.abs(x - np.interp(y, Y, WAVE[:, 0])).max() < 2e-4, "beside the path"
    moved = np.diff(ways[:-1]) / 1e-3
    assert moved[300:-500] == pytest.approx(0.03, rel=0.01), "the correction leaves the speed along the path"
    assert not cell.kinds("action_failed", "part_faulted", "switch_dropped")


def _objects() -> list[dict[str, Any]]:
    return yaml.safe_load(SURFACE.read_text())["devices"]["sim"]["world"]["objects"]


def test_Y21_a_law_on_the_way_slows_and_stops_and_the_tool_stays_on_the_path(
    mock: LockstepCell, session: Session
) -> None:
    start = tool(mock)
    arc = np.linspace(0.0, np.pi, 19)
    points = start + np.column_stack((0.06 * np.sin(arc), 0.06 * (1.0 - np.cos(arc)), 0.0 * arc))
    laws = [
        Strategy("pause", "stop_at", when="way > 0.05 and elapsed < 2", direction="forward"),
        Strategy("slow", "velocity", when="way > 0.12", velocity=0.02),
        Strategy("go", "velocity", velocity=0.1),
    ]
    follow(session, points.ravel(), laws)
    session.start("follow")
    seen, ways = [], []
    while mock.active("arm") != "there":
        mock.step()
        seen.append(tool(mock))
        ways.append(mock.value(session.id, "follow.way"))
    away = np.hypot(*(np.array(seen) - start - [0.0, 0.06, 0.0])[:, :2].T) - 0.06
    assert np.abs(away).max() < 5e-5
    assert [e.reason for e in mock.kinds("strategy_changed")][1:] == ["s: go → pause", "s: pause → go", "s: go → slow"]
    assert 0.05 < ways[1500] < 0.06 and ways[1500] == ways[1900], "it rests on the path"
    jerk = np.abs(np.diff(ways[1:-2], 3)).max() / 1e-9
    assert jerk < 105.0, "[m/s^3] linear_acceleration / ramp_time"


def test_Y21_a_law_faster_than_the_curvature_permits_is_refused(mock: LockstepCell, session: Session) -> None:
    points = tool(mock) + np.array([[0.0, 0.0, 0.0], [0.002, 0.0, 0.0], [0.002, 0.002, 0.0]])
    with pytest.raises(RobotControlError) as refusal:
        follow(session, points.ravel(), [Strategy("go", "velocity", velocity=0.5)], linear_acceleration=0.5)
    text = str(refusal.value)
    assert "velocity of 'arm.s' is above its limit; expected at most 0.0" in text and "got 0.5000" in text


def test_Y21_a_start_away_from_the_path_is_refused(mock: LockstepCell, session: Session) -> None:
    points = tool(mock) + np.array([[0.0, 0.0, 0.05], [0.1, 0.0, 0.05]])
    follow(session, points.ravel(), [Strategy("go", "velocity", velocity=0.1)])
    session.start("follow")
    mock.step()
    (refused,) = mock.kinds("command_refused")
    assert refused.reason.startswith(
        "action 'follow' cannot start from the present state: the robot is too far from where the motion begins"
    )
    assert "start_distance 0.05" in refused.reason
