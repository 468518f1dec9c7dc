"""Rollouts and their linearization: against rollouts of changed inputs, on any number of threads."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.optimise.dynamics import Dynamics
from robot_rt_control.planning.optimise.linearization import Differences, Model
from robot_rt_control.planning.scene.scene import build_scene
from robot_rt_control.planning.task import PairGroup, Task

CONFIG = Path(__file__).parents[4] / "config"
FACES = ("back", "front", "left", "right")
STEPS = 6
PUSH = Task(
    workcell=CONFIG / "push.yaml",
    body="box",
    target=Pose(position=(0.7, 0.0, 0.04)),
    pairs=(PairGroup(robot="arm.peg", faces=FACES),),
    time=0.3,
    steps=STEPS,
)


def make(threads=1, task=PUSH):
    return Dynamics(build_scene(task), task, np.full(4, 4.0), threads=threads)


def linearize(dynamics, about, over="intervals", virtual=True):
    return Model(dynamics=dynamics, differences=Differences(over=over), virtual=virtual).linearize(about)


@pytest.fixture(scope="module")
def dynamics():
    return make()


def inputs(dynamics, k=1.0):
    """The arm swings sideways, away from the box; the back face is pushed."""
    u = np.zeros((STEPS, dynamics.inputs))
    u[:, 0], u[:, 5], u[:, dynamics.n] = 0.2, -0.1, k
    return u


def test_without_inputs_everything_rests(dynamics):
    found = dynamics.roll_out(np.zeros((STEPS, dynamics.inputs)))
    assert found.body_position == pytest.approx(np.tile(found.body_position[0], (STEPS + 1, 1)), abs=1e-6)
    assert (found.joint_velocity == 0.0).all()
    assert found.phi[0, 0] == pytest.approx(0.6 - 0.075 - 0.45 - 0.02, abs=1e-3)


def test_a_control_step_may_be_one_step_of_the_simulation(dynamics):
    """Then there is no state within an interval."""
    task = replace(PUSH, time=STEPS * 0.005)
    made = make(task=task)
    try:
        assert (made.intervals, made.substeps) == (1, 1)
        found = made.roll_out(inputs(made))
        model = linearize(made, found)
    finally:
        made.close()
    assert found.finite and found.joint_position.shape == (STEPS + 1, 7)
    assert all(np.isfinite(part).all() for part in (model.A, model.B))


def test_commands_are_the_integral_of_the_inputs(dynamics):
    u = inputs(dynamics)
    found = dynamics.roll_out(u)
    a, t = u[0, : dynamics.n] * dynamics.scale, PUSH.time
    assert found.joint_velocity[-1] == pytest.approx(a * t)
    assert found.joint_position[-1] == pytest.approx(dynamics.scene.actuated.start + 0.5 * a * t * t)


def test_joints_follow_their_commands(dynamics):
    found = dynamics.roll_out(inputs(dynamics))
    measured = found.knots[:, 1 + dynamics.scene.actuated.q]
    assert measured == pytest.approx(found.commands[:, : dynamics.n], abs=2e-3)


def test_a_virtual_force_below_friction_moves_nothing_and_one_above_does(dynamics):
    phi = dynamics.roll_out(inputs(dynamics)).phi[0, 0]
    friction = 0.155 * 9.81 * 0.5
    one = friction * np.exp(10.0 * phi) / 4.0
    weak, strong = (dynamics.roll_out(inputs(dynamics, k)).body_position[-1, 0] for k in (0.7 * one, 1.5 * one))
    assert weak == pytest.approx(0.6, abs=5e-4), "friction creeps"
    assert strong > 0.605


@pytest.mark.parametrize("over", ["intervals", "time steps"])
def test_the_linearization_foretells_rollouts_of_changed_inputs(dynamics, over):
    """While the box slides under a virtual force, which depends on where the arm and the box are."""
    u = inputs(dynamics, 0.4)
    about = dynamics.roll_out(u)
    linear = linearize(dynamics, about, over)
    random = np.random.default_rng(1)
    for _ in range(5):
        du = 1e-4 * random.uniform(size=u.shape)
        found = dynamics.roll_out(u + du)
        z = np.zeros(dynamics.states)
        for i in range(STEPS):
            z = linear.A[i] @ z + linear.B[i] @ du[i]
        n = dynamics.n
        assert z[:n] == pytest.approx(found.joint_position[-1] - about.joint_position[-1], abs=1e-12)
        moved = found.body_position[-1] - about.body_position[-1]
        assert z[2 * n] == pytest.approx(moved[0], rel=0.1)
        rates = linear.phi_z[-1] @ z
        assert rates == pytest.approx(found.phi[-1] - about.phi[-1], rel=0.15, abs=1e-6)


def test_apart_from_each_other_robot_and_body_share_rollouts_and_the_derivatives_are_the_same(dynamics):
    about = dynamics.roll_out(inputs(dynamics, 0.4))
    assert not about.touching.any()
    short = linearize(dynamics, about)
    full = linearize(dynamics, replace(about, touching=np.ones_like(about.touching)))
    assert pytest.approx(full.B, abs=1e-4) == short.B
    # Rates of tilting on the ground are huge: compared with the greatest one.
    assert np.abs(short.A - full.A).max() < 2e-3 * np.abs(full.A).max()
    assert (short.phi_z == full.phi_z).all()


def test_derivatives_of_time_steps_are_those_of_whole_intervals_where_nothing_begins_to_touch(dynamics):
    about = dynamics.roll_out(inputs(dynamics, 0.4))
    whole, chained = linearize(dynamics, about), linearize(dynamics, about, "time steps")
    assert pytest.approx(whole.B, abs=1e-3) == chained.B
    n = dynamics.n
    assert whole.A[:, 2 * n : 2 * n + 2] == pytest.approx(chained.A[:, 2 * n : 2 * n + 2], abs=0.02)
    assert (whole.phi_z == chained.phi_z).all()


@pytest.mark.parametrize("over", ["intervals", "time steps"])
@pytest.mark.parametrize("touching", [True, False])
def test_without_virtual_forces_the_derivatives_are_the_same_but_for_those_by_k(dynamics, over, touching):
    about = dynamics.roll_out(inputs(dynamics, 0.0))
    about = replace(about, touching=np.full_like(about.touching, touching))
    full, short = linearize(dynamics, about, over), linearize(dynamics, about, over, virtual=False)
    n = dynamics.n
    assert pytest.approx(short.A, abs=1e-9) == full.A and full.B[:, :, :n] == pytest.approx(short.B[:, :, :n], abs=1e-9)
    assert (short.B[:, :, n:] == 0.0).all() and (full.B[:, :, n:] != 0.0).any()


def test_effort_driven_joints_share_rollouts_as_well():
    task = replace(PUSH, controls={"arm": "effort"})
    dynamics = make(task=task)
    u = np.zeros((STEPS, dynamics.inputs))
    u[:, 1], u[:, dynamics.n] = 0.02, 0.4
    about = dynamics.roll_out(u)
    assert not about.touching.all()
    short = linearize(dynamics, about)
    full = linearize(dynamics, replace(about, touching=np.ones_like(about.touching)))
    n = dynamics.n
    assert short.A[:, : 2 * n] == pytest.approx(full.A[:, : 2 * n], rel=1e-3, abs=1e-3)
    assert pytest.approx(full.B, rel=1e-3, abs=1e-3) == short.B


def test_an_arm_that_goes_through_the_body_s_place_touches(dynamics):
    u = np.zeros((STEPS, dynamics.inputs))
    u[:, 1], u[:, 3] = 0.9, 0.9
    found = dynamics.roll_out(np.repeat(u, 3, axis=0))
    moved = np.abs(np.diff(found.body_position[:, 0])) > 1e-4
    assert moved.any() and found.touching[np.flatnonzero(moved)[0]]
    assert not found.touching[0]


def test_V13_a_check_that_raises_ends_what_is_computed(dynamics):

    def stop():
        raise KeyboardInterrupt

    about = dynamics.roll_out(inputs(dynamics))
    dynamics.check = stop
    try:
        for work in (lambda: dynamics.roll_out(about.inputs), lambda: linearize(dynamics, about)):
            with pytest.raises(KeyboardInterrupt):
                work()
    finally:
        dynamics.check = lambda: None


def test_V11_the_threads_do_not_change_a_bit():
    results = []
    for threads in (1, 2, 3):
        dynamics = make(threads)
        about = dynamics.roll_out(inputs(dynamics, 1.5))
        linear = linearize(dynamics, about)
        results.append((about.knots.tobytes(), linear.A.tobytes(), linear.B.tobytes(), linear.phi_z.tobytes()))
        dynamics.close()
    assert results[0] == results[1] == results[2]


def test_a_simulation_that_diverges_is_not_finite(dynamics):
    u = inputs(dynamics)
    u[1:, dynamics.n] = 1e300
    assert not dynamics.roll_out(u).finite


def test_a_control_step_may_have_several_intervals():
    task = replace(PUSH, steps=2)
    long, short = make(task=task), make()
    u = np.zeros((2, long.inputs))
    u[:, 0], u[0, long.n], u[1, long.n] = [0.2, -0.2], 1.5, 0.5
    assert (long.intervals, short.intervals) == (3, 1)
    assert (long.roll_out(u).knots == short.roll_out(np.repeat(u, 3, axis=0)).knots).all()


# --- a link as the body: the torso of a humanoid -----------------------------------------------------

TORSO = Task(
    workcell=CONFIG / "humanoid.yaml",
    body="left_arm.torso",
    target=Pose(position=(0.0, 0.0, 0.1)),
    pairs=(PairGroup(robot="left_arm.left_hand", faces=("brick_1.top", "brick_1.back")),),
    time=0.3,
    steps=STEPS,
    at_rest=False,
)


@pytest.fixture(scope="module")
def torso():
    made = Dynamics(build_scene(TORSO), TORSO, np.full(2, 10.0))
    yield made
    made.close()


def test_V5_a_torso_is_pushed_outward_from_a_brick(torso):
    """γ lifts 16.6 kg; nothing else acts on them, so their momentum is its impulse."""
    u = np.zeros((STEPS, torso.inputs))
    u[:, torso.n] = 2.0
    found = torso.roll_out(u)
    impulse = found.gamma[:, 0].sum() * TORSO.control_step
    momentum = torso.scene.body_mass * found.body_velocity[-1, 2]
    assert momentum == pytest.approx(impulse, rel=0.1), "the limbs turn a little against the torso"
    assert (found.body_position[:, 1] == 0.0).all()
    u[:, torso.n :] = 0.0, 2.0
    assert torso.roll_out(u).body_velocity[-1, 0] < 0.0, "out of the brick's back"


def test_V10_a_torso_at_rest_among_swinging_limbs_does_not_rest(torso):
    """What it keeps is what it has once the joints have stopped."""
    u = np.zeros((STEPS, torso.inputs))
    u[0, torso.n], u[:, :8] = 2.0, [-0.3, 0.0, 0.3, 0.0, 0.5, 0.0, -0.5, 0.0]
    found = torso.roll_out(u)
    assert found.kept is not None and found.recoil is not None
    assert abs(found.body_velocity[-1, 2] - found.kept[2]) > 0.01, "the limbs still turn"
    ends = torso.ends(u[None, :, : torso.n] * 0.0)
    assert ends.kept == pytest.approx(np.zeros((1, 6)), abs=1e-6)
    braked = np.concatenate([u, np.zeros((STEPS, torso.inputs))])
    braked[STEPS:, : torso.n] = -found.joint_velocity[-1] / (torso.scale * STEPS * TORSO.control_step)
    after = torso.roll_out(braked)
    assert after.body_velocity[-1, 2] == pytest.approx(found.kept[2], rel=0.15), "once the joints have stopped"


@pytest.mark.parametrize("over", ["intervals", "time steps"])
def test_the_linearization_foretells_a_torso_that_is_pushed_while_its_limbs_move(torso, over):
    u = np.zeros((STEPS, torso.inputs))
    u[:, 0], u[:, 4], u[:, torso.n], u[:, torso.n + 1] = -0.2, 0.1, 1.0, 0.5
    about = torso.roll_out(u)
    linear = linearize(torso, about, over)
    random = np.random.default_rng(1)
    for _ in range(5):
        du = 1e-4 * np.asarray(random.normal(size=u.shape))
        found = torso.roll_out(u + du)
        z = np.zeros(torso.states)
        for i in range(STEPS):
            z = linear.A[i] @ z + linear.B[i] @ du[i]
        n = torso.n
        moved = found.body_position[-1] - about.body_position[-1]
        # The servo's lag, on which the limbs' recoil depends, is no state of the linearization.
        assert z[2 * n : 2 * n + 3] == pytest.approx(moved, rel=0.15, abs=3e-7)
        assert linear.phi_z[-1] @ z == pytest.approx(found.phi[-1] - about.phi[-1], rel=0.15, abs=1e-6)
