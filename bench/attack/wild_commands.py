"""The worst that an action can write: wild, huge, tiny and not finite commands, in another mode each tick."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from random import Random

from bench.attack.attack import REPOSITORY, Attack
from robot_rt_control.client.actions import Action
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import OperationalState
from robot_rt_control.vocabulary.errors import RobotControlError

_TICKS, _STEPS = 200, 100


def _round(random: Random, folder: Path) -> int:
    with LockstepCell(REPOSITORY / "test" / "lockstep" / "system" / "workcell.yaml") as cell:
        session = cell.session("arm")
        names = []
        for modes in range(1, 8):
            bad, hold = random.choice((0, 200, 1000)), random.choice((1, 7, 40))
            session.add(Action(f"wild_{modes}", "random_commands", modes=modes, not_finite=bad, hold=hold))
            names.append(f"wild_{modes}")
        for _ in range(_STEPS):
            with suppress(RobotControlError):
                if OperationalState(int(cell.part("arm").operational_state)) != OperationalState.ENABLED:
                    cell.server.set_motion([], "clear_faults")
                    cell.server.set_motion([], "enable")
                session.start(random.choice(names))
            cell.step(random.randint(1, _TICKS))
        return cell.tick * len(cell.workcell.part("arm").joint_names)


ATTACK = Attack(
    name="wild_commands",
    promise="whatever an action writes, each command that leaves is finite and within the system limits",
    round=_round,
    share=2.0,
)
