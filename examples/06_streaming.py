"""Table 6: joint goals, interpolated and streamed by an application at irregular times.

    ./run shell python examples/06_streaming.py --lockstep       alone, in simulated time
    ./run shell workcell --workcell arm7                         or: a workcell in real time, and beside it
    ./run shell python examples/06_streaming.py

The program writes about 50 goals per second, with jitter and losses. The server chooses the tick of each goal, so that
they take effect as evenly as they were made; the loop fills the gaps, 1000 times per second.
"""

from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline

from robot_rt_control.client import Action, Client, Session
from robot_rt_control.definitions.stream_sample import OutputSample
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.testing.program_main import run_program

WORKCELL = Path(__file__).resolve().parents[1] / "config" / "arm7.yaml"
PATIENCE = 300.0  # [s] more than enough, even on a busy machine
INTERVAL = 0.02  # [s] average time between two goals
JITTER = 0.008  # [s] largest lateness of the program
LOST = 0.1  # fraction of the goals that are lost
TIMES = np.array([0.0, 1.0, 2.0, 3.2, 4.4, 5.5])  # [s]
MOVES = np.array([[0, 0], [0.5, 0.2], [0.3, -0.3], [-0.4, -0.1], [-0.2, 0.25], [0, 0]])  # [rad] of two joints
JOINTS = [0, 3]


def way(start: np.ndarray) -> CubicSpline:
    """The user's own interpolation, one-dimensional for each joint: seconds → positions of all joints [rad]."""
    positions = np.tile(start, (len(TIMES), 1))
    positions[:, JOINTS] += MOVES
    return CubicSpline(TIMES, positions, bc_type="clamped")


def write_goals(client: Client, session: Session, goals: CubicSpline) -> int:
    """Stream the way: position and velocity of each joint with their time. Returns the number of samples."""
    random = np.random.default_rng(6)
    velocities = goals.derivative()
    times = np.arange(0.0, TIMES[-1], INTERVAL)
    written = 0
    with session.stream("follow", "goal") as stream:
        begun = stream.time
        for t in times:
            client.sleep(begun + t + random.uniform(0.0, JITTER) - stream.time)
            if random.random() > LOST:
                stream.write(goals(t), velocities(t), time=begun + t)
                written += 1
    print(f"{written} of {len(times)} goals left, each up to {JITTER * 1e3:g} ms late")
    return written


def judge(commands: list[OutputSample], goals: CubicSpline, begun: float) -> dict[str, float]:
    """Deviation of the commands from the way [rad], their constant delay [s], and shares of the limits.

    Args:
        begun: the loop's time when the first goal was written [s].
    """
    times = np.array([s.time for s in commands])
    positions = np.array([s.values for s in commands])
    behind, error = 0.0, np.full(1, np.inf)
    shift = times[0]  # on the loop's clock: the way may have begun at any time
    for candidate in np.arange(shift, shift + 1.0, 0.0005):
        t = times - candidate
        inside = (t > 0.2) & (t < TIMES[-1] - 0.2)
        deviation = positions[inside] - goals(t[inside])
        if np.mean(deviation**2) < np.mean(error**2):
            behind, error = candidate - shift, deviation
    limits = load_workcell(WORKCELL).part("arm").record
    speed = np.abs(np.diff(positions, axis=0)).max(axis=0) / np.diff(times).min()
    acceleration = np.abs(np.diff(positions, 2, axis=0)).max(axis=0) / np.diff(times).min() ** 2
    n = len(speed)
    return {
        "begun": times[0] + behind,
        "behind": times[0] + behind - begun,
        "rms": float(np.sqrt(np.mean(error**2))),
        "largest": float(np.abs(error).max()),
        "speed": float((speed / limits.velocity_limit[:n]).max()),
        "acceleration": float((acceleration / limits.acceleration_limit[:n]).max()),
    }


def plot(commands: list[OutputSample], goals: CubicSpline, begun: float, file: Path) -> None:
    """Plot the way and the commands of the moving joints, and the deviation."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    t = np.array([s.time for s in commands]) - begun
    positions = np.array([s.values for s in commands])
    inside = (t > 0.0) & (t < TIMES[-1])
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(10, 6), sharex=True, height_ratios=[3, 2], constrained_layout=True
    )
    for joint, color in zip(JOINTS, ("#c0392b", "#2471a3"), strict=True):
        offset = goals(0.0)[joint]
        above.plot(t[inside], goals(t[inside])[:, joint] - offset, "k--", lw=1)
        above.plot(t[inside], positions[inside, joint] - offset, color=color, lw=1.5, label=f"joint {joint + 1}")
        above.plot(TIMES, MOVES[:, JOINTS.index(joint)], "o", color=color, ms=5)
        below.plot(t[inside], (positions[inside, joint] - goals(t[inside])[:, joint]) * 1e3, color=color, lw=1)
    above.set(ylabel="position [rad]", title="Goals streamed with jitter and loss, followed within the limits")
    above.legend(frameon=False)
    below.axhline(0.0, color="k", lw=0.8)
    below.set(xlabel="time of the way [s]", ylabel="commanded − wanted\n[mrad]")
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=110)
    plt.close(figure)


def main(client: Client, output: Path | str = "output/06_streaming") -> dict[str, float]:
    """Returns the results."""
    output = Path(output)
    output.mkdir(parents=True, exist_ok=True)
    commands: list[OutputSample] = []
    with client.session("arm") as session:
        # If a goal is late: continue with the last velocity, which each goal contains.
        session.add(Action("follow", "follow_joint_stream", goal_gap="extrapolate", report_interval=0.005))
        session.on_stream("follow", "command", commands.append)
        session.start("follow")
        client.sleep(0.1)
        start, begun = np.array(commands[-1].values), commands[-1].time
        commands.clear()
        goals = way(start)
        written = write_goals(client, session, goals)
        client.sleep(0.2)
        missed, late = session.value("follow.goal_missed"), session.value("follow.goal_late")
        session.wait_until("follow.goal_timed_out and arm.at_rest", timeout_s=PATIENCE)
    done = judge(commands, goals, begun)
    done |= {"written": written, "missed": missed, "late": late}
    print(f"{missed:.0f} of them did not arrive, {late:.0f} after their tick, {done['behind'] * 1e3:.0f} ms of delay")
    print(f"commanded − wanted: {done['rms'] * 1e3:.2f} mrad RMS, {done['largest'] * 1e3:.2f} mrad at most")
    print(f"of the limits: {done['speed']:.0%} of velocity, {done['acceleration']:.0%} of acceleration; then at rest")
    plot(commands, goals, done["begun"], output / "streaming.png")
    print(f"written: {output}/streaming.png")
    return done


if __name__ == "__main__":
    raise SystemExit(run_program(main, workcell=WORKCELL, output=Path("output/06_streaming"), description=__doc__))
