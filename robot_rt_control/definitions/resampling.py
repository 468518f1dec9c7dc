"""Functions of an action type that turn each arriving sample into others, outside the loop.

    def resample_goal(self, time, values):
        self.known.append((time, values))
        return [(time + k * 0.01, self.model(values, k)) for k in range(5)]

It is called for each sample of the stream input `goal`, in their order, and may take longer than a tick. `time` [s] is
when the sample was made, on its source's clock; `values` are (n,), or (2, n) with their rates if the stream takes
rates; NaN: not given. It returns any number of samples as (time, values), in the same form: times on the same clock,
before or after `time`, each after that of the sample before. `self` is an object of its own for each source of the
stream, made by `create` and given the parameters by `prepare_parameters`: it may remember samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import DefinitionError

RESAMPLE_METHOD = "resample_"

Resampled = list[tuple[float, list[float]]]
"""Samples with their times on the source's clock [s]: values, and their rates if the stream takes rates."""


def has_resampler(action_type: type, stream: str) -> bool:
    """Whether a stream input of an action type has a function outside the loop."""
    return hasattr(action_type, RESAMPLE_METHOD + stream)


def resample(instance: Any, stream: str, time: float, sample: np.ndarray) -> Resampled:
    """Call the function of a stream.

    Args:
        instance: of the action type.
        sample: (n,) values, or (2, n) with their rates; NaN: not given.

    Raises:
        DefinitionError: what it returns are no samples.
    """
    method = RESAMPLE_METHOD + stream
    made = getattr(instance, method)(time, sample)
    try:
        samples = [(float(at), np.asarray(values, np.float64).ravel().tolist()) for at, values in made]
    except (TypeError, ValueError) as error:
        raise DefinitionError(
            f"result of {method}", expected="a list of samples: (time, values)", got=f"{made!r:.80} ({error})"
        ) from error
    if len(samples) > capacities.STREAM_RING_ENTRIES:
        raise DefinitionError(
            f"result of {method}",
            expected=f"at most {capacities.STREAM_RING_ENTRIES} samples (STREAM_RING_ENTRIES)",
            got=str(len(samples)),
        )
    return samples
