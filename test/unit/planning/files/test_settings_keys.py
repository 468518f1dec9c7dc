"""Keys of settings, taken from the planner's dataclasses."""

import math
from dataclasses import dataclass, field, fields
from typing import Any

import pytest

from robot_rt_control.planning.files import settings_keys
from robot_rt_control.planning.files.settings_keys import changed_by_names, task_settings
from robot_rt_control.planning.optimise.settings import Settings
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
        assert setting.range and setting.comment, f"{setting.name}: a docstring after the field is its comment"


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


@dataclass(frozen=True, kw_only=True)
class Inner:
    gain: float = 2.0
    """A gain."""


@dataclass(frozen=True, kw_only=True)
class Extended:
    """Settings as they may become: a section that is off, a limit that is none, a shared docstring."""

    post: Inner | None = None
    shooting: Inner | None = field(default_factory=Inner)
    switch: bool = True
    above: float = 0.0
    below: float = math.inf
    """From above to below."""
    accept_speed: float = field(default=0.02, metadata={"range": (0.0, 1.0)})
    """[m/s]"""


def test_fields_that_are_added_are_keys(monkeypatch):
    monkeypatch.setattr(settings_keys, "Settings", Extended)
    settings_keys.task_settings.cache_clear()
    settings_keys.optional_sections.cache_clear()
    try:
        found = {setting.name: setting for setting in task_settings()}
        extended: Any = Extended()
        changed: Any = changed_by_names(extended, {"post_processing.gain": 3.0, "switch": False, "shooting": "null"})
        on: Any = changed_by_names(extended, {"post_processing": True})
        with pytest.raises(DefinitionError, match="setting 'shooting'; expected true or false; got 3"):
            changed_by_names(extended, {"shooting": 3})
    finally:
        monkeypatch.undo()
        settings_keys.task_settings.cache_clear()
        settings_keys.optional_sections.cache_clear()
    assert on.post == Inner() and on.shooting == Inner() and changed.shooting is None
    assert list(found) == [
        "post_processing.gain", "post_processing.above", "post_processing.below", "shooting.gain", "switch",
        "accept.speed",
    ]  # fmt: skip
    assert changed.post == Inner(gain=3.0) and not changed.switch
    assert found["post_processing.gain"].optional and found["accept.speed"].range == "0 to 1"
    assert found["post_processing.above"].comment == found["post_processing.below"].comment == "From above to below."
    assert found["post_processing.below"].check(math.inf) == math.inf
