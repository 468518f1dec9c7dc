"""A path in joint space: straight lines from point to point, with a smooth curve near each point between."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PPoly

_SAME = 1e-9
"""[rad or m] Points nearer than this are one."""


@dataclass(frozen=True, eq=False)
class Path:
    """Positions over the path's parameter s, which is the length of the straight lines."""

    curve: PPoly
    """(dof,) of s: a line, then a curve, then a line, … The second derivative is continuous."""
    tangents: np.ndarray  # (m, dof) of the m lines
    blend_lengths: np.ndarray  # (m - 1,) of the curves between them

    @property
    def line_lengths(self) -> np.ndarray:
        """(m,)"""
        return np.diff(self.curve.x)[0::2]


def blended_path(points: np.ndarray, blend: float) -> Path | None:
    """The path through points (n, dof), at most `blend` away from each inner one, measured by the largest joint.

    A curve begins and ends at the same distance d from its point. Between, the tangent changes from t1 to t2 as
    3 x² - 2 x³ does from 0 to 1, so the curve is a polynomial of degree 4. In its middle it is 3/16 d |t2 - t1| away
    from the point. A curve takes at most half of each adjacent line.

    Args:
        points: [rad or m].
        blend: [rad or m], above 0.

    Returns:
        The path; None if all points are the same.
    """
    step = np.abs(np.diff(points, axis=0)).max(axis=1, initial=0.0)
    kept = np.concatenate(([True], step > _SAME))
    points = points[kept]
    if len(points) < 2:
        return None
    lines = np.diff(points, axis=0)
    lengths = np.linalg.norm(lines, axis=1)
    tangents = lines / lengths[:, None]
    turn = np.diff(tangents, axis=0)  # (m - 1, dof)
    room = np.minimum(lengths[:-1], lengths[1:]) / 2.0
    d = np.minimum(room, 16.0 / 3.0 * blend / np.maximum(np.abs(turn).max(axis=1, initial=0.0), 1e-9))
    rest = lengths - np.concatenate(([0.0], d)) - np.concatenate((d, [0.0]))
    # Coefficients, highest power first: lines in even pieces, curves in odd ones.
    m, dof = tangents.shape
    c = np.zeros((5, 2 * m - 1, dof))
    c[3, 0::2] = tangents
    c[4, 0] = points[0]
    c[4, 2::2] = points[1:-1] + d[:, None] * tangents[1:]
    length = 2.0 * d[:, None]
    c[0, 1::2] = -turn / (2.0 * length**3)
    c[1, 1::2] = turn / length**2
    c[3, 1::2] = tangents[:-1]
    c[4, 1::2] = points[1:-1] - d[:, None] * tangents[:-1]
    pieces = np.empty(2 * m - 1)
    # Two curves may share a line as a whole; a piece needs a length.
    pieces[0::2] = np.maximum(rest, 1e-12 * lengths)
    pieces[1::2] = 2.0 * d
    return Path(PPoly(c, np.concatenate(([0.0], np.cumsum(pieces)))), tangents, 2.0 * d)
