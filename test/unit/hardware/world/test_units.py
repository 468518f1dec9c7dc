"""Things of a world that are in another unit: refused with file, line and what to do."""

import re

import pytest

from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.lifecycle import HardwareLifecycle, load_plugin
from robot_rt_control.hardware.world.of_workcell import world_of
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.errors import DefinitionError, HardwareError

CELL = """
name: units
parts: {{eye: {{kind: rangefinder, device: sim}}}}
devices:
  sim:
    world:
      objects:
        - {{name: floor, plane: true}}
        - name: thing
          {thing}
"""
HINT = "Lengths are in metres, masses in kilograms: 40 mm are 0.04, 100 g are 0.1"


@pytest.fixture
def engine():
    return "mujoco"


@pytest.mark.parametrize("engine", ["pybullet", "mujoco"])
@pytest.mark.parametrize(
    ("thing", "line", "text"),
    [
        ("box: {size: [0.04, 0.04, 0.04]}\n          mass: 1e6", 11,
         "mass; expected at most 100000 kg; got 1e+06 kg."),
        ("box: {size: [0.04, 0.04, 0.04]}\n          mass: 100", 11,
         "mass; expected a mass that fits its size: 0.01 to 100000 kg/m^3; got 100 kg in 6.4e-05 m^3"),
        ("box: {size: [40, 40, 40]}\n          mass: 0.1", 11,
         "mass; expected a mass that fits its size: 0.01 to 100000 kg/m^3; got 0.1 kg in 6.4e+04 m^3, which"),
        ("sphere: {radius: 20}", 9,
         "name; expected a mass that fits its size: 0.01 to 100000 kg/m^3; got 1 kg in 3.35e+04 m^3"),
        ("cylinder: {radius: 20, height: 400}\n          fixed: true", 10,
         "cylinder; expected lengths up to 100 m; got 400 m"),
        ("box: {size: [1, 1, 1]}\n          pose: {position: [500, 0, 20]}", 11,
         "pose; expected coordinates up to 100 m; got 500 m."),
    ],
)  # fmt: skip
def test_a_thing_in_another_unit(tmp_path, engine, thing, line, text):
    file = tmp_path / "cell.yaml"
    file.write_text(CELL.format(thing=thing))
    workcell = load_workcell(file, hardware=engine)
    begin = re.escape(f"{file}:{line}: hardware 'sim', parameters of the {engine} plugin: world.objects[1].")
    with pytest.raises(HardwareError, match=begin + re.escape(text)) as found:
        HardwareLifecycle(load_plugin(engine)(), hardware_info(workcell, workcell.device("sim")))
    assert HINT in str(found.value)
    with pytest.raises(DefinitionError, match=re.escape(f"{file}:{line}: cell.yaml, device 'sim', world: objects[1].")):
        world_of(workcell)


@pytest.mark.parametrize(
    "thing",
    [
        "box: {size: [0.02, 0.02, 0.02]}",  # the default of 1 kg may be much for it
        "box: {size: [0.05, 0.05, 0.05]}\n          mass: 2.8",  # of osmium
        "sphere: {radius: 0.15}\n          mass: 0.02",  # a balloon
        "box: {size: [60, 60, 0.2]}\n          fixed: true",
        "profile: {points: [[0, 1], [1, 2]], width: 1}",
    ],
)
def test_what_may_be_meant_so(tmp_path, thing):
    (tmp_path / "cell.yaml").write_text(CELL.format(thing=thing))
    assert [each.name for each in world_of(load_workcell(tmp_path / "cell.yaml")).objects] == ["floor", "thing"]
