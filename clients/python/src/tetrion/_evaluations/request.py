"""From the keyword arguments of `Client.evaluate` to the request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion._messages.policies import (
    Model,
    PoliciesLike,
    Policy,
    Search,
    check_model,
    check_search,
    checked_policies,
    checked_policy,
    checked_terminal_value,
    policy_message,
    weights_message,
)
from tetrion._messages.requests import FeaturesLike, RulesLike, rules_message, selected_features
from tetrion._messages.seedings import Seeds, evaluation_seeding
from tetrion._messages.tensors import from_numpy, to_numpy
from tetrion._pb import messages as pb
from tetrion.errors import InvalidArgumentError

if TYPE_CHECKING:
    from typing_extensions import Unpack


class EvaluationOptions(TypedDict, total=False):
    """What to evaluate, and how far: keyword arguments of `Client.evaluate` and similar functions.

    Everything is optional. `features`, `model`, `search` and `terminal_value` belong to `weights`, and are refused without
    them; a `Policy` has its own.

    Attributes:
        weights: Weight vectors [P, F], or one [F], of linear controllers; with a `model` of N parameters, [P, F + N].
        features: Meaning of the first F columns of `weights`: the name of a feature set, or a list of features.
        model: An `Mlp`, with or without tables, or an `NTuple`, whose output is added to the weighted sum. Its parameters
            follow the weights in each row. Default: none.
        seeds: [S], common to all policies; [P, S], one row per policy; or `DrawnSeeds`. By default `DrawnSeeds(1, 100)`.
        piece_sequences: Explicit pieces instead of seeds, one text per game, common to all policies.
        rules: A preset's name, or fields of the message `Rules` by name; by default `simplified`.
        rules_version: Refuse the evaluation unless the server has this version.
        search: How the policies of the matrix use the next pieces, a `Search`. Default: not at all.
        terminal_value: Value of a game-ending placement for the policies of the matrix: `avoid` (the default) or `score`.
        episodes_per_seed: Episodes per seed; by default 1.
        pairs: int32 [G, 2], policy and seed indices to play; by default all.
        max_pieces: Cuts a game after this many pieces; by default the server's limit.
        max_steps: Cuts a game after this many steps; by default the server's limit.
        opponent: With rules of two players, the name or `Policy` that all others play against. Episode k of a seed is then
            a match with the policy on side k modulo 2, so two `episodes_per_seed` are a pair with sides exchanged.
        baseline: Index of the policy that the others are compared with, on common seeds; by default the first.
        max_parallelism: Most threads to use; by default all.
        progress_interval: Seconds between progress messages; by default 1.
        include_results: Whether the answer contains the games; if False, it has only the summary.
        max_response_bytes: Largest message to accept; by default 4 MiB, enough for some 10,000 policies.
    """

    weights: npt.ArrayLike | None
    features: FeaturesLike
    model: Model | None
    seeds: Seeds
    piece_sequences: Sequence[str]
    rules: RulesLike
    rules_version: str
    search: Search | None
    terminal_value: str | None
    episodes_per_seed: int
    pairs: npt.ArrayLike | None
    max_pieces: int | None
    max_steps: int | None
    opponent: str | Policy | None
    baseline: int | None
    max_parallelism: int | None
    progress_interval: float | None
    include_results: bool
    max_response_bytes: int | None


def evaluation_request(policies: PoliciesLike = (), **options: Unpack[EvaluationOptions]) -> pb.EvaluatePoliciesRequest:
    """The request for games.

    Args:
        policies: Names or `Policy`s, which follow the rows of the matrix.
        **options: See `EvaluationOptions`.

    Raises:
        InvalidArgumentError: A value has the wrong type or is out of range; an option would have no effect, such as
            `features` without `weights`; there is no policy; or `seeds` and `piece_sequences` are both given.
    """
    pairs, baseline, interval = options.get("pairs"), options.get("baseline"), options.get("progress_interval")
    played = [*_weights(options), *(policy_message(policy) for policy in checked_policies(policies))]
    if not played:
        raise InvalidArgumentError("policies", "are not given, nor weights, expected a policy such as 'bcts'")
    seeding = evaluation_seeding(options.get("seeds"), options.get("piece_sequences", ()))
    if baseline is not None and seeding.seeds.per_policy:
        raise InvalidArgumentError("baseline", "is given with a list of seeds for each policy, expected common seeds")
    request = pb.EvaluatePoliciesRequest(
        rules=rules_message(options.get("rules")),
        rules_version=arguments.string("rules_version", options.get("rules_version", "")),
        policies=played,
        seeding=seeding,
        episodes_per_seed=arguments.integer("episodes_per_seed", options.get("episodes_per_seed", 1)),
        max_pieces=arguments.limit("max_pieces", options.get("max_pieces"), arguments.U64),
        max_steps=arguments.limit("max_steps", options.get("max_steps"), arguments.U64),
        baseline=arguments.integer("baseline", baseline) if baseline is not None else None,
        max_parallelism=arguments.limit("max_parallelism", options.get("max_parallelism")),
        include_results=arguments.flag("include_results", options.get("include_results", True)),
        max_response_bytes=arguments.limit("max_response_bytes", options.get("max_response_bytes")),
    )
    opponent = options.get("opponent")
    if opponent is not None:
        request.opponent = policy_message(checked_policy(opponent, "opponent"))
    if pairs is not None:
        indices = to_numpy(from_numpy(pairs, np.uint32, "pairs"))  # None is negative.
        if indices.ndim != 2 or indices.shape[1] != 2:
            raise arguments.wrong("pairs", pairs, "rows of two: the index of a policy and of a seed")
        request.pairs = from_numpy(indices, np.int32, "pairs")
    if interval is not None:
        request.progress_interval = arguments.duration("progress_interval", interval)
    return request


def estimation_request(
    policies: PoliciesLike, trials: int, **options: Unpack[EvaluationOptions]
) -> pb.EvaluatePoliciesRequest:
    """The request for estimates of how long games last, with this many trials per height of the stack.

    Raises:
        InvalidArgumentError: For the reasons in `evaluation_request`, or if a baseline is given.
    """
    if options.get("baseline") is not None:
        raise InvalidArgumentError("baseline", "is given for estimates, which are not compared")
    request = evaluation_request(policies, **options)
    request.loss_estimation = pb.LossEstimation(trials=arguments.integer("trials", trials, 1))
    return request


# Where a policy has what belongs to the evaluation if weights are given.
_OF_POLICIES = {
    "search": "a policy has its own, as in Policy('dt-10', search=Search(lookahead=1))",
    "terminal_value": "a policy has its own, as in Policy('dt-10', terminal_value='score')",
    "features": "a policy has its own, as in Policy(weights=[...], features='bcts8')",
    "model": "a policy has its own, as in Policy(weights=[...], features='bcts8', model=Mlp([32]))",
}


def _weights(options: EvaluationOptions) -> list[pb.Policy]:
    """The policies of the weight matrix, if any, with their common settings."""
    weights = options.get("weights")
    features = selected_features(options.get("features"))
    terminal_value = checked_terminal_value(options.get("terminal_value"))
    model, search = options.get("model"), options.get("search")
    check_model(model)
    check_search(search)
    if weights is not None:
        return [weights_message(weights, features, model, search, terminal_value)]
    for name, instead in _OF_POLICIES.items():
        if options.get(name) is not None:
            raise InvalidArgumentError(name, f"is given without weights, expected weights; {instead}")
    return []
