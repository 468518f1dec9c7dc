"""Starts that are measured: what is unknown is named (V4), and robot and body must be where a plan begins (V15)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.planner.measured import measure_start
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError

CONFIG = Path(__file__).resolve().parents[3] / "config"
GAUGE = """
  gauge: {kind: sensor, device: sim, values: {level: {}}}
"""
SEEN = {
    "pusher.position[0]": 0.01,
    "camera.x": 0.13, "camera.y": 0.0, "camera.z": 0.05,
    "camera.qx": 0.0, "camera.qy": 0.0, "camera.qz": 0.0, "camera.qw": 1.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def workcell(tmp_path_factory: pytest.TempPathFactory) -> Workcell:
    file = tmp_path_factory.mktemp("cell") / "pusher.yaml"
    file.write_text((CONFIG / "pusher.yaml").read_text().replace("\ndevices:", f"{GAUGE}\ndevices:"))
    return load_workcell(file, "mock")


class Values:
    """State variables of a workcell."""

    def __init__(self, **changed: float) -> None:
        self.values = {**SEEN, **{name.replace("__", "."): value for name, value in changed.items()}}
        self.asked: list[str] = []

    def __call__(self, prefixes: Sequence[str]) -> Mapping[str, float]:
        self.asked += prefixes
        return self.values


def test_joints_and_body_come_from_one_request(workcell: Workcell) -> None:
    values = Values(camera__qw=-0.7071, camera__qz=0.7071)
    found = measure_start(workcell, ["pusher"], "camera", values, body=True)
    assert found.joints == {"pusher": (0.01,)}
    assert found.body is not None and found.body.position == (0.13, 0.0, 0.05)
    assert math.hypot(*found.body.orientation) == pytest.approx(1.0, abs=1e-12)
    assert values.asked == ["pusher.", "camera."]


def test_V4_all_unknown_and_stale_values_are_named(workcell: Workcell) -> None:
    values = Values(camera__x=math.nan, camera__x_age=2.5, camera__qw=math.nan)
    values.values["pusher.position[0]"] = math.nan
    with pytest.raises(ProgramError) as caught:
        measure_start(workcell, ["pusher"], "camera", values, body=True)
    joint = workcell.part("pusher").joint_names[0]
    assert str(caught.value).splitlines() == [
        f"start, joint pusher.{joint}: pusher.position[0]; expected a measured position; got unknown. Is the device "
        "'sim' running, and does it give new values?",
        "start, pose of the body: camera.x; expected a value that is not too old; got one that is 2.5 s old. Does the "
        "camera, or the simulation, see the body?",
        "start, pose of the body: camera.qw; expected a value that is not too old; got none was ever received. Does "
        "the camera, or the simulation, see the body?",
    ]


def test_a_sensor_must_have_a_pose(workcell: Workcell) -> None:
    for name, text in (
        ("", "start, pose: the part that measures where the body is; expected one of: camera, gauge; got none"),
        ("camra", "did you mean 'camera'; got 'camra'"),
        ("pusher", "expected one of: camera, gauge; got 'pusher'"),
        ("gauge", "start, pose: part 'gauge'; expected seven values: position x y z, quaternion x y z w; got 1"),
    ):
        with pytest.raises(DefinitionError) as caught:
            measure_start(workcell, ["pusher"], name, Values(), body=True)
        assert text in str(caught.value)


def test_an_orientation_must_be_one(workcell: Workcell) -> None:
    with pytest.raises(DefinitionError, match="orientation of 'camera'; expected a unit .* length 2"):
        measure_start(workcell, ["pusher"], "camera", Values(camera__qw=2.0), body=True)


def test_the_body_need_not_be_seen(workcell: Workcell) -> None:
    values = Values()
    assert measure_start(workcell, ["pusher"], "", values, body=False).body is None
    assert values.asked == ["pusher."]
