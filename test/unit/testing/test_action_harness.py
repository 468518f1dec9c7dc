"""The harness runs an action as the loop does: order of calls, time, signals, parameters, failures."""

from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.actions.follow_joint_stream import FollowJointStream
from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot, StateVariable
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.server.code.source import load_action_type
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakeArm, FakePart
from robot_rt_control.vocabulary.enums import CommandMode, PartKind, Status
from robot_rt_control.vocabulary.errors import CompileError, DefinitionError, RobotControlError

VELOCITY = int(CommandMode.VELOCITY)
TOO_CLOSE = 3


@realtime
def clipped(x, limit):
    return min(max(x, -limit), limit)


class Approach(ActionType):
    """Drives the first joint at a speed until the rangefinder sees something."""

    name = "approach"
    slots = (
        Slot(name="arm", kinds=(PartKind.ARM,)),
        Slot(name="eye", kinds=(PartKind.RANGEFINDER,), moves=False),
    )
    parameters = (
        Parameter(name="speed", unit="rad/s", default=0.5),
        Parameter(name="index", type="int", default=0),
    )
    state_variables = (StateVariable(name="calls"), StateVariable(name="seen"))
    signals = ("turn",)
    State = {"direction": float, "turns": float, "order": (float, 4)}

    @staticmethod
    def on_enter(state, params, arm, eye):
        state.direction = 1.0
        state.calls += 1.0
        state.order[0] = state.calls

    @staticmethod
    def sense(state, params, arm, eye):
        state.calls += 1.0
        state.order[1] = state.calls
        state.seen = eye.distance
        if eye.distance < 0.1:
            return TOO_CLOSE
        return 0

    @staticmethod
    def set_parameters(state, params, arm, eye):
        state.calls += 1.0
        state.order[2] = state.calls
        if state.turn == 1.0:
            state.direction = -state.direction
            state.turns += 1.0

    @staticmethod
    def control(state, params, arm, eye):
        state.calls += 1.0
        state.order[3] = state.calls
        arm.command_mode = VELOCITY
        arm.velocity_command[0] = clipped(state.direction * params.speed, 1.0)
        state.order[params.index] += 0.0


class NotSafe(Approach):
    """Would print in the loop."""

    name = "not_safe"

    @staticmethod
    def control(state, params, arm, eye):
        print(state.calls)


@pytest.fixture(params=[False, True], ids=["interpreted", "compiled"])
def harness(request):
    return ActionHarness(Approach, compiled=request.param)


def test_methods_run_in_the_order_of_the_tick(harness):
    harness.start()
    assert harness.step() == 0
    assert harness.state.order.tolist() == [1.0, 2.0, 3.0, 4.0]
    harness.step(2)
    assert harness.state.order.tolist() == [1.0, 8.0, 9.0, 10.0], "on_enter runs once"
    assert harness.tick == 3


def test_commands_are_measured_in_the_next_tick(harness):
    harness.start()
    harness.step()
    arm = harness.part("arm")
    assert arm.velocity[0] == 0.0 and arm.commanded_velocity[0] == 0.5
    harness.step(1000)
    assert arm.velocity[0] == 0.5
    assert arm.position[0] == pytest.approx(0.5, abs=1e-9)


def test_signals_read_one_in_exactly_one_tick(harness):
    harness.start()
    harness.step(5)
    harness.signal("turn")
    harness.step(5)
    assert harness.state.turns == 1.0
    assert harness.part("arm").commanded_velocity[0] == -0.5
    with pytest.raises(DefinitionError, match="'approach' has no signal 'trun'; expected .*did you mean 'turn'"):
        harness.signal("trun")


def test_new_parameters_reach_the_action(harness):
    harness.start()
    harness.step()
    harness.set_parameters(speed=2.0)
    harness.step()
    assert harness.params.speed == 2.0
    assert harness.part("arm").commanded_velocity[0] == 1.0
    with pytest.raises(DefinitionError, match="parameter 'speed'"):
        harness.set_parameters(speed="fast")
    assert harness.params.speed == 2.0


def test_starting_again_zeroes_the_state(harness):
    harness.start()
    harness.step(10)
    harness.start()
    harness.step()
    assert harness.state.calls == 4.0


def test_a_status_ends_it(harness):
    harness.start()
    harness.step()
    harness.part("eye").distance = 0.05
    assert harness.step(10) == TOO_CLOSE == harness.status
    assert harness.tick == 2, "it stopped at once"
    with pytest.raises(RobotControlError, match=r"the action has failed with status 3\. Call start\(\) again"):
        harness.step()


def test_step_until(harness):
    harness.start()
    assert harness.step_until(lambda: harness.part("arm").position[0] > 0.10025) == 202
    with pytest.raises(RobotControlError, match="the condition did not hold within 10 ticks"):
        harness.step_until(lambda: False, at_most=10)


def test_an_index_out_of_range_is_status_bounds_when_compiled_and_raises_when_interpreted():
    compiled = ActionHarness(Approach, parameters={"index": 4}, compiled=True)
    compiled.start()
    assert compiled.step() == Status.BOUNDS
    interpreted = ActionHarness(Approach, parameters={"index": 4})
    interpreted.start()
    with pytest.raises(IndexError):
        interpreted.step()


def test_unsafe_code_is_refused_when_compiled_only():
    ActionHarness(NotSafe)
    with pytest.raises(CompileError, match=r"test_action_harness\.py:\d+: prints; Make it a state variable"):
        ActionHarness(NotSafe, compiled=True)


def test_a_command_that_is_not_finite_is_told():
    harness = ActionHarness(Approach, parts={"arm": FakeArm()})
    harness.start()
    harness.step()
    harness.params.speed = np.nan
    harness.action.prepare_parameters({"speed": np.nan}, harness.params)
    with pytest.raises(RobotControlError, match="tick 2: arm_joint_1: the velocity command is nan, not finite"):
        harness.step()


def test_parts_must_fit_the_slots():
    with pytest.raises(DefinitionError, match="'approach', slot 'arm'; expected ARM; got 'tool', which is GRIPPER"):
        ActionHarness(Approach, parts={"arm": FakePart(name="tool", kind=PartKind.GRIPPER, dof=1)})
    with pytest.raises(DefinitionError, match="'approach': no slot 'amr'; expected .*did you mean 'arm'"):
        ActionHarness(Approach, parts={"amr": FakeArm()})
    with pytest.raises(DefinitionError, match="'approach': slot 'leg'; expected one of: arm, eye"):
        ActionHarness(Approach).part("leg")


def test_it_must_be_started():
    with pytest.raises(RobotControlError, match=r"the action has not been started. Call start\(\) before step\(\)"):
        ActionHarness(Approach).step()


def test_speed_scales_the_time_that_actions_see():
    harness = ActionHarness(Approach, speed=0.25)
    harness.start()
    harness.step()
    assert harness.part("arm").dt == 0.00025


class HandOver(ActionType):
    """One arm follows the other, and a gripper opens once they have met."""

    name = "hand_over"
    slots = (
        Slot(name="giver", kinds=(PartKind.ARM,)),
        Slot(name="taker", kinds=(PartKind.ARM,)),
        Slot(name="gripper", kinds=(PartKind.GRIPPER,)),
    )
    parameters = (Parameter(name="speed", unit="rad/s", default=0.5),)
    state_variables = (StateVariable(name="gap", unit="rad"),)

    def prepare_parameters(self, values, params):
        giver, taker = self.parts["giver"], self.parts["taker"]
        if giver.dof != taker.dof or taker.name not in giver.workcell:
            raise DefinitionError("hand_over needs two arms of one kind")
        params.speed = min(values["speed"], giver.limits("velocity_limit")[0], taker.limits("velocity_limit")[0])

    @staticmethod
    def sense(state, params, giver, taker, gripper):
        state.gap = giver.position[0] - taker.position[0]

    @staticmethod
    def control(state, params, giver, taker, gripper):
        if state.gap > 0.01:
            taker.command_mode = VELOCITY
            taker.velocity_command[0] = params.speed
        else:
            gripper.command_mode = VELOCITY
            gripper.velocity_command[0] = 0.1


@pytest.mark.parametrize("compiled", [False, True])
def test_one_action_may_move_several_parts(compiled):
    parts = {"giver": FakeArm(name="left", position=[0.2, 0, 0, 0, 0, 0, 0]), "taker": FakeArm(name="right")}
    harness = ActionHarness(HandOver, parts=parts, compiled=compiled)
    harness.start()
    harness.step(300)
    assert harness.part("taker").commanded_velocity[0] == 0.5 and harness.part("gripper").commanded_velocity[0] == 0.0
    harness.step(300)
    assert harness.state.gap <= 0.01 and harness.part("taker").commanded_velocity[0] == 0.0
    assert harness.part("gripper").commanded_position[0] > 0.015
    with pytest.raises(DefinitionError, match="needs two arms of one kind"):
        ActionHarness(HandOver, parts={"giver": FakeArm(name="small", dof=6)})


def test_an_action_with_a_stream_is_tested_in_ten_lines():
    harness = ActionHarness(FollowJointStream, parameters={"goal_gap": "linear", "goal_timeout": 0.1})
    stream = harness.stream("goal")
    stream.write([0.1] * 7)  # before the start: it is kept
    harness.idle(5)
    harness.start()
    harness.step(1000)
    assert harness.state.goal.value[0] == 0.1 and harness.state.goal_timed_out == 1.0
    stream.write([0.2] * 7)
    harness.step_until(lambda: harness.state.goal.fresh == 1.0, at_most=30)
    assert harness.state.goal_timed_out == 0.0 and harness.state.is_following == 1.0
    assert [s.sequence for s in harness.samples("command")][:3] == [1, 2, 3]


@pytest.mark.parametrize("compiled", [False, True])
def test_a_gap_function_runs_in_the_harness(compiled):
    file = Path(__file__).parents[2] / "lockstep" / "rules" / "stream_types.py"
    harness = ActionHarness(load_action_type(f"{file}:Averager").action_type, compiled=compiled)
    stream = harness.stream("goal")
    harness.start()
    for value in (1.0, 2.0, 6.0):
        stream.write(value)
        harness.step()
    assert harness.state.average == 3.0 and harness.state.newest == 6.0
    harness.set_parameters(goal_gap="hold")
    harness.step()
    assert harness.state.average == 6.0


def test_an_unknown_stream_of_the_harness_is_named():
    harness = ActionHarness(FollowJointStream)
    with pytest.raises(DefinitionError, match="has no stream input 'gaol'.*did you mean 'goal'"):
        harness.stream("gaol")
