"""The search for a good linear controller, like `tetrion train`, with games played on any servers.

The extension module says which games to play, as in `tetrion train`, and any evaluator plays them. All seeds follow from the
seed of the run, and games depend only on their seeds. So a run is the same on one server, on a hundred, and in the program.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from tetrion import _native
from tetrion._checks import arguments, keywords
from tetrion._checks.names import unknown
from tetrion._evaluations.progress import Progress
from tetrion._evaluations.request import EvaluationOptions
from tetrion._evaluations.results import Evaluation
from tetrion._messages.policies import PoliciesLike, Search
from tetrion._messages.requests import RulesLike, rules_message, selected_features
from tetrion._messages.seedings import DrawnSeeds
from tetrion._pb import messages as pb
from tetrion._pb.records import Catalog, PolicySummary
from tetrion._training.cem import PRESETS, CemConfig, CemOptimizer
from tetrion._training.genetic import GeneticConfig, GeneticOptimizer
from tetrion._training.optimizer import Generation
from tetrion.errors import InvalidArgumentError

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Evaluator(Protocol):
    """A player of games: a `Client`, or a pool of servers."""

    def evaluate(
        self,
        policies: PoliciesLike = (),
        *,
        progress: bool = False,
        on_progress: Progress | None = None,
        record: str | Sequence[str] | None = None,
        **options: Unpack[EvaluationOptions],
    ) -> Evaluation:
        """See `Client.evaluate`."""
        ...

    def catalog(self, width: int | None = None) -> Catalog:
        """See `Client.catalog`."""
        ...


@dataclass(frozen=True, eq=False)
class TrainedGeneration:
    """A generation, and a check of the current result.

    Attributes:
        generation: The optimizer's report on the generation.
        elite_score: Mean score of the elite.
        check: Score of the current result, in games for this check only: `check.lines.mean` with its interval
            `check.lines.ci95_low` to `check.lines.ci95_high`.
        games: Games played, including the check.
        pieces: Pieces landed in these games.
        weights: The current result, float64 [F].
        score_by: Unit of the scores, `lines` or `points`.
    """

    generation: Generation
    elite_score: float
    check: PolicySummary
    games: int
    pieces: int
    weights: npt.NDArray[np.float64]
    score_by: str = "lines"

    def to_json(self) -> dict[str, Any]:
        """The generation as a line of `generations.jsonl`, which `tetrion train` writes."""
        score = self.check.score if self.score_by == "points" else self.check.lines
        generation = {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in self.generation._asdict().items()
        }
        check = {
            "unit": self.score_by,
            "num_games": self.check.num_games,
            "num_truncated": self.check.num_truncated,
            "mean": score.mean,
            "std": score.std,
            "ci95_low": score.ci95_low,
            "ci95_high": score.ci95_high,
        }
        return {
            **generation,
            "elite_score": self.elite_score,
            "check": check,
            "games": self.games,
            "pieces": self.pieces,
        }


class Training:
    """A search for weights, created by `cem` and `genetic`: iterate over its generations, or `run` all of them.

    Nothing is played before the first generation is requested.

    Attributes:
        generations: Total number of generations.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        optimizer: CemOptimizer | GeneticOptimizer,
        *,
        features: str | Sequence[str],
        rules: RulesLike,
        search: Search | None,
        generations: int,
        games: int,
        game_seeds: str,
        check_games: int,
        max_pieces: int | None,
        max_steps: int | None,
        terminal_value: str | None,
        score_by: str,
        seed: int,
        on_progress: Progress | None,
    ) -> None:
        """See `cem`."""
        self.generations = arguments.integer("generations", generations, 1)
        self._evaluator = evaluator
        self._optimizer = optimizer
        self._games = arguments.integer("games", games, 1)
        self._check_games = arguments.integer("check_games", check_games, 2)  # for an interval
        self._seed = seed
        self._has_own_seeds = _either("game_seeds", game_seeds, "common", "per_slot") == "per_slot"
        self._unit = _either("score_by", score_by, "lines", "points")
        self._options: EvaluationOptions = {
            "features": features,
            "rules": rules,
            "max_pieces": max_pieces,
            "max_steps": max_steps,
            "terminal_value": terminal_value,
            "search": search,
        }
        self._on_progress = on_progress

    def __repr__(self) -> str:
        """The progress, in a line."""
        return f"<tetrion.Training: {self.generation} of {self.generations} generations>"

    @property
    def generation(self) -> int:
        """Number of completed generations."""
        return self._optimizer.generation

    @property
    def weights(self) -> npt.NDArray[np.float64] | None:
        """The current result, float64 [F]; None before the first generation is complete."""
        return self._optimizer.incumbent

    def state(self) -> dict[str, Any]:
        """The complete state of the search, for JSON: the argument `state` of a later search that continues it."""
        return self._optimizer.state()

    def run(self) -> npt.NDArray[np.float64]:
        """Plays all remaining generations, and returns the weights."""
        for _ in self:
            pass
        weights = self.weights
        assert weights is not None, "there is at least one generation"
        return weights

    def __iter__(self) -> Iterator[TrainedGeneration]:
        """Iterates over the remaining generations."""
        return self

    def __next__(self) -> TrainedGeneration:
        """Plays a generation.

        Raises:
            StopIteration: All generations are complete.
        """
        optimizer = self._optimizer
        if optimizer.generation >= self.generations:
            raise StopIteration
        rounds = _native.Rounds(optimizer._native, self._seed, self._games, self._check_games, self._has_own_seeds)
        while True:
            evaluation = self._play(*rounds.ask())
            policies = evaluation.summary.policies
            scores = [policy.score.mean if self._unit == "points" else policy.lines.mean for policy in policies]
            checked = rounds.tell(scores, evaluation.lines.size, int(evaluation.pieces.sum()))
            if checked is not None:
                break
        generation, elite_score, games, pieces = checked
        weights = optimizer.incumbent
        assert weights is not None, "a generation is complete"
        return TrainedGeneration(Generation.read(generation), elite_score, policies[0], games, pieces, weights, self._unit)

    def _play(self, weights: bytes, num_candidates: int, drawn: tuple[int, int] | None, rows: list[list[int]]) -> Evaluation:
        options: EvaluationOptions = {
            **self._options,
            "weights": np.frombuffer(weights, np.float64).reshape(num_candidates, -1),
            "seeds": DrawnSeeds(*drawn) if drawn is not None else np.array(rows, np.uint64),
        }
        return self._evaluator.evaluate(on_progress=self._on_progress, **options)


@keywords.checked
def cem(
    evaluator: Evaluator,
    config: CemConfig | str = "tetrion",
    *,
    features: str | Sequence[str] = "thiery9",
    rules: RulesLike = None,
    search: Search | None = None,
    start: npt.ArrayLike | None = None,
    population: int | None = None,
    generations: int = 30,
    games: int = 5,
    game_seeds: str = "common",
    check_games: int = 100,
    max_pieces: int | None = 500_000,
    max_steps: int | None = None,
    terminal_value: str | None = None,
    score_by: str = "lines",
    seed: int = 1,
    state: Mapping[str, Any] | None = None,
    on_progress: Progress | None = None,
) -> Training:
    """A cross-entropy search for the weights of a linear controller, equal to that of `tetrion train` to the last bit.

    Example:
        training = tetrion.cem(client, generations=10)
        for trained in training:
            print(trained.generation.generation, trained.check.lines.mean)
        weights = training.weights  # training.run() plays all generations and returns them

    Args:
        evaluator: The player of the games: a `Client`, `Servers`, or a `tetrion.ray.Pool`.
        config: The parameters of the search: a `CemConfig`, or the name of a preset for `CemConfig.preset`.
        features: The name of a feature set (see `Client.catalog().feature_sets`), or a list of features, one per weight,
            with families written out, such as `height_difference[0]`.
        rules: A preset's name, or fields of the rules by name. None: `simplified` on 10 x 10.
        search: How candidates use the next pieces. None: not at all.
        start: Initial mean of each weight, instead of the one in `config`.
        population: Candidates per generation, instead of the number in `config`.
        generations: Total number of generations.
        games: Games per candidate; a second look plays four times as many.
        game_seeds: `common`: all candidates of a generation play the same pieces; `per_slot`: each plays separate pieces, as
            in the notebook.
        check_games: Games after each generation that score the current result, at least 2.
        max_pieces: Cuts a game after this many pieces. None: the server's limit.
        max_steps: Cuts a game after this many steps, which are keys if the rules have keys. None: the server's limit. The
            notebook's search, `tetrion train --settings lab`, has 1000.
        terminal_value: Value of a game-ending placement: `avoid` (the default), or `score`, as in the notebook.
        score_by: Unit of the scores: `lines`, or `points` under the rules' scoring.
        seed: Seed of all draws, for weights and games.
        state: `state()` of a search with the same arguments, to continue it.
        on_progress: Called from time to time while games are played.

    Raises:
        InvalidArgumentError: The preset, the feature set, or the kind of `game_seeds` or `score_by` does not exist, a number
            is out of range, or `state` belongs to another search.
    """
    _check_evaluator(evaluator)
    if isinstance(config, str):
        config = CemConfig.preset(
            arguments.choice("config", config, PRESETS), arguments.integer("generations", generations, 1)
        )
    elif not isinstance(config, CemConfig):
        raise arguments.wrong("config", config, "a CemConfig, or the name of a preset")
    if start is not None:
        config = dataclasses.replace(config, start=tuple(arguments.weights("start", start).ravel().tolist()))
    if population is not None:
        config = dataclasses.replace(config, population=arguments.integer("population", population))
    rules = {"width": 10, "height": 10} if rules is None else rules
    seed = arguments.integer("seed", seed, 0, arguments.U64)
    optimizer = (
        CemOptimizer(config, _num_weights(evaluator, features, rules), seed)
        if state is None
        else CemOptimizer.resume(config, state)
    )
    return Training(
        evaluator,
        optimizer,
        features=features,
        rules=rules,
        search=search,
        generations=generations,
        games=games,
        game_seeds=game_seeds,
        check_games=check_games,
        max_pieces=max_pieces,
        max_steps=max_steps,
        terminal_value=terminal_value,
        score_by=score_by,
        seed=seed,
        on_progress=on_progress,
    )


@keywords.checked
def genetic(
    evaluator: Evaluator,
    config: GeneticConfig | None = None,
    *,
    features: str | Sequence[str] = "lab4",
    rules: RulesLike = "genetic",
    search: Search | None = None,
    population: int | None = None,
    generations: int = 15,
    games: int = 1,
    game_seeds: str = "per_slot",
    check_games: int = 100,
    max_pieces: int | None = 500_000,
    max_steps: int | None = None,
    terminal_value: str | None = "score",
    score_by: str = "points",
    seed: int = 1,
    state: Mapping[str, Any] | None = None,
    on_progress: Progress | None = None,
) -> Training:
    """A genetic algorithm for the weights of a linear controller, equal to that of `tetrion train` to the last bit.

    The defaults are those of the report that it comes from: a full game per individual, one point per piece and ten per
    line. All other arguments, and the exceptions, are those of `cem`.

    Args:
        evaluator: The player of the games: a `Client`, `Servers`, or a `tetrion.ray.Pool`.
        config: The parameters of the search.
        features: The name of a feature set, or a list of features.
        rules: A preset's name, or fields of the rules by name.
        search: How individuals use the next pieces. None: not at all.
        population: Individuals per generation, instead of the number in `config`.
        generations: Total number of generations.
        games: Games per individual.
        game_seeds: `common` or `per_slot`; see `cem`.
        check_games: Games after each generation that score the current result, at least 2.
        max_pieces: Cuts a game after this many pieces. None: the server's limit.
        max_steps: Cuts a game after this many steps. None: the server's limit.
        terminal_value: Value of a game-ending placement: `avoid` or `score`.
        score_by: Unit of the scores: `lines`, or `points` under the rules' scoring.
        seed: Seed of all draws, for weights and games.
        state: `state()` of a search with the same arguments, to continue it.
        on_progress: Called from time to time while games are played.
    """
    _check_evaluator(evaluator)
    config = GeneticConfig() if config is None else config
    if not isinstance(config, GeneticConfig):
        raise arguments.wrong("config", config, "a GeneticConfig")
    if population is not None:
        config = dataclasses.replace(config, individuals=arguments.integer("population", population))
    seed = arguments.integer("seed", seed, 0, arguments.U64)
    optimizer = (
        GeneticOptimizer(config, _num_weights(evaluator, features, rules), seed)
        if state is None
        else GeneticOptimizer.resume(config, state)
    )
    return Training(
        evaluator,
        optimizer,
        features=features,
        rules=rules,
        search=search,
        generations=generations,
        games=games,
        game_seeds=game_seeds,
        check_games=check_games,
        max_pieces=max_pieces,
        max_steps=max_steps,
        terminal_value=terminal_value,
        score_by=score_by,
        seed=seed,
        on_progress=on_progress,
    )


def _check_evaluator(evaluator: Any) -> None:
    if not callable(getattr(evaluator, "evaluate", None)):
        raise arguments.wrong("evaluator", evaluator, "a Client, Servers or a tetrion.ray.Pool")


def _either(name: str, value: Any, one: str, other: str) -> str:
    if value not in (one, other):
        raise arguments.wrong(name, value, f"{one} or {other}")
    return str(value)


def _num_weights(evaluator: Evaluator, features: str | Sequence[str], rules: RulesLike) -> int:
    """Number of features in the list, or in the set under these rules."""
    selected = selected_features(features)
    if not isinstance(selected, str):
        return len(selected or ())
    playfield = rules_message(rules) or pb.Rules()
    width = playfield.width
    if not width:
        name = playfield.preset or "simplified"
        # The server refuses rules that it does not know.
        presets = evaluator.catalog().rules_presets
        width = next((preset.rules.get("width", 0) for preset in presets if preset.name == name), 0)
    for known in evaluator.catalog(width or None).feature_sets:
        if known.name == selected:
            return len(known.columns)
    names = [known.name for known in evaluator.catalog().feature_sets]
    raise InvalidArgumentError(unknown("feature set", features, names))
