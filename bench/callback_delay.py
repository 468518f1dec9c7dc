"""How long it takes from the tick in which a reaction fires to its callback, and back: real processes, over DDS."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from bench.report import Goal, Options, Report
from bench.running import running_workcell

if TYPE_CHECKING:
    from robot_rt_control.client import Client, Event, Session

_EVENTS = 1000
_EVERY_S = 0.02
"""Between two firings."""


def measure(options: Options) -> Report:
    n = options.amount(_EVENTS)
    with running_workcell(options, "callback") as client:
        called = time_callbacks(client, n)
        answered = time_answers(client, n)
        round_trips = time_round_trips(client, n)
    rows = [
        [name, *[f"{1e3 * x:.2f}" for x in (*np.percentile(seconds, [50, 99]), seconds.max())]]
        for name, seconds in (
            ("tick → callback is called", called),
            ("tick → the callback's result is in the loop", answered),
            ("for comparison: one rclpy service round trip", round_trips),
        )
    ]
    p50, trip = float(np.percentile(called, 50)), float(np.percentile(round_trips, 50))
    return Report(
        title="From the tick of a firing to its callback",
        columns=["from → to", "p50 [ms]", "p99", "max"],
        rows=rows,
        goals=[
            Goal(
                figure="tick of a firing → its callback is called, p50",
                aim="< 2 service round trips",
                measured=f"{p50 / trip:.2f} round trips ({1e3 * p50:.2f} ms)",
                met=p50 < 2.0 * trip,
                beside=f"rclpy service round trip, p50 {1e3 * trip:.2f} ms",
            )
        ],
        notes=[
            f"{n} firings; application, control server and executor (1 kHz, mock hardware) are processes of their own, "
            "joined by DDS. From the start of the tick, on the ROS clock. The result is one changed parameter."
        ],
        data={
            "called_s": called.tolist(),
            "answered_s": answered.tolist(),
            "service_round_trip_s": round_trips.tolist(),
        },
    )


def _swing(client: Client, n: int, call: Callable[[Session, Event], bool]) -> None:
    """Let a reaction fire, and call `call(session, event)` each time, until it returns True."""
    from robot_rt_control.client import Action, Reaction

    with client.session("arm") as session:
        done = threading.Event()

        def callback(event: Event) -> None:
            if call(session, event):
                done.set()

        session.add(
            Action(
                "up",
                "velocity_move",
                linear=[0.0, 0.0, 1e-4],
                reactions=[Reaction(f"elapsed > {_EVERY_S}", start="down", call=callback, queue=n)],
            ),
            Action(
                "down",
                "velocity_move",
                linear=[0.0, 0.0, -1e-4],
                reactions=[Reaction(f"elapsed > {_EVERY_S}", start="up", call=callback, queue=n)],
            ),
        )
        session.start("up")
        if not done.wait(10.0 + 5.0 * n * _EVERY_S):
            raise TimeoutError(f"{n} callbacks were not called in time; session: {session.ended or 'lives'}")


def time_callbacks(client: Client, n: int) -> np.ndarray:
    """Seconds from the start of a firing's tick to the first line of its callback; shape (n,)."""
    taken: list[float] = []

    def look(session: Session, event: Event) -> bool:
        taken.append(time.time() - event.time)
        return len(taken) >= n

    _swing(client, n, look)
    return np.array(taken[:n])


def time_answers(client: Client, n: int) -> np.ndarray:
    """Seconds from the start of a firing's tick to that from which the callback's result holds; shape (n,)."""
    taken: list[float] = []

    def answer(session: Session, event: Event) -> bool:
        up = event.current_action == "up"
        tick = session.set(event.current_action, linear=[0.0, 0.0, 1e-4 if up else -1e-4])
        taken.append((tick - event.tick) * 1e-3)
        return len(taken) >= n

    _swing(client, n, answer)
    return np.array(taken[:n])


def time_round_trips(client: Client, n: int) -> np.ndarray:
    """Seconds of one call of a service that does next to nothing; shape (n,)."""
    taken = np.empty(n)
    with client.session("arm", lease_s=0.0) as session:
        for i in range(n):
            begin = time.perf_counter()
            session.renew()
            taken[i] = time.perf_counter() - begin
    return taken
