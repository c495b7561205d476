"""Ends of episodes: numbers in tensors, words in records."""

from __future__ import annotations

import enum

from tetrion._checks.failures import invalid_answer


class EpisodeEnd(enum.IntEnum):
    """The reason why an episode ended, in the info `end` and in `Games.ends`.

    Records such as `Recording.end` have the names in lower case, and None for an episode that has not ended.
    """

    NOT_ENDED = 1
    """The episode has not ended."""
    TOPPED_OUT = 2
    """The rules ended the game."""
    INVALID_ACTION = 3
    """An action that does not exist ended the episode."""
    STEP_LIMIT = 4
    """A limit on steps cut the episode."""
    PIECE_LIMIT = 5
    """A limit on pieces cut the episode, in an evaluation."""
    OUT_OF_PIECES = 6
    """The explicit pieces are used up."""
    WON = 7
    """The opponent in a match has lost."""
    DRAWN = 8
    """Both sides of a match lost in the same turn."""


def word(number: int) -> str | None:
    """The end in an answer, as the word in records.

    Raises:
        InvalidAnswerError: No end has this number.
    """
    try:
        end = EpisodeEnd(number)
    except ValueError:
        raise invalid_answer(f"an episode has the end {number}") from None
    return None if end is EpisodeEnd.NOT_ENDED else end.name.lower()
