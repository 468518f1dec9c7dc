"""Tools on springs, against the law of the spring."""

import pytest

from robot_rt_control.testing.simulated_devices import iiwa
from robot_rt_control.vocabulary.errors import HardwareError

DT = 0.001
SPRING = {"way": [0, 0, -0.02], "stiffness": 400.0, "stop": 4000.0, "preload": 1.0, "damping": 20.0}


@pytest.fixture
def at_rest(start):
    """[m] How far a tool of 0.5 kg has sunk at rest; the arm points straight up, gravity is 10 m/s^2."""

    def found(substeps=1, **changes):
        tool = {"name": "digit", "part_of": "arm", "link": "lbr_iiwa_link_7", "sphere": {"radius": 0.01}, "mass": 0.5}
        tool |= {"pose": {"position": [0, 0, 0.1]}, "spring": SPRING | changes}
        world = {"gravity": [0, 0, -10.0], "tools": [tool], "timestep": DT / substeps}
        sim = start(iiwa(start_position=(0.0,) * 7), world=world)
        for _ in range(400):
            sim.read(0.0, DT)
            sim.write(0.0, DT)
        return sim.plugin.world.object_joint("arm", "digit_joint", "test").position()

    return found


@pytest.mark.parametrize("substeps", [1, 2])
def test_it_gives_way_as_stiffness_and_preload_say(at_rest, substeps):
    assert at_rest(substeps) == pytest.approx((5.0 - 1.0) / 400.0, rel=0.01)


def test_a_push_below_the_preload_does_not_move_it(at_rest):
    assert at_rest(preload=6.0) == pytest.approx(0.0, abs=1e-4)


def test_at_its_stop_it_is_stiff(at_rest):
    assert at_rest(way=[0, 0, -0.005]) == pytest.approx((5.0 - 1.0 + 4000.0 * 0.005) / 4400.0, rel=0.01)


def test_a_spring_that_leads_nowhere_is_refused(at_rest):
    with pytest.raises(HardwareError, match=r"way; expected a way that is not zero"):
        at_rest(way=[0, 0, 0])
