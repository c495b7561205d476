"""The games of a recipe, one recording at a time, and the session that plays a recording again."""

from __future__ import annotations

from collections.abc import Iterator

from tetrion._clients.client import Client
from tetrion._datasets.recipe import Recipe
from tetrion._messages.answers import Observed
from tetrion._messages.requests import word
from tetrion._messages.seedings import DrawnSeeds
from tetrion._pb import messages as pb
from tetrion._recordings.recording import Recording
from tetrion._sessions.session import Session

# Games per evaluation: few, because the recordings of all of them are in memory.
_GAMES_AT_ONCE = 16


def recordings_of(client: Client, recipe: Recipe) -> Iterator[Recording]:
    """The games of a recipe, in order."""
    if (recorded := recipe.recorded()) is not None:
        yield from recorded
        return
    policy = recipe.played_by()
    assert policy is not None, "a recipe without recordings has a policy"
    assert recipe.games is not None, "a recipe without recordings has a number of games"
    assert recipe.seed is not None, "a recipe without recordings has a seed"
    for first in range(0, recipe.games, _GAMES_AT_ONCE):
        part = range(first, min(first + _GAMES_AT_ONCE, recipe.games))
        evaluation = client.evaluate(
            policy,
            seeds=DrawnSeeds(recipe.seed, recipe.games),
            pairs=[[0, game] for game in part],
            rules=recipe.rules,
            max_pieces=recipe.max_pieces,
            record=f"all={len(part)}",
        )
        yield from evaluation.recordings


def invalid_actions(recording: Recording) -> tuple[str, float]:
    """What an action that does not exist does in a recording: `invalid_action_policy` and `invalid_action_reward`."""
    message = recording._message
    number = message.invalid_action_policy
    return word(pb.InvalidActionPolicy, number) if number else "reject", message.invalid_action_reward


def begin(session: Session, recording: Recording) -> Observed:
    """Starts the game of a recording."""
    if recording.piece_sequence is not None:
        return session.reset(piece_sequences=[recording.piece_sequence])
    assert recording.seed is not None, "a recording has a seed or pieces"
    return session.reset(seeds=[recording.seed])
