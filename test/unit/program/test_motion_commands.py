"""Motion groups in program files: what they become, how they are written back, and every mistake with its line."""

from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.command_line.offline_catalogue import offline_catalogue
from robot_rt_control.definitions.definitions import ParameterValue
from robot_rt_control.definitions.motion_command import MotionCommand, Trajectory
from robot_rt_control.program.check import check_program
from robot_rt_control.program.file import ProgramTemplate, dump_program, parse_program
from robot_rt_control.program.filled_program import FilledProgram
from robot_rt_control.vocabulary.errors import DefinitionError

PROGRAM = """\
roles: {left: {kinds: [arm]}, right: {kinds: [arm, base], default: arm1}}
parameters:
  v: {maximum: 1, default: 0.4}
  home: {length: 3, unit: rad, default: [0, 0.5, 1]}
  far: {length: any, unit: rad}
  mode: {type: text, choices: [own, together], default: together}
  yes: {type: bool, default: true}
start: out
actions:
  out:
    type: motion_group
    commands:
      - part: left
        position: [0.1, $v, 2 * $v]
        speed: $v / 2
        joint_speed: 1
        via: [$home, ['$home[1]', 0, 0]]
        blend: 0.01
      - {part: right, velocity: [0.1, 0, 0], time: 2, acceleration_percent: 40, jerk_percent: 30}
      - {part: right, trajectory: {times: [0, 1], positions: [$home, [0, 0, $v]], velocities: [[0, 0, 0], [0, 0, 0]]}}
      - {part: left, pose: {position: [0.4, 0, 0.3], orientation: [0, 1, 0, 0]}, duration: 3}
      - {part: left, position: $far, start: $home, start_tolerance: 0.1}
    parameters: {finish: $mode, profile: async}
    reactions: [{when: is_done, start: back}]
  back:
    type: motion_group
    parts: [right, left]
    final: true
    commands: [{part: left, position: $home}, {part: right, position: $home}]
"""


def filled(text: str = PROGRAM) -> FilledProgram:
    return ProgramTemplate(text, source="p.yaml").sample()


def message(text: str) -> str:
    with pytest.raises(DefinitionError) as error:
        check_program(filled(text), offline_catalogue())
    return str(error.value)


def test_commands_are_read_with_values_and_parts() -> None:
    far = ParameterValue(name="far", value=(0.1, 0.2, 0.3), unit="rad")
    program = parse_program(PROGRAM, parts={"left": "arm0"}, parameters=[far])
    out, back = program.actions
    assert (out.parts, back.parts, out.parameters[0].value) == (("arm0", "arm1"), ("arm1", "arm0"), "together")
    trajectory = Trajectory(
        times=np.array([0.0, 1.0]), positions=np.array([[0, 0.5, 1], [0, 0, 0.4]]), velocities=np.zeros((2, 3))
    )
    home = (0.0, 0.5, 1.0)
    assert out.commands == (
        MotionCommand(
            part="arm0",
            position=(0.1, 0.4, 0.8),
            speed=0.2,
            joint_speed=(1.0,),
            via=(home, (0.5, 0.0, 0.0)),
            blend=0.01,
        ),
        MotionCommand(part="arm1", velocity=(0.1, 0.0, 0.0), time=2.0, acceleration_percent=40.0, jerk_percent=30.0),
        MotionCommand(part="arm1", trajectory=trajectory),
        MotionCommand(part="arm0", pose=((0.4, 0.0, 0.3), (0.0, 1.0, 0.0, 0.0)), duration=3.0),
        MotionCommand(part="arm0", position=(0.1, 0.2, 0.3), start=home, start_tolerance=0.1),
    )
    assert parse_program(dump_program(program)) == program


def test_a_program_is_checked_before_it_has_values() -> None:
    assert check_program(filled(), offline_catalogue()) == ["p.yaml:7: parameter 'yes' is not used"]
    lengths = PROGRAM.replace("{length: 3, unit: rad, default: [0, 0.5, 1]}", "{length: any, unit: rad}")
    commands = filled(lengths.replace("[0, 0, $v]]", "[0, $v]]")).definition.actions[0].commands
    assert commands[2] == MotionCommand(part="right"), "how long $home will be is not known"


def test_a_used_program_has_groups_whose_commands_name_its_parts() -> None:
    def find(name: str) -> ProgramTemplate:
        inner = PROGRAM.replace("    final: true\n", "    reactions: [{when: is_done, start: end}]\n").replace(
            "  back:\n", "  end: {type: stop, parts: left, final: true}\n  back:\n"
        )
        return ProgramTemplate(inner, source="inner.yaml", find=find)

    outer = """\
start: swing
actions:
  swing: {use: inner, parts: {left: arm7}, parameters: {far: [1, 2, 3]}, exits: {end: end}}
  end: {type: hold, parts: arm7, final: true}
"""
    actions = {a.id: a for a in ProgramTemplate(outer, find=find).fill().definition.actions}
    assert [c.part for c in actions["swing__out"].commands] == ["arm7", "arm1", "arm1", "arm7", "arm7"]
    assert actions["swing__out"].commands[4].position == (1.0, 2.0, 3.0)
    assert actions["swing__back"].parts == ("arm1", "arm7")


SPEED = "speed: $v / 2"
POSITION = "[0.1, $v, 2 * $v]"
VIA = "[$home, ['$home[1]', 0, 0]]"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (SPEED, "sped: 1", "15: actions.out.commands[0].sped: unknown key|mean 'speed'"),
        (SPEED, "speed: fast", "15: actions.out.commands[0].speed; expected a number, or an expression|got 'fast'"),
        (SPEED, "speed: true", "15: actions.out.commands[0].speed; expected a number|got true"),
        (SPEED, "speed: .inf", "15: actions.out.commands[0].speed; expected a number|got inf"),
        (SPEED, "speed: $w", "15: action 'out': motion command 1: speed: unknown parameter $w"),
        (SPEED, "speed: $yes", "15: action 'out': motion command 1: speed; expected a number|got $yes, which is True"),
        (SPEED, "speed: $home", "15: action 'out': motion command 1: speed: wrong unit; expected no unit|in 'rad'"),
        (SPEED, "time: $home", "15: action 'out': motion command 1: time: wrong unit; expected 's'|in 'rad'"),
        (SPEED, "speed: 2 * $home", "13: motion command of 'left': speed; expected a number; got (0"),
        (POSITION, "[]", "14: actions.out.commands[0].position; expected at least one number; got []"),
        (POSITION, "[0.1, [1]]", "14: actions.out.commands[0].position; expected a number|got [1]"),
        (VIA, "[1, 2]", "17: actions.out.commands[0].via[0]; expected a point: a list|got 1"),
        (VIA, "[]", "17: actions.out.commands[0].via; expected a list of points; got []"),
        (VIA, "[[x]]", "17: actions.out.commands[0].via; expected a number|got 'x'"),
        ("{part: right, velocity", "{velocity", "19: actions.out.commands[1].part; expected this key; got nothing"),
        ("times: [0, 1], p", "p", "20: actions.out.commands[2].trajectory.times; expected this key; got nothing"),
        ("times: [0, 1], p", "times: [0, 1, 2], p", "20: positions of a trajectory of 3 points; expected|got 2 x 3"),
        ("[0, 0, $v]]", "[0, $v]]", "20: positions of a trajectory of 2 points; expected numbers, 2 x n; got"),
        ("[0.4, 0, 0.3]", "[0.4]", "21: motion command of 'left': position of the tool; expected 3 numbers; got 1"),
        ("    commands:\n", "    comands:\n", "10: actions.out.commands; expected this|12: actions.out.comands"),
        ("motion_group\n    commands", "hold\n    commands", "12: actions.out.commands: unknown key"),
        ("[right, left]", "[right, tool]", "29: action 'back': motion command 1; expected one of: right, tool"),
        ("parts: [right, left]", "strategies: {}", "27: actions.back.strategies: unknown key"),
    ],
)  # fmt: skip
def test_every_mistake_has_its_line(old: str, new: str, expected: str) -> None:
    assert old in PROGRAM
    text = message(PROGRAM.replace(old, new, 1))
    for piece in expected.split("|"):
        assert piece in text, text


def test_an_unreadable_command_hides_no_other_mistake_and_adds_none() -> None:
    one_mistake = message(PROGRAM.replace("speed: $v / 2", "speed: fast"))
    assert "\n" not in one_mistake, "the parts are still known"
    two = message(PROGRAM.replace("speed: $v / 2", "speed: fast").replace("time: 2", "time: $w"))
    assert [line.split(":")[1] for line in two.splitlines()] == ["15", "19"]
