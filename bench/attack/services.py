"""Calls of the control server's services by strangers, and with fields of any content."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from bench.attack.attack import RULES, Attack
from bench.attack.content import message
from robot_rt_control.client.actions import Action
from robot_rt_control.testing.lockstep_cell import LockstepCell

_CALLS = 600
_OPEN = frozenset({"protective_stop", "stop_actions", "set_speed", "set_motion", "recover_parts", "open_session"})
"""What anybody may do, and what takes effect beyond its caller's session."""


def _moving(cell: LockstepCell) -> tuple[Any, float, int]:
    session = cell.session("left")
    session.add(Action("a", "probe", parts="left", speed=0.01), Action("b", "probe", parts="left", speed=-0.3))
    session.start("a")
    cell.step(50)
    return session, session.value("a.controls"), cell.tick


def _lives(cell: LockstepCell, session: str) -> bool:
    return any(live.id == session for live in cell.server.sessions())


def _strangers(random: Random, folder: Path) -> int:
    from service_calls import ServiceCalls

    with LockstepCell(RULES / "workcell.yaml") as cell:
        session, calls, tick = _moving(cell)
        services = ServiceCalls(cell)
        secret = cell.server.session(session.id).secret
        harmful = [
            name
            for name, kind in services.kinds.items()
            if name not in _OPEN and {"secret", "session"} <= set(kind.Request.get_fields_and_field_types())
        ]
        assert "start_actions" in harmful and "close_session" in harmful
        for _ in range(_CALLS):
            name = random.choice(harmful)
            request = message(random, services.kinds[name].Request, ("a", "b"))
            request.session = session.id
            request.secret = random.choice(("", "x", secret[:-1], secret.upper() + " ", secret[::-1] + "0", "0" * 32))
            answer = services.handlers[name](request, services.kinds[name].Response())
            assert not answer.success, f"{name} of a stranger was carried out: {request}"
            cell.step()
        assert session.ended is None and cell.active("left") == "a"
        assert session.value("a.controls") - calls == cell.tick - tick, "it was disturbed"
    return _CALLS


def _fuzz(random: Random, folder: Path) -> int:
    from service_calls import ServiceCalls

    with LockstepCell(RULES / "workcell.yaml") as cell:
        services = ServiceCalls(cell)
        session, _, _ = _moving(cell)
        for _ in range(_CALLS):
            known = ("a", session.id, *cell.workcell.part("left").joint_names)
            name = random.choice(tuple(services.kinds))
            request = message(random, services.kinds[name].Request, known)
            has_both, lives = hasattr(request, "secret") and hasattr(request, "session"), _lives(cell, session.id)
            if has_both and random.random() < 0.7 and lives:
                request.session, request.secret = session.id, cell.server.session(session.id).secret
            if name == "protective_stop":
                request.secret = ""  # nobody else could release it
            answer = services.handlers[name](request, services.kinds[name].Response())
            said = str(getattr(answer, "message", ""))
            assert "internal error" not in said, f"{name}: {said}; {request}"
            cell.step(random.choice((0, 1, 5)))
            if not _lives(cell, session.id):
                cell.server.protective_stop(False, everything=True)
                cell.step(2)
                for held in cell.server.sessions():
                    cell.server.close_session(held.id)
                cell.step(400)
                cell.server.set_motion([], "clear_faults")
                cell.server.set_motion([], "enable")
                cell.step(400)
                cell.load(f"{RULES / 'rule_types.py'}:Probe")  # anybody may unload it while nobody uses it
                session, _, _ = _moving(cell)
        assert not [line for line in services.log if "internal" in line], services.log
    return _CALLS


STRANGERS = Attack(
    name="strangers",
    promise="without a session's secret no call changes it: all are refused, and its motion is not disturbed",
    round=_strangers,
    unit="calls",
)
FUZZ = Attack(
    name="services",
    promise="a call with any content is answered, without an internal error, and no limit is broken",
    round=_fuzz,
    unit="calls",
)
