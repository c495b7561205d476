"""What an evaluation plays: from the keyword arguments of `Client.evaluate` to the request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion._messages.requests import (
    ExpectationLike,
    FeaturesLike,
    RulesLike,
    enum_value,
    expectation_message,
    features_message,
    rules_message,
)
from tetrion._messages.tensors import from_numpy
from tetrion._pb import evaluation_service_pb2 as pb
from tetrion._pb import features_pb2
from tetrion.errors import InvalidArgumentError
from tetrion.models import Mlp, Model, NTuple

if TYPE_CHECKING:
    from typing_extensions import Unpack

Controllers: TypeAlias = "str | Sequence[str | pb.Agent]"
Seeds: TypeAlias = "npt.ArrayLike | SeedRange | None"


@dataclass(frozen=True)
class SeedRange:
    """Seeds drawn from one number, common to all policies.

    Attributes:
        seed: Any number from 0 to 2**64 - 1.
        count: How many, 1 to 1,048,576.
    """

    seed: int
    count: int


class EvaluationOptions(TypedDict, total=False):
    """What an evaluation plays, and how far: keyword arguments of `Client.evaluate` and of all that evaluates like it.

    Either `seeds` or `piece_sequences` must be given. Everything else may be left out. `features`, `model`, `terminal`,
    `lookahead` and `expectation` belong to `weights`, and are refused without them.

    Attributes:
        weights: Weight vectors [P, F], or one [F], of linear controllers; [P, F + N] with a `model` of N parameters.
        features: What the first F columns of `weights` mean: the name of a feature set, or a list of features.
        model: An `Mlp`, with tables or without, or an `NTuple` that is added to the weighted sum; its parameters follow the
            weights in each row. By default there is none. An agent by name takes it in its `Agent`.
        seeds: [S], common to all policies; [P, S], a row for each; or a `SeedRange`.
        piece_sequences: Explicit pieces in place of seeds, one text a game, common to all policies.
        rules: A preset's name, or fields of the message `Rules` by name; by default `simplified`.
        rules_version: Refuse unless the server has this one.
        terminal: The score of a placement that ends the game, for the policies of the matrix: `avoid` (the default) or
            `score`.
        lookahead: Next pieces that the policies of the matrix take into account; by default 0. A controller by name takes
            it in its `Agent`, as it takes `terminal` and `expectation`.
        expectation: How the policies of the matrix weigh what the next pieces can reach, hidden ones by their exact mean:
            True for the defaults, or fields of the message `Expectation` by name, such as `{"placements": 4}`; by default
            not at all. Excludes `lookahead`.
        episodes_per_seed: Episodes of each seed; by default 1.
        pairs: uint32 [G, 2], policy and seed indices to play; by default all.
        max_pieces: Cuts a game after so many pieces; 0, the default, is the server's limit.
        max_steps: Cuts a game after so many steps; 0, the default, is the server's limit.
        loss_trials: Estimate how long games last instead of playing them, with so many trials at each height of the stack:
            for controllers that hardly ever lose. Each result is then the mean of games like that one. 0, the default:
            play the games.
        baseline: Index of the policy that the others are compared with, on common seeds; by default the first. Estimates are
            not compared.
        max_parallelism: Threads to use at most; 0, the default, is all.
        progress_interval: Seconds between progress messages; by default 1.
        omit_results: Ask for the summary alone.
        max_response_bytes: The largest message to accept; 0, the default, is 4 MiB, enough for some 10,000 policies.
    """

    weights: npt.ArrayLike | None
    features: FeaturesLike
    model: Model | None
    seeds: Seeds
    piece_sequences: Sequence[str]
    rules: RulesLike
    rules_version: str
    terminal: str | None
    lookahead: int
    expectation: ExpectationLike
    episodes_per_seed: int
    pairs: npt.ArrayLike | None
    max_pieces: int
    max_steps: int
    loss_trials: int
    baseline: int | None
    max_parallelism: int
    progress_interval: float | None
    omit_results: bool
    max_response_bytes: int


def evaluation_request(controllers: Controllers = (), **options: Unpack[EvaluationOptions]) -> pb.EvaluatePoliciesRequest:
    """The request for an evaluation.

    Args:
        controllers: Names of controllers or agents, or `Agent` messages: the policies after the rows of the matrix.
        **options: See `EvaluationOptions`.

    Raises:
        InvalidArgumentError: A value has the wrong type or is out of range; an option would have no
            effect, such as `features` without `weights`; neither or both of `seeds` and `piece_sequences` are given.
    """
    seeds, pairs = options.get("seeds"), options.get("pairs")
    baseline, interval = options.get("baseline"), options.get("progress_interval")
    weights = _weights(options)
    piece_sequences = arguments.pieces("piece_sequences", options.get("piece_sequences", ()))
    if (seeds is None) == (not piece_sequences):
        given = "or piece_sequences must be given" if seeds is None else "and piece_sequences are both given, expected one"
        raise InvalidArgumentError("seeds", given)
    request = pb.EvaluatePoliciesRequest(
        rules=rules_message(options.get("rules")),
        rules_version=arguments.string("rules_version", options.get("rules_version", "")),
        weights=weights,
        agents=_agents(controllers),
        episodes_per_seed=arguments.integer("episodes_per_seed", options.get("episodes_per_seed", 1)),
        max_pieces=arguments.integer("max_pieces", options.get("max_pieces", 0), 0, arguments.U64),
        max_steps=arguments.integer("max_steps", options.get("max_steps", 0), 0, arguments.U64),
        loss_trials=arguments.integer("loss_trials", options.get("loss_trials", 0)),
        baseline=arguments.integer("baseline", baseline) if baseline is not None else None,
        max_parallelism=arguments.integer("max_parallelism", options.get("max_parallelism", 0)),
        omit_results=arguments.flag("omit_results", options.get("omit_results", False)),
        max_response_bytes=arguments.integer("max_response_bytes", options.get("max_response_bytes", 0)),
    )
    if isinstance(seeds, SeedRange):
        seed = arguments.integer("seeds.seed", seeds.seed, 0, arguments.U64)
        request.seed_range.CopyFrom(pb.SeedRange(seed=seed, count=arguments.integer("seeds.count", seeds.count)))
    elif seeds is not None:
        request.seeds.CopyFrom(from_numpy(_unsigned(seeds), np.uint64, "seeds"))
        if len(request.seeds.shape) not in (1, 2) or 0 in request.seeds.shape:
            raise arguments.wrong("seeds", seeds, "a list of seeds, a list for each policy, or SeedRange(seed, count)")
        if baseline is not None and len(request.seeds.shape) == 2:
            raise InvalidArgumentError("baseline", "is given with a list of seeds for each policy, expected common seeds")
    else:
        request.piece_sequences.CopyFrom(pb.PieceSequences(sequences=piece_sequences))
    if baseline is not None and request.loss_trials:
        raise InvalidArgumentError(
            "baseline", "is given with loss_trials, expected one of the two: estimates are not compared"
        )
    if pairs is not None:
        request.pairs.CopyFrom(from_numpy(pairs, np.uint32, "pairs"))
        if len(request.pairs.shape) != 2 or request.pairs.shape[1] != 2:
            raise arguments.wrong("pairs", pairs, "rows of two: the index of a policy and of a seed")
    if interval is not None:
        request.progress_interval.CopyFrom(arguments.duration("progress_interval", interval))
    return request


def _weights(options: EvaluationOptions) -> pb.WeightMatrix | None:
    """The matrix of weights, with all that its policies share."""
    weights, terminal = options.get("weights"), options.get("terminal")
    features = features_message(options.get("features"))
    lookahead = arguments.integer("lookahead", options.get("lookahead", 0))
    expectation = expectation_message(options.get("expectation"))
    score = enum_value(features_pb2.TerminalScore, terminal, "terminal") if terminal is not None else None
    model = options.get("model")
    if model is not None and not isinstance(model, (Mlp, NTuple)):
        raise arguments.wrong("model", model, "an Mlp or an NTuple, such as Mlp([32])")
    tables = model.tables if isinstance(model, Mlp) else model
    if tables is not None and not isinstance(tables, NTuple):
        raise arguments.wrong("model.tables", tables, "an NTuple, or None for a network that reads no tables")
    if weights is None:
        by_name = "a controller by name takes it in its message, as in Agent(name='dt-10', {})"
        for name, value, whose in (
            ("model", model, "an agent takes it in its message, as in Agent(name='mlp', mlp=Mlp([32]).message(), ...)"),
            ("terminal", score, by_name.format("terminal='TERMINAL_SCORE_SCORE'")),
            ("lookahead", options.get("lookahead"), by_name.format("lookahead=1")),
            ("expectation", options.get("expectation"), by_name.format("expectation={}")),
            ("features", features, "an agent takes it in its message, as in Agent(name='linear', features=...)"),
        ):
            if value is not None:
                raise InvalidArgumentError(name, f"is given without weights, expected weights; {whose}")
        return None
    if expectation is not None and lookahead > 0:
        raise InvalidArgumentError("expectation", f"is given with a lookahead of {lookahead}, expected one of the two")
    return pb.WeightMatrix(
        features=features,
        weights=from_numpy(np.atleast_2d(arguments.weights("weights", weights))),
        terminal=score,
        lookahead=lookahead,
        expectation=expectation,
        mlp=model.message() if isinstance(model, Mlp) else None,
        n_tuple=tables.message() if tables is not None else None,
    )


def _unsigned(seeds: npt.ArrayLike) -> npt.ArrayLike:
    """Seeds whose negative numbers, as in `infos["seed"]`, became those of the same bits."""
    try:
        given = np.asarray(seeds)
    except ValueError:
        return seeds  # Rows of different lengths, which are refused later.
    return given.astype(np.int64).view(np.uint64) if given.dtype.kind == "i" else seeds


def _agents(controllers: Controllers) -> list[pb.Agent]:
    if isinstance(controllers, (str, pb.Agent)):
        controllers = [controllers]
    listed = arguments.items("controllers", controllers, "names of controllers or agents")
    expected = "the name of a controller or an agent, or an Agent"
    return [
        controller
        if isinstance(controller, pb.Agent)
        else pb.Agent(name=arguments.string(f"controllers[{place}]", controller, expected))
        for place, controller in enumerate(listed)
    ]
