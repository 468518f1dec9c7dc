"""What the compute time is measured with."""

import pkgutil
from pathlib import Path

import numpy as np
import pytest
import yaml

import robot_rt_control.actions
from robot_rt_control.server.builder import measure
from robot_rt_control.server.builder.build import build
from robot_rt_control.server.builder.measure import _prepare
from robot_rt_control.server.builder.syntax_check import check_syntax
from robot_rt_control.server.code.source import find_action_types, load_action_type
from robot_rt_control.vocabulary.errors import CompileError


def _built_in() -> list[str]:
    specs = []
    for module in pkgutil.iter_modules(robot_rt_control.actions.__path__):
        try:
            specs += find_action_types(f"robot_rt_control.actions.{module.name}")
        except CompileError as error:  # what several actions share
            assert "no action type" in str(error)
    return specs


def _of_workcells() -> list[str]:
    files = [*(Path(__file__).parents[4] / "config").glob("*.yaml")]
    named = {(file.parent / spec).resolve() for file in files for spec in _document(file).get("action_types", [])}
    return sorted(str(spec) for spec in named)


def _document(file: Path) -> dict:
    return yaml.safe_load(file.read_text()) or {}


@pytest.mark.parametrize("spec", [*_built_in(), *_of_workcells()])
def test_every_action_type_of_the_package_and_its_workcells_can_be_measured(spec):
    """Otherwise each start says that its compute time is not known."""
    _, params = _prepare(load_action_type(spec).action_type, {})
    assert params.shape == (1,)


ROUNDS = """
for j in range(min(params.index, 40)):
    state.level += 1.0
n = 0
while n < min(60, params.index):
    n += 1
"""


def test_a_parameter_that_a_loop_counts_to_is_measured_where_it_counts_most(action_file):
    source = load_action_type(action_file.write(ROUNDS))
    counted = check_syntax(source).counted
    assert counted == {"index": 60.0}
    _, params = _prepare(source.action_type, counted)
    assert params["index"][0] == 60 and np.isfinite(params["gain"][0])


@pytest.mark.parametrize("line", ["pass", "time.sleep(100)"])
def test_a_preparation_that_does_not_end_is_given_up(action_file, monkeypatch, line):
    monkeypatch.setattr(measure, "PREPARING_S", 0.2)
    monkeypatch.setattr(measure, "_WAITING_S", 2.0)
    spec = action_file.write("state.level += 1.0")
    create = f"    @classmethod\n    def create(cls, parts):\n        while True:\n            {line}\n"
    action_file.path.write_text(action_file.path.read_text() + "\n" + create)
    said: list[str] = []
    assert np.isnan(build(spec, said.append).compute_time)
    assert "TimeoutError: prepare_parameters took too long" in said[-1]
