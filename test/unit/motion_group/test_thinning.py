"""V17: sampled efforts are thinned to a stated error."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline

from robot_rt_control.client.actions import Action
from robot_rt_control.motion_group.thinning import Thinned, thinned
from robot_rt_control.vocabulary.errors import DefinitionError

T = np.arange(3001) * 1e-3


def _samples(seed, steps):
    """Smooth positions and their velocities, efforts with jumps: (3001, 3) each."""
    random = np.random.default_rng(seed)
    w, phase = random.uniform(0.5, 6.0, 3), random.uniform(0.0, 6.0, 3)
    q, v = np.sin(T[:, None] * w + phase), w * np.cos(T[:, None] * w + phase)
    levels = random.uniform(-20.0, 20.0, (steps, 3))
    return q, v, levels[np.minimum((T / T[-1] * steps).astype(int), steps - 1)] + 5.0 * q * v


def _errors(t: Thinned, q, e):
    rebuilt = CubicHermiteSpline(t.times, t.positions, t.velocities)(T)
    assert t.efforts is not None
    lines = np.stack([np.interp(T, t.times, t.efforts[:, j]) for j in range(3)], axis=1)
    return np.abs(rebuilt - q).max(), np.abs(lines - e).max()


@settings(deadline=None, max_examples=25, derandomize=True)
@given(seed=st.integers(0, 10**6), steps=st.integers(1, 400))
def test_V17_the_stated_error_is_the_error(seed, steps):
    q, v, e = _samples(seed, steps)
    found = thinned(T, q, v, e)
    assert 2 <= len(found.times) <= 513 and found.times[0] == 0.0 and found.times[-1] == T[-1]
    assert (found.position_error, found.effort_error) == pytest.approx(_errors(found, q, e), rel=1e-6, abs=1e-12)
    if len(found.times) < 513:
        assert found.position_error <= 1e-5 and found.effort_error <= 1e-2


def test_V17_thirty_jumps_fit_within_the_default_errors():
    q, v, e = _samples(3, 30)
    found = thinned(T, q, v, e)
    assert len(found.times) < 513 and found.effort_error <= 1e-2


def test_a_cubic_needs_two_points_and_wider_errors_fewer():
    q, v = T[:, None] ** 3 - T[:, None], 3.0 * T[:, None] ** 2 - 1.0
    found = thinned(T, q, v)
    assert len(found.times) == 2 and found.position_error < 1e-12 and found.efforts is None
    assert sorted(found.parameters()) == ["positions", "times", "velocities"]
    q, v, e = _samples(1, 1)
    counts = [len(thinned(T, q, v, e, position_error=x, effort_error=1e3 * x).times) for x in (1e-3, 1e-4, 1e-5)]
    assert counts == sorted(set(counts))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"times": [0.0, 0.0, 1.0]}, "times; expected at least two, each above the one before"),
        ({"velocities": np.zeros((3, 1))}, r"velocities; expected shape \(3, 2\); got \(3, 1\)"),
        ({"efforts": np.zeros((2, 2))}, r"efforts; expected shape \(3, 2\); got \(2, 2\)"),
        ({"efforts": np.full((3, 2), np.nan)}, "efforts; expected finite numbers"),
    ],
)
def test_what_does_not_fit_is_refused(change, text):
    given = {"times": [0.0, 0.5, 1.0], "positions": np.zeros((3, 2)), "velocities": np.zeros((3, 2))} | change
    with pytest.raises(DefinitionError, match=text):
        thinned(**given)


def test_V17_the_documented_lines_run():
    page = (Path(__file__).parents[3] / "docs" / "trajectories.md").read_text()
    one, dense = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    q, v, e = _samples(1, 20)
    added: list[Action] = []
    names = {"times": T, "positions": q, "velocities": v, "efforts": e, "Action": Action}
    exec(one + dense, {**names, "session": SimpleNamespace(add=added.append)})
    first, second = ({p.name: p.value for p in action.definition(("arm",)).parameters} for action in added)
    assert first["mode"] == second["mode"] == "effort"
    assert np.size(second["times"]) <= 513 < np.size(first["times"])
