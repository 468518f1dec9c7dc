"""Rule E31 of docs/semantics/editor.md: what a goal means, and what it lacks; by the kinematics of the loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_rt_control.model.paths import find_workcell
from robot_rt_control.model.robot.urdf_reader import parse_urdf
from robot_rt_control.model.workcell.part_facts import PartFacts
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.view.goals import goal_of
from robot_rt_control.vocabulary.errors import DefinitionError

Json = dict[str, Any]


class Bench:
    """An arm of a workcell where it begins; other joints are at 0.1."""

    def __init__(self, cell: str, part: str) -> None:
        workcell = load_workcell(find_workcell(cell))
        self.urdf = parse_urdf(workcell.robot_description().encode(), Path("robot_description"))
        self.part = PartFacts(workcell.part(part))
        names = workcell.joint_state_names()
        self.q = self.part.commanded_position
        present = {name: 0.1 for joints in names.values() for name in joints}
        self.question: Json = {
            "joints": list(names[part]),
            "lower": self.part.limits("position_lower").tolist(),
            "upper": self.part.limits("position_upper").tolist(),
            "present": present | dict(zip(names[part], self.q.tolist(), strict=True)),
            "tool": f"{part}_tool",
            "seed": self.q.tolist(),
            "quick": False,
            "position": None,
            "orientation": None,
        }

    def goal(self, **given: Any) -> Json:
        return goal_of(self.urdf, {**self.question, **given})


@pytest.fixture(params=[("iiwa", "arm"), ("two_arms", "arm_b"), ("tool_change", "arm"), ("table_arm", "arm")])
def bench(request: pytest.FixtureRequest) -> Bench:
    return Bench(*request.param)


def test_E31_the_tool_is_where_the_loop_has_it(bench: Bench) -> None:
    random = np.random.default_rng(1)
    for _ in range(5):
        q = bench.q + random.uniform(-0.2, 0.2, len(bench.q))
        found = bench.goal(q=q.tolist())
        p, o = bench.part.forward(q)
        assert found["position"] == pytest.approx(p, abs=1e-9)
        assert abs(np.dot(found["orientation"], o)) == pytest.approx(1.0, abs=1e-9)
        assert found["lacks"] == [0.0, 0.0]


def test_E31_a_pose_within_reach_is_found_and_what_is_left_out_stays() -> None:
    bench = Bench("iiwa", "arm")
    p, o = bench.part.forward(bench.q)
    found = bench.goal(position=(p + [0.05, 0.05, 0.05]).tolist())
    reached, turned = bench.part.forward(found["q"])
    assert reached == pytest.approx(p + 0.05, abs=2e-6) and turned == pytest.approx(o, abs=2e-6)
    assert found["lacks"] == [0.0, 0.0] and found["outside"] == []
    lower, upper = bench.question["lower"], bench.question["upper"]
    assert all(low <= q <= high for low, q, high in zip(lower, found["q"], upper, strict=True))
    assert bench.goal(orientation=o.tolist())["position"] == pytest.approx(p, abs=2e-6)


@pytest.mark.parametrize("quick", [True, False])
def test_E31_what_is_out_of_reach_says_by_how_much(quick: bool) -> None:
    bench = Bench("iiwa", "arm")
    p, o = bench.part.forward(bench.q)
    far = np.array([3.0, 0.0, 0.5])
    found = bench.goal(position=far.tolist(), orientation=o.tolist(), quick=quick)
    metres, angle = found["lacks"]
    assert metres == pytest.approx(np.linalg.norm(np.array(found["position"]) - far), abs=1e-9) and metres > 1.5
    assert angle >= 0.0 and found["outside"] == [], "no joint's limit prevents it"


def test_E31_joints_beyond_their_limits_are_named() -> None:
    bench = Bench("iiwa", "arm")
    q = bench.q.tolist()
    q[3] = 9.0
    (beyond,) = bench.goal(q=q)["outside"]
    limits = {side: bench.question[side][3] for side in ("lower", "upper")}
    assert beyond == {"joint": 3, "value": 9.0, **limits}
    narrow = [value - 0.02 for value in bench.q], [value + 0.02 for value in bench.q]
    p, _ = bench.part.forward(bench.q)
    found = bench.goal(position=(p + [0, 0, 0.05]).tolist(), lower=narrow[0], upper=narrow[1])
    assert found["lacks"][0] > 1e-3 and found["outside"], "it could be there without these limits"
    for each in found["outside"]:
        assert not each["lower"] <= each["value"] <= each["upper"]


def test_E31_what_moves_the_tool_besides_has_to_be_known() -> None:
    bench = Bench("iiwa", "arm")
    own = bench.question["joints"]
    less: Json = {"joints": own[1:], "lower": bench.question["lower"][1:], "upper": bench.question["upper"][1:]}
    q = bench.q.tolist()[1:]
    p, _ = bench.part.forward(bench.q)
    assert bench.goal(q=q, **less)["position"] == pytest.approx(p, abs=1e-9), "the first joint stays where it is"
    with pytest.raises(DefinitionError, match="which moves the tool 'arm_tool'; expected a known position"):
        bench.goal(q=q, **less, present={})
    with pytest.raises(DefinitionError, match="does not move the tool"):
        bench.goal(q=q, **{**less, "joints": ["elsewhere", *own[2:]]})
    assert bench.goal(q=q, **less, tool="")["position"] is None
    with pytest.raises(DefinitionError, match="a part with a tool"):
        bench.goal(tool="", position=[0.5, 0.0, 0.5])
