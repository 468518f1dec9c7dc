"""What the welcome robot sees and plans, as Python functions: the capabilities that its skills are made of."""

from pathlib import Path
from typing import Annotated

import matplotlib.image
import numpy as np
import yaml

from robot_rt_control.blueprint.makers import Handle, skill

STAFF = Path(__file__).parent / "staff.yaml"
"""Name → features, as `extract_face` gives them, in rows."""
ROWS, COLUMNS = 16, 12
FRAME_PIXELS = 200
"""A smaller frame is too far away."""
SEATS = {"table": (1.2, 1.2), "window": (1.2, -1.2)}
"""[m] x and y in the world."""
SHOULDER = np.array([0.0, 0.0, 0.75])
"""[m] in the world, where the arm begins to point."""
STRETCHED = 0.6
"""[m] from there to the hand."""


@skill(category="sensing", outputs={"picture": {"type": "text"}})
def collect_image(handle: Handle) -> object:
    """Take a picture with the robot's camera."""
    return {"picture": str(handle.view.take_picture())}


@skill(category="analysis", results={"no_face": {"failure": True}}, outputs={"features": {"type": "text"}})
def extract_face(handle: Handle, picture: str) -> object:
    """Find the portrait in its green frame, and reduce it to 16 x 12 grey values, each a digit."""
    image = matplotlib.image.imread(picture)[:, :, :3]
    red, green, blue = np.moveaxis(image, 2, 0)
    rows, columns = np.nonzero((green > 0.2) & (green > 2.0 * red) & (green > 2.0 * blue))
    if len(rows) < FRAME_PIXELS:
        return "no_face"
    y = np.linspace(rows.min(), rows.max(), 4 * (ROWS + 4))[8:-8]  # without the frame
    x = np.linspace(columns.min(), columns.max(), 4 * (COLUMNS + 4))[8:-8]
    face = image.mean(axis=2)[np.ix_(y.astype(int), x.astype(int))]
    grey = face.reshape(ROWS, 4, COLUMNS, 4).mean(axis=(1, 3))
    return {"features": "".join(str(min(int(10.0 * value), 9)) for value in grey.ravel())}


@skill(
    category="analysis",
    results=["guest", "staff"],
    outputs={"who": {"type": "text"}, "match": {"type": "float"}},
)
def match_face(handle: Handle, features: str, threshold: Annotated[float, "", (0.0, 1.0)] = 0.7) -> object:
    """Compare features with those of the staff: staff, if one matches at least to the threshold, otherwise a guest."""
    staff = yaml.safe_load(STAFF.read_text())
    matches = {name: correlation(features, "".join(known.split())) for name, known in staff.items()}
    who = max(matches, key=lambda name: matches[name])
    handle.progress(", ".join(f"{name}: {match:.2f}" for name, match in matches.items()))
    if matches[who] >= threshold:
        return "staff", {"who": who, "match": matches[who]}
    return "guest", {"who": "", "match": matches[who]}


def correlation(one: str, other: str) -> float:
    """Of two features: 1 the same, 0 nothing in common."""
    a, b = (np.array(list(map(int, text)), float) for text in (one, other))
    a, b = a - a.mean(), b - b.mean()
    return float(a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-9))


@skill(category="path_planning", outputs={"position": "m", "orientation": {}})
def plan_way(handle: Handle, seat: str = "table") -> object:
    """Where the hand points straight to a seat: the tool's position and orientation in the world."""
    way = np.array([*SEATS[seat], 0.45]) - SHOULDER
    heading = np.arctan2(way[1], way[0])
    position = SHOULDER + [STRETCHED * np.cos(heading), STRETCHED * np.sin(heading), 0.25]
    # forward with the fingers side by side, (1, 0, 1, 0) / sqrt(2), and then turned about the world's z
    c, s = np.cos(heading / 2.0) / np.sqrt(2.0), np.sin(heading / 2.0) / np.sqrt(2.0)
    return {"position": position, "orientation": [c, s, c, s]}
