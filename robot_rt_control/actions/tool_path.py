"""A smooth curve through points in space, as a function of the way along it. For your own actions.

Put `PATH_PARAMS` into the Params of an action, fill them by `prepare_path`, and call the other functions in the loop.
The curve is a cubic spline: its direction and its curvature are continuous.
"""

import math
import zlib

import numpy as np

from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.errors import DefinitionError

PIECES = 512
"""Cubic pieces of equal length along the way, so that the loop finds a piece without a search."""
_SAMPLES = 16 * PIECES
_LARGEST_DEVIATION = 1e-4
"""[m] of the pieces from the curve through the points."""
_LEAST_DISTANCE = 1e-5
"""[m] between two points."""

PATH_PARAMS = {
    "path": int,  # another one for another path
    "length": float,  # [m]
    "coefficients": (float, PIECES, 4, 3),  # of each piece: position = sum of c[k] * way_in_the_piece ** k
    "path_velocity": float,  # [m/s] at which the curvature permits the limits of acceleration and jerk
}


@realtime
def piece_at(params, s):
    """The piece at a way [m]: the first one also before the start, the last one also behind the end."""
    if not s > 0.0:
        return 0
    return min(int(s / params.length * PIECES), PIECES - 1)


@realtime
def find_point(params, s, point):
    """The position (3,) [m] at a way s [m]."""
    piece = piece_at(params, s)
    t = s - piece * params.length / PIECES
    c = params.coefficients[piece]
    for i in range(3):
        point[i] = c[0, i] + t * (c[1, i] + t * (c[2, i] + t * c[3, i]))


@realtime
def find_direction(params, s, direction, bend):
    """The direction (3,), of length 1, and its change along the way (3,) [1/m]: the curvature."""
    piece = piece_at(params, s)
    t = s - piece * params.length / PIECES
    c = params.coefficients[piece]
    for i in range(3):
        direction[i] = c[1, i] + t * (2.0 * c[2, i] + t * 3.0 * c[3, i])
        bend[i] = 2.0 * c[2, i] + 6.0 * t * c[3, i]


@realtime
def find_nearest(params, point, scratch):
    """The start of a piece [m], or the end, that is nearest to a point (3,)."""
    nearest, least = 0.0, math.inf
    for k in range(PIECES + 1):
        s = k * params.length / PIECES
        find_point(params, s, scratch)
        d = 0.0
        for i in range(3):
            d += (point[i] - scratch[i]) ** 2
        if d < least:
            nearest, least = s, d
    return nearest


def prepare_path(points: np.ndarray, acceleration: float, jerk: float, params: np.record, item: str) -> None:
    """Fill `PATH_PARAMS`.

    Args:
        points: (n, 3) [m], at least two.
        acceleration: limit [m/s^2] of the tool across the path.
        jerk: limit [m/s^3].
        item: what the points belong to, for errors.

    Raises:
        DefinitionError: two adjacent points are the same, or the path is too long for its details.
    """
    from scipy.interpolate import CubicSpline  # 20 MB and 0.3 s, which each control server would load otherwise

    chords = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if not (chords >= _LEAST_DISTANCE).all():
        at = int(np.argmin(chords))
        raise DefinitionError(
            f"{item}: points {at} and {at + 1}",
            expected=f"a distance of at least {1e3 * _LEAST_DISTANCE:g} mm",
            got=f"{1e3 * chords[at]:g} mm",
        )
    parameter = np.append(0.0, np.cumsum(chords))
    curve = CubicSpline(parameter, points)
    u = np.unique(np.append(np.linspace(0.0, parameter[-1], _SAMPLES), parameter))
    samples = curve(u)
    way = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(samples, axis=0), axis=1)))
    knots = np.linspace(0.0, way[-1], PIECES + 1)
    path = CubicSpline(knots, curve(np.interp(knots, way, u)))
    deviation = np.linalg.norm(path(way) - samples, axis=1).max()
    if deviation > _LARGEST_DEVIATION:
        raise DefinitionError(
            f"{item}: {len(points)} points on {way[-1]:.3f} m",
            expected=f"a path that {PIECES} pieces meet within {1e3 * _LARGEST_DEVIATION:g} mm",
            got=f"a deviation of {1e3 * deviation:.3g} mm",
            hint="Split the path, and chain the actions by a reaction on is_done",
        )
    params.length = way[-1]
    params.coefficients[:] = path.c[::-1].transpose(1, 0, 2)  # SciPy: highest power first, then the piece
    params.path = zlib.crc32(params.coefficients.tobytes())
    curvature = np.linalg.norm(path(knots, 2), axis=1).max()
    change = 6.0 * np.linalg.norm(path.c[0], axis=1).max()
    params.path_velocity = min(
        math.sqrt(acceleration / curvature) if curvature > 0.0 else math.inf,
        math.cbrt(jerk / change) if change > 0.0 else math.inf,
    )


def spiral(radius: float, pitch: float) -> np.ndarray:
    """Points (n, 3) [m] of an Archimedean spiral in the plane z = 0, from its center, at equal ways along it.

    Args:
        radius: at its end [m].
        pitch: distance of its turns [m].
    """
    growth = pitch / (2.0 * math.pi)
    turned = np.sqrt(np.arange(0.0, (radius / growth) ** 2, pitch / growth))  # way = growth * turned^2 / 2
    return np.column_stack((growth * turned * np.cos(turned), growth * turned * np.sin(turned), 0.0 * turned))
