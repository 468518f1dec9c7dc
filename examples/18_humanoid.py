"""A floating humanoid pushes itself off bricks: which limbs are needed nobody says, and all begin in one tick.

    ./run shell python examples/18_humanoid.py --lockstep       alone, in simulated time
    ./run shell workcell --workcell humanoid                    or: a workcell in real time, and beside it
    ./run shell python examples/18_humanoid.py

The body to be moved is the robot's own torso, whose joints nobody drives. The plan says which limb touches what and
when; each part of the plan has an action of its own, and all of them start in the same tick, or none.
The planner needs `pip install "robot_rt_control[planning]"`.
"""

from pathlib import Path

from robot_rt_control.client import Client
from robot_rt_control.command_line.planning.contacts import contacts_of
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.planner.execution import measured
from robot_rt_control.planning import plan_file
from robot_rt_control.testing.program_main import run_program

WORKCELL = Path(__file__).parent.parent / "config" / "humanoid.yaml"
PATIENCE = 300.0  # [s] more than enough, even on a busy machine


def main(client: Client, output: Path | str = "output/18_humanoid") -> dict[str, int]:
    """Returns the tick in which each action of the plan began."""
    jump = plan_file("move_torso", up=0.15).solved()
    for contact in contacts_of(jump):
        for begin, end in contact.intervals:
            print(f"{contact.pair} from {begin:.2f} to {end:.2f} s")
    workcell = load_workcell(WORKCELL)
    found = measured(client, workcell, jump.parts, pose="camera")
    jump.check_start(workcell=client.backend.workcell_digest(), joints=found.joints, body=found.body)
    with client.session(jump.parts) as session:
        session.add(*jump.actions("jump"))
        session.start(*jump.first("jump"))
        session.wait_until(" and ".join(f"{id}.is_done" for id in jump.last("jump")), timeout_s=PATIENCE)
        begun = {e.current_action: e.tick for e in session.events if e.kind == "action_started"}
    torso = measured(client, workcell, (), pose="camera").body
    assert torso is not None  # it was asked for
    print(f"{len(begun)} actions for {len(jump.parts)} parts; the torso has come to z {torso.position[2]:.3f} m")
    client.take_picture(copy_to=Path(output) / "scene.png")
    return begun


if __name__ == "__main__":
    raise SystemExit(run_program(main, workcell=WORKCELL, output=Path("output/18_humanoid"), description=__doc__))
