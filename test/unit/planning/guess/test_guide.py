"""Start guesses made of geometry: which faces are pushed, and the way around the body."""

import numpy as np
import pytest

from robot_rt_control.planning.guess.guide import Body, Geometry, Push, path, pushes
from robot_rt_control.planning.scene.contact_model import box_faces

SIZE = 0.15, 0.3, 0.08
NAMES = "back", "front", "left", "right"
FACES = [box_faces(SIZE)[name] for name in NAMES]
RADIUS = 0.02


def body(way, turn=0.0):
    c, s = np.cos(turn), np.sin(turn)
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
    position = np.array([0.6, 0.0, 0.04])
    return Body(position=position, rotation=R, target=position + np.array([*way, 0.0]), up=np.array([0, 0, 1.0]))


def rows(way, turn=0.0):
    return [[(NAMES[push.pair], round(push.length, 3)) for push in row] for row in pushes(body(way, turn), FACES)]


def test_a_straight_way_is_one_push_at_the_face_opposite_to_it():
    assert rows((0.2, 0.0)) == [[("back", 0.2)]]
    assert rows((0.0, 0.1)) == [[("right", 0.1)]]
    assert rows((0.0, -0.1)) == [[("left", 0.1)]]


def test_a_diagonal_is_two_pushes_in_both_orders_the_longer_one_first():
    assert rows((0.1, 0.05)) == [[("back", 0.1), ("right", 0.05)], [("right", 0.05), ("back", 0.1)]]


def test_the_faces_are_those_of_the_body_as_it_lies():
    assert rows((0.0, 0.1), turn=np.pi / 2) == [[("back", 0.1)]]


def test_without_a_way_there_is_nothing_to_push():
    assert rows((0.0, 0.0)) == [[]]


@pytest.mark.parametrize("start", [(0.45, 0.0), (0.75, 0.0), (0.6, 0.2), (0.51, -0.1)])
@pytest.mark.parametrize("way", [(0.1, 0.0), (0.0, 0.1), (0.0, -0.1), (-0.1, 0.0)])
def test_on_its_way_the_geometry_stays_out_of_the_body_and_ends_at_the_pushed_face(start, way):
    its = body(way)
    geometry = Geometry(center=np.array([*start, 0.05]), extents=np.full(4, RADIUS))
    row = pushes(its, FACES)[0]
    centers = path(row, its, geometry, FACES, steps=400).centers
    assert centers[0] == pytest.approx(geometry.center)
    direction = np.array([*way, 0.0]) / 0.1
    half = np.array(SIZE) / 2
    end = its.target - direction * (np.abs(direction) @ half + RADIUS)
    assert centers[-1][:2] == pytest.approx(end[:2])
    # The body moves as the geometry pushes it.
    contact = its.position - direction * (np.abs(direction) @ half + RADIUS)
    for center in centers:
        pushed = max(float((center - contact) @ direction), 0.0)
        local = np.abs(center - its.position - pushed * direction)
        beside = local[:2] > half[:2] + RADIUS - 2e-3
        # While it passes in front, it cannot have pushed.
        assert beside.any() or np.abs(centers[0] - its.position)[:2].max() < half[:2].max() + RADIUS


def test_the_height_is_kept_within_the_face():
    its = body((0.1, 0.0))
    geometry = Geometry(center=np.array([0.4, 0.0, 0.3]), extents=np.full(4, RADIUS))
    centers = path(pushes(its, FACES)[0], its, geometry, FACES, steps=10).centers
    assert centers[-1][2] == pytest.approx(0.08)


def test_it_rests_after_its_share_of_the_horizon():
    its = body((0.1, 0.0))
    geometry = Geometry(center=np.array([0.4, 0.0, 0.05]), extents=np.full(4, RADIUS))
    centers = path([Push(pair=0, length=0.1)], its, geometry, FACES, steps=20, share=0.5).centers
    assert np.ptp(centers[10:], axis=0) == pytest.approx(np.zeros(3), abs=1e-9)
    assert (np.ptp(centers[:10], axis=0) > 0.0).any()


@pytest.mark.parametrize("way", [(0.1, 0.0), (0.1, 0.05)])
def test_V31_a_slow_push_halts_before_it_touches_and_moves_the_body_from_rest(way):
    its = body(way)
    geometry = Geometry(center=np.array([0.45, 0.0, 0.05]), extents=np.full(4, RADIUS))
    row = pushes(its, FACES)[0]
    found = path(row, its, geometry, FACES, steps=2000, halting=True)
    speed = np.linalg.norm(np.diff(found.centers, axis=0), axis=1)
    begins = np.flatnonzero(np.diff(found.bodies, axis=0).any(axis=1))[0]
    assert speed[begins] < 0.2 * speed.max(), "a millimetre after it has begun to move"
    assert found.bodies[-1] == pytest.approx(its.target)
    without = path(row, its, geometry, FACES, steps=2000)
    touches = np.flatnonzero(np.diff(without.bodies, axis=0).any(axis=1))[0]
    assert np.linalg.norm(np.diff(without.centers, axis=0), axis=1)[touches] > 2 * speed[begins]


def test_V31_a_slow_push_rests_at_each_corner_and_draws_back_from_the_body_before_it_goes_around():
    """A corner passed in motion asks for more acceleration than a joint has; along a face it would turn the body."""
    its = body((0.1, 0.05))
    geometry = Geometry(center=np.array([0.45, 0.0, 0.05]), extents=np.full(4, RADIUS))
    (row, _) = pushes(its, FACES)
    found = path(row, its, geometry, FACES, steps=4000, halting=True)
    speed = np.linalg.norm(np.diff(found.centers, axis=0), axis=1)
    ends = np.flatnonzero(np.diff(found.line))
    assert len(ends) >= 7 and (speed[ends] < 0.02 * speed.max()).all()
    moving = np.linalg.norm(np.diff(found.bodies, axis=0), axis=1) > 0.0
    first, second = np.flatnonzero(moving)[[0, -1]]
    between = np.flatnonzero(~moving & (np.arange(len(moving)) > first) & (np.arange(len(moving)) < second))
    back = np.diff(found.centers, axis=0)[between[: len(between) // 20]].sum(axis=0)
    assert back[0] < 0.0 and back[1:] == pytest.approx(np.zeros(2), abs=1e-9), "straight away from the face"
    needed = np.arange(1.0, found.line.max() + 2)
    needed /= needed.sum()
    shares = path(row, its, geometry, FACES, steps=4000, halting=True, durations=needed.tolist())
    assert np.bincount(shares.line[1:]) / 4000 == pytest.approx(needed, abs=1e-3)
    shares = path(row, its, geometry, FACES, steps=4000, halting=True, durations=(0.5 * needed).tolist())
    assert (np.bincount(shares.line[1:]) / 4000 > 0.5 * needed).all(), "each gets some of what is left"


def test_before_its_first_push_it_keeps_off_the_body_and_the_body_moves_with_it_later():
    its = body((-0.1, 0.0))
    geometry = Geometry(center=np.array([0.4, 0.0, 0.05]), extents=np.full(4, RADIUS))
    found = path(pushes(its, FACES)[0], its, geometry, FACES, steps=40)
    assert found.apart[:20].all() and not found.apart[-5:].any()
    assert found.bodies[0] == pytest.approx(its.position) and found.bodies[-1] == pytest.approx(its.target)
    away = np.abs(found.centers - found.bodies)[found.apart][:, :2] - np.array(SIZE[:2]) / 2 - RADIUS
    assert (away.max(axis=1) > 0.02).all()


def test_what_is_accepted_anyway_is_not_pushed():
    its = body((-0.002, 0.0005))
    assert [len(row) for row in pushes(its, FACES)] == [2, 2]
    assert [len(row) for row in pushes(its, FACES, least=0.001)] == [1]
