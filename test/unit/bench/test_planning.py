"""The benches of the contact planner."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from bench import resumed

pytest.importorskip("mujoco")
pytest.importorskip("piqp")


def test_results_that_are_kept_are_not_repeated(tmp_path: Path):
    file, out, calls = tmp_path / "kept.jsonl", Console(file=io.StringIO()), list[str]()

    def job(name: str) -> resumed.Row:
        calls.append(name)
        return {"error": 0.5}

    jobs = {name: lambda name=name: job(name) for name in ("a", "b")}
    assert list(resumed.results({"a": jobs["a"]}, file, out)) == [("a", {"error": 0.5})]
    assert list(resumed.results(jobs, file, out)) == [("a", {"error": 0.5}), ("b", {"error": 0.5})]
    assert calls == ["a", "b"]
    assert [json.loads(line)["job"] for line in file.read_text().splitlines()] == ["a", "b"]


def test_the_shooter_solves_the_slider_in_the_planners_own_rollouts():
    from bench import planning_shooter, planning_tasks
    from robot_rt_control.planning.optimise.problem import Problem
    from robot_rt_control.planning.optimise.settings import Settings
    from robot_rt_control.planning.scene.scene import build_scene

    task = planning_tasks.slider(20)
    problem = Problem(task, Settings(threads=1), build_scene(task))
    found = planning_shooter.shoot(problem, 20.0)
    assert found.good and found.error <= 0.02 and not found.inputs[:, problem.n :].any()
    dynamics = problem.dynamics(1)
    try:
        assert problem.error(dynamics.roll_out(found.inputs)).normalized == pytest.approx(found.error, abs=1e-6)
    finally:
        dynamics.close()


def test_plots_are_drawn_of_what_was_found_and_of_what_failed(tmp_path: Path):
    from bench import planning_plots
    from bench.planning import Solved

    rows = [
        Solved(name=f"random push {i}", success=i > 0, error=float("inf") if i == 0 else 0.01, orientation=0.0,
               processor=1.0 + i, clock=2.0, iterations=3, iterates=0, starts=2, load=0.0, start="", message="")
        for i in range(3)
    ]  # fmt: skip
    found: dict[tuple[str, str], resumed.Row] = {
        ("all", "A"): {"success": True, "error": 0.001, "processor": 1.0},
        ("cross-entropy", "A"): {"success": False, "error": float("inf"), "processor": 2.0, "curve": []},
    }
    planning_plots.tasks(rows, tmp_path / "tasks.png")
    planning_plots.pushes(rows, tmp_path / "pushes.png")
    planning_plots.ablation(found, tmp_path / "ablation.png")
    planning_plots.shooters(found, "all", tmp_path / "shooters.png")
    assert len(list(tmp_path.glob("*.png"))) == 4
