"""Document 5, from power shortage to charging: a base on its rounds, whose battery runs low."""

from __future__ import annotations

from pathlib import Path

import pytest
from sensor_msgs.msg import BatteryState

from robot_rt_control.blueprint.graph.orders import Record
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.server.offline_catalogue import offline_catalogue
from robot_rt_control.testing.lockstep_blueprint import LockstepBlueprint
from robot_rt_control.testing.lockstep_client import LockstepClient

ROOT = Path(__file__).parents[2]
WORKCELL = ROOT / "config" / "rounds.yaml"
DRAIN, CHARGE = 0.5e-4, 4.0e-4
"""In each tick: away from the charging place, and there."""


class Battery:
    """Loses charge on the way and gets it back at the charging place, as its topic says; for tests only."""

    def __init__(self, client: LockstepClient, level: float) -> None:
        self._client, self.level, self.levels = client, level, dict[int, float]()
        client.cell.before_tick["battery"] = self.tick

    def tick(self) -> None:
        x, y = map(float, self._client.cell.part("base").position[:2])
        self.level = min(self.level + (CHARGE if abs(x) + abs(y) < 0.01 else -DRAIN), 1.0)
        self.levels[self._client.cell.tick] = self.level
        self._client.cell.publish("battery_state", BatteryState(percentage=self.level))


def run(rounds: int, level: float) -> tuple[list[Record], list[str], dict[int, float]]:
    """Returns the records, the texts said, and tick → level."""
    catalogue = SkillCatalogue(offline_catalogue(WORKCELL), {}, {})
    for name in ("charge", "make_rounds"):
        template = SkillTemplate((ROOT / "examples" / "blueprints" / f"{name}.yaml").read_text())
        assert not check_skill(template, catalogue)
        catalogue = catalogue.with_skill(template)
    with LockstepClient(WORKCELL) as client:
        battery = Battery(client, level)
        made = LockstepBlueprint(client, catalogue, "make_rounds", rounds=rounds)
        assert made.run().result == "done"
        assert not client.cell.kinds("part_faulted", "action_failed", "command_refused")
        return made.records, made.said, battery.levels


def way(records: list[Record]) -> list[str]:
    return [str(record["path"]) for record in records if record["what"] == "ended"]


def test_a_base_charges_when_its_battery_is_low_and_goes_on_with_its_rounds() -> None:
    records, said, levels = run(rounds=3, level=0.4)
    assert way(records) == [
        *("door", "window"),
        *("door", "window"),
        *("charge/dock", "charge/full", "charge"),
        *("door", "window"),
        "bye",
    ]
    assert said == ["The rounds are done"]
    assert 0.0 < min(levels.values()) < 0.2, "it came to the charging place with what was left"
    (full,) = [record for record in records if record["what"] == "ended" and record["path"] == "charge/full"]
    assert levels[full["tick"]] == pytest.approx(0.9, abs=0.01)
    assert run(rounds=3, level=0.4) == (records, said, levels), "bit-identical"


def test_a_full_battery_needs_no_charging() -> None:
    records, _, levels = run(rounds=1, level=1.0)
    assert way(records) == ["door", "window", "bye"] and min(levels.values()) > 0.2
