"""The search for a good linear controller, as `tetrion train` does it, wherever its games are played.

A score means little on the games by which a candidate was chosen. So each use has seeds of its own: the first look at a
generation, the second look, the check of the result so far. All of them follow from the seed of the run, and games depend
only on their seeds. So a run is the same on one server and on a hundred, and the same as the server program's own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments, keywords
from tetrion._checks.names import unknown
from tetrion._evaluations.progress import Progress
from tetrion._evaluations.request import EvaluationOptions
from tetrion._evaluations.results import Evaluation
from tetrion._messages.policies import PoliciesLike, Search
from tetrion._messages.requests import RulesLike, rules_message, selected_features
from tetrion._messages.seedings import DrawnSeeds, Seeds
from tetrion._pb import messages as pb
from tetrion._pb.records import Catalog, PolicySummary
from tetrion._training.cem import PRESETS, CemConfig, CemOptimizer
from tetrion._training.draws import GAME, word
from tetrion._training.genetic import GeneticConfig, GeneticOptimizer
from tetrion._training.optimizer import Generation
from tetrion.errors import InvalidArgumentError

if TYPE_CHECKING:
    from typing_extensions import Unpack

# A second look takes four times as many games.
_SECOND_LOOK = 4
# Each generation has four numbers to draw the seeds of its games from; the fourth is not used.
_NUMBERS, _CHECK = 4, 2


class Evaluator(Protocol):
    """The player of the games: a `Client`, or a pool of servers."""

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
    """A generation, and a check of the result so far.

    Attributes:
        generation: The generation as the optimizer reports it.
        elite_score: Mean score of the elite.
        check: The result so far on games of its own: `check.lines.mean` with its interval `check.lines.ci95_low` to
            `check.lines.ci95_high`.
        games: Games played, those of the check included.
        pieces: Pieces landed in them.
        weights: The result so far, float64 [F].
        score_by: The score of a game, `lines` or `points`.
    """

    generation: Generation
    elite_score: float
    check: PolicySummary
    games: int
    pieces: int
    weights: npt.NDArray[np.float64]
    score_by: str = "lines"

    def to_json(self) -> dict[str, Any]:
        """The same as a line of `generations.jsonl`, which `tetrion train` writes."""
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
    """A search for weights: iterate over its generations, or `run` all of them. Made by `cem` and `genetic`.

    Nothing is played before the first generation is asked for.

    Attributes:
        generations: How many generations there are in all.
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
        """How far it is, in a line."""
        return f"<tetrion.Training: {self.generation} of {self.generations} generations>"

    @property
    def generation(self) -> int:
        """Generations completed."""
        return self._optimizer.generation

    @property
    def weights(self) -> npt.NDArray[np.float64] | None:
        """The result so far, float64 [F]; None before the first generation is complete."""
        return self._optimizer.incumbent

    def state(self) -> dict[str, Any]:
        """Everything about the search, for JSON: the argument `state` of a later search, which goes on from here."""
        return self._optimizer.state()

    def run(self) -> npt.NDArray[np.float64]:
        """Plays all generations that are left, and returns the weights."""
        for _ in self:
            pass
        weights = self.weights
        assert weights is not None, "there is at least one generation"
        return weights

    def __iter__(self) -> Iterator[TrainedGeneration]:
        """The generations that are left."""
        return self

    def __next__(self) -> TrainedGeneration:
        """Plays a generation.

        Raises:
            StopIteration: All are complete.
        """
        optimizer = self._optimizer
        if optimizer.generation >= self.generations:
            raise StopIteration
        number = _NUMBERS * optimizer.generation
        played: list[Evaluation] = []
        while True:
            asked = optimizer.ask()
            looks = (number + 1, _SECOND_LOOK * self._games) if asked.second_look else (number, self._games)
            own = self._own_seeds(*looks, len(asked.candidates)) if self._has_own_seeds else None
            played.append(self._play(asked.candidates, *looks, own))
            policies = played[-1].summary.policies
            points = self._unit == "points"
            scores = np.array([policy.score.mean if points else policy.lines.mean for policy in policies])
            generation = optimizer.tell(scores)
            if generation is not None:
                break
        elite = np.sort(scores)[::-1][: optimizer.config.num_elites]
        weights = optimizer.incumbent
        assert weights is not None, "a generation is complete"
        played.append(self._play(weights, number + _CHECK, self._check_games))
        return TrainedGeneration(
            generation,
            # Added up one by one: numpy's own sum would group them, and the last bit could differ.
            sum(elite.tolist()) / len(elite),
            played[-1].summary.policies[0],
            sum(evaluation.lines.size for evaluation in played),
            sum(int(evaluation.pieces.sum()) for evaluation in played),
            weights,
            self._unit,
        )

    def _own_seeds(self, number: int, num_games: int, num_candidates: int) -> npt.NDArray[np.uint64]:
        slots = (word(word(self._seed, GAME, number), GAME, slot) for slot in range(num_candidates))
        return np.array([[word(slot, GAME, game) for game in range(num_games)] for slot in slots], dtype=np.uint64)

    def _play(self, weights: npt.NDArray[np.float64], number: int, num_games: int, seeds: Seeds = None) -> Evaluation:
        seeds = DrawnSeeds(word(self._seed, GAME, number), num_games) if seeds is None else seeds
        options: EvaluationOptions = {**self._options, "weights": weights, "seeds": seeds}
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
    """A cross-entropy search for the weights of a linear controller, that of `tetrion train` to the last bit.

    Example:
        training = tetrion.cem(client, generations=10)
        for trained in training:
            print(trained.generation.generation, trained.check.lines.mean)
        weights = training.weights  # training.run() plays all generations and returns them

    Args:
        evaluator: The player of the games: a `Client`, `Servers`, or a `tetrion.ray.Pool`.
        config: The parameters of the search: a `CemConfig`, or the name of a preset for `CemConfig.preset`.
        features: The name of a feature set, see `Client.catalog().feature_sets`, or a list of features, one for each
            weight: families written out, as `height_difference[0]`.
        rules: A preset's name, or fields of the rules by name. None: `simplified` on 10 x 10.
        search: How candidates weigh what the next pieces can reach. None: not at all.
        start: The weights that the search begins around, in place of those in `config`.
        population: Candidates per generation, in place of those in `config`.
        generations: How many there are in all.
        games: Games of each candidate, and four times as many in a second look.
        game_seeds: `common`: all candidates of a generation get the same pieces; `per_slot`: each gets pieces of its own,
            as in the notebook.
        check_games: Games after each generation that check the result so far, at least 2.
        max_pieces: Cuts a game after so many pieces; None: the server's limit.
        max_steps: Cuts a game after so many steps, which are keys where the rules have keys; None: the server's limit. The
            notebook's search, which `tetrion train --settings lab` is, has 1000.
        terminal_value: The value of a placement that ends the game: `avoid` (the default), or `score`, as in the notebook.
        score_by: What games are scored by: `lines`, or `points` under the rules' scoring.
        seed: What weights and games are drawn from.
        state: `state()` of a search with the same arguments, to go on with it.
        on_progress: Called now and then while games are played.

    Raises:
        InvalidArgumentError: There is no such preset, feature set or kind of `game_seeds` or `score_by`, a number is out of
            range, or `state` is of another search.
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
    """A genetic algorithm for the weights of a linear controller, that of the server program to the last bit.

    The defaults are those of the report that it comes from: a full game for each individual, a point a piece and ten a line.
    All other arguments, and the exceptions, are those of `cem`.

    Args:
        evaluator: The player of the games: a `Client`, `Servers`, or a `tetrion.ray.Pool`.
        config: The parameters of the search.
        features: The name of a feature set, or a list of features.
        rules: A preset's name, or fields of the rules by name.
        search: How individuals weigh what the next pieces can reach. None: not at all.
        population: Individuals per generation, in place of those in `config`.
        generations: How many there are in all.
        games: Games of each individual.
        game_seeds: `common` or `per_slot`, see `cem`.
        check_games: Games after each generation that check the result so far, at least 2.
        max_pieces: Cuts a game after so many pieces; None: the server's limit.
        max_steps: Cuts a game after so many steps; None: the server's limit.
        terminal_value: The value of a placement that ends the game: `avoid` or `score`.
        score_by: What games are scored by: `lines`, or `points` under the rules' scoring.
        seed: What weights and games are drawn from.
        state: `state()` of a search with the same arguments, to go on with it.
        on_progress: Called now and then while games are played.
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
    """How many features there are in the list, or in the set under these rules."""
    selected = selected_features(features)
    if not isinstance(selected, str):
        return len(selected or ())
    playfield = rules_message(rules) or pb.Rules()
    width = playfield.width
    if not width:
        name = playfield.preset or "simplified"
        # Rules that the server does not know are for the server to refuse.
        presets = evaluator.catalog().rules_presets
        width = next((preset.rules.get("width", 0) for preset in presets if preset.name == name), 0)
    for known in evaluator.catalog(width or None).feature_sets:
        if known.name == selected:
            return len(known.columns)
    names = [known.name for known in evaluator.catalog().feature_sets]
    raise InvalidArgumentError(unknown("feature set", features, names))
