"""The functions of action types that resample streams, see `definitions/resampling.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.definitions.resampling import RESAMPLE_METHOD, Resampled, resample
from robot_rt_control.server.preparer.remote import RemoteAction
from robot_rt_control.server.preparer.user_code import CORRECT, run_user_code
from robot_rt_control.server.sessions import Session
from robot_rt_control.server.tables.preparation import PreparedAction, Preparer, StreamKey
from robot_rt_control.vocabulary.errors import DefinitionError


class Resampler:
    """The function of one stream. Code of users runs in a process of its own. One thread at a time.

    Args:
        of: the stream, for messages: "stream 'goal' of action 'follow'".
        key: the action's identity, and the stream's name.
        preparer: makes the objects that resample.
        session: of the action; the process ends with it.
    """

    def __init__(self, of: str, key: StreamKey, preparer: Preparer, session: Session) -> None:
        self._of, self._key, self._preparer, self._session = of, key, preparer, session
        self._action: PreparedAction | None = None
        self._instance: ActionType | RemoteAction | None = None
        self._values: Mapping[str, Any] | None = None
        self._ended: DefinitionError | None = None

    def begin(self) -> None:
        """A new source: it gets an object of its own, in a new process if the last one has ended."""
        self._instance = self._values = self._ended = None

    def call(self, action: PreparedAction, time: float, sample: np.ndarray) -> Resampled:
        """What the function makes of a sample. May take long.

        Args:
            action: with its present parameters.
            time: of the sample, on the source's clock [s].
            sample: see `resampling.resample`.

        Raises:
            DefinitionError: its code refuses, raised an exception, returned no samples, or ended its process.
            SessionError: the session has ended.
        """
        if self._ended is not None:
            raise self._ended
        if self._instance is None:
            self._action = action
            self._instance = self._preparer.for_stream(self._of, self._key, action, self._session)
        if self._values is not action.values:
            self._preparer.fill(self._of, self._instance, action.values)
            self._values = action.values
        instance, stream = self._instance, self._key[1]
        if isinstance(instance, RemoteAction):
            try:
                return instance.resample(self._of, stream, time, sample)
            except DefinitionError as error:
                if not instance.is_gone:
                    raise
                hint = f"{CORRECT}, or open the stream again"
                self._ended = DefinitionError(error.what, expected=error.expected, got=error.got, hint=hint)
                raise self._ended from error
        method = RESAMPLE_METHOD + stream
        return run_user_code(self._of, type(instance), method, lambda: resample(instance, stream, time, sample))

    def leave(self) -> None:
        """The function is not called any more: its process ends. Does not wait."""
        if self._action is not None:
            self._preparer.leave_stream(self._key, self._action, self._session)
