"""What the compute time is measured with."""

import pkgutil

import pytest

import robot_rt_control.actions
from robot_rt_control.server.builder.measure import _prepare
from robot_rt_control.server.builder.source import find_action_types, load_action_type
from robot_rt_control.vocabulary.errors import CompileError


def _built_in() -> list[str]:
    specs = []
    for module in pkgutil.iter_modules(robot_rt_control.actions.__path__):
        try:
            specs += find_action_types(f"robot_rt_control.actions.{module.name}")
        except CompileError as error:  # what several actions share
            assert "no action type" in str(error)
    return specs


@pytest.mark.parametrize("spec", _built_in())
def test_every_built_in_action_can_be_measured(spec):
    """Otherwise each start says that its compute time is not known."""
    _, params = _prepare(load_action_type(spec).action_type, frozenset())
    assert params.shape == (1,)
