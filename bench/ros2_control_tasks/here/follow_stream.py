"""Task "follow a stream" for this package: goals of joint_1 that a program makes 100 times a second, for 3 s."""

import math

from robot_rt_control.client import Action, Client


def main(client: Client) -> None:
    with client.session("arm") as session:
        session.add(Action("follow", "follow_joint_stream"))
        session.start("follow")
        goal = [client.value(f"arm.position[{i}]") for i in range(7)]
        begin = goal[0]
        with session.stream("follow", "goal") as stream:
            for i in range(300):
                goal[0] = begin + 0.1 * (1 - math.cos(0.02 * math.pi * i / 3))
                stream.write(goal)
                client.sleep(0.01)
        session.wait_until("arm.at_rest")


if __name__ == "__main__":
    with Client() as client:
        main(client)
