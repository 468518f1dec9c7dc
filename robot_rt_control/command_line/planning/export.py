"""Write a plan in a form that others read: a program as YAML, trajectories as JSON, numbers as CSV.

.yaml is a program for `robot-rt-control-program` and `robot-rt start`: approach, push, and an exit for each way to end.

.csv has a row for each end of a control step: time [s], position and velocity of each joint, pose of the body (with a
quaternion x y z w), distance of each pair [m], and the input of the step that begins there. .json has the fields of
trajectory_msgs/JointTrajectory; efforts are those beyond gravity, of parts that efforts drive.
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robot_rt_control.planning import Plan

ENDINGS = (".csv", ".json", ".yaml")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    parser.add_argument("plan", type=Path, metavar="PLAN", help="a plan file")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE",
        help="its ending tells the form: .yaml, a program; .json, trajectories; .csv, numbers",
    )  # fmt: skip
    parser.add_argument("--name", default="push", help="of the program (%(default)s)")
    parser.add_argument(
        "--pose", default="", metavar="PART",
        help="sensor part that measures the body's pose: the program then checks it before and after, and is led by it",
    )  # fmt: skip
    parser.add_argument("--no-feedback", action="store_true", help="do not let the body's pose lead the motion")
    parser.add_argument(
        "--unverified", action="store_true", help="also write what plays a plan that no other engine confirms"
    )


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.output import Output
    from robot_rt_control.planning.plan.plan import Plan
    from robot_rt_control.vocabulary.errors import DefinitionError, unknown

    file: Path = arguments.output
    if file.suffix not in ENDINGS:
        raise DefinitionError(f"{file}: ending", expected=unknown("ending", file.suffix, ENDINGS), got=file.suffix)
    plan = Plan.load(arguments.plan)
    if file.suffix == ".csv":
        write_csv(plan, file)
    elif file.suffix == ".json":
        plan.check_verified(unverified=arguments.unverified)
        write_json(plan, file)
    else:
        from robot_rt_control.planning.plan.program_export import export_program

        text = export_program(
            plan, name=arguments.name, sensor=arguments.pose, unverified=arguments.unverified,
            feedback=not arguments.no_feedback,
        )  # fmt: skip
        file.write_text(text, encoding="utf-8")
    Output(as_json=arguments.json).result({"file": str(file)}, f"{file}")
    return 0


def write_csv(plan: Plan, file: Path) -> None:
    """A row for each end of a control step."""
    import numpy as np

    from robot_rt_control.model.pose import Pose

    header = plan.header
    step = header["time"] / header["steps"]
    joints, pairs = header["joints"], header["pairs"]
    columns = ["time", *(f"position {name}" for name in joints), *(f"velocity {name}" for name in joints)]
    columns += [f"{header['body']} {name}" for name in ("x", "y", "z", "qx", "qy", "qz", "qw")]
    columns += [f"distance {name}" for name in pairs]
    columns += [
        f"{'acceleration' if driven else 'effort'} {name}"
        for name, driven in zip(joints, header["velocity_driven"], strict=True)
    ]
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        for i in range(header["steps"] + 1):
            inputs = plan.inputs[i].tolist() if i < header["steps"] else [""] * len(joints)
            X = np.eye(4)
            X[:3, :3] = plan.body_rotation[i]
            body = [*plan.body_position[i].tolist(), *Pose.of_matrix(X).orientation]
            numbers = [*plan.position[i].tolist(), *plan.velocity[i].tolist(), *body, *plan.distance[i].tolist()]
            writer.writerow([round(i * step, 9), *numbers, *inputs])


def write_json(plan: Plan, file: Path) -> None:
    """Part → JointTrajectory."""
    names = dict.fromkeys(name.partition(".")[0] for name in plan.header["joints"])
    found = {part: trajectory_of(plan, part) for part in names}
    file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def trajectory_of(plan: Plan, part: str) -> dict[str, Any]:
    """The fields of trajectory_msgs/JointTrajectory."""
    header = plan.header
    own = [i for i, name in enumerate(header["joints"]) if name.partition(".")[0] == part]
    driven = all(header["velocity_driven"][i] for i in own)
    step = header["time"] / header["steps"]
    points = []
    for i in range(header["steps"] + 1):
        nanoseconds = round(1e9 * i * step)
        point: dict[str, Any] = {
            "positions": plan.position[i, own].tolist(),
            "velocities": plan.velocity[i, own].tolist(),
            "accelerations": [],
            "effort": [],
            "time_from_start": {"sec": nanoseconds // 10**9, "nanosec": nanoseconds % 10**9},
        }
        inputs = plan.inputs[min(i, header["steps"] - 1), own].tolist()
        point["accelerations" if driven else "effort"] = inputs
        points.append(point)
    return {"joint_names": [header["joints"][i].partition(".")[2] for i in own], "points": points}
