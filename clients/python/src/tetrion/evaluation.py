"""How good are these controllers? The results of many games as columns of numbers."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tetrion import arguments
from tetrion._pb import evaluation_service_pb2 as pb
from tetrion._pb import features_pb2
from tetrion.errors import InvalidArgument
from tetrion.names import expected
from tetrion.requests import FeaturesLike, RulesLike, enum_value, features_message, rules_message
from tetrion.tensors import from_numpy, to_numpy

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


@dataclass(frozen=True)
class Games:
    """Finished games, as parallel columns.

    Attributes:
        policy_indices: uint32 [K], rows of the weight matrix first, then the controllers.
        seed_indices: uint32 [K].
        episode_indices: uint32 [K], the episode of that seed.
        seeds: uint64 [K], the episode seed: `reset(seeds=...)` with it deals the same pieces.
        lines: uint64 [K], lines cleared.
        pieces: uint64 [K], pieces landed.
        steps: uint64 [K], steps taken.
        scores: float64 [K], points as the rules score them.
        truncated: bool [K], cut by a limit.
    """

    policy_indices: npt.NDArray[np.uint32]
    seed_indices: npt.NDArray[np.uint32]
    episode_indices: npt.NDArray[np.uint32]
    seeds: npt.NDArray[np.uint64]
    lines: npt.NDArray[np.uint64]
    pieces: npt.NDArray[np.uint64]
    steps: npt.NDArray[np.uint64]
    scores: npt.NDArray[np.float64]
    truncated: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        """How many games."""
        return len(self.lines)

    @classmethod
    def from_message(cls, results: pb.EvaluationResults) -> Games:
        """Views of the message's bytes."""
        return cls(**{name: to_numpy(getattr(results, name)) for name in COLUMNS})  # type: ignore[arg-type]

    @classmethod
    def joined(cls, parts: Sequence[Games]) -> Games:
        """The games of all parts, in the order of policy, seed and episode."""
        if not parts:
            return cls.from_message(_NO_GAMES)
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS}
        order = np.lexsort([columns["episode_indices"], columns["seed_indices"], columns["policy_indices"]])
        return cls(**{name: column[order] for name, column in columns.items()})

    def rows(self, chosen: npt.NDArray[np.generic]) -> Games:
        """Some of them, by a mask or by indices."""
        return Games(**{name: getattr(self, name)[chosen] for name in COLUMNS})


COLUMNS = tuple(field.name for field in fields(Games))

_NO_GAMES = pb.EvaluationResults(
    **{
        field.name: from_numpy(np.empty(0, {"scores": np.float64, "truncated": np.bool_}.get(field.name, dtype)))
        for field in fields(Games)
        for dtype in [np.uint32 if field.name.endswith("_indices") else np.uint64]
    }
)


@dataclass(frozen=True)
class Evaluation(Games):
    """All games of an evaluation, in the order of policy, seed and episode, and what they come to.

    Attributes:
        started: What was played, with every default: `num_policies`, `num_seeds`, `num_games`, `rules`, ...
        summary: `policies`, one for each that played, rows of the weight matrix first: `policy_index`, `num_games`,
            `num_truncated`, and `lines`, `pieces`, `score`; and `paired_differences` to the baseline, game by game on the
            same pieces: `policy_index`, `baseline_index`, `num_games`, and `lines`, `score`. Each of these last is a
            `mean`, `std`, `ci95_low`, `ci95_high` (95 % interval of the mean), `min` and `max`.
    """

    started: pb.EvaluationStarted
    summary: pb.EvaluationSummary

    @property
    def mean_lines(self) -> npt.NDArray[np.float64]:
        """Mean lines a game of each policy that played, float64 [P]."""
        return np.array([policy.lines.mean for policy in self.summary.policies])


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
        matrix = np.atleast_2d(weight_array(weights))
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


def weight_array(weights: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Weights as float64, one row of them or several.

    Raises:
        InvalidArgument: They are not rows of one length, or one is no finite number.
    """
    try:
        given = np.asarray(weights)
    except ValueError:
        given = np.empty(0, object)
    if given.ndim not in (1, 2) or given.size == 0 or given.dtype.kind not in "iuf":
        raise arguments.wrong("weights", weights, "numbers, one row of them or several of one length")
    matrix = given.astype(np.float64)
    if not np.isfinite(matrix).all():
        index = tuple(np.argwhere(~np.isfinite(matrix))[0])
        place = ", ".join(map(str, index))
        raise arguments.wrong(f"weights[{place}]", float(matrix[index]), "a finite number")
    return matrix
