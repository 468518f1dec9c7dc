"""Channels in the workcell file: names, defaults, and what is wrong with them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from robot_rt_control.memory.layout import offset_of, part_dtype
from robot_rt_control.model.workcell.state_variables import part_state_variables
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError

GOOD = """
name: cell
parts:
  io:
    kind: io
    device: d
    inputs: {door: {}, pressure: {signal: analog, unit: bar}}
    outputs:
      clamp: {safe: false, initial: true}
      dose: {signal: analog, unit: ml/s, range: [1, 4], safe: 2}
  person:
    kind: sensor
    device: d
    values: {distance: {unit: m}, present: {type: bool}}
devices: {d: {mock: {}}}
"""


def load(folder: Path, text: str):
    path = folder / "cell.yaml"
    path.write_text(text)
    return load_workcell(path)


def test_channels_and_their_defaults(tmp_path):
    cell = load(tmp_path, GOOD)
    io, person = cell.part("io"), cell.part("person")
    assert (io.input_names, io.output_names) == (("door", "pressure"), ("clamp", "dose"))
    assert [i.name for i in io.state_interfaces] == ["io/door", "io/pressure", "io/clamp", "io/dose"]
    assert [(i.name, i.offset) for i in io.command_interfaces] == [
        ("io/clamp", offset_of(part_dtype, "commanded_outputs", 0)),
        ("io/dose", offset_of(part_dtype, "commanded_outputs", 1)),
    ]
    assert io.record.commanded_outputs[:2].tolist() == [1.0, 1.0], "0 is not in the range: the nearest value"
    assert io.system_limits.output_safe[:2].tolist() == [0.0, 2.0]
    assert math.isnan(load(tmp_path, GOOD.replace(", safe: 2", "")).part("io").system_limits.output_safe[1])
    assert [i.name for i in person.state_interfaces] == [
        "person/distance",
        "person/present",
        "person/distance_age",
        "person/present_age",
    ]
    variables = {v.name: v for part in (io, person) for v in part_state_variables(part)}
    assert (variables["io.pressure"].type, variables["io.pressure"].unit) == ("float", "bar")
    assert variables["io.input[1]"].offset == variables["io.pressure"].offset
    assert variables["io.clamp"].type == variables["person.present"].type == "bool"
    assert variables["person.distance_age"].unit == "s"


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("safe: false", "safe: 0.5", "parts.io.outputs.clamp.safe; expected true or false, as the output is digital"),
        ("safe: 2", "safe: 9", "parts.io.outputs.dose.safe; expected a value from 1 to 4; got 9"),
        ("safe: 2", "initial: 0", "parts.io.outputs.dose.initial; expected a value from 1 to 4; got 0"),
        ("range: [1, 4]", "range: [4, 1]", "outputs.dose.range; expected two numbers, the lower one first"),
        ("{safe: false, initial: true}", "{range: [0, 1]}", "outputs.clamp.range; expected none, as the output is dig"),
        ("clamp:", "door:", "parts.io.outputs.door; expected a name that no other state variable of the part has"),
        ("clamp:", "age:", "parts.io.outputs.age; expected a name other than age, at_rest"),
        ("clamp:", "cl amp:", "outputs.cl amp; expected letters, digits and underscores"),
        ("door: {}", "door: {sgnal: digital}", "inputs.door.sgnal: unknown key; expected .*'signal'"),
        ("present:", "distance_age:", "values.distance_age; expected a name that no other state variable"),
        ("type: bool", "type: text", "values.present.type; expected one of: bool, float, int"),
        ("values: {distance: {unit: m}, present: {type: bool}}", "values: {}", "parts.person.values; expected"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, old, new, text):
    assert old in GOOD
    with pytest.raises(DefinitionError, match=text) as error:
        load(tmp_path, GOOD.replace(old, new))
    assert "cell.yaml:" in str(error.value)


def test_there_are_not_more_channels_than_fit(tmp_path):
    names = ", ".join(f"c{i}: {{}}" for i in range(17))
    with pytest.raises(CapacityError, match="parts.io.inputs; expected at most MAX_CHANNELS = 16 channels; got 17"):
        load(tmp_path, GOOD.replace("door: {}, pressure: {signal: analog, unit: bar}", names))
