"""New tasks: valid, complete, and still valid with every setting that they show."""

import re
from pathlib import Path

import pytest

from robot_rt_control.planning.files.new_task import new_task
from robot_rt_control.planning.files.settings_keys import task_settings
from robot_rt_control.planning.files.task_file import read_task
from robot_rt_control.planning.optimise.settings import Settings
from robot_rt_control.vocabulary.errors import DefinitionError


@pytest.mark.parametrize(("workcell", "body"), [("push", "box"), ("pusher", "slider")])
def test_a_new_task_is_valid(tmp_path, workcell, body):
    text = new_task(workcell, name="my-push", folder=tmp_path)
    file = read_task(text)
    assert file.task.body == body and file.task.name == "my_push" and file.unused == ()
    assert file.task.pairs[0].faces == ("back", "front", "right", "left")
    assert max(map(len, text.partition("# Settings")[0].splitlines())) <= 120


def test_a_new_task_for_a_robot_that_floats_is_valid(tmp_path):
    task = read_task(new_task("humanoid", name="jump", folder=tmp_path)).task
    assert task.body.endswith(".torso") and task.pairs[0].robot.endswith(".right_foot")
    sides = "back", "front", "right", "left", "bottom", "top"
    assert task.pairs[0].faces == tuple(f"brick_4.{side}" for side in sides)


def test_every_setting_is_there_with_its_default_and_its_range(tmp_path):
    text = new_task("push", name="all", folder=tmp_path)
    main, _, comments = text.partition("# Settings: ")
    comments = comments.partition("\n")[2]
    settings = "\n".join(line.removeprefix("# ") for line in comments.splitlines())
    assert read_task(main + settings).settings == Settings()
    for setting in task_settings():
        assert re.search(rf"^#[ #]*{setting.path[-1]}: .* # {re.escape(setting.range)}", comments, re.MULTILINE)


def test_a_workcell_beside_the_task_is_named_relative_to_it(tmp_path, monkeypatch):
    config = Path(__file__).parents[4] / "config"
    monkeypatch.chdir(config)
    text = new_task("push.yaml", name="a", folder=tmp_path)
    (tmp_path / "a.yaml").write_text(text)
    assert read_task(tmp_path / "a.yaml").task.workcell == config / "push.yaml"


def test_no_free_object(tmp_path):
    with pytest.raises(DefinitionError, match="expected a free box or cylinder, or a link that floats; got none"):
        new_task("iiwa", name="a", folder=tmp_path)
