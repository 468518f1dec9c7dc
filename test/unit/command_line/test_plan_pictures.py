"""Pictures of plans and of their replays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from robot_rt_control.command_line.plan_pictures import draw_film, draw_plan, write_gif
from robot_rt_control.planning.plan.plan import FORMAT, LIMITS, Plan
from robot_rt_control.vocabulary.errors import DefinitionError

STEPS, PAIRS = 6, ["pusher.tip box.back", "pusher.tip box.front"]


def pushed(*, success: bool) -> Plan:
    """A joint that moves 0.2 m, and a body that it pushes in the second half."""
    s = np.linspace(0.0, 1.0, STEPS + 1)
    way = np.maximum(s - 0.5, 0.0)
    gap = np.maximum(0.5 - s, 0.0)
    iterate = {"penalty": 0.1, "normalized_error": 0.01, "orientation_error": 0.0, "stiffness_average": 0.2}
    return Plan(
        header={
            "format": FORMAT, "body": "box", "joints": ["pusher.slide"], "pairs": PAIRS, "time": 1.2, "steps": STEPS,
            "limits": {name: [1.0] for name in LIMITS}, "success": success, "normalized_error": 0.01,
            "orientation_error": 0.0, "target": [[0.5, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
            "convergence": [
                iterate | {"stiffness_greatest": 1.0, "accepted": True},
                iterate | {"stiffness_greatest": 0.0, "accepted": False},
            ],
        },
        position=0.2 * s[:, None],
        velocity=np.ones((STEPS + 1, 1)),
        inputs=np.zeros((STEPS, 1)),
        body_position=np.stack([way, 0 * s, 0 * s], axis=1),
        body_rotation=np.tile(np.eye(3), (STEPS + 1, 1, 1)),
        distance=np.stack([gap, 0.3 + gap], axis=1),
        stiffness=np.ones((STEPS, 2)),
        virtual_force=np.stack([np.exp(-gap[1:]), np.zeros(STEPS)], axis=1),
        virtual_distance=np.stack([gap + 0.1, 0.4 + gap], axis=1),
    )  # fmt: skip


def colors(picture: Path) -> int:
    """Different colours: a picture with lines and texts has many."""
    return len(np.unique(np.asarray(Image.open(picture).convert("RGB")).reshape(-1, 3), axis=0))


def test_a_plan_is_drawn_with_what_is_left(tmp_path: Path) -> None:
    good, bad = (draw_plan(pushed(success=ok), tmp_path / f"{ok}.png") for ok in (True, False))
    assert colors(good) > 50
    assert good.read_bytes() != bad.read_bytes(), "the title says that it is not physical"


def frames(count: int) -> list[np.ndarray]:
    return [np.full((30, 40, 3), 40 * i, np.uint8) for i in range(count)]


def test_a_film_strip_shows_all_frames(tmp_path: Path) -> None:
    film = draw_film(frames(5), [0.1 * i for i in range(5)], tmp_path / "film.png")
    found = {tuple(color) for color in np.unique(np.asarray(Image.open(film).convert("RGB")).reshape(-1, 3), axis=0)}
    assert {(40 * i,) * 3 for i in range(5)} <= found


def test_an_animation_takes_its_time(tmp_path: Path) -> None:
    with Image.open(write_gif(frames(4), [0.0, 0.1, 0.3, 0.5], tmp_path / "push.gif")) as animation:
        waits = []
        for i in range(animation.n_frames):  # type: ignore[attr-defined]
            animation.seek(i)
            waits.append(animation.info["duration"])
    assert waits == [100, 200, 200, 1000]


@pytest.mark.parametrize(("count", "times"), [(0, []), (2, [0.0])])
def test_frames_need_times(tmp_path: Path, count: int, times: list[float]) -> None:
    with pytest.raises(DefinitionError, match="at least one frame, and as many times; got"):
        draw_film(frames(count), times, tmp_path / "film.png")


def test_one_frame_is_no_animation(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="at least two frames; got one"):
        write_gif(frames(1), [0.0], tmp_path / "push.gif")
