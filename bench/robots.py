"""Writes the arms that come with the package: python -m bench.robots

`config/robots/iiwa.urdf` and `panda.urdf` with their meshes. Lengths between joints, ranges of joints and weights are
those of the makers' data sheets (KUKA LBR iiwa 14 R820; Franka Emika Panda with its hand); the links' shapes are drawn
here, after what the arms look like. A link's center of mass and inertia are those of its convex hull, of one density.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from bench.robot_shapes import End, Loft, Mesh, Ring, hull_of, mass_properties, mesh_of, write_obj

ROBOTS = Path(__file__).resolve().parents[1] / "config" / "robots"
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
DOWN_Y = (0.0, -1.0, 0.0)
_HALF, _TURN = "1.57079632679", "3.14159265359"
"""[rad] A quarter and half of a turn."""


@dataclass(frozen=True)
class Link:
    """A link; without shapes and mass, a frame."""

    name: str
    mass: float = 0.0
    """[kg]"""
    shapes: Mapping[str, Sequence[Loft | Mesh]] = field(default_factory=dict)
    """Material → what is of it."""
    drive: float = 0.0
    """[kg m^2] what the rotor of its joint's drive adds to the inertia about each axis."""
    mesh: str = ""
    """Name of its files, if several links have the same."""
    turned: bool = False
    """Whether the shapes are turned by pi about z."""
    rubber: bool = False


@dataclass(frozen=True)
class Joint:
    """A joint from the link before to the next one."""

    name: str
    parent: str
    child: str
    xyz: str = "0 0 0"
    rpy: str = "0 0 0"
    type: str = "fixed"
    axis: str = "0 0 1"
    limits: tuple[float, float, float, float] | None = None
    """Lower, upper [rad or m], velocity [rad/s or m/s], effort [Nm or N]."""
    damping: float = 0.0
    """[Nms/rad]"""
    mimic: str = ""


def _three(values: Iterable[float]) -> tuple[float, float, float]:
    x, y, z = map(float, values)
    return x, y, z


def disc(
    center: float,
    radius: float,
    height: float,
    bevel: float,
    axis: int = 2,
    sign: float = 1.0,
    at: tuple[float, float] = (0.0, 0.0),
    start: End | None = None,
) -> Loft:
    """A cylinder with rounded edges, from `center` on along an axis in the direction of `sign`; `at`: the other two."""

    def point(way: float) -> tuple[float, float, float]:
        values = list(at)
        values.insert(axis, center + sign * way)
        return values[0], values[1], values[2]

    normal = _three(sign if i == axis else 0.0 for i in range(3))
    side = X if axis != 0 else Y
    rings = (Ring(point(0.0), normal, radius), Ring(point(height - bevel), normal, radius))
    return Loft(rings, side, start or End(0.0, 0.0), End(bevel, bevel / radius), straight=True)


def ball_end(
    center: tuple[float, float, float],
    normal: tuple[float, float, float],
    radius: float,
    way: float,
    side: tuple[float, float, float] = X,
) -> Loft:
    """A cylinder that begins at a joint's plane, `way` before `center`, with half a ball on `center`."""
    n = np.array(normal)
    begin = _three(np.array(center) - way * n)
    rings = (Ring(begin, normal, radius), Ring(center, normal, radius))
    return Loft(rings, side, End(0.0, 0.0), End(radius), straight=True)


# --- KUKA LBR iiwa 14 R820 -------------------------------------------------------------------------


def upright(sign: float, height: float, low: float, high: float, shift: float) -> list[Loft]:
    """A link whose first axis is z and whose second one is y, at `height`: it bends to the side of `sign`."""
    y = sign * shift
    tube = Loft(
        (
            Ring((0, 0, 0), Z, low),
            Ring((0, 0, 0.22 * height), Z, low),
            Ring((0, 0.42 * y, 0.52 * height), (0, 0.32 * sign, 1), (0.94 * high, 0.92 * high)),
            Ring((0, 0.90 * y, 0.80 * height), (0, 0.16 * sign, 1), 0.975 * high),
            Ring((0, y, height), Z, 1.003 * high),
        ),
        start=End(0.003, 0.06),
        end=End(1.003 * high),
    )
    return [tube, ball_end((0, y, height), (0, sign, 0), high, shift - 0.0008)]


def sideways(length: float, low: float, high: float, shift: float) -> list[Loft]:
    """A link whose first axis is z and whose second one is y, along which it goes on from `shift` above the first."""
    tube = Loft(
        (
            Ring((0, 0, shift), Y, 1.003 * low),
            Ring((0, 0.28 * length, 0.95 * shift), (0, 1, -0.14), 0.975 * low),
            Ring((0, 0.55 * length, 0.50 * shift), (0, 1, -0.36), (0.97 * high, 0.95 * high)),
            Ring((0, 0.80 * length, 0.04 * shift), (0, 1, -0.06), high),
            Ring((0, length - 0.008, 0), Y, high),
        ),
        start=End(1.003 * low),
        end=End(0.003, 0.06),
    )
    return [tube, ball_end((0, 0, shift), Z, low, shift - 0.0008)]


def iiwa_links() -> list[Link]:
    big, small = 0.0855, 0.068

    def cap(center: tuple[float, float, float], normal: tuple[float, float, float], radius: float) -> Loft:
        """A rim around the dome over a joint, as wide as the dome."""
        n, c = np.array(normal), np.array(center)
        rings = []
        for angle in (0.0, 0.1, 0.2):
            place = _three(c + n * radius * 1.009 * math.sin(angle))
            rings.append(Ring(place, normal, radius * 1.009 * math.cos(angle)))
        return Loft(tuple(rings), X, straight=True)

    def seam(radius: float) -> Loft:
        """What is seen in the gap to the link before."""
        return disc(-0.010, 0.97 * radius, 0.016, 0.0)

    foot = Loft(
        (
            Ring((0, 0, 0.004), Z, 0.1205),
            Ring((0, 0, 0.020), Z, 0.1205),
            Ring((0, 0, 0.075), Z, 0.104),
            Ring((0, 0, 0.125), Z, 0.0905),
            Ring((0, 0, 0.1475), Z, 0.0875),
        ),
        start=End(0.004, 0.03),
        end=End(0.003, 0.03),
    )
    plugs = Loft(
        (Ring((-0.070, 0, 0.002), Z, (0.066, 0.060), 8.0), Ring((-0.070, 0, 0.112), Z, (0.066, 0.054), 8.0)),
        end=End(0.006, 0.1),
        straight=True,
    )
    forearm = [
        Loft(
            (
                Ring((0, 0, 0), Z, small),
                Ring((0, 0, 0.050), Z, small),
                Ring((0, 0.012, 0.092), (0, 0.42, 1), (0.062, 0.055)),
                Ring((0, 0.049, 0.148), (0, 0.46, 1), (0.0515, 0.036)),
                Ring((0, 0.070, 0.2155), Z, (0.0515, 0.0287)),
            ),
            start=End(0.003, 0.06),
            end=End(0.0515),
        ),
    ]
    wrist = Loft(
        (
            Ring((0, -0.020, 0), Y, 0.0662),
            Ring((0, 0.010, 0), Y, 0.0662),
            Ring((0, 0.048, 0), Y, 0.0590),
            Ring((0, 0.066, 0), Y, 0.0520),
        ),
        start=End(0.0662),
        end=End(0.003, 0.06),
    )
    rim = disc(-0.040, 0.0515, 0.0305, 0.006, sign=-1.0)
    flange = [disc(-0.008, 0.0505, 0.038, 0.004, start=End(0.002, 0.04)), disc(0.030, 0.0400, 0.015, 0.002)]
    return [
        Link("lbr_iiwa_link_0", 5.0, {"dark": [foot, plugs]}, mesh="link_0"),
        Link(
            "lbr_iiwa_link_1",
            4.0,
            {
                "silver": upright(-1.0, 0.2025, 0.0775, big, 0.030),
                "orange": [cap((0, -0.030, 0.2025), DOWN_Y, big)],
                "dark": [seam(0.0775)],
            },
            mesh="link_1",
        ),
        Link(
            "lbr_iiwa_link_2",
            4.0,
            {"silver": sideways(0.2045, big, small, 0.0465), "orange": [cap((0, 0, 0.0465), Z, big)]},
            mesh="link_2",
        ),
        Link(
            "lbr_iiwa_link_3",
            3.0,
            {
                "silver": upright(1.0, 0.2155, small, small, 0.0466),
                "orange": [cap((0, 0.0466, 0.2155), Y, small)],
                "dark": [seam(small)],
            },
            mesh="link_3",
        ),
        Link(
            "lbr_iiwa_link_4",
            2.7,
            {"silver": sideways(0.1845, small, small, 0.0465), "orange": [cap((0, 0, 0.0465), Z, small)]},
            mesh="link_4",
        ),
        Link("lbr_iiwa_link_5", 1.7, {"silver": forearm, "dark": [seam(small)]}, mesh="link_5"),
        Link("lbr_iiwa_link_6", 1.8, {"silver": [wrist], "orange": [rim]}, mesh="link_6"),
        Link("lbr_iiwa_link_7", 0.3, {"dark": flange}, drive=6e-4, mesh="link_7"),
    ]


def iiwa_joints() -> list[Joint]:
    origins = [
        ("0 0 0.1575", "0 0 0"),
        ("0 0 0.2025", f"{_HALF} 0 {_TURN}"),
        ("0 0.2045 0", f"{_HALF} 0 {_TURN}"),
        ("0 0 0.2155", f"{_HALF} 0 0"),
        ("0 0.1845 0", f"-{_HALF} {_TURN} 0"),
        ("0 0 0.2155", f"{_HALF} 0 0"),
        ("0 0.081 0", f"-{_HALF} {_TURN} 0"),
    ]
    ranges = [170, 120, 170, 120, 170, 120, 175]  # [degrees]
    speeds = [1.48, 1.48, 1.75, 1.31, 2.27, 2.36, 2.36]  # [rad/s]
    efforts = [320, 320, 176, 176, 110, 40, 40]  # [Nm]
    joints = []
    for i, (xyz, rpy) in enumerate(origins):
        limit = round(math.radians(ranges[i]), 11)
        joints.append(
            Joint(
                f"lbr_iiwa_joint_{i + 1}",
                f"lbr_iiwa_link_{i}",
                f"lbr_iiwa_link_{i + 1}",
                xyz,
                rpy,
                "revolute",
                limits=(-limit, limit, speeds[i], efforts[i]),
                damping=0.5,
            )
        )
    return joints


# --- Franka Emika Panda ----------------------------------------------------------------------------


def panda_links() -> list[Link]:
    r = 0.055
    foot = Loft(
        (
            Ring((-0.0400, 0, 0.004), Z, (0.1090, 0.0925), 3.2),
            Ring((-0.0385, 0, 0.030), Z, (0.1080, 0.0905), 3.0),
            Ring((-0.0180, 0, 0.085), Z, (0.0790, 0.0720), 2.5),
            Ring((0, 0, 0.128), Z, 0.0580),
            Ring((0, 0, 0.1375), Z, 0.0560),
        ),
        start=End(0.004, 0.04),
        end=End(0.0025, 0.05),
    )

    def shoulder(up: float, axis: int) -> list[Loft]:
        """Along `axis`, to the joint's axis and aside; link 1 bends from z to -y, link 2 from -y to z."""

        def at(way: float, aside: float) -> tuple[float, float, float]:
            return (0.0, -aside, way) if axis == 2 else (0.0, -way, aside)

        s = math.copysign(1.0, up)
        rings = (
            Ring(at(-up, 0), at(s, 0), r),
            Ring(at(-0.66 * up, 0), at(s, 0), r),
            Ring(at(-0.40 * up, 0.026), at(s, 0.75), (0.0525, 0.0500)),
            Ring(at(-0.19 * up, 0.060), at(s, 0.50), 0.0530),
            Ring(at(0, 0.0745), at(s, 0), 1.003 * r),
        )
        pot = ball_end(at(0, 0.0745), at(0, 1), r, 0.0737)
        return [Loft(rings, start=End(0.003, 0.06), end=End(1.003 * r)), pot]

    # At the elbow, tube and pot lie side by side.
    upper_arm = {
        "white": [
            Loft(
                (Ring((0, 0, -0.118), Z, r), Ring((0, 0, 0), Z, r)),
                start=End(0.003, 0.06),
                end=End(r),
                straight=True,
            ),
            disc(0.090, 0.0380, 0.0212, 0.006, axis=1, at=(0.0825, 0.0)),
        ],
        "dark": [
            disc(0.0008, 0.0545, 0.1020, 0.016, axis=1, at=(0.0825, 0.0)),
            Loft(
                (
                    Ring((0.0825, 0.052, 0), (-1, -0.2, -0.30), (0.044, 0.040)),
                    Ring((0.0425, 0.030, -0.016), (-1, -0.3, -0.30), (0.046, 0.040)),
                    Ring((0.0025, 0.004, -0.034), (-1, -0.2, -0.30), (0.050, 0.042)),
                ),
                side=Z,
            ),
        ],
    }
    lower_arm = {
        "white": [
            Loft(
                (Ring((-0.0825, 0, 0), Y, r), Ring((-0.0825, 0.121, 0), Y, r)),
                start=End(r),
                end=End(0.003, 0.06),
                straight=True,
            ),
            disc(0.090, 0.0380, 0.0211, 0.006),
        ],
        "dark": [
            disc(0.0008, 0.0545, 0.1020, 0.016),
            Loft(
                (
                    Ring((0, 0, 0.052), (-1, 0.30, -0.2), (0.044, 0.040)),
                    Ring((-0.040, 0.016, 0.030), (-1, 0.30, -0.3), (0.046, 0.040)),
                    Ring((-0.080, 0.034, 0.004), (-1, 0.30, -0.2), (0.050, 0.042)),
                ),
                side=Y,
            ),
        ],
    }
    forearm = Loft(
        (
            Ring((0, 0, -0.2590), Z, r),
            Ring((0, 0, -0.195), Z, r),
            Ring((0, 0.016, -0.140), (0, 0.40, 1), (0.0500, 0.0460)),
            Ring((0, 0.052, -0.075), (0, 0.45, 1), (0.0420, 0.0340)),
            Ring((0, 0.078, -0.030), (0, 0.30, 1), (0.0450, 0.0330)),
            Ring((0, 0.0850, 0.002), Z, (0.0490, 0.0400)),
        ),
        start=End(0.003, 0.06),
        end=End(0.0480),
    )
    pot_5 = disc(0.0450, 0.0490, 0.0845, 0.016, axis=1)
    column = Loft(
        (Ring((0.088, -0.0480, 0), Y, 0.0440), Ring((0.088, 0.0700, 0), Y, 0.0440)),
        start=End(0.003, 0.07),
        end=End(0.008, 0.18),
        straight=True,
    )
    lid = disc(0.076, 0.0370, 0.0057, 0.002, axis=1, at=(0.088, 0.0))
    bridge = Loft(
        (
            Ring((-0.002, 0, 0), X, (0.0430, 0.0430), 2.6),
            Ring((0.045, 0.004, 0), X, (0.0440, 0.0420), 2.4),
            Ring((0.088, 0.006, 0), X, (0.0450, 0.0400), 2.2),
        ),
        side=Y,
        start=End(0.012, 0.3),
        straight=True,
    )
    pot_6 = disc(-0.0436, 0.0475, 0.0955, 0.012, start=End(0.002, 0.04))
    eye_6 = disc(0.050, 0.0260, 0.0064, 0.003)
    d = math.sqrt(0.5)
    diagonal = (d, d, 0.0)
    flange = [
        disc(0.0525, 0.0440, 0.0500, 0.004),
        Loft(
            (
                Ring((0.004 * d, 0.004 * d, 0.062), Z, (0.047, 0.043)),
                Ring((0.018 * d, 0.018 * d, 0.077), Z, (0.060, 0.042)),
                Ring((0.030 * d, 0.030 * d, 0.090), Z, (0.0735, 0.0420)),
                Ring((0.031 * d, 0.031 * d, 0.1050), Z, (0.0745, 0.0420)),
            ),
            side=diagonal,
            end=End(0.0015, 0.03),
        ),
    ]
    palm = Loft(
        (
            Ring((0, 0, 0.002), Z, (0.0260, 0.0900), 6.0),
            Ring((0, 0, 0.012), Z, (0.0305, 0.0985), 6.0),
            Ring((0, 0, 0.050), Z, (0.0312, 0.1015), 6.0),
            Ring((0, 0, 0.0620), Z, (0.0270, 0.1000), 6.0),
        ),
        start=End(0.002, 0.1),
        end=End(0.004, 0.15),
    )
    wrist = Loft((Ring((0, 0, -0.0255), Z, 0.0310), Ring((0, 0, 0.004), Z, 0.0312)), start=End(0.0, 0.0), straight=True)
    rail = Loft(
        (Ring((0, 0, 0.0560), Z, (0.0110, 0.0820), 10.0), Ring((0, 0, 0.0660), Z, (0.0105, 0.0820), 10.0)),
        straight=True,
    )
    strips = [
        Loft(
            (
                Ring((s * 0.0290, 0, 0.030), (s, 0, 0), (0.0740, 0.0090), 10.0),
                Ring((s * 0.0316, 0, 0.030), (s, 0, 0), (0.0730, 0.0080), 10.0),
            ),
            side=Y,
            straight=True,
        )
        for s in (1.0, -1.0)
    ]
    finger = finger_shapes()
    return [
        Link("panda_link0", 2.9, {"white": [foot]}, mesh="link0"),
        Link("panda_link1", 2.7, {"white": shoulder(0.189, 2)}, mesh="link1"),
        Link("panda_link2", 2.73, {"white": shoulder(-0.191, 1)}, mesh="link2"),
        Link("panda_link3", 2.04, upper_arm, mesh="link3"),
        Link("panda_link4", 2.08, lower_arm, mesh="link4"),
        Link("panda_link5", 3.0, {"white": [forearm], "dark": [pot_5]}, mesh="link5"),
        Link("panda_link6", 1.3, {"white": [column, bridge, eye_6], "dark": [pot_6, lid]}, mesh="link6"),
        Link("panda_link7", 0.2, {"white": flange}, mesh="link7"),
        Link("panda_link8"),
        Link("panda_hand", 0.81, {"white": [palm], "dark": [wrist, rail, *strips]}, mesh="hand"),
        Link("panda_leftfinger", 0.1, finger, mesh="finger", rubber=True),
        Link("panda_rightfinger", 0.1, finger, mesh="finger", rubber=True, turned=True),
        Link("panda_grasptarget"),
    ]


def finger_shapes() -> dict[str, list[Mesh]]:
    """A carriage that narrows upward, and a pad, whose inner face is at y = 0 and reaches from z = 0.0362 to 0.0538."""
    # Sides, back and end are crowned by some 0.1 mm, so that they touch a plane or its edge in one point.
    rows = [  # half width; inner face; middle of a side; back; height [m]
        (0.0104, 0.0025, 0.0145, 0.0262, 0.0),
        (0.0104, 0.0012, 0.0150, 0.0252, 0.0190),
        (0.0093, 0.0, 0.0100, 0.0191, 0.0362),
        (0.0086, 0.0, 0.0070, 0.0140, 0.0508),
        (0.0055, 0.0, 0.0070, 0.0140, 0.0537),
    ]

    def prism(rows: Sequence[tuple[float, float, float, float, float]]) -> Mesh:
        vertices = [
            (x, y, z)
            for half, inner, middle, back, z in rows
            for x, y in (
                (half, inner),
                (half + 0.0001, middle),
                (half, back),
                (0.0, back + 0.0002),
                (-half, back),
                (-half - 0.0001, middle),
                (-half, inner),
            )
        ]
        n, top = 7, len(vertices) - 7
        vertices.append((0.0, 0.0070, rows[-1][-1] + 0.0001))
        faces: list[tuple[int, ...]] = [tuple(range(n - 1, -1, -1))]
        faces += [(top + n, top + j, top + (j + 1) % n) for j in range(n)]
        for i in range(0, top, n):
            faces += [(i + j, i + (j + 1) % n, i + n + (j + 1) % n, i + n + j) for j in range(n)]
        return Mesh(np.array(vertices), faces)

    return {"white": [prism(rows[:3])], "dark": [prism(rows[2:])]}


def panda_joints() -> list[Joint]:
    origins = [
        ("0 0 0.333", "0 0 0"),
        ("0 0 0", f"-{_HALF} 0 0"),
        ("0 -0.316 0", f"{_HALF} 0 0"),
        ("0.0825 0 0", f"{_HALF} 0 0"),
        ("-0.0825 0.384 0", f"-{_HALF} 0 0"),
        ("0 0 0", f"{_HALF} 0 0"),
        ("0.088 0 0", f"{_HALF} 0 0"),
    ]
    ranges = [
        (-2.9671, 2.9671),
        (-1.8326, 1.8326),
        (-2.9671, 2.9671),
        (-3.1416, 0.0),
        (-2.9671, 2.9671),
        (-0.0873, 3.8223),
        (-2.9671, 2.9671),
    ]  # [rad]
    joints = []
    for i, (xyz, rpy) in enumerate(origins):
        speed, effort = (2.175, 87) if i < 4 else (2.61, 12)  # [rad/s], [Nm]
        joints.append(
            Joint(
                f"panda_joint{i + 1}",
                f"panda_link{i}",
                f"panda_link{i + 1}",
                xyz,
                rpy,
                "revolute",
                limits=(*ranges[i], speed, effort),
            )
        )
    slide = (0.0, 0.04, 0.2, 20)  # [m], [m/s], [N]
    at = "0 0 0.0584"
    return [
        *joints,
        Joint("panda_joint8", "panda_link7", "panda_link8", "0 0 0.107"),
        Joint("panda_hand_joint", "panda_link8", "panda_hand", rpy="0 0 -0.785398163397"),
        Joint(
            "panda_finger_joint1", "panda_hand", "panda_leftfinger", at, type="prismatic", axis="0 1 0", limits=slide
        ),
        Joint(
            "panda_finger_joint2",
            "panda_hand",
            "panda_rightfinger",
            at,
            type="prismatic",
            axis="0 -1 0",
            limits=slide,
            mimic="panda_finger_joint1",
        ),
        Joint("panda_grasptarget_hand", "panda_hand", "panda_grasptarget", "0 0 0.105"),
    ]


# --- Franka Research 3: the lengths of a Panda -----------------------------------------------------


def fr3_links() -> list[Link]:
    masses = {0: 2.3966, 1: 2.9275, 2: 2.9355, 3: 2.2449, 4: 2.6156, 5: 2.3271, 6: 1.8170, 7: 0.6271}  # [kg]
    by_name = {f"panda_link{i}": mass for i, mass in masses.items()} | {"panda_hand": 0.53}
    return [replace(link, name=_of_fr3(link.name), mass=by_name.get(link.name, link.mass)) for link in panda_links()]


def _of_fr3(name: str) -> str:
    return name.replace("panda_grasptarget", "fr3_hand_tcp").replace("panda", "fr3")


def fr3_joints() -> list[Joint]:
    ends = [2.7437, 1.7837, 2.9007, 3.0421, 2.8065, 4.5169, 3.0159]  # [rad]
    ranges = [(-end, end) for end in ends]
    ranges[3], ranges[5] = (-3.0421, -0.1518), (0.5445, 4.5169)
    speeds = [2.62, 2.62, 2.62, 2.62, 5.26, 4.18, 5.26]  # [rad/s]
    joints = []
    for i, joint in enumerate(panda_joints()):
        limits = joint.limits
        if i < 7:
            limits = (*ranges[i], speeds[i], 87 if i < 4 else 12)
        mimic, parent, child = (_of_fr3(word) for word in (joint.mimic, joint.parent, joint.child))
        name = joint.name.replace("panda_grasptarget_hand", "fr3_hand_tcp_joint").replace("panda", "fr3")
        xyz = "0 0 0.1034" if child == "fr3_hand_tcp" else joint.xyz
        joints.append(replace(joint, name=name, parent=parent, child=child, mimic=mimic, limits=limits, xyz=xyz))
    return joints


# --- files -----------------------------------------------------------------------------------------

MATERIALS = {
    "silver": "0.82 0.83 0.85 1",
    "orange": "0.95 0.45 0.10 1",
    "white": "0.96 0.96 0.96 1",
    "dark": "0.24 0.25 0.28 1",
}
RUBBER = """    <contact>
      <lateral_friction value="1"/>
      <spinning_friction value="0.1"/>
      <stiffness value="30000"/>
      <damping value="1000"/>
      <friction_anchor/>
    </contact>"""


def write_robot(
    name: str, about: str, links: Sequence[Link], joints: Sequence[Joint], folder: Path = ROBOTS, meshes: str = ""
) -> None:
    """Write `<name>.urdf` into the folder, and its meshes into `meshes/<name>` below it, or into `meshes/<meshes>`."""
    lines = ['<?xml version="1.0"?>', f"<!-- {about}", "     Written by bench/robots.py. -->", f'<robot name="{name}">']
    used = [material for material in MATERIALS if any(material in link.shapes for link in links)]
    lines += [f'  <material name="{word}"><color rgba="{MATERIALS[word]}"/></material>' for word in used]
    for link in links:
        lines += _link(meshes or name, link, folder)
        lines += [line for joint in joints if joint.parent == link.name for line in _joint(joint)]
    (folder / f"{name}.urdf").write_text("\n".join([*lines, "</robot>"]) + "\n")


def _link(robot: str, link: Link, folder: Path) -> list[str]:
    if not link.shapes:
        # PyBullet would give a link without <inertial> 1 kg.
        nothing = '<mass value="0"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'
        return [f'  <link name="{link.name}">', f"    <inertial>{nothing}</inertial>", "  </link>"]
    meshes = folder / "meshes" / robot
    hull = hull_of(_mesh(shape, coarse=True) for shapes in link.shapes.values() for shape in shapes)
    write_obj([hull], meshes / f"{link.mesh}_hull.obj", normals=False)
    center, inertia = mass_properties(hull, link.mass)
    inertia += link.drive * np.eye(3)
    if link.turned:
        turn = np.diag([-1.0, -1.0, 1.0])
        center, inertia = turn @ center, turn @ inertia @ turn
    place = [f'      <origin rpy="0 0 {_TURN}"/>'] if link.turned else []
    moments = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    numbers = " ".join(f'{word}="{_number(inertia[at], 6)}"' for word, at in moments.items())
    lines = [
        f'  <link name="{link.name}">',
        *([RUBBER] if link.rubber else []),
        "    <inertial>",
        f'      <origin xyz="{" ".join(_number(x, 4) for x in center)}"/>',
        f'      <mass value="{link.mass:g}"/>',
        f"      <inertia {numbers}/>",
        "    </inertial>",
    ]
    for material, shapes in link.shapes.items():
        file = f"{link.mesh}_{material}.obj"
        write_obj([_mesh(shape) for shape in shapes], meshes / file, normals=True)
        lines += ["    <visual>", *place, f'      <geometry><mesh filename="meshes/{robot}/{file}"/></geometry>']
        lines += [f'      <material name="{material}"/>', "    </visual>"]
    file = f"{link.mesh}_hull.obj"
    lines += ["    <collision>", *place, f'      <geometry><mesh filename="meshes/{robot}/{file}"/></geometry>']
    return [*lines, "    </collision>", "  </link>"]


def _joint(joint: Joint) -> list[str]:
    origin = f'    <origin xyz="{joint.xyz}" rpy="{joint.rpy}"/>'
    lines = [f'  <joint name="{joint.name}" type="{joint.type}">', f'    <parent link="{joint.parent}"/>']
    lines += [f'    <child link="{joint.child}"/>', origin]
    if joint.limits is not None:
        lower, upper, velocity, effort = joint.limits
        lines.append(f'    <axis xyz="{joint.axis}"/>')
        lines.append(f'    <limit lower="{lower}" upper="{upper}" velocity="{velocity}" effort="{effort}"/>')
    if joint.damping:
        lines.append(f'    <dynamics damping="{joint.damping}"/>')
    if joint.mimic:
        lines.append(f'    <mimic joint="{joint.mimic}"/>')
    return [*lines, "  </joint>"]


def _mesh(shape: Loft | Mesh, *, coarse: bool = False) -> Mesh:
    if isinstance(shape, Mesh):
        return shape
    return mesh_of(shape, sides=18, steps=2, dome_steps=4) if coarse else mesh_of(shape)


def _number(value: float, digits: int) -> str:
    return f"{round(float(value), digits) + 0.0:g}"


def main() -> None:
    write_robot("iiwa", "A KUKA LBR iiwa 14 R820, lighter than the real one's 29.9 kg.", iiwa_links(), iiwa_joints())
    about = "A Franka Emika Panda with its hand. Ranges are those of the mechanics, wider than the controller's."
    write_robot("panda", about, panda_links(), panda_joints())
    about = "A Franka Research 3 with its hand. Ranges are those of the interface FCI. It looks like a Panda."
    write_robot("fr3", about, fr3_links(), fr3_joints(), meshes="panda")


if __name__ == "__main__":
    main()
