"""What an evaluation plays: keyword arguments of `Client.evaluate`, as a request."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tetrion import arguments
from tetrion._pb import evaluation_service_pb2 as pb
from tetrion._pb import features_pb2
from tetrion.errors import InvalidArgument
from tetrion.names import expected
from tetrion.requests import FeaturesLike, RulesLike, enum_value, features_message, rules_message
from tetrion.tensors import from_numpy

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


def evaluation_request(
    controllers: Controllers = (),
    *,
    weights: npt.ArrayLike | None = None,
    features: FeaturesLike = None,
    seeds: Seeds = None,
    piece_sequences: Sequence[str] = (),
    rules: RulesLike = None,
    rules_version: str = "",
    terminal: str | None = None,
    lookahead: int = 0,
    episodes_per_seed: int = 1,
    pairs: npt.ArrayLike | None = None,
    max_pieces: int = 0,
    max_steps: int = 0,
    baseline: int | None = None,
    max_parallelism: int = 0,
    progress_interval: float | None = None,
    omit_results: bool = False,
    max_response_bytes: int = 0,
    **others: Any,
) -> pb.EvaluatePoliciesRequest:
    """The request for an evaluation.

    Args:
        controllers: Names of controllers or agents, or `Agent` messages: the policies after the matrix' rows.
        weights: Weight vectors [P, F], or one [F], of linear controllers.
        features: What the columns of `weights` mean.
        seeds: [S], common to all policies; [P, S], a row for each; or a `SeedRange`.
        piece_sequences: Explicit pieces in place of seeds, common to all policies.
        rules: A preset's name, or fields of the message `Rules` by name; left out, `simplified`.
        rules_version: Refuse unless the server has this one.
        terminal: What a placement that ends the game is worth to the matrix' policies: `avoid` (the default) or `score`.
        lookahead: Next pieces that the matrix' policies take into account.
        episodes_per_seed: Episodes of each seed.
        pairs: uint32 [G, 2], policy and seed indices to play; left out, all.
        max_pieces: Cuts a game after so many pieces; 0: the server's limit.
        max_steps: Cuts a game after so many steps; 0: the server's limit.
        baseline: The policy that others are compared with; left out, the first.
        max_parallelism: Threads to use at most; 0: all.
        progress_interval: Seconds between progress messages; left out, one.
        omit_results: Ask for the summary alone.
        max_response_bytes: The largest message to accept; 0: 4 MiB, enough for some 10,000 policies.
        **others: Refused.

    Raises:
        InvalidArgument: There is no such argument, or a value is none of its kind or range; neither or both of `seeds` and
            `piece_sequences` are given.
    """
    for name in others:
        known = [known for known in inspect.signature(evaluation_request).parameters if known != "others"]
        raise InvalidArgument(name, f"is no argument of an evaluation{expected(name, known)}")
    piece_sequences = arguments.pieces("piece_sequences", piece_sequences)
    if (seeds is None) == (not piece_sequences):
        given = "or piece_sequences must be given" if seeds is None else "and piece_sequences are both given, expected one"
        raise InvalidArgument("seeds", given)
    request = pb.EvaluatePoliciesRequest(
        rules=rules_message(rules),
        rules_version=arguments.text("rules_version", rules_version),
        agents=_agents(controllers),
        episodes_per_seed=arguments.integer("episodes_per_seed", episodes_per_seed),
        max_pieces=arguments.integer("max_pieces", max_pieces, 0, arguments.U64),
        max_steps=arguments.integer("max_steps", max_steps, 0, arguments.U64),
        baseline=arguments.integer("baseline", baseline) if baseline is not None else None,
        max_parallelism=arguments.integer("max_parallelism", max_parallelism),
        omit_results=arguments.flag("omit_results", omit_results),
        max_response_bytes=arguments.integer("max_response_bytes", max_response_bytes),
    )
    if weights is not None:
        matrix = np.atleast_2d(arguments.weights("weights", weights))
        request.weights.CopyFrom(
            pb.WeightMatrix(
                features=features_message(features),
                weights=from_numpy(matrix),
                terminal=enum_value(features_pb2.TerminalScore, terminal, "terminal") if terminal is not None else None,
                lookahead=arguments.integer("lookahead", lookahead),
            )
        )
    if isinstance(seeds, SeedRange):
        seed = arguments.integer("seeds.seed", seeds.seed, 0, arguments.U64)
        request.seed_range.CopyFrom(pb.SeedRange(seed=seed, count=arguments.integer("seeds.count", seeds.count)))
    elif seeds is not None:
        request.seeds.CopyFrom(from_numpy(seeds, np.uint64, "seeds"))
        if len(request.seeds.shape) not in (1, 2) or 0 in request.seeds.shape:
            raise arguments.wrong("seeds", seeds, "a list of seeds, a list for each policy, or SeedRange(seed, count)")
    else:
        request.piece_sequences.CopyFrom(pb.PieceSequences(sequences=piece_sequences))
    if pairs is not None:
        request.pairs.CopyFrom(from_numpy(pairs, np.uint32, "pairs"))
        if len(request.pairs.shape) != 2 or request.pairs.shape[1] != 2:
            raise arguments.wrong("pairs", pairs, "rows of two, a policy's index and a seed's")
    if progress_interval is not None:
        request.progress_interval.CopyFrom(arguments.duration("progress_interval", progress_interval))
    return request


def _agents(controllers: Controllers) -> list[pb.Agent]:
    if isinstance(controllers, (str, pb.Agent)):
        controllers = [controllers]
    listed = arguments.items("controllers", controllers, "names of controllers or agents")
    for place, controller in enumerate(listed):
        if not isinstance(controller, (str, pb.Agent)):
            raise arguments.wrong(f"controllers[{place}]", controller, "the name of a controller or an agent, or an Agent")
    return [pb.Agent(name=controller) if isinstance(controller, str) else controller for controller in listed]
