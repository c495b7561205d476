"""Recordings of selected games of an evaluation.

A seed identifies a game. So an evaluation is played first, and then the server records the games that turned out to be the
best, the worst or the median ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion._checks.failures import invalid_answer
from tetrion._evaluations.request import EvaluationOptions
from tetrion._evaluations.results import Evaluation
from tetrion._messages.tensors import from_numpy
from tetrion._pb import messages as pb
from tetrion._recordings.recording import MAX_TEXT, Recording
from tetrion._transport.connection import Connection
from tetrion.errors import InvalidArgumentError

# Most games of `all=N`, as in the `tetrion` program.
_MAX_GAMES = 1_000
_WORDS = "best, worst, median or all=N with N from 1 to 1000"

Key = tuple[int, int, int]


def words_of(record: Any, options: EvaluationOptions) -> list[str]:
    """The words of `record`, checked: a single one, several with commas, or a list.

    Raises:
        InvalidArgumentError: A word is none of `best`, `worst`, `median` and `all=N`, or the evaluation has no list of
            games.
    """
    if record is None:
        return []
    if not options.get("include_results", True):
        raise InvalidArgumentError("record", "is given with include_results=False, expected the games to choose from")
    words = record.split(",") if isinstance(record, str) else arguments.items("record", record, f"words: {_WORDS}")
    for word in words:
        number = re.fullmatch(r"all=([0-9]{1,4})", word) if isinstance(word, str) else None
        if not (word in ("best", "worst", "median") if number is None else 1 <= int(number[1]) <= _MAX_GAMES):
            raise InvalidArgumentError("record", f"has {word!r}, expected {_WORDS}")
    return list(words)


def with_recordings(
    connection: Connection,
    request: pb.EvaluatePoliciesRequest,
    evaluation: Evaluation,
    words: Sequence[str],
) -> Evaluation:
    """Adds the recordings that the words ask for to an evaluation.

    Args:
        connection: Connection to the server that records the games.
        request: The evaluation's request.
        evaluation: Its games and their summary.
        words: See `words_of`.

    Raises:
        InvalidArgumentError: A game is too long, or a seed has too many episodes.
    """
    if not words:
        return evaluation
    chosen = list(dict.fromkeys(_chosen(evaluation, words)))
    limits = connection.limits
    for row in chosen:
        if evaluation.steps[row] > limits.evaluations.max_recorded_steps:
            most = limits.evaluations.max_recorded_steps
            problem = f"asks for a game of {evaluation.steps[row]} steps, a recording has at most {most}"
            raise InvalidArgumentError("record", f"{problem}; max_pieces makes games shorter")
    most = limits.evaluations.max_recorded_games // max(evaluation.started.episodes_per_seed, 1)
    if not most:
        episodes = evaluation.started.episodes_per_seed
        raise InvalidArgumentError(
            "record", f"asks for seeds of {episodes} episodes, at most {limits.evaluations.max_recorded_games} fit"
        )
    recordings: dict[int, Recording] = {}
    for rows in _chunks(chosen, most):
        played = _recorded(connection, _request(request, evaluation, rows, limits))
        for row in rows:
            recordings[row] = _recording(request, evaluation, row, played.get(_key(evaluation, row)))
    return replace(evaluation, recordings=tuple(recordings[row] for row in chosen))


def _chosen(evaluation: Evaluation, words: Sequence[str]) -> Iterator[int]:
    """The rows of the games that the words ask for, policy by policy."""
    for policy in np.unique(evaluation.policy_indices):
        rows = np.flatnonzero(evaluation.policy_indices == policy)
        # Of equal games, the first.
        by_lines = rows[np.lexsort([rows, evaluation.pieces[rows], evaluation.lines[rows]])]
        most = by_lines[evaluation.lines[by_lines] == evaluation.lines[by_lines[-1]]]
        one = {"best": most[0], "worst": by_lines[0], "median": by_lines[(len(by_lines) - 1) // 2]}
        for word in words:
            yield from [int(one[word])] if word in one else rows[: int(word.removeprefix("all="))].tolist()


def _chunks(rows: Sequence[int], most: int) -> Iterator[Sequence[int]]:
    for first in range(0, len(rows), most):
        yield rows[first : first + most]


def _key(evaluation: Evaluation, row: int) -> Key:
    return (
        int(evaluation.policy_indices[row]),
        int(evaluation.seed_indices[row]),
        int(evaluation.episode_indices[row]),
    )


def _request(
    request: pb.EvaluatePoliciesRequest, evaluation: Evaluation, rows: Sequence[int], limits: pb.Limits
) -> pb.EvaluatePoliciesRequest:
    """The request for recordings of some games."""
    pairs: npt.NDArray[Any] = np.unique([_key(evaluation, row)[:2] for row in rows], axis=0)
    is_too_long = request.max_steps > limits.evaluations.max_recorded_steps
    return request.changed(
        rules_version=evaluation.started.rules_version,
        pairs=from_numpy(pairs, np.int32),
        max_response_bytes=limits.messages.max_response_bytes,
        max_steps=0 if is_too_long else request.max_steps,
        baseline=None,
        include_recordings=True,
    )


def _recorded(connection: Connection, request: pb.EvaluatePoliciesRequest) -> dict[Key, pb.Recording]:
    """The games of a request. Includes other episodes of the same seeds."""
    messages = connection.evaluate_patiently(request)
    games = [message.recording for message in messages if message.which("event") == "recording"]
    return {(game.policy_index, game.seed_index, game.episode_index): game.recording for game in games}


def _recording(
    request: pb.EvaluatePoliciesRequest, evaluation: Evaluation, row: int, message: pb.Recording | None
) -> Recording:
    """Converts a game to its recording.

    Raises:
        InvalidAnswerError: The recording is missing, or belongs to another game.
    """
    started, (policy, seed_index, episode) = evaluation.started, _key(evaluation, row)
    if message is None:
        raise invalid_answer(f"the recording of game {_key(evaluation, row)} is missing")
    # In episode k of a match, the policy has side k modulo 2.
    side = message.opponent if message.has("opponent") and episode % 2 else message
    played = (side.outcome.lines, side.outcome.pieces, len(side.actions))
    if played != (evaluation.lines[row], evaluation.pieces[row], evaluation.steps[row]):
        raise invalid_answer(f"game {_key(evaluation, row)} comes to {played} lines, pieces and steps when played again")
    origin = f"game {seed_index} of {started.num_seeds}" + (f", episode {episode}" if episode else "")
    if message.which("pieces") == "seed":
        origin += f", seed {message.seed}"
    entries = [entry.policy for entry in started.policies for _ in range(entry.num_rows)]
    player = _short(entries[policy].label or entries[policy].name or f"policy {policy}")
    if not message.has("opponent"):
        return Recording(message.changed(player=player, origin=origin))
    opponent = _short(request.opponent.label or request.opponent.name or "opponent")
    if episode % 2:
        player, opponent = opponent, player
    other = message.opponent.changed(player=opponent)
    return Recording(message.changed(player=player, origin=origin, opponent=other))


def _short(name: str) -> str:
    """A name as a recording can have it."""
    name = "".join(letter for letter in name if letter.isprintable())
    return name.encode()[:MAX_TEXT].decode(errors="ignore")
