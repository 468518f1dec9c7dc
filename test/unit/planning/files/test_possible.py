"""What no plan can do is said when a task is read: with figures, and without MuJoCo."""

import subprocess
import sys
from pathlib import Path

import pytest

from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.files.possible import refuse_impossible
from robot_rt_control.planning.files.task_file import read_task
from robot_rt_control.planning.task import Start, Task
from robot_rt_control.vocabulary.errors import DefinitionError

CONFIG = Path(__file__).parents[4] / "config"
TASK = """\
workcell: push
body: box
target: {by: [0.1, 0, 0]}
pairs: [{robot: arm.peg, faces: [back, front, left, right]}]
horizon: {time: 1.5, steps: 30}
"""


def refusal(*changes, text=TASK):
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    with pytest.raises(DefinitionError) as caught:
        read_task(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("{by: [0, 0, 0]}", "task:3: target; expected another pose than that at the start; got 0.00 mm and 0.0000 rad"),
        ("{by: [0, 0, 0.1], free: [z]}", "another pose than that at the start"),
        ("{by: [0, 0, -0.3]}", "task:3: target; expected 'box' outside 'floor'; got 300.0 mm inside"),
        ("{by: [0.1, 0, 0.2]}", "target; expected a place where it stays, as nothing holds it there; got 200.0 mm"),
        ("{by: [2.3, 0, 0]}", "task:3: target; expected within reach: "),
        ("{by: [0.1, 0, 0.0778], turn: [0.6, 0, 0]}", "expected an orientation in which it stays; got an edge, 0.600"),
    ],
)
def test_V32_a_target_that_no_plan_reaches(target, said):
    assert said in refusal(("{by: [0.1, 0, 0]}", target))


def test_V32_missing_reach_is_said_with_what_a_blow_could_do():
    said = refusal(("0.1, 0, 0]", "2.3, 0, 0]"))
    assert " m are missing; after a blow it slides 0." in said or " m are missing; after a blow it slides 1." in said


@pytest.mark.parametrize(
    ("faces", "said"),
    [
        ("bottom", "task:4: pairs; expected a face of 'box' that a geometry can get at; got bottom is against 'floor'"),
        ("front", "task:4: pairs; expected a face that is pushed towards the target, along (1.00, 0.00, 0.00)"),
        ("[front, bottom]", "got front, pushed along (-1.00, 0.00, 0.00)"),
    ],
)
def test_V32_faces_that_do_not_serve(faces, said):
    assert said in refusal(("[back, front, left, right]", faces))


def test_V32_a_body_out_of_reach_at_the_start():
    start = "start: {body: {position: [3.0, 0, 0.04]}}\n"
    said = refusal(("horizon", f"{start}horizon"))
    assert "task:4: pairs; expected 'box' within reach at the start: " in said and "m are missing" in said
    task = read_task(TASK).task
    with pytest.raises(DefinitionError, match="within reach at the start"):
        refuse_impossible(Task(**{**vars(task), "start": Start(body=Pose(position=(3.0, 0.0, 0.04)))}))


@pytest.mark.parametrize(
    "target",
    [
        "{by: [0.6, 0, 0]}",  # out of the workspace: the document's impulse, after which the box slides
        "{by: [0, 0, 0], turn: [0, 0, 0.5]}",
        "{by: [0.1, 0, 0], turn: [0, 0, 1.5]}",
        "{by: [0.1, 0, 0.2], rest: false}",
        "{by: [0.1, 0, 0.2], free: [z]}",
        "{position: [0.7, 0.3, 0.04]}",
    ],
)
def test_V32_what_might_be_possible_is_not_refused(target):
    assert read_task(TASK.replace("{by: [0.1, 0, 0]}", target)).task.body == "box"


def test_V32_a_top_face_may_drag_and_two_geometries_may_hold():
    read_task(TASK.replace("[back, front, left, right]", "top"))
    assert read_task("pinch_cube", {"up": 0.1, "left": 0.0}).task.target.position[2] > 0.1


@pytest.mark.parametrize("name", [file.stem for file in sorted((CONFIG / "tasks").glob("*.yaml"))])
def test_the_tasks_of_the_package_are_possible(name):
    refuse_impossible(read_task(name).task)


def test_V32_it_is_found_without_mujoco():
    code = "import sys; sys.modules['mujoco'] = sys.modules['piqp'] = None\n"
    code += "from robot_rt_control.planning.files.task_file import read_task\nread_task(sys.argv[1])"
    text = TASK.replace("0.1, 0, 0]", "0, 0, -0.3]")
    ended = subprocess.run([sys.executable, "-c", code, text], capture_output=True, text=True, check=False, timeout=300)
    assert "got 300.0 mm inside" in ended.stderr


def test_V32_a_task_from_a_measured_start_is_looked_at_once_that_is_known():
    text = TASK.replace("0.1, 0, 0]", "0, 0, -0.3]") + "start: {from: measured}\n"
    file = read_task(text)
    with pytest.raises(DefinitionError, match=r"outside 'floor'; got 300.0 mm inside"):
        refuse_impossible(file.started(Start()))


