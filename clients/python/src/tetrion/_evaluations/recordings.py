"""The games of an evaluation that are worth a look, as recordings.

A game is known by its seed. So an evaluation is played first; then the server is asked for the actions of the games
that turned out to be the best, the worst or the median ones, and they are played again to learn what each landing did.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion._checks.failures import invalid_answer
from tetrion._evaluations.request import EvaluationOptions
from tetrion._evaluations.results import Evaluation
from tetrion._messages.requests import rules_message
from tetrion._messages.tensors import from_numpy
from tetrion._pb import messages as pb
from tetrion._pb.records import EvaluationStarted
from tetrion._pictures.scenes import Course
from tetrion._recordings.recording import MAX_TEXT, Recording, written
from tetrion._recordings.replayer import CreateSession, Replayer
from tetrion._transport.connection import Connection, Patience
from tetrion.errors import InvalidArgumentError, ServerUnavailableError

# The most games of `all=N`, as in the server program.
_MAX_GAMES = 1_000
_WORDS = "best, worst, median or all=N with N from 1 to 1000"

Key = tuple[int, int, int]


def words_of(record: Any, options: EvaluationOptions) -> list[str]:
    """The words of `record`, checked: one, several with commas, or a list of them.

    Raises:
        InvalidArgumentError: One is none of `best`, `worst`, `median` and `all=N`, the results to choose by are left out, or
            no games are played, only estimates made.
    """
    if record is None:
        return []
    for other in ("omit_results", "loss_trials"):
        if options.get(other):
            raise InvalidArgumentError("record", f"is given with {other}, expected one of the two")
    words = record.split(",") if isinstance(record, str) else arguments.items("record", record, f"words: {_WORDS}")
    for word in words:
        number = re.fullmatch(r"all=([0-9]{1,4})", word) if isinstance(word, str) else None
        if not (word in ("best", "worst", "median") if number is None else 1 <= int(number[1]) <= _MAX_GAMES):
            raise InvalidArgumentError("record", f"has {word!r}, expected {_WORDS}")
    return list(words)


def with_recordings(
    connection: Connection,
    create: CreateSession,
    request: pb.EvaluatePoliciesRequest,
    evaluation: Evaluation,
    words: Sequence[str],
) -> Evaluation:
    """The evaluation with the recordings that the words ask for.

    Args:
        connection: To the server that sends the actions.
        create: Makes a session on the server that plays the games again.
        request: What was evaluated.
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
        steps = {_key(evaluation, row): int(evaluation.steps[row]) for row in rows}
        actions = _actions(connection, _request(request, evaluation, rows, limits), steps)
        recordings.update(_played(create, request, evaluation, {row: actions[_key(evaluation, row)] for row in rows}))
    return replace(evaluation, recordings=tuple(recordings[row] for row in chosen))


def _chosen(evaluation: Evaluation, words: Sequence[str]) -> Iterator[int]:
    """The rows of the games that the words ask for, policy by policy."""
    for policy in np.unique(evaluation.policy_indices):
        rows = np.flatnonzero(evaluation.policy_indices == policy)
        # Of equals the first.
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
    """The request for the actions of some games."""
    again = pb.EvaluatePoliciesRequest()
    again.CopyFrom(request)
    again.rules_version = evaluation.started.rules_version
    pairs: npt.NDArray[Any] = np.unique([_key(evaluation, row)[:2] for row in rows], axis=0)
    again.pairs.CopyFrom(from_numpy(pairs, np.uint32))
    again.max_response_bytes = limits.messages.max_response_bytes
    if again.max_steps > limits.evaluations.max_recorded_steps:
        again.max_steps = 0
    again.ClearField("baseline")
    again.record = True
    return again


def _actions(
    connection: Connection, request: pb.EvaluatePoliciesRequest, steps: Mapping[Key, int]
) -> dict[Key, Sequence[int]]:
    """The actions of games of a request, each of so many steps. Other episodes of the same seeds come with them.

    Raises:
        InvalidAnswerError: A game is missing, or has another number of steps.
    """
    patience = Patience(connection)
    while True:
        actions: dict[Key, Sequence[int]] = {}
        try:
            for message in connection.evaluate(request):
                if message.WhichOneof("event") == "actions":
                    done = message.actions
                    key = (done.policy_index, done.seed_index, done.episode_index)
                    if key in steps:
                        actions[key] = list(done.actions)
        except ServerUnavailableError as error:
            patience.wait(error)
        else:
            for key, length in steps.items():
                if len(actions.get(key, ())) != length:
                    raise invalid_answer(f"the actions of game {key} are {len(actions.get(key, ()))}, expected {length}")
            return actions


def _played(
    create: CreateSession, request: pb.EvaluatePoliciesRequest, evaluation: Evaluation, actions: dict[int, Sequence[int]]
) -> dict[int, Recording]:
    """Plays games again, side by side."""
    started = evaluation.started
    config = pb.SessionConfig(rules=rules_message(started.rules))
    rows = list(actions)
    landings: list[list[int]] = [[] for _ in rows]

    def follow(game: int, course: Course) -> None:
        if course.landing is not None:
            landings[game].append(course.landing.lines)

    sequences = [request.piece_sequences.sequences[evaluation.seed_indices[row]] for row in rows if _has_pieces(request)]
    seeds = [] if sequences else [int(evaluation.seeds[row]) for row in rows]
    with Replayer(create, config, len(rows), seeds=seeds, sequences=sequences) as replayer:
        replayer.begin_all()
        replayer.play({game: actions[row] for game, row in enumerate(rows)}, follow)
        recordings = {}
        for game, row in enumerate(rows):
            course = replayer.course(game)
            played = (course.state.lines, course.state.pieces, course.state.steps)
            if played != (evaluation.lines[row], evaluation.pieces[row], evaluation.steps[row]):
                raise invalid_answer(
                    f"game {_key(evaluation, row)} comes to {played} lines, pieces and steps when played again"
                )
            policy, seed_index, episode = _key(evaluation, row)
            dealt = {"piece_sequence": sequences[game]} if sequences else {"seed": seeds[game]}
            origin = f"game {seed_index} of {started.num_seeds}" + (f", episode {episode}" if episode else "")
            origin += "" if sequences else f", seed {seeds[game]}"
            recordings[row] = written(
                config,
                started.rules_version,
                dealt,
                None,
                actions[row],
                landings[game],
                course,
                _name(started, policy),
                origin,
                create,
            )
    return recordings


def _has_pieces(request: pb.EvaluatePoliciesRequest) -> bool:
    return bool(request.piece_sequences.sequences)


def _name(started: EvaluationStarted, policy: int) -> str:
    """What a policy is called."""
    first = started.num_policies - len(started.agents)
    if policy < first:
        return f"policy {policy}"
    known = started.agents[policy - first]
    name = "".join(letter for letter in known.label or known.name or f"policy {policy}" if letter.isprintable())
    return name.encode()[:MAX_TEXT].decode(errors="ignore")
