"""Rule F5 of docs/semantics/laws.md: laws, and action types with degrees of freedom, that users write."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from loaded_types import Creep, appear

from robot_rt_control.client.actions import Action, Strategy
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import CompileError, DefinitionError, RobotControlError

OWN = '''
import os

from robot_rt_control.definitions.action_type import ActionType, Degree, Parameter, Slot
from robot_rt_control.vocabulary.enums import CommandMode, PartKind

POSITION = int(CommandMode.POSITION)


class OwnLaw(ActionType):
    """Move by a part of the velocity limit."""

    name = "own_law"
    slots = (Slot(name="axis", kinds=(PartKind.AXIS,)),)
    parameters = (Parameter(name="fraction", default=0.1), Parameter(name="do", type="text", default=""))
    Params = {"velocity": float}

    def prepare_parameters(self, values, params):
        params.velocity = SIGN * values["fraction"] * self.parts["axis"].limits("velocity_limit")[0]
        if values["do"] == "raise":
            raise ValueError("no")
        if values["do"] == "exit":
            os._exit(3)
        if values["do"] == "hang":
            open(__file__ + ".hangs", "w").close()
        while values["do"] == "hang":
            pass

    @staticmethod
    def control(state, params, axis):
        axis.command_mode = POSITION
        axis.position_command[0] = axis.commanded_position[0] + params.velocity * axis.dt


class Along(ActionType):
    """One degree of freedom, which moves joint 0 twice as far."""

    name = "along"
    slots = (Slot(name="part", kinds=(PartKind.BASE,)),)
    degrees_of_freedom = (Degree(name="s"),)
    parameters = (Parameter(name="fastest", unit="m/s", default=0.5),)

    def prepare_degrees(self, params, degrees):
        degrees[int(params.fastest == 9.0)].velocity_limit = params.fastest

    @staticmethod
    def sense(state, params, part):
        state.degrees[0].commanded_position = 0.5 * part.commanded_position[0]

    @staticmethod
    def control(state, params, part):
        part.command_mode = POSITION
        part.position_command[0] = 2.0 * state.degrees[0].position_command
        part.position_command[1] = part.commanded_position[1]
'''


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    path.write_text(OWN.replace("SIGN", "1.0"))
    return path


def shift(cell: LockstepCell, part: str = "left") -> float:
    """How far joint 0 of a part moves in a tick [m], once it has its velocity."""
    cell.step(150)
    before = float(cell.part(part).commanded_position[0])
    cell.step()
    return float(cell.part(part).commanded_position[0]) - before


def x(strategy: Strategy, type: str = "hold", axis: str = "x", id: str = "a", **parameters: Any) -> Action:
    return Action(id, type, strategies={axis: [strategy]}, **parameters)


def test_F5_a_law_is_loaded_replaced_and_unloaded_as_an_action_type(cell: LockstepCell, own: Path) -> None:
    cell.server.load_action_types(str(own))
    limit = float(cell.part("left").velocity_limit[0])
    session = cell.session("left")
    session.add(x(Strategy("s", "own_law", fraction=0.1)))
    session.start("a")
    assert shift(cell) == pytest.approx(0.1e-3 * limit)

    own.write_text(OWN.replace("SIGN", "-1.0"))
    cell.server.load_action_types(str(own), replace=True)
    assert shift(cell) == pytest.approx(0.1e-3 * limit), "the governing strategy keeps its code and parameters"
    other = cell.session("right")
    other.add(x(Strategy("s", "own_law", fraction=0.1), axis="joint[0]"))
    other.start("a")
    assert shift(cell, "right") < 0.0
    with pytest.raises(RobotControlError, match="action 'a'"):
        cell.server.unload_action_types(["own_law"])
    other.remove("a")
    session.remove("a")
    cell.step()
    cell.server.unload_action_types(["own_law"])
    with pytest.raises(DefinitionError, match="strategy 's' of 'x': unknown law"):
        session.add(x(Strategy("s", "own_law"), id="b"))


def test_F5_a_class_is_loaded_with_the_strategy_that_has_it(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(x(Strategy("s", Creep, velocity=0.02)))
    session.start("a")
    assert shift(cell) == pytest.approx(0.02e-3)


def test_F5_what_its_code_refuses_has_the_line_and_concerns_no_other_session(cell: LockstepCell, own: Path) -> None:
    cell.server.load_action_types(str(own))
    line = 1 + own.read_text().splitlines().index('            raise ValueError("no")')
    session, other = cell.session("left"), cell.session("right")
    with pytest.raises(DefinitionError) as refused:
        session.add(x(Strategy("s", "own_law", do="raise")))
    assert str(refused.value) == (
        "action 'a': strategy 's' of 'x': prepare_parameters of action type 'own_law' failed with ValueError: no; "
        f"got the exception at {own}:{line}. "
        "Correct the action type's code and load it again"
    )
    with pytest.raises(DefinitionError, match="strategy 's' of 'x': prepare_parameters of action type 'own_law' ended"):
        session.add(x(Strategy("s", "own_law", do="exit")))
    errors: list[str] = []

    def hang() -> None:
        try:
            session.add(x(Strategy("s", "own_law", do="hang")))
        except DefinitionError as error:
            errors.append(str(error))

    adding = threading.Thread(target=hang)
    adding.start()
    appear(own.with_name("own.py.hangs"))
    other.add(x(Strategy("s", "own_law"), axis="joint[0]"))
    other.start("a")
    assert shift(cell, "right") > 0.0
    session.close()
    adding.join(60.0)
    (error,) = errors
    assert error.startswith(
        "action 'a': strategy 's' of 'x': prepare_parameters of action type 'own_law' had not returned when its "
        f"session ended; got it was still running at {own}:"
    )


def test_F5_code_that_is_not_safe_is_refused(cell: LockstepCell, own: Path) -> None:
    own.write_text(own.read_text().replace("        axis.command_mode = POSITION\n", "        print(1)\n"))
    line = 1 + own.read_text().splitlines().index("        print(1)")
    with pytest.raises(CompileError, match=f"own.py:{line}: .*print"):
        cell.server.load_action_types(str(own))


def test_F5_degrees_of_freedom_of_ones_own_are_governed_by_laws_of_ones_own(cell: LockstepCell, own: Path) -> None:
    cell.server.load_action_types(str(own))
    session = cell.session("left")
    session.add(x(Strategy("s", "own_law", fraction=0.1), "along", "s"))
    session.start("a")
    assert shift(cell) == pytest.approx(2.0 * 0.1e-3 * 0.5), "of the limit that prepare_degrees gives"
    with pytest.raises(DefinitionError, match="velocity of 'left.s' is above its limit; expected at most 0.2000 m/s"):
        session.add(x(Strategy("s", "velocity", velocity=0.3), "along", "s", "b", fastest=0.2))
    with pytest.raises(DefinitionError, match="action 'c': prepare_degrees of action type 'along' failed with Index"):
        session.add(x(Strategy("s", "velocity", velocity=0.3), "along", "s", "c", fastest=9.0))
