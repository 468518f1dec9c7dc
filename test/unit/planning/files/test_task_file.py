"""Task files: what they mean, and every mistake with its line and text (V1 to V4)."""

import math
from pathlib import Path

import numpy as np
import pytest
import yaml

from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.files.task_file import read_task
from robot_rt_control.planning.optimise.settings import Settings
from robot_rt_control.planning.optimise.traction import TractionSettings
from robot_rt_control.planning.scene.contact_model import patch_face
from robot_rt_control.planning.task import PairGroup, Start
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError

CONFIG = Path(__file__).parents[4] / "config"
TASK = """\
name: push
workcell: push
body: box
target: {by: [$distance, 0, 0]}
parts: {arm: {control: velocity}}
pairs:
  - {robot: arm.peg, faces: [back, left], curvature: 12}
horizon: {time: 1.5, steps: 30}
parameters: {distance: {unit: m, default: 0.2}, angle: {unit: rad, default: 0.5}}
start: {from: workcell}
penalty: {iterations: 5}
"""


def replaced(*pairs):
    text = TASK
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def mistakes(text, **parameters):
    with pytest.raises(DefinitionError) as caught:
        read_task(text, parameters)
    error = caught.value
    return [str(mistake) for mistake in (error.mistakes if isinstance(error, ProgramError) else (error,))]


def test_a_task():
    file = read_task(TASK)
    task = file.task
    assert (task.name, task.workcell.name, task.body, task.time, task.steps) == ("push", "push.yaml", "box", 1.5, 30)
    assert task.pairs == (PairGroup(robot="arm.peg", faces=("back", "left"), curvature=12.0),)
    assert task.controls == {"arm": "velocity"} and task.free == frozenset() and task.at_rest
    assert task.target.position == pytest.approx((0.8, 0.0, 0.04))
    assert file.settings.penalty.iterations == 5 and file.settings.weights == Settings().weights
    assert file.start_from == "workcell" and file.text == TASK and file.unused == ("angle",)


def test_V3_parameters_are_those_of_programs():
    assert read_task(TASK, {"distance": -0.1}).task.target.position == pytest.approx((0.5, 0.0, 0.04))
    text = replaced(("steps: 30", "steps: 100 * $distance + 10"), ("iterations: 5", "iterations: 2 + 4"))
    assert mistakes(text)[0].startswith("task:11: penalty.iterations; expected a whole number")
    text = replaced(("steps: 30", "steps: 100 * $distance + 10"), ("iterations: 5", "first: 2 * $distance"))
    file = read_task(text)
    assert file.task.steps == 30 and file.settings.penalty.first == 0.4
    assert mistakes(TASK, distnce=1.0) == [
        "task:9: task 'push' has no parameter 'distnce'; expected one of the known names; did you mean 'distance'; "
        "got 'distnce'"
    ]
    assert "parameter 'distance' is missing" in mistakes(TASK.replace(", default: 0.2", ""))[0]
    assert read_task(TASK.replace(", default: 0.2", ""), sample=True).task.steps == 30


def test_V2_the_target_follows_from_where_the_workcell_has_the_body():
    text = replaced(("{by: [$distance, 0, 0]}", "{by: [0.1, free, 0], turn: [0, 0, $angle], rest: false}"))
    task = read_task(text).task
    assert task.target.position == pytest.approx((0.7, 0.0, 0.04)) and task.free == {"y"} and not task.at_rest
    assert task.target.orientation == pytest.approx((0, 0, math.sin(0.25), math.cos(0.25)))


@pytest.mark.parametrize(
    ("target", "position", "yaw", "free"),
    [
        ("{by: [0.1, 0, 0], frame: body}", (0.6, 0.1, 0.04), 90, set()),
        ("{by: [0.1, 0, 0]}", (0.7, 0.0, 0.04), 90, set()),
        ("{turn: [free, 0, 1.5707963267948966], frame: body}", (0.6, 0.0, 0.04), 180, {"rx"}),
        ("{position: [0.5, 0.1, free], orientation: [0, 0, 0, 1]}", (0.5, 0.1, 0.04), 0, {"z"}),
        ("{position: [0.5, free, 0.1], orientation: free}", (0.5, 0.0, 0.1), 90, {"y", "rx", "ry", "rz"}),
        ("{position: [0.5, 0, 0.1], free: [rz, z]}", (0.5, 0.0, 0.1), 90, {"z", "rz"}),
    ],
)
def test_targets_of_a_body_that_starts_turned_by_90_degrees(target, position, yaw, free):
    half = math.sqrt(0.5)
    start = f"start: {{body: {{position: [0.6, 0, 0.04], orientation: [0, 0, {half}, {half}]}}}}"
    file = read_task(replaced(("{by: [$distance, 0, 0]}", target), ("start: {from: workcell}", start)))
    assert file.start_from == "given" and file.task.start.body is not None
    X = file.task.target.matrix
    assert X[:3, 3] == pytest.approx(position, abs=1e-9) and file.task.free == free
    assert math.degrees(math.atan2(X[1, 0], X[0, 0])) % 360 == pytest.approx(yaw)


def test_V4_a_start_that_was_measured_moves_the_target_along():
    file = read_task(TASK.replace("from: workcell", "from: measured"))
    assert file.start_from == "measured"
    start = Start(joints={"arm": (0.1,) * 7}, body=Pose(position=(0.5, 0.1, 0.04)))
    task = file.started(start)
    assert task.start == start and np.allclose(task.target.position, (0.7, 0.1, 0.04))


def test_a_given_start():
    joints = "[0, 0.9, 0, -1.9, 0, 0.3, $angle]"
    task = read_task(TASK.replace("from: workcell", f"joints: {{arm: {joints}}}")).task
    assert task.start.joints == {"arm": (0.0, 0.9, 0.0, -1.9, 0.0, 0.3, 0.5)} and task.start.body is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("body: box", "body: bx", "task:3: body 'bx'; expected one of the known names; did you mean 'box'; got 'bx'"),
        ("body: box", "body: floor", "task:3: body 'floor'; expected a free body: box; got a fixed one"),
        (
            "body: box",
            "body: arm.lbr_iiwa_link_7",
            "task:3: body 'arm.lbr_iiwa_link_7'; expected a link that floats: its joints belong to no part; "
            "got one that no joint of no part can move",
        ),
        ("body: box", "bdy: box", "task:3: bdy: unknown key; expected one of the known names; did you mean 'body'"),
        ("workcell: push", "workcell: psh", "task:2: workcell 'psh'; expected a file, or one of the known names; did"),
        (
            "faces: [back, left]",
            "faces: [back, lft]",
            "task:7: face 'lft' of body 'box'; expected one of the known names; did you mean 'left'; got 'lft'",
        ),
        (
            "faces: [back, left]",
            "faces: floor.top",
            "task:7: face 'floor.top' of body 'box'; expected a face of the free body: a pair has one; "
            "got a face of 'floor'",
        ),
        ("faces: [back, left]", "faces: [back, box.back]", "task:7: faces of a pair; expected each once; got back, b"),
        ("faces: [back, left]", "faces: []", "task:7: pairs[0].faces; expected the name of a face, or a list of at le"),
        (
            "arm.peg",
            "arm.pg",
            "task:7: robot geometry 'arm.pg'; expected one of the known names; did you mean 'arm.peg'; got 'arm.pg'",
        ),
        (
            "arm.peg",
            "peg",
            "task:7: robot geometry 'peg'; expected <part>.<link>, the part one of: arm; got 'peg'",
        ),
        ("{arm: {", "{am: {", "task:5: part 'am'; expected one of the known names; did you mean 'arm'; got 'am'"),
        ("control: velocity", "control: effrt", "task:5: parts.arm.control; expected one of the known names; did you"),
        ("curvature: 12", "curvature: 0", "task:7: pair of 'arm.peg': curvature; expected a number above 0 1/m; got 0"),
        ("time: 1.5", "time: -1", "task:8: horizon: time; expected a number above 0 s; got -1"),
        ("time: 1.5", "time: .nan", "task:8: horizon.time; expected a finite number, or an expression such as -$dist"),
        ("steps: 30", "steps: 2.5", "task:8: horizon: steps; expected a whole number of at least 1; got 2.5"),
        (
            "steps: 30",
            "steps: 40",
            "task:8: horizon: steps; expected control steps that are a multiple of the simulation's step of 5 ms; "
            "got 1.5 s / 40 = 37.5 ms. Such as {time: 1.5, steps: 30}",
        ),
        ("[$distance, 0, 0]", "[.inf, 0, 0]", "task:4: target.by; expected a list of 3 numbers, each of which may be"),
        ("[$distance, 0, 0]", "[$angle, 0, 0]", "task:4: target: by: wrong unit; expected 'm'; got $angle in 'rad'"),
        (
            "[$distance, 0, 0]",
            "[$distanc, 0, 0]",
            "task:4: target: by: unknown parameter $distanc; expected one of the known names; did you mean 'distance'",
        ),
        ("{by: [$distance, 0, 0]}", "{}", "task:4: target; expected by, turn, position or orientation; got none of t"),
        ("0, 0]}", "0, 0], position: [0, 0, 0]}", "task:4: target; expected by or position; got both"),
        ("0, 0]}", "free, 0], frame: body}", "task:4: target: by; expected frame: world, whose axes free coordinates"),
        ("0, 0]}", "0, 0], free: [x, rw]}", "task:4: target.free; expected one of: rx, ry, rz, x, y, z; got 'rw'"),
        ("0, 0]}", "0, 0], orientation: [0, 0, 0, 2]}", "task:4: target: orientation; expected a quaternion x, y, z, "),
        (
            "{by: [$distance, 0, 0]}",
            "{position: [free, free, free], orientation: free}",
            "task:4: target; expected at least one coordinate that counts; got all are free",
        ),
        ("unit: m,", "unit: metre,", "task:9: parameter 'distance': unit; expected one of: 1/m, N, N/m, kg, m, m/s, r"),
        ("from: workcell", "from: measued", "task:10: start.from; expected one of the known names; did you mean 'mea"),
        (
            "from: workcell",
            "from: workcell, body: {position: [0, 0, 0]}",
            "task:10: start: from; expected given, as joints or a body are given; got workcell",
        ),
        ("from: workcell", "joints: {arm: [0, 0]}", "task:10: start of part 'arm'; expected 7 numbers, one for each "),
        (
            "from: workcell",
            "joints: {arm: [0, 3, 0, 0, 0, 0, 0]}",
            "task:10: start of part 'arm': joint 'lbr_iiwa_joint_2' is outside its limits; expected -2.0944 to 2.0944 "
            "rad; got 3 rad",
        ),
        ("penalty: {iterations: 5}", "weights: {position: -1}", "task:11: weights.position; expected at least 0; got "),
        ("penalty: {iterations: 5}", "penalty: {first: $angle - 1}", "task:11: penalty.first; expected 1e-06 to 1e+06"),
        ("penalty: {iterations: 5}", "penlty: {}", "task:11: penlty: unknown key; expected one of the known names; di"),
    ],
)
def test_V1_each_mistake_has_its_line_and_text(old, new, message):
    assert any(found.startswith(message) for found in mistakes(replaced((old, new)))), mistakes(replaced((old, new)))


def test_V1_all_mistakes_at_once_also_of_needed_keys():
    text = replaced(("{by: [$distance, 0, 0]}", "{bi: 3}"), ("body: box", "body: bx"), ("arm.peg", "arm.pg"))
    text = text.replace("horizon: {time: 1.5, steps: 30}\n", "").replace("iterations: 5", "iterations: 0")
    found = mistakes(text.replace("{arm: {", "{am: {"))
    items = ("horizon", "body 'bx'", "target.bi", "part 'am'", "robot geometry 'arm.pg'", "penalty.iterations")
    assert len(found) == len(items), "\n".join(found)
    assert [found_item for found_item, item in zip(found, items, strict=True) if item not in found_item] == []


def test_control_by_effort_needs_effort_limits(tmp_path):
    cell = yaml.safe_load((CONFIG / "push.yaml").read_text())
    cell["parts"]["arm"]["command_modes"] = ["position"]
    (tmp_path / "stiff.yaml").write_text(yaml.safe_dump(cell))
    text = replaced(("workcell: push", f"workcell: {tmp_path}/stiff.yaml"), ("control: velocity", "control: effort"))
    assert mistakes(text) == [
        "task:5: part 'arm': control; expected what it offers: velocity; got effort. "
        "Effort limits of all its joints make `effort` possible"
    ]


def test_mistakes_of_the_workcell_have_its_lines(tmp_path):
    broken = (CONFIG / "push.yaml").read_text().replace("mass: 0.155", "mass: -1")
    (tmp_path / "cell.yaml").write_text(broken.replace("kind: arm\n", "kind: arm\n    wheels: 4\n"))
    (tmp_path / "task.yaml").write_text(TASK.replace("workcell: push", "workcell: cell.yaml"))
    with pytest.raises(DefinitionError, match=r"cell.yaml:\d+: parts.arm.wheels: unknown key"):
        read_task(tmp_path / "task.yaml")
    (tmp_path / "cell.yaml").write_text(broken)
    text = r"task.yaml:2: .*/cell.yaml:39: cell.yaml, device 'sim', world: objects\[1\].mass; expected greater than 0"
    with pytest.raises(DefinitionError, match=text):
        read_task(tmp_path / "task.yaml")


@pytest.mark.parametrize(
    ("section", "traction"),
    [
        ("{}", None),
        ("{traction: null}", None),
        ("{traction: {}}", TractionSettings()),
        ("{traction: {force: 5 * $angle}}", TractionSettings(force=2.5)),
    ],
)
def test_a_section_that_is_off_until_it_is_named(section, traction):
    text = TASK.replace("penalty: {iterations: 5}", f"post_processing: {section}")
    assert read_task(text).settings.post.traction == traction


def test_a_patch_is_a_face():
    half = "0.7071067811865476"
    keys = f"position: [0, 0.15, $angle], orientation: [0, 0, {half}, {half}], size: [0.1, 0.02]"
    patch = f"patches: {{edge: {{{keys}}}}}\n"
    text = replaced(("[back, left]", "[back, edge]"), ("angle: {unit: rad", "angle: {unit: m"))
    task = read_task(text + patch).task
    [made] = task.patches
    assert task.pairs[0].faces == ("back", "edge") and made.pose.position == (0.0, 0.15, 0.5)
    face = patch_face(made.name, made.pose.matrix, made.size)
    assert face.axes[0] == pytest.approx((0, 1, 0)) and face.half == (0.05, 0.01)
    for old, new, message in (
        ("edge: {", "left: {", "task:12: patch 'left'; expected a name that no face of the body has; got 'left'"),
        ("[0.1, 0.02]", "[0.1, 0]", "task:12: patch 'edge': size; expected a number above 0 m; got 0"),
        ("[0.1, 0.02]", "[0.1]", "task:12: patches.edge.size; expected a list of 2 numbers; got [0.1]"),
        ("$angle", "$distanc", "task:12: patch 'edge': position: unknown parameter $distanc"),
    ):
        assert any(found.startswith(message) for found in mistakes((text + patch).replace(old, new)))
    assert "face 'edg' of body 'box'; expected one of the known names; did you mean 'edge'" in (
        mistakes((text + patch).replace(", edge]", ", edg]"))[0]
    )


def test_a_task_by_name_and_one_that_is_not_there(tmp_path):
    assert read_task("push_slider").task.controls == {"pusher": "effort"}
    with pytest.raises(DefinitionError, match="task 'push_bx'; expected a file, or .*did you mean 'push_box'"):
        read_task("push_bx")
