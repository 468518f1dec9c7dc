"""Task "switch on a sensor" for this package: when joint_1 passes the threshold, another action takes over."""

from robot_rt_control.client import Action, Client, Reaction


def run(client: Client, threshold: float, goal: list[float]) -> None:
    """Move the arm towards a goal [rad], and hold it once joint_1 is beyond the threshold [rad]."""
    with client.session("arm") as session:
        hold = Action("hold", "stop")
        passed = Reaction(f"arm.position[0] > {threshold}", start="hold", event="passed")
        session.add(Action("go", "move_joint", position=goal, reactions=[passed]), hold)
        session.start("go")
        session.wait_for("passed")
