"""Why episodes ended: numbers in tensors, words in records."""

from __future__ import annotations

import enum

from tetrion._checks.failures import invalid_answer


class EpisodeEnd(enum.IntEnum):
    """Why an episode ended, as the info `end` and `Games.ends` say it.

    Records such as `Recording.end` have the names in lower case, and None for an episode that has not ended.
    """

    NOT_ENDED = 1
    """The episode goes on."""
    TOPPED_OUT = 2
    """The rules ended the game."""
    INVALID_ACTION = 3
    """An action that did not exist ended the episode."""
    STEP_LIMIT = 4
    """A limit of steps cut it."""
    PIECE_LIMIT = 5
    """A limit of pieces cut it, in an evaluation."""
    OUT_OF_PIECES = 6
    """The explicit pieces were used up."""


def word(number: int) -> str | None:
    """The end of an answer in a record.

    Raises:
        InvalidAnswerError: No end has this number.
    """
    try:
        end = EpisodeEnd(number)
    except ValueError:
        raise invalid_answer(f"an episode has the end {number}") from None
    return None if end is EpisodeEnd.NOT_ENDED else end.name.lower()
