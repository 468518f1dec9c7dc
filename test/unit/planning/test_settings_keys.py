"""Keys of settings, taken from the planner's dataclasses."""

from dataclasses import fields

import pytest

from robot_rt_control.planning.planner import Settings
from robot_rt_control.planning.settings_keys import changed_by_names, task_settings
from robot_rt_control.vocabulary.errors import DefinitionError


def test_every_field_of_the_settings_is_a_key():
    attributes = {setting.attribute[0] for setting in task_settings()}
    assert attributes == {field.name for field in fields(Settings)} - {"threads"}
    names = [setting.name for setting in task_settings()]
    assert len(set(names)) == len(names)
    assert {"weights.position", "trust_region.radius", "penalty.schedule", "accept.position"} <= set(names)


def test_every_default_is_valid_and_in_its_range():
    for setting in task_settings():
        assert setting.check(setting.default) == setting.default, setting.name
        assert setting.range


def test_a_comment_is_the_docstring_of_the_field():
    [found] = [setting for setting in task_settings() if setting.name == "penalty.position"]
    assert found.comment == "Pose constraint: position error per distance of the task."


def test_settings_are_changed_by_name():
    settings = changed_by_names(Settings(), {"penalty.schedule": "additive", "accept.position": 0.1})
    assert settings.penalty.schedule == "additive" and settings.accept_position == 0.1
    assert settings.weights == Settings().weights


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"penalty.shedule": "x"}, r"setting 'penalty.shedule'; .*did you mean 'penalty.schedule'"),
        ({"penalty.schedule": "adative"}, "did you mean 'additive'; got 'adative'"),
        ({"weights.position": -1.0}, "setting 'weights.position'; expected at least 0; got -1.0"),
        ({"trust_region.iterations": 2.5}, "expected a whole number; got 2.5"),
        ({"accept.position": float("nan")}, "expected a finite number; got nan"),
        ({"accept.position": True}, "expected a finite number; got True"),
    ],
)
def test_what_is_no_value_of_a_setting(values, message):
    with pytest.raises(DefinitionError, match=message):
        changed_by_names(Settings(), values)
