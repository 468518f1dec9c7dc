"""What the loop computes from measured values: the norms of a wrench, efforts without those against the weight."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.client.actions import Reaction
from robot_rt_control.memory.layout import gravity_scratch_dtype
from robot_rt_control.model.kinematics.gravity import gravity_torque
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import DefinitionError


@pytest.fixture(scope="module")
def config_folder() -> Path:
    return Path(__file__).resolve().parents[4] / "config"


@pytest.fixture
def cell(config_folder: Path, tmp_path: Path) -> Iterator[LockstepCell]:
    text = (config_folder / "arm7.yaml").read_text(encoding="utf-8")
    urdf = f"urdf: {config_folder}/robots/arm7.urdf\n    external_effort: true"
    (tmp_path / "cell.yaml").write_text(text.replace("urdf: robots/arm7.urdf", urdf), encoding="utf-8")
    with LockstepCell(tmp_path / "cell.yaml") as made:
        yield made


def test_norms_of_a_wrench(cell: LockstepCell) -> None:
    session = cell.session("gripper")
    reactions = [
        Reaction("norm(wrist.force) > 12.9 and wrist.force_norm - norm(wrist.force) == wrist.age", event="equal"),
        Reaction("approx(wrist.torque_norm, norm(wrist.torque), 0.0) and wrist.torque_norm > 1.9", event="turned"),
        Reaction("is_unknown(wrist.force_norm)", event="unknown"),
    ]
    with pytest.raises(DefinitionError, match="'==' cannot compare a float"):
        session.add(reactions=reactions)
    reactions[0] = Reaction("norm(wrist.force) > 12.9 and approx(wrist.force_norm - 13 N, 0, 1e-9)", event="equal")
    session.add(reactions=reactions)
    for axis, force, torque in (("x", 3.0, 0.0), ("y", -4.0, 2.0), ("z", 12.0, 0.0)):
        cell.set_sensor(f"wrist/force.{axis}", force)
        cell.set_sensor(f"wrist/torque.{axis}", torque)
    tick = cell.step()
    assert [[e.tick for e in cell.fired(name)] for name in ("equal", "turned", "unknown")] == [[tick], [tick], []]
    cell.set_sensor("wrist/force.y", math.nan)
    tick = cell.step()
    assert [e.tick for e in cell.fired("unknown")] == [tick]


def test_external_effort_is_the_measured_one_without_that_against_the_weight(cell: LockstepCell) -> None:
    record = cell.workcell.part("arm").record
    weight = np.zeros(16)
    gravity_torque(record.chain, record.position, weight, np.zeros(1, gravity_scratch_dtype)[0])
    assert abs(weight[1]) > 1.0, "the arm has a weight"
    session = cell.session("gripper")
    cell.step()  # mock reports no effort in position mode: as if all of the weight were carried by somebody
    found = [session.value(f"arm.external_effort[{j}]") for j in range(7)]
    np.testing.assert_allclose(found, -weight[:7], atol=1e-9)
    assert session.value("arm.joint_2.external_effort") == found[1]


def test_without_masses_there_is_no_external_effort(config_folder: Path, tmp_path: Path) -> None:
    urdf = (config_folder / "robots" / "arm7.urdf").read_text(encoding="utf-8")
    massless = re.sub(r"<inertial>.*?</inertial>", "", urdf, flags=re.DOTALL)
    (tmp_path / "arm7.urdf").write_text(massless, encoding="utf-8")
    text = (config_folder / "arm7.yaml").read_text(encoding="utf-8")
    changed = text.replace("urdf: robots/arm7.urdf", "urdf: arm7.urdf\n    external_effort: true")
    (tmp_path / "cell.yaml").write_text(changed, encoding="utf-8")
    with pytest.raises(
        DefinitionError, match="external_effort.*expected a URDF with the masses of the links; got none"
    ):
        load_workcell(tmp_path / "cell.yaml")
