"""Plan files: the same bytes, read back, and what is refused."""

import math
import subprocess
import sys

import numpy as np
import pytest

from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.plan.plan import FORMAT, Plan
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError


def make(**changes):
    header = {"format": FORMAT, "joints": ["a.j", "a.k"], "pairs": ["p"], "steps": 3, "time": 1.0}
    random = np.random.default_rng(0)
    arrays = {
        "position": random.normal(size=(4, 2)),
        "velocity": random.normal(size=(4, 2)),
        "inputs": random.normal(size=(3, 2)),
        "body_position": random.normal(size=(4, 3)),
        "body_rotation": random.normal(size=(4, 3, 3)),
        "distance": random.normal(size=(4, 1)),
        "stiffness": random.normal(size=(3, 1)),
        "virtual_force": random.normal(size=(3, 1)),
        "virtual_distance": random.normal(size=(4, 1)),
    }
    return Plan(header=header | changes.pop("header", {}), **{**arrays, **changes})


def test_saved_and_loaded(tmp_path):
    plan = make()
    plan.save(tmp_path / "push.plan")
    loaded = Plan.load(tmp_path / "push.plan")
    assert loaded.header == plan.header
    assert (loaded.position == plan.position).all() and (loaded.body_rotation == plan.body_rotation).all()


def test_the_same_plan_gives_the_same_bytes(tmp_path):
    make().save(tmp_path / "a")
    make().save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_missing_file(tmp_path):
    with pytest.raises(DefinitionError, match="expected a file; got nothing there"):
        Plan.load(tmp_path / "none")


@pytest.mark.parametrize("keep", [0, 10, 300, -10])
def test_a_damaged_file(tmp_path, keep):
    make().save(tmp_path / "a")
    (tmp_path / "a").write_bytes((tmp_path / "a").read_bytes()[:keep])
    with pytest.raises(DefinitionError, match="expected a plan file; got a damaged one"):
        Plan.load(tmp_path / "a")


def test_another_format(tmp_path):
    make(header={"format": 0}).save(tmp_path / "a")
    with pytest.raises(DefinitionError, match=f"expected format {FORMAT}; got 0. Plan again"):
        Plan.load(tmp_path / "a")


def test_wrong_shapes_and_values(tmp_path):
    make(inputs=np.zeros((2, 2))).save(tmp_path / "a")
    with pytest.raises(DefinitionError, match=r"inputs; expected shape \(3, 2\); got \(2, 2\)"):
        Plan.load(tmp_path / "a")
    make(inputs=np.full((3, 2), np.nan)).save(tmp_path / "a")
    with pytest.raises(DefinitionError, match="inputs; expected finite numbers"):
        Plan.load(tmp_path / "a")


def test_the_trajectory_of_a_part_comes_to_rest_one_step_after_its_end():
    parameters = make(header={"velocity_driven": [True, True]}).track_parameters("a")
    positions, velocities = (np.reshape(parameters[name], (5, 2)) for name in ("positions", "velocities"))
    assert parameters["times"] == pytest.approx([0, 1 / 3, 2 / 3, 1, 4 / 3])
    assert (positions[:4] == make().position).all() and (velocities[:4] == make().velocity).all()
    assert (velocities[4] == 0).all()
    assert positions[4] == pytest.approx(positions[3] + velocities[3] / 6)


def test_V16_a_motion_that_ends_fast_brakes_within_the_limits():
    plan = make(header={"limits": {"acceleration": [1.0, 2.0]}}, velocity=np.array([[0.0, 0.0]] * 3 + [[0.1, -1.5]]))
    assert plan.braking == 3, "1.5 / (0.9 * 2) s, in steps of 1/3 s"
    parameters = plan.track_parameters("a")
    assert parameters["times"][-2:] == pytest.approx([1.0, 2.0])
    assert np.reshape(parameters["positions"], (5, 2))[4] - plan.position[3] == pytest.approx([0.05, -0.75])
    assert make(header={"limits": {"acceleration": [100.0, 100.0]}}).braking == 1 == make().braking


def test_a_part_that_it_does_not_have():
    with pytest.raises(DefinitionError, match="part 'b'; expected"):
        make().track_parameters("b")


def straight(**header):
    """Two parts of one joint each, a body that is 10 cm ahead."""
    body_position = np.column_stack([np.linspace(0.1, 0.2, 4), np.zeros(4), np.zeros(4)])
    joints = {"joints": ["a.j", "b.k"], "workcell": 0xABC, "body": "box", "target": [[0.2, 0, 0], [0, 0, 0, 1]]}
    rotation = np.tile(np.eye(3), (4, 1, 1))
    return make(header=joints | header, body_position=body_position, body_rotation=rotation, position=np.zeros((4, 2)))


def test_V15_a_start_as_planned_and_one_that_differs_in_everything():
    plan = straight(verification={"speeds": [1.0, 0.5]})
    near = Pose(position=(0.104, 0.0, 0.0))
    plan.check_start(workcell=0xABC, joints={"a": [0.019], "b": [-0.019]}, body=near, speed=0.5)
    plan.check_start()
    turned = Pose(position=(0.15, 0.0, 0.0), orientation=(0.0, 0.0, math.sin(0.05), math.cos(0.05)))
    with pytest.raises(ProgramError) as refused:
        plan.check_start(workcell=0xDEF, joints={"a": [0.1], "b": [math.nan]}, body=turned, speed=0.4)
    assert str(refused.value).splitlines() == [
        "plan: the workcell; expected that of the plan, digest abc; got another one, digest def. "
        "Plan again for this workcell",
        "plan, joint 'a.j' at the start; expected 0.0000, within 0.02; got 0.1000. "
        "Move it there first, such as by move_joint",
        "plan, joint 'b.k' at the start; expected 0.0000, within 0.02; got unknown. "
        "Move it there first, such as by move_joint",
        "plan, body 'box' at the start; expected within 5 mm of the planned position; got 50.0 mm. "
        "Plan again from where it is",
        "plan, body 'box' at the start; expected within 0.035 rad of the planned orientation; got 0.100 rad. "
        "Plan again from where it is",
        "plan, speed override; expected at least 0.5, the slowest at which its replay held; got 0.40. "
        "A slower push is another push: plan one with a longer horizon",
    ]


def test_V15_a_plan_whose_replay_held_at_no_speed_is_refused_at_all_speeds():
    plan = straight(verification={"speeds": []})
    for speed in (1.0, 0.5):
        with pytest.raises(DefinitionError, match="speed override; expected one at which its replay held; got none"):
            plan.check_start(speed=speed)


def test_V15_without_verification_full_speed_alone():
    with pytest.raises(DefinitionError, match="expected at least 1, the slowest"):
        straight().check_start(speed=0.99)
    with pytest.raises(DefinitionError, match="got unknown"):
        straight().check_start(speed=math.nan)
    with pytest.raises(DefinitionError, match="part 'a'; expected 1 joints; got 2"):
        straight().check_start(joints={"a": [0.0, 0.0]})


def test_V16_one_action_for_each_part_all_started_together():
    plan = straight()
    actions = plan.actions("push")
    assert [(a.id, a.type, a.parts, a.reactions) for a in actions] == [
        ("push_a", "track_trajectory", ("a",), ()),
        ("push_b", "track_trajectory", ("b",), ()),
    ]
    assert plan.first("push") == plan.last("push") == ["push_a", "push_b"]
    assert make().first("push") == ["push"]
    values = {p.name: p.value for p in actions[0].parameters}
    assert values.pop("slowest") == 1.0, "they keep the same time"
    assert values == {name: tuple(value) for name, value in plan.track_parameters("a").items()}


def test_V16_more_points_than_one_action_takes_go_on_in_the_next():
    steps, rng = 1200, np.random.default_rng(1)
    arrays = {name: np.zeros((steps, 1)) for name in ("inputs", "stiffness", "virtual_force")}
    arrays |= {name: np.zeros((steps + 1, 1)) for name in ("distance", "virtual_distance")}
    q, v = rng.normal(size=(steps + 1, 1)), rng.normal(size=(steps + 1, 1))
    header = {"joints": ["a.j"], "steps": steps, "time": 12.0}
    body = {"body_position": np.zeros((steps + 1, 3)), "body_rotation": np.tile(np.eye(3), (steps + 1, 1, 1))}
    plan = make(header=header, position=q, velocity=v, **body, **arrays)
    actions = plan.actions("push")
    assert [a.id for a in actions] == ["push", "push_2", "push_3"]
    assert [[(r.condition, r.start) for r in a.reactions] for a in actions] == [
        [("elapsed > 5.109999", ("push_2",))],
        [("elapsed > 5.109999", ("push_3",))],
        [],
    ]
    assert plan.first("push") == ["push"] and plan.last("push") == ["push_3"]
    whole, begin = plan.track_parameters("a"), 0
    for action in actions:
        values = {p.name: list(p.value) for p in action.parameters if p.name != "slowest"}
        n = len(values["times"])
        assert n <= 513 and values["times"][0] == 0.0
        times = [t - whole["times"][begin] for t in whole["times"][begin : begin + n]]
        assert values["times"] == times
        assert values["positions"] == whole["positions"][begin : begin + n]
        assert values["velocities"] == whole["velocities"][begin : begin + n]
        begin += n - 2
    assert begin == len(whole["times"]) - 2


def test_V16_the_way_back_is_the_same_in_reverse():
    plan = straight()
    forth, back = ({p.name: p.value for p in found[0].parameters} for found in (plan.actions("a"), plan.retreat("a")))
    assert back["times"] == pytest.approx([forth["times"][-1] - t for t in forth["times"][::-1]])
    assert back["positions"] == forth["positions"][::-1] and back["velocities"][0] == 0.0
    assert [-v for v in back["velocities"]] == pytest.approx(forth["velocities"][::-1])
    assert [action.id for action in plan.retreat("back")] == plan.first("back")


@pytest.mark.parametrize(("steps", "actions"), [(511, 1), (512, 2), (1022, 2), (1023, 3)])
def test_V16_no_action_is_added_for_nothing(steps, actions):
    zeros = {name: np.zeros((steps, 1)) for name in ("inputs", "stiffness", "virtual_force")}
    names = ("position", "velocity", "distance", "virtual_distance")
    zeros |= {name: np.zeros((steps + 1, 1)) for name in names}
    plan = make(header={"joints": ["a.j"], "steps": steps}, **zeros)
    found = plan.actions("push")
    lengths = [len({p.name: p.value for p in a.parameters}["times"]) for a in found]
    assert len(found) == actions and max(lengths) <= 513 and min(lengths) >= 2
    assert sum(lengths) - 2 * (actions - 1) == steps + 2


def test_V19_what_a_verification_found_is_saved_with_the_plan(tmp_path):
    plan = make().with_verification({"speeds": [1.0], "spread": 0.01})
    plan.save(tmp_path / "a")
    assert Plan.load(tmp_path / "a").header["verification"] == {"speeds": [1.0], "spread": 0.01}
    assert "verification" not in make().header


def test_V19_a_body_that_need_not_rest_may_float_on():
    row = {"speed": 1.0, "rests": False, "drift": 0.03, "error_to_target": 0.01, "orientation_error": 0.0}
    header = {"tolerance": {"position": 0.01, "orientation": 0.05, "speed": 0.02}, "way": 0.5}
    assert make(header=header).with_replays([row]).speeds == ()
    assert make(header=header).with_replays([row | {"drift": 0.01}]).speeds == (1.0,), "slow enough for its task"
    floats = make(header={**header, "at_rest": False})
    assert floats.with_replays([row, row | {"speed": 0.5, "error_to_target": 0.02}]).speeds == (1.0,)


def test_V20_the_rest_of_a_plan_begins_at_the_control_step_of_a_time():
    plan = straight(verification={"spread": 0.1})
    rest = plan.rest(0.4)
    assert rest.header["steps"] == 2 and rest.header["time"] == pytest.approx(2 / 3)
    assert "verification" not in rest.header and rest.header["joints"] == plan.header["joints"]
    assert (rest.inputs == plan.inputs[1:]).all() and (rest.body_position == plan.body_position[1:]).all()
    assert plan.rest(0.3) is plan and plan.rest(0.0) is plan
    assert plan.rest(5.0).header["steps"] == 1, "after its end the last step is left"
    assert plan.way == pytest.approx(0.1)


def test_it_is_read_without_simulator_and_compiler():
    code = "import robot_rt_control.planning.plan.plan, sys; print([*{'mujoco', 'numba'} & {*sys.modules}])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.strip() == "[]"
