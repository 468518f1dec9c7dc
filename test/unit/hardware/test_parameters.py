"""What is wrong with a plugin's parameters."""

from __future__ import annotations

import pytest
from pydantic import field_validator

from robot_rt_control.hardware.parameters import Parameters, Positive, checked
from robot_rt_control.vocabulary.errors import HardwareError


class Joint(Parameters):
    gain: Positive = 1.0


class Drive(Parameters):
    port: str
    joints: tuple[Joint, ...] = ()

    @field_validator("port")
    @classmethod
    def _absolute(cls, value: str) -> str:
        if not value.startswith("/"):
            raise ValueError("a port is a path")
        return value


def test_valid_parameters() -> None:
    assert checked(Drive, {"port": "/dev/a", "joints": [{"gain": 2}]}, "drive").joints[0].gain == 2.0


def test_every_mistake_is_named_in_one_form() -> None:
    with pytest.raises(HardwareError) as caught:
        checked(Drive, {"joints": ({"gain": 2}, {"gain": -1}, {"gian": 1})}, "drive 'a'")
    assert str(caught.value).splitlines() == [
        "drive 'a': port; expected this key; got nothing",
        "drive 'a': joints[1].gain; expected greater than 0; got -1",
        "drive 'a': joints[2].gian: unknown key; expected one of the known names; did you mean 'gain'; got 'gian'",
    ]


def test_what_a_plugins_author_refuses_is_said_in_his_words() -> None:
    with pytest.raises(HardwareError, match="^drive 'a': port: a port is a path; got 'com1'$"):
        checked(Drive, {"port": "com1"}, "drive 'a'")
