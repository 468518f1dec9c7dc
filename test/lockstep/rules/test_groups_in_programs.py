"""Rules M1, M2 and M8 of docs/semantics/groups.md for programs whose states are motion groups."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from arms_cell import cell_of, positions

from robot_rt_control.vocabulary.errors import DefinitionError

PROGRAM = """\
name: swing
roles: {left: {kinds: [base]}, right: {kinds: [base]}}
parameters:
  reach: {unit: rad, default: 0.3}
  home: {length: 3, unit: rad, default: [0, 0, 0]}
  jerk: {default: 100}
start: out
actions:
  out:
    type: motion_group
    parameters: {finish: together}
    commands:
      - {part: left, position: [$reach, 0, 0], jerk_percent: $jerk}
      - {part: right, position: [2 * $reach, 0.1, 0], speed: 0.5}
    reactions:
      - {when: is_done, start: back, event: there, capture: [progress, "right.position[0]"]}
  back:
    type: motion_group
    final: true
    commands:
      - {part: left, position: $home}
      - {part: right, position: $home, duration: 1.2}
    reactions: [{when: is_done, event: home, fire_once: true}]
"""
PARTS = {"left": "arm1", "right": "arm0"}


def test_M8_a_program_has_motion_groups_as_states_started_in_the_tick_of_a_reaction(tmp_path: Path) -> None:
    cell, session = cell_of(tmp_path, 2)
    assert session.upload(PROGRAM, PARTS, reach=0.2, jerk=50) == ["out", "back"]
    session.start("out")
    q = positions(cell, 2, 4000)
    there, home = (next(e for e in cell.kinds("reaction_fired") if e.event == name) for name in ("there", "home"))
    started = {e.current_action: e.tick for e in cell.kinds("action_started")}
    assert started["back"] == there.tick and there.values == pytest.approx((1.0, 0.4))
    turn = there.tick - started["out"]
    np.testing.assert_allclose(q[turn - 1, :, 0], (0.4, 0.2))
    moves = (np.diff(q, axis=0) != 0.0).any(axis=2)
    arrived = [int(np.flatnonzero(moves[: turn - 1, i])[-1]) for i in range(2)]
    assert arrived[0] == arrived[1], "together"
    assert moves[turn - 1 : turn + 1].any(axis=0).all(), "both leave at once"
    assert home.tick - there.tick == pytest.approx(1200, abs=2)
    np.testing.assert_allclose(q[-1], 0.0, atol=1e-12)


def test_M2_what_a_group_of_a_program_cannot_do_has_the_lines_of_its_commands(tmp_path: Path) -> None:
    _, session = cell_of(tmp_path, 2)
    with pytest.raises(DefinitionError) as error:
        session.upload(PROGRAM, PARTS, reach=2.0, jerk=0)
    lines = str(error.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == ["program:13", "program:14"]
    assert "action 'out': motion command 1, of part 'arm1': jerk_percent; expected above 0, at most 100" in lines[0]
    assert "command 2, of part 'arm0': position of joint 'j0' is outside its limits" in lines[1]
    with pytest.raises(DefinitionError, match=r"program:22: action 'back': motion command 2, .*: duration; expected"):
        session.upload(PROGRAM.replace("duration: 1.2", "duration: 0.01"), PARTS, home=[0.1, 0, 0])
    path = PROGRAM.replace("duration: 1.2", "via: [[0.1, 0, 0]]")
    with pytest.raises(DefinitionError, match=r"program:22: action 'back': .*a path through points; expected `prof"):
        session.upload(path, PARTS)
    assert session.upload(PROGRAM, PARTS) == ["out", "back"], "the ids are free"
