"""Rule E32 of docs/semantics/editor.md: an arm guided by hand by a dead man's button, in simulation with dynamics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from rules.test_editor_jogs import AT_ONCE, BEAT_TICKS, CONFIG, Bench

from robot_rt_control.editor.jogs import GUIDED_REVOLUTE
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import RobotControlError

GUIDE = {"by_hand": True}
Array = np.ndarray[Any, Any]


class Guided(Bench):
    """The page beside a simulated iiwa, which a hand pushes at its tool."""

    def __init__(self) -> None:
        self.client = LockstepClient(CONFIG / "iiwa.yaml", hardware="mujoco")
        self.period = self.client.cell.workcell.period
        self.client.step(50)
        self.fastest = 0.0
        self.begin()

    def pushed(self, force: tuple[float, float, float], ticks: int) -> None:
        """Let time pass while a force [N] acts on the tool, in the world's axes."""
        plugin: Any = self.client.cell.executor.devices.hosts["sim"].plugin
        data, body = plugin.world.data, plugin.world.model.body("arm.lbr_iiwa_link_7").id
        part = self.client.cell.part("arm")
        for _ in range(ticks):
            data.xfrc_applied[body] = [*force, *np.cross(part.tool_position - data.xipos[body], force)]
            self.client.step()
            self.fastest = max(self.fastest, float(np.abs(part.velocity[:7]).max()))
        data.xfrc_applied[body] = 0.0

    def guide(self, force: tuple[float, float, float], beats: int) -> None:
        """Press, hold for so many beats, and push."""
        self.press(GUIDE)
        for _ in range(beats):
            self.pushed(force, BEAT_TICKS)
            assert self.beat()["success"]

    @property
    def measured(self) -> Array:
        return self.client.cell.part("arm").position[:7].copy()

    def ticks_to_rest(self, force: tuple[float, float, float] = (0.0, 0.0, 0.0), *, work: bool = True) -> int:  # type: ignore[override]
        """How many ticks pass before all joints are measured at rest, for good."""
        last = begun = self.client.cell.tick
        while self.client.cell.tick < begun + 3 * AT_ONCE:
            self.pushed(force, 1)
            if work:
                self.work()
            if np.abs(self.client.cell.part("arm").velocity[:7]).max() > 0.01:
                last = self.client.cell.tick
        return last - begun


@pytest.fixture
def bench() -> Iterator[Guided]:
    made = Guided()
    with made.client:
        yield made
        made.jogs.close()
        made.client.step(300)
        assert not made.client.sessions()
        assert not made.client.cell.kinds("part_faulted", "action_failed", "stream_refused")


def test_E32_the_arm_follows_the_hand_while_the_button_is_held_and_stays_without_it(bench: Guided) -> None:
    begun = bench.tool
    bench.guide((0.0, 0.0, 0.0), 25)
    assert np.linalg.norm(bench.tool - begun) < 0.01, "it carries itself"
    bench.beat(release=True)
    bench.ticks_to_rest()
    begun = bench.tool
    bench.guide((0.0, 20.0, 0.0), 25)
    assert (bench.tool - begun)[1] > 0.03, "pushed along y"
    assert bench.fastest < 4 * GUIDED_REVOLUTE
    bench.beat(release=True)
    assert bench.ticks_to_rest((0.0, 20.0, 0.0)) <= AT_ONCE
    held = bench.tool
    bench.pushed((0.0, 20.0, 0.0), 500)
    assert np.linalg.norm(bench.tool - held) < 1e-3, "it holds against the hand"


@pytest.mark.parametrize("lives", [True, False], ids=["page lost", "editor lost"])
def test_E32_the_arm_rests_0_3_s_after_the_last_sign_of_life(bench: Guided, lives: bool) -> None:
    push = (0.0, 20.0, 0.0)
    bench.guide(push, 20)
    assert np.abs(bench.client.cell.part("arm").velocity[:7]).max() > 0.02
    assert 0 < bench.ticks_to_rest(push, work=lives) <= AT_ONCE


def test_E32_it_is_braked_above_its_speed_however_it_is_pushed(bench: Guided) -> None:
    for force in ((0.0, 40.0, 0.0), (0.0, 0.0, -40.0), (-30.0, 30.0, 0.0)):
        bench.guide(force, 15)
        bench.beat(release=True)
        bench.ticks_to_rest()
    assert bench.fastest < 8 * GUIDED_REVOLUTE


def test_E32_a_part_that_takes_no_efforts_is_refused_in_words(bench: Guided) -> None:
    parts = bench.parts()
    bench.parts = lambda: [{**part, "command_modes": ["position"]} for part in parts]  # type: ignore[method-assign]
    with pytest.raises(RobotControlError, match="part 'arm' cannot be guided by hand: its hardware takes no efforts"):
        bench.press(GUIDE)
