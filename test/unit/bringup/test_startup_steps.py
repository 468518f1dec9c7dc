"""How far a workcell is on its way up."""

from __future__ import annotations

import pytest

from robot_rt_control.bringup.startup_steps import STEPS, StartupSteps

LINES = (
    ("[workcell] started realtime_executor (process 1)", "step 1 of 5, 0 s: starting the processes"),
    ("[workcell] started control_server (process 2)", "step 2 of 5, 1 s: opening the devices"),
    ("[realtime_executor] loading the tick loop (the first time …)", "step 3 of 5, 2 s: loading the tick loop; the"),
    (
        "[realtime_executor] still compiling the tick loop for the clock 'auto' (10 s)",
        "(still compiling the tick loop for the clock 'auto' (10 s))",
    ),
    ("[control_server] compiling stop: control", "step 3 of 5, 4 s: loading the tick loop"),
    ("[realtime_executor] the tick loop is ready after 2.0 s", "step 4 of 5, 5 s: checking the action types"),
    ("[control_server] [INFO] [1.2] [control_server]: compiling hold: on_enter, control", "(hold, number 1)"),
    ("[control_server] 14 action types are ready after 3.0 s", "step 5 of 5, 7 s: connecting control server and loop"),
    ("[workcell] control_server is up after 6.0 s", "step 5 of 5, 8 s"),
)


@pytest.mark.parametrize(
    "end",
    [
        "[workcell] all is up after 6.1 s; Ctrl-C brings it down",
        "[workcell] the processes are up after 6.1 s, but not all is well; Ctrl-C ends them",
    ],
)
def test_each_step_has_a_name_and_a_number(end: str) -> None:
    now, log = [0.0], ""
    steps = StartupSteps(clock=lambda: now[0])
    for second, (line, expected) in enumerate(LINES):
        now[0], log = float(second), f"{log}{line}\n"
        assert expected in steps.update(log)
        assert not steps.is_up
    steps.update(f"{log}{end}\n")
    assert steps.is_up and steps.step == len(STEPS) - 1
