"""A push by force: a ball on a rail, driven by efforts, pushes a slider 20 cm. What of the force was feedback?

    ./run shell python examples/15_slider.py --lockstep       alone, in simulated time
    ./run shell workcell --workcell pusher                    or: a workcell in real time, and beside it
    ./run shell python examples/15_slider.py

The task has one control step of 1 s, so the plan is one number: a force. `track_trajectory` commands it, and adds
feedback towards the path that it led the ball along: a single cubic, which knows nothing of the hit on the way. At 1 s
the slider is there, and moves on: the task does not ask for rest. force.png shows it.
The planner needs `pip install "robot_rt_control[planning]"`.
"""

from pathlib import Path

from judging.slider import FORCE, SLIDER, judge, plot

from robot_rt_control.client import Client
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.planner.execution import run_plan
from robot_rt_control.planning import plan_file
from robot_rt_control.testing.program_main import run_program

WORKCELL = Path(__file__).parent.parent / "config" / "pusher.yaml"


def main(client: Client, output: Path | str = "output/15_slider") -> dict[str, float]:
    """Returns what `judge` found."""
    push = plan_file("push_slider", distance=0.2).plan
    assert push is not None  # planned, not verified: with other friction, a slider that is let go ends elsewhere
    workcell = load_workcell(WORKCELL)
    with client.session(read_only=True) as looking, looking.record(FORCE, SLIDER) as recording:
        begin = run_plan(client, push, workcell, pose="camera", unverified=True).tick * workcell.period
    found = judge(push, recording, begin)
    print(f"planned: {found['planned']:.2f} N for {push.header['time']:g} s; {1e3 * found['left']:.1f} mm are left")
    print(f"commanded: {found['mean']:.2f} N on average, of which feedback {found['feedback']:.2f} N RMS")
    plot(push, recording, begin, Path(output) / "force.png")
    return found


if __name__ == "__main__":
    raise SystemExit(run_program(main, workcell=WORKCELL, output=Path("output/15_slider"), description=__doc__))
