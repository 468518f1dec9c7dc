"""State variables over time, for a program to plot or judge at its end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.vocabulary.errors import DefinitionError, unknown


class Recording:
    """Rows of values, one for each sample. `recording["arm.tool.z"]` is one variable over time.

    Args:
        names: of the state variables, as in the session's conditions.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self._times: list[float] = []
        self._rows: list[tuple[float, ...]] = []

    def append(self, time: float, values: Sequence[float]) -> None:
        """Add a row; a row that is not later than the last one is dropped.

        Args:
            time: [s] of the tick, since the loop's first tick.
            values: of the variables, in the order of `names`; NaN: unknown.
        """
        if not self._times or time > self._times[-1]:
            self._times.append(time)
            self._rows.append(tuple(values))

    def __len__(self) -> int:
        return len(self._times)

    @property
    def time(self) -> NDArray[np.float64]:
        """(n,) [s] since the loop's first tick, increasing."""
        return np.array(self._times)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """(n,) values of a state variable, in its unit; NaN: unknown then.

        Raises:
            DefinitionError: it was not recorded.
        """
        if name not in self.names:
            what = f"state variable {name!r} was not recorded"
            raise DefinitionError(what, expected=unknown("recorded state variable", name, self.names))
        column = self.names.index(name)
        return np.array([row[column] for row in self._rows])
