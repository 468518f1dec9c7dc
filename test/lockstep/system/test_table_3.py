"""Table 3: a state machine on a live sensor value switches in the tick in which the value crosses, every time."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.session import Session
from robot_rt_control.testing.lockstep_cell import LockstepCell

CONFIG = Path(__file__).parents[3] / "config"


@dataclass(frozen=True)
class Way:
    """Between two distances [m] from the ground, with a speed [m/s] and an acceleration [m/s^2]."""

    near: float
    far: float
    speed: float
    acceleration: float


def up_and_down(session: Session, way: Way) -> None:
    """Down until it is near, up until it is far, and so on."""
    near = Reaction(f"rangefinder.distance < {way.near}", start="up", event="near", capture=["rangefinder.distance"])
    far = Reaction(f"rangefinder.distance > {way.far}", start="down", event="far", capture=["rangefinder.distance"])
    turn: dict[str, Any] = {"linear_acceleration": way.acceleration, "ramp_time": 0.005}
    session.add(
        Action("down", "velocity_move", linear=[0.0, 0.0, -way.speed], reactions=[near], **turn),
        Action("up", "velocity_move", linear=[0.0, 0.0, way.speed], reactions=[far], **turn),
    )


def run(cell: LockstepCell, way: Way, crossings: int) -> tuple[str, int]:
    """Run until this number of crossings, checking every tick. Returns a digest of all commands and events, and the
    ticks."""
    session = cell.session("arm")
    up_and_down(session, way)
    session.start("down")
    cell.step()
    w = cell.executor.world.memory
    arm, distance_of, runtime = cell.part("arm"), cell.part("rangefinder"), w.parts_runtime[0]
    actions = cell.server.contents(cell.server.session(session.id)).actions
    slots = {name: actions[name].entry.slot for name in ("down", "up")}
    device = w.devices[0]
    image, modes, commands = device.command[: int(device.n_command)], device.mode, hashlib.sha256()
    direction, done, switched_at = "down", 0, [0]
    while done < crossings:
        tick = cell.step()
        commands.update(image.tobytes() + modes.tobytes())  # what the hardware gets in this tick
        distance = float(distance_of.distance)
        if distance < way.near if direction == "down" else distance > way.far:
            direction = "up" if direction == "down" else "down"
            done += 1
            switched_at.append(tick)
            # the new action has begun, and its command is the one that left
            assert session.value(f"{direction}.elapsed") == cell.workcell.period
            assert arm.commanded_acceleration[: arm.dof].any(), "it turns round in the very tick"
        assert runtime.active_action == slots[direction], f"tick {tick}, distance {distance}"
        assert tick - switched_at[-1] < 5000 or done == 0, "it goes on and on"
    fired = [(e.tick, e.event, e.values) for e in cell.kinds("reaction_fired")]
    started = [(e.tick, e.current_action) for e in cell.kinds("action_started", session=session.id)]
    assert [tick for tick, _, _ in fired] == switched_at[1:]
    assert started[1:] == [(tick, "up" if event == "near" else "down") for tick, event, _ in fired]
    assert not cell.kinds("switch_dropped", "part_faulted", "action_failed")
    events = repr([(e.kind, e.tick, e.time_ns, e.event, e.values) for e in cell.events])
    return hashlib.sha256(commands.digest() + events.encode()).hexdigest(), cell.tick


def on_mock(crossings: int) -> tuple[str, int]:
    """The rangefinder measures how high the tool is."""
    with LockstepCell(CONFIG / "iiwa.yaml") as cell:
        arm = cell.part("arm")
        start = float(arm.tool_position[2])
        cell.drive_sensor("rangefinder/distance", lambda: float(arm.tool_position[2]))
        return run(cell, Way(start - 0.002, start + 0.002, 0.1, 4.0), crossings)


def in_simulation(crossings: int) -> tuple[str, int]:
    """The rangefinder casts a ray."""
    with LockstepCell(CONFIG / "iiwa.yaml", hardware="simulator") as cell:
        return run(cell, Way(0.49, 0.51, 0.2, 3.0), crossings)


def test_hundreds_of_crossings_switch_in_their_tick() -> None:
    on_mock(300)


def test_a_second_run_is_bit_identical() -> None:
    assert on_mock(40) == on_mock(40)


@pytest.mark.long
def test_so_they_do_in_simulation() -> None:
    first = in_simulation(10)
    assert in_simulation(10) == first
