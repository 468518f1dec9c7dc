"""The mock device follows commands as its documentation says, compiled and interpreted alike."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.hardware.info import HardwareInfo, HardwarePart
from robot_rt_control.hardware.interfaces import standard_state_interfaces
from robot_rt_control.hardware.mock import configure_mock, set_mock_states
from robot_rt_control.hardware.mock_cycle import mock_cycle
from robot_rt_control.memory.joint_modes import pack_modes
from robot_rt_control.memory.layout import device_dtype
from robot_rt_control.model.workcell.channels import Channel
from robot_rt_control.testing.devices import bench
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import HardwareError

ARM, GRIPPER = 0, 1
POSITION, VELOCITY, EFFORT = 0, 1, 2  # of the first joint
DT = 0.001


def mock(**parameters):
    device = np.zeros(1, device_dtype)[0]
    configure_mock(device, bench(parameters))
    device.enabled = 1
    return device


def test_it_starts_where_the_description_says():
    device = mock()
    assert (device.n_state, device.n_command, device.n_parts) == (19, 10, 5)
    assert device.state[6] == device.command[6] == 0.25
    assert mock_cycle(device, DT) == 1
    assert device.state[6] == 0.25


def test_an_ideal_mock_reports_its_position_command_and_its_change():
    device = mock()
    device.mode[ARM] = CommandMode.POSITION
    device.command[POSITION] = 0.1
    mock_cycle(device, DT)
    assert device.state[POSITION] == 0.1
    assert device.state[VELOCITY] == pytest.approx(100.0)
    mock_cycle(device, DT)
    assert device.state[VELOCITY] == 0.0


def test_first_order_dynamics_have_the_time_constant():
    device = mock(time_constant=0.05)
    device.mode[ARM] = CommandMode.POSITION
    device.command[POSITION] = 1.0
    for _ in range(50):
        mock_cycle(device, DT)
    assert device.state[POSITION] == pytest.approx(1.0 - math.exp(-1.0), abs=1e-12)


def test_velocity_mode_integrates():
    device = mock()
    device.mode[ARM] = CommandMode.VELOCITY
    device.command[VELOCITY] = -0.5
    for _ in range(1000):
        mock_cycle(device, DT)
    assert device.state[VELOCITY] == -0.5
    assert device.state[POSITION] == pytest.approx(-0.5)


def test_effort_mode_accelerates_the_inertia_against_the_damping():
    device = mock(inertia=2.0, damping=4.0)
    device.mode[ARM] = CommandMode.EFFORT
    device.command[EFFORT] = 8.0
    mock_cycle(device, DT)
    assert device.state[EFFORT] == 8.0
    assert device.state[VELOCITY] == pytest.approx(DT * 8.0 / 2.0, rel=0.01)
    for _ in range(5000):
        mock_cycle(device, DT)
    assert device.state[VELOCITY] == pytest.approx(2.0, rel=1e-3)


def test_modes_belong_to_joints():
    device = mock()
    device.mode[ARM] = pack_modes([CommandMode.POSITION, CommandMode.EFFORT])
    device.command[[0, 3, 5, 6]] = 0.5
    mock_cycle(device, DT)
    assert device.state[[0, 5, 6]].tolist() == [0.5, 0.5, 0.25]
    assert device.state[3] == pytest.approx(0.5 * DT**2)
    device.mode[GRIPPER] = CommandMode.POSITION
    mock_cycle(device, DT)
    assert device.state[6] == 0.5


def test_without_motion_enabled_everything_stands_still():
    device = mock()
    device.mode[ARM] = CommandMode.VELOCITY
    device.command[VELOCITY] = 1.0
    device.command[9] = 1.0
    mock_cycle(device, DT)
    stopped_at = device.state[POSITION]
    device.enabled = 0
    device.command[9] = 0.0
    mock_cycle(device, DT)
    assert (device.state[POSITION], device.state[VELOCITY]) == (stopped_at, 0.0)
    assert device.state[18] == 1.0


def test_sensors_keep_what_they_were_given():
    device = mock(distance=0.5, wrench=(0, 0, -9.81, 0, 0, 0), inputs={"io": (False, True)})
    mock_cycle(device, DT)
    assert device.state[9:15].tolist() == [0, 0, -9.81, 0, 0, 0]
    assert device.state[15] == 0.5
    assert device.state[16:18].tolist() == [0.0, 1.0]
    set_mock_states(device, bench(), {"rangefinder/distance": 0.125, "io/input_0": 1.0})
    mock_cycle(device, DT)
    assert device.state[15:18].tolist() == [0.125, 1.0, 1.0]


def test_sensors_can_be_given_by_part():
    assert mock(distance={"rangefinder": 0.75}).state[15] == 0.75
    assert mock().state[15] == math.inf  # nothing in sight


def test_outputs_read_back():
    device = mock()
    device.command[9] = 1.0
    mock_cycle(device, DT)
    assert device.state[18] == 1.0


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"time_constant": -1.0}, "time_constant; expected greater than or equal to 0; got -1.0"),
        ({"timeconstant": 0.1}, "timeconstant: unknown key; expected .*did you mean 'time_constant'"),
        ({"distance": {"range": 1.0}}, "parameter 'distance': part 'range'; expected .* 'rangefinder'"),
        ({"wrench": (1.0, 2.0)}, "wrench.*at least 6 items"),
        ({"inputs": {"io": (True,) * 3}}, "'inputs' of part 'io'; expected at most 2 values; got 3"),
    ],
)
def test_wrong_parameters_are_explained(parameters, text):
    with pytest.raises(HardwareError, match=f"hardware 'bench'.*{text}"):
        mock(**parameters)


def test_an_unknown_state_is_refused_as_a_whole():
    device = mock()
    with pytest.raises(HardwareError, match="state interface 'io/input_9'; expected one of the known names"):
        set_mock_states(device, bench(), {"rangefinder/distance": 0.1, "io/input_9": 1.0})
    assert device.state[15] == math.inf


values = st.floats(-10.0, 10.0)


@settings(max_examples=tries(25, whole=100), deadline=None)
@given(
    time_constant=st.sampled_from([0.0, 0.003, 0.5]),
    cycles=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), values, values, values), max_size=20),
)
def test_compiled_equals_interpreted_and_never_leaves_the_finite(time_constant, cycles):
    interpreted = getattr(mock_cycle, "py_func", mock_cycle)
    compiled_device, interpreted_device = mock(time_constant=time_constant), mock(time_constant=time_constant)
    for mode, enabled, *command in cycles:
        for device, cycle in ((compiled_device, mock_cycle), (interpreted_device, interpreted)):
            device.mode[ARM] = mode
            device.enabled = enabled
            device.command[:3] = command
            cycle(device, DT)
    assert compiled_device.tobytes() == interpreted_device.tobytes()
    assert np.isfinite(compiled_device.state[:9]).all()


def channels(**parameters):
    """Two io parts and a sensor on one mock device, by state interface name."""
    door, clamp, lamp = (
        Channel(name="door"),
        Channel(name="clamp"),
        Channel(name="lamp", initial=1),
    )
    parts = (
        HardwarePart(
            name="io",
            index=0,
            kind=PartKind.IO,
            inputs=(door, Channel(name="clamped")),
            outputs=(clamp,),
        ),
        HardwarePart(name="lamps", index=1, kind=PartKind.IO, outputs=(lamp,)),
        HardwarePart(
            name="person", index=2, kind=PartKind.SENSOR, inputs=(Channel(name="distance"),)
        ),
    )
    info = HardwareInfo(name="d", parts=parts, parameters=parameters)
    device = np.zeros(1, device_dtype)[0]
    configure_mock(device, info)
    device.enabled = 1

    def states():
        mock_cycle(device, DT)
        names = [interface.name for interface in standard_state_interfaces(info)]
        return dict(zip(names, device.state[: len(names)].tolist(), strict=True))

    return device, info, states


def test_an_input_may_be_wired_to_an_output_of_the_device():
    device, _, states = channels(wires={"io": {"clamped": "clamp", "door": "lamps.lamp"}})
    assert (states()["io/clamped"], states()["io/door"]) == (0.0, 1.0)
    device.command[:2] = (1.0, 0.0)
    found = states()
    assert (found["io/clamp"], found["io/clamped"], found["io/door"], found["lamps/lamp"]) == (1.0, 1.0, 0.0, 0.0)


def test_a_sensors_value_is_unknown_until_it_is_set_and_then_of_this_moment():
    device, info, states = channels()
    assert math.isnan(states()["person/distance"]) and math.isnan(states()["person/distance_age"])
    set_mock_states(device, info, {"person/distance": 1.5})
    assert (states()["person/distance"], states()["person/distance_age"]) == (1.5, 0.0)
    assert channels(values={"person": {"distance": 0.5}})[2]()["person/distance"] == 0.5


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"wires": {"io": {"clamped": "clmp"}}}, "'wires': io.clamped; expected .*'io.clamp'.*; got 'clmp'"),
        ({"wires": {"io": {"clmpd": "clamp"}}}, "'wires' of part 'io': 'clmpd'; expected .*'clamped'"),
        ({"inputs": {"io": {"dor": 1}}}, "'inputs' of part 'io': 'dor'; expected .*'door'"),
        ({"values": {"persn": {}}}, "'values': part 'persn'; expected .*'person'"),
    ],
)
def test_wrong_channels_are_refused(parameters, text):
    with pytest.raises(HardwareError, match=text):
        channels(**parameters)
