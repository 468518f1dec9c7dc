"""Every kind of fault in a workcell file: file, line, item, expected, got."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.program.recovery_programs import recovery_programs
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError, ProgramError

GOOD = """\
name: cell
period: 0.001
parts:
  gripper:
    kind: gripper
    device: sim
    joints:
      - {name: finger, type: prismatic, position_lower: 0, position_upper: 0.04, velocity: 0.2}
  io: {kind: io, device: sim, inputs: 2}
devices:
  sim:
    max_age_ticks: 3
    mock: {}
"""


def _load(tmp_path, text, hardware=None):
    path = tmp_path / "cell.yaml"
    path.write_text(text)
    return load_workcell(path, hardware)


def test_good(tmp_path):
    workcell = _load(tmp_path, GOOD)
    assert workcell.name == "cell" and workcell.hardware == "mock"
    assert [part.name for part in workcell.parts] == ["gripper", "io"]
    assert workcell.devices[0].max_age_ticks == 3


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("name: cell\n", "", ":1: name; expected this key; got nothing"),
        ("period: 0.001", "period: 0", ":2: period; expected greater than 0; got 0"),
        ("period: 0.001", "period: true", ":2: period; expected a finite number; got true"),
        ("period: 0.001", "period: '1'", ":2: period; expected a finite number; got '1'"),
        ("period: 0.001", "periode: 1", ":2: periode: unknown key; expected one of the known names; did you mean 'per"),
        ("kind: gripper", "kind: griper", ":5: parts.gripper.kind; expected one of the known names; did you mean 'g"),
        ("    kind: gripper\n", "", ":4: parts.gripper.kind; expected this key; got nothing"),
        ("device: sim\n    joints", "device: simm\n    joints", ":6: parts.gripper.device; expected one of the known"),
        ("inputs: 2", "inputs: 17", ":9: parts.io.inputs; expected less than or equal to 16; got 17"),
        ("inputs: 2", "inputs: 1.5", ":9: parts.io.inputs; expected a whole number; got 1.5"),
        ("inputs: 2", "input: 2", ":9: parts.io.input: unknown key; expected one of the known names; did you mean '"),
        ("  io:", "  and:", ":9: parts.and"),
        ("  io:", "  time:", "which is a state variable of the loop"),
        ("  io:", "  a-b:", "expected letters, digits and underscores, not beginning with a digit"),
        (
            "position_upper: 0.04",
            "position_upper: -1",
            ":8: parts.gripper.joints[0]; expected position_lower < position",
        ),
        ("velocity: 0.2", "velocity: -0.2", ":8: parts.gripper.joints[0].velocity; expected greater than 0; got -0.2"),
        ("velocity: 0.2", "velocity: .inf", ":8: parts.gripper.joints[0].velocity; expected a finite number; got inf"),
        ("max_age_ticks: 3", "max_age_ticks: 0", ":12: devices.sim.max_age_ticks; expected greater than or equal to 1"),
        (
            "max_age_ticks: 3",
            "max_age_tick: 3",
            ":12: devices.sim.max_age_tick; expected max_age_ticks, plugin, world, or the name of",
        ),
        (
            "mock: {}",
            "mock: 3",
            ":13: devices.sim.mock; expected max_age_ticks, plugin, world, or the name of a plugin with a mapping",
        ),
        (
            "    joints:",
            "    limits: {velocity: [1, 2]}\n    joints:",
            ":7: parts.gripper.limits.velocity; expected 1 num",
        ),
        (
            "    joints:",
            "    limits: {velocity: a}\n    joints:",
            ":7: parts.gripper.limits.velocity; expected a finite",
        ),
        ("    joints:", "    tool: 1\n    joints:", ":7: parts.gripper.tool: unknown key; expected one of: "),
    ],
)
def test_refusals(tmp_path, old, new, text):
    assert old in GOOD
    with pytest.raises(DefinitionError) as error:
        _load(tmp_path, GOOD.replace(old, new, 1))
    assert text in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "cell.yaml"))


def test_not_a_mapping(tmp_path):
    with pytest.raises(DefinitionError, match=r"expected a mapping with name, period, .*; got \['a'\]"):
        _load(tmp_path, "- a\n")


def test_all_mistakes_are_reported(tmp_path):
    text = GOOD.replace("period: 0.001", "period: 0").replace("inputs: 2", "input: 17").replace("mock: {}", "mock: 3")
    with pytest.raises(ProgramError) as error:
        _load(tmp_path, text)
    assert [(mistake.line, mistake.what.split(": ")[1]) for mistake in error.value.mistakes] == [
        (2, "period"),
        (9, "parts.io.input"),
        (13, "devices.sim.mock"),
    ]


def test_mistakes_in_several_parts_are_reported_together(tmp_path):
    text = GOOD.replace("device: sim, inputs", "device: bus, inputs").replace("device: sim\n", "device: simm\n")
    text += "clock_device: none\naction_types: [missing.py]\n"
    with pytest.raises(ProgramError) as error:
        _load(tmp_path, text)
    assert [mistake.what.split(": ")[-1] for mistake in error.value.mistakes] == [
        "parts.gripper.device",
        "parts.io.device",
        "clock_device",
        "action_types[0]",
    ]


def test_hardware_without_configuration(tmp_path):
    with pytest.raises(DefinitionError) as error:
        _load(tmp_path, GOOD, "pybullet")
    assert (
        ":11: devices.sim; expected a configuration for the hardware 'pybullet', possibly an empty one; got mock. "
        in (str(error.value))
    )
    assert _load(tmp_path, GOOD.replace("    mock: {}", "    pybullet: {}"), "mock").devices[0].config == {}


def test_a_device_may_have_a_plugin_of_its_own(tmp_path):
    text = GOOD.replace("    mock: {}", "    pybullet: {gui: true}").replace("sim, inputs", "bus, inputs")
    text += "  bus: {plugin: 'my.module:Bus', 'my.module:Bus': {rate: 5}}\n"

    def plugins(hardware):
        return [d.plugin for d in _load(tmp_path, text, hardware).devices]

    assert plugins("pybullet") == ["pybullet", "my.module:Bus"]
    assert plugins("mock") == ["mock", "mock"]
    assert plugins("pybullet, bus=mock") == ["pybullet", "mock"]
    assert _load(tmp_path, text, "pybullet").devices[1].config == {"rate": 5}
    for hardware, expected in (
        ("pybullet,buss=mock", "device 'buss'; expected .*did you mean 'bus'"),
        ("pybullet,bus", "expected plugin,device=plugin,…; got 'bus'"),
        ("pybullet,bus=pybullet", "devices.bus; expected a configuration for the hardware 'pybullet'"),
        ("pybulet", "devices.sim: hardware 'pybulet'; expected .*did you mean 'pybullet'; or package.module:Class"),
    ):
        with pytest.raises(DefinitionError, match=expected):
            _load(tmp_path, text, hardware)


def test_capacities(tmp_path):
    parts = "".join(f"  r{i}: {{kind: rangefinder, device: sim}}\n" for i in range(65))
    with pytest.raises(CapacityError, match=r":3: parts; expected at most MAX_PARTS = 64; got 67"):
        _load(tmp_path, GOOD.replace("devices:", parts + "devices:"))
    joints = "".join(f"      - {{name: j{i}, type: continuous, velocity: 1}}\n" for i in range(16))
    with pytest.raises(
        CapacityError, match=r":7: parts.gripper.joints; expected at most MAX_JOINTS = 16 joints; got 17"
    ):
        _load(tmp_path, GOOD.replace("    joints:\n", "    joints:\n" + joints))


def test_limits_are_checked_before_anything_is_read(tmp_path):
    levels = "".join(f"{b}: &{b} [{f'*{a},' * 10}]\n" for a, b in pairwise("abcdefgh"))
    for text, message in (
        (GOOD + "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + levels, ":18: too many items, those included that aliases repeat"),
        (GOOD + "gravity: " + "{a: " * 2000, ":14: nested too deeply; expected at most 50 (MAX_YAML_DEPTH)"),
        ("#" * (1 << 22) + "\n", "cell.yaml: the text is too large; expected at most 4194304 bytes; got more"),
    ):
        with pytest.raises(CapacityError) as error:
            _load(tmp_path, text)
        assert message in str(error.value)


def test_mistakes_of_a_recovery_program_have_the_lines_of_the_workcell_file(tmp_path):
    action = "back: {type: hold, parts: gripper, x: 1}"
    recovery = f"    recovery:\n      program:\n        actions:\n          {action}\n    joints:"
    workcell = _load(tmp_path, GOOD.replace("    joints:", recovery))  # who runs no programs reads none
    with pytest.raises(DefinitionError) as error:
        recovery_programs(workcell.recoveries)
    assert "cell.yaml:10: actions.back.x: unknown key; expected one of" in str(error.value)


@settings(deadline=None, max_examples=tries(15, whole=60))
@given(st.data())
def test_any_change_of_a_workcell_is_read_or_refused_with_the_file(tmp_path_factory, data):
    start = data.draw(st.integers(0, len(GOOD)))
    end = data.draw(st.integers(start, min(start + 30, len(GOOD))))
    pieces = ["", " ", "\n", "{", "}", "[", "]", ": ", "- ", "null", "1e999", "&x ", "*x", "!!int ", "~", "'", "0.5"]
    text = GOOD[:start] + data.draw(st.sampled_from(pieces) | st.text(max_size=6)) + GOOD[end:]
    try:
        _load(tmp_path_factory.mktemp("cell"), text)
    except DefinitionError as error:
        assert "cell.yaml" in str(error)
