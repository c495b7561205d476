"""The finished episodes of a session, which the server keeps as a curve of at most 256 points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tetrion._checks.arguments import seconds
from tetrion._messages.tensors import column
from tetrion._pb import messages as pb


@dataclass(frozen=True, eq=False)
class History:
    """The finished episodes of a session, K rows from the oldest to the newest, each for consecutive episodes.

    `lines`, `lengths` and `returns` have the columns mean, minimum and maximum, so `history.lines[:, 0]` over
    `history.episodes` is a learning curve. A row has `episodes_per_row` episodes; the last one may have fewer.

    Attributes:
        num_episodes: Finished episodes of all environments.
        num_steps: Steps of all environments. A step that only starts the next episode counts too.
        age: Seconds since the session was created, without the time in which no server had it.
        episodes_per_row: 1, and twice as many whenever 256 rows are too few.
        episodes: int64 [K], finished episodes up to the row's last one.
        steps: int64 [K], `num_steps` at the end of the row's last episode.
        seconds: float64 [K], `age` at the end of the row's last episode.
        lines: float64 [K, 3], lines of an episode.
        lengths: float64 [K, 3], steps of an episode.
        returns: float64 [K, 3], returns of an episode.
    """

    num_episodes: int
    num_steps: int
    age: float
    episodes_per_row: int
    episodes: npt.NDArray[np.int64]
    steps: npt.NDArray[np.int64]
    seconds: npt.NDArray[np.float64]
    lines: npt.NDArray[np.float64]
    lengths: npt.NDArray[np.float64]
    returns: npt.NDArray[np.float64]


def history_of(answer: pb.GetHistoryResponse) -> History:
    """The history in an answer of `GetHistory`.

    Raises:
        InvalidAnswerError: A tensor is missing, or its rows are not as many as those of the others.
    """
    rows = answer.episodes.shape[0] if answer.episodes.shape else 0
    return History(
        num_episodes=answer.num_episodes,
        num_steps=answer.num_steps,
        age=seconds(answer.age),
        episodes_per_row=answer.episodes_per_row,
        episodes=column(answer.episodes, "episodes", np.int64, (rows,)),
        steps=column(answer.steps, "steps", np.int64, (rows,)),
        seconds=column(answer.seconds, "seconds", np.float64, (rows,)),
        lines=column(answer.lines, "lines", np.float64, (rows, 3)),
        lengths=column(answer.lengths, "lengths", np.float64, (rows, 3)),
        returns=column(answer.returns, "returns", np.float64, (rows, 3)),
    )
