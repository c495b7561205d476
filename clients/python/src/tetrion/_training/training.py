"""The search for a good linear controller, as `tetrion train` does it, wherever its games are played.

A score means little on the games by which a candidate was chosen. So each use has seeds of its own: the first look at a
generation, the second look, the check of the result so far. All of them follow from the seed of the run, and games depend
only on their seeds. So a run is the same on one server and on a hundred, and the same as the server program's own.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments, keywords
from tetrion._checks.names import unknown
from tetrion._evaluations.progress import Progress
from tetrion._evaluations.request import Controllers, EvaluationOptions, SeedRange, Seeds
from tetrion._evaluations.results import Evaluation
from tetrion._messages.requests import ExpectationLike, RulesLike, features_message, rules_message
from tetrion._pb import evaluation_service_pb2 as pb
from tetrion._pb import rules_pb2
from tetrion._pb.environment_service_pb2 import GetServerInfoResponse
from tetrion._training.cem import PRESETS, Cem, CemConfig
from tetrion._training.draws import GAME, word
from tetrion._training.genetic import Genetic, GeneticConfig
from tetrion._training.search import Generation
from tetrion.errors import InvalidArgumentError

if TYPE_CHECKING:
    from typing_extensions import Unpack

# A second look takes four times as many games.
_SECOND_LOOK = 4
# Each generation has four numbers to draw the seeds of its games from; the fourth is not used.
_NUMBERS, _CHECK = 4, 2


class _Defaults(NamedTuple):
    """What a search plays if the caller does not say."""

    features: str
    rules: RulesLike
    generations: int
    games: int
    game_seeds: str
    terminal: str | None
    unit: str


_CEM = _Defaults("thiery9", {"width": 10, "height": 10}, 30, 5, "common", None, "lines")
# The report on a genetic algorithm: a full game for each individual, a point a piece and ten a line.
_GENETIC = _Defaults("lab4", "genetic", 15, 1, "per_slot", "score", "points")


class Evaluator(Protocol):
    """The player of the games: a `Client`, or a pool of servers."""

    def evaluate(
        self,
        controllers: Controllers = (),
        *,
        progress: bool = False,
        on_progress: Progress | None = None,
        record: str | Sequence[str] | None = None,
        **options: Unpack[EvaluationOptions],
    ) -> Evaluation:
        """See `Client.evaluate`."""
        ...

    def server_info(self, width: int = 0) -> GetServerInfoResponse:
        """See `Client.server_info`."""
        ...


class TrainedGeneration(NamedTuple):
    """A generation, and a check of the result so far.

    Attributes:
        generation: The generation as the search reports it.
        elite_score: Mean score of the elite.
        check: The result so far on games of its own: `check.lines.mean` with its interval `check.lines.ci95_low` to
            `check.lines.ci95_high`.
        games: Games played, those of the check included.
        pieces: Pieces landed in them.
        search: The search as it is now; `search.incumbent` is the result so far, `search.state()` is what to save.
        unit: The score of a game, `lines` or `points`.
    """

    generation: Generation
    elite_score: float
    check: pb.PolicySummary
    games: int
    pieces: int
    search: Cem | Genetic
    unit: str = "lines"

    def to_json(self) -> dict[str, Any]:
        """The same as a line of `generations.jsonl`, which `tetrion train` writes."""
        score = self.check.score if self.unit == "points" else self.check.lines
        generation = {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in self.generation._asdict().items()
        }
        check = {
            "unit": self.unit,
            "mean": score.mean,
            "std": score.std,
            "ci95": [score.ci95_low, score.ci95_high],
            "games": self.check.num_games,
            "truncated": self.check.num_truncated,
        }
        return {
            **generation,
            "elite_score": self.elite_score,
            "check": check,
            "games": self.games,
            "pieces": self.pieces,
        }


@keywords.checked
def train(
    evaluator: Evaluator,
    config: CemConfig | GeneticConfig | str = "tetrion",
    *,
    features: str | Sequence[str] | None = None,
    rules: RulesLike = None,
    expectation: ExpectationLike = None,
    start: npt.ArrayLike | None = None,
    population: int | None = None,
    generations: int | None = None,
    games: int | None = None,
    game_seeds: str | None = None,
    check_games: int = 100,
    max_pieces: int = 500_000,
    max_steps: int = 0,
    terminal: str | None = None,
    unit: str | None = None,
    seed: int = 1,
    state: Mapping[str, Any] | None = None,
    on_progress: Progress | None = None,
) -> Iterator[TrainedGeneration]:
    """Searches for the weights of a linear controller, a generation at a time.

    Example:
        for trained in tetrion.train(client, generations=10):
            print(trained.generation.generation, trained.check.lines.mean)
        weights = trained.search.incumbent

    Args:
        evaluator: The player of the games: a `Client`, `Servers`, or a `tetrion.ray.Pool`.
        config: The parameters of the search: a `CemConfig`, or the name of a preset for `CemConfig.preset`, for the
            cross-entropy method; a `GeneticConfig`, or `genetic`, for the genetic algorithm. The defaults below are those
            of `tetrion train` and of `tetrion train genetic`.
        features: The name of a feature set, see `Client.server_info().feature_sets`, or a list of features, one for each
            weight: families written out, as `height_difference[0]`. Default `thiery9`, genetic `lab4`.
        rules: A preset's name, or fields of the rules by name. Default `simplified` on 10 x 10, genetic `genetic`.
        expectation: How candidates weigh what the next pieces can reach, as in `Client.evaluate`. Default: not at all.
        start: Cross-entropy: the weights that the search begins around, in place of those in `config`.
        population: Candidates a generation, in place of those in `config`.
        generations: How many there are in all. Default 30, genetic 15.
        games: Games of each candidate, and four times as many in a second look. Default 5, genetic 1.
        game_seeds: `common`: all candidates of a generation get the same pieces; `per_slot`: each gets pieces of its own,
            as in the notebook. Default `common`, genetic `per_slot`.
        check_games: Games after each generation that check the result so far, at least 2.
        max_pieces: Cuts a game after so many pieces; 0: the server's limit.
        max_steps: Cuts a game after so many steps, which are keys where the rules have keys; 0: the server's limit. The
            notebook's search, which `tetrion train --settings lab` is, has 1000.
        terminal: What a placement that ends the game is worth: `avoid`, or `score`, as in the notebook; genetic `score`.
        unit: What games are scored by: `lines`, or `points` under the rules' scoring; genetic `points`.
        seed: What weights and games are drawn from.
        state: `search.state()` of a run with the same arguments, to go on with it.
        on_progress: Called now and then while games are played.

    Returns:
        An iterator over the generations that are left; nothing is played before the first is asked for.

    Raises:
        InvalidArgumentError: There is no such preset, feature set or kind of `game_seeds` or `unit`, a number is out of
            range, or `state` is of another search.
    """
    if not callable(getattr(evaluator, "evaluate", None)):
        raise arguments.wrong("evaluator", evaluator, "a Client, Servers or a tetrion.ray.Pool")
    if isinstance(config, str):
        config = arguments.choice("config", config, [*PRESETS, "genetic"])
    elif not isinstance(config, (CemConfig, GeneticConfig)):
        raise arguments.wrong("config", config, "a CemConfig, a GeneticConfig, or the name of a preset")
    defaults = _GENETIC if config == "genetic" or isinstance(config, GeneticConfig) else _CEM
    features = defaults.features if features is None else features
    rules = defaults.rules if rules is None else rules
    generations = defaults.generations if generations is None else arguments.integer("generations", generations, 1)
    games = defaults.games if games is None else arguments.integer("games", games, 1)
    game_seeds = defaults.game_seeds if game_seeds is None else game_seeds
    terminal = defaults.terminal if terminal is None else terminal
    unit = defaults.unit if unit is None else unit
    check_games = arguments.integer("check_games", check_games, 2)  # for an interval
    seed = arguments.integer("seed", seed, 0, arguments.U64)
    for name, value, kinds in (("game_seeds", game_seeds, ("common", "per_slot")), ("unit", unit, ("lines", "points"))):
        if value not in kinds:
            raise arguments.wrong(name, value, " or ".join(kinds))
    if config == "genetic":
        config = GeneticConfig()
    elif isinstance(config, str):
        config = CemConfig.preset(config, generations)
    if start is not None:
        if isinstance(config, GeneticConfig):
            raise InvalidArgumentError(
                "start", "is given with the genetic algorithm, expected it with the cross-entropy method"
            )
        config = dataclasses.replace(config, start=tuple(arguments.weights("start", start).ravel().tolist()))
    if population is not None:
        population = arguments.integer("population", population)
        if isinstance(config, GeneticConfig):
            config = dataclasses.replace(config, individuals=population)
        else:
            config = dataclasses.replace(config, population=population)
    playfield = rules_message(rules) or rules_pb2.Rules()
    search = _search(config, state, lambda: _num_weights(evaluator, features, playfield), seed)

    def own_seeds(number: int, num_games: int, num_candidates: int) -> npt.NDArray[np.uint64]:
        slots = (word(word(seed, GAME, number), GAME, slot) for slot in range(num_candidates))
        return np.array([[word(slot, GAME, game) for game in range(num_games)] for slot in slots], dtype=np.uint64)

    def play(weights: npt.NDArray[np.float64], number: int, num_games: int, seeds: Seeds = None) -> Evaluation:
        return evaluator.evaluate(
            weights=weights,
            features=features,
            rules=playfield,
            seeds=SeedRange(word(seed, GAME, number), num_games) if seeds is None else seeds,
            max_pieces=max_pieces,
            max_steps=max_steps,
            terminal=terminal,
            expectation=expectation,
            on_progress=on_progress,
        )

    def advance() -> TrainedGeneration:
        """Plays one generation."""
        number = _NUMBERS * search.generation
        played: list[Evaluation] = []
        while True:
            asked = search.ask()
            looks = (number + 1, _SECOND_LOOK * games) if asked.second_look else (number, games)
            own = own_seeds(*looks, len(asked.candidates)) if game_seeds == "per_slot" else None
            played.append(play(asked.candidates, *looks, own))
            policies = played[-1].summary.policies
            scores = np.array([policy.score.mean if unit == "points" else policy.lines.mean for policy in policies])
            generation = search.tell(scores)
            if generation is not None:
                break
        elite = np.sort(scores)[::-1][: search.config.num_elites]
        incumbent = search.incumbent
        assert incumbent is not None, "a generation is complete"
        played.append(play(incumbent, number + _CHECK, check_games))
        return TrainedGeneration(
            generation,
            # Added up one by one: numpy's own sum would group them, and the last bit could differ.
            sum(elite.tolist()) / len(elite),
            played[-1].summary.policies[0],
            sum(evaluation.lines.size for evaluation in played),
            sum(int(evaluation.pieces.sum()) for evaluation in played),
            copy.deepcopy(search),
            unit,
        )

    return (advance() for _ in range(search.generation, generations))


def _search(
    config: CemConfig | GeneticConfig, state: Mapping[str, Any] | None, num_weights: Callable[[], int], seed: int
) -> Cem | Genetic:
    """The search that goes on from a state, or a new one."""
    if isinstance(config, GeneticConfig):
        return Genetic(config, num_weights(), seed) if state is None else Genetic.resume(config, state)
    return Cem(config, num_weights(), seed) if state is None else Cem.resume(config, state)


def _num_weights(evaluator: Evaluator, features: str | Sequence[str], rules: rules_pb2.Rules) -> int:
    """How many features there are in the list, or in the set under these rules."""
    selected = features_message(features)
    if selected is not None and not selected.set:
        return len(selected.features)
    width = rules.width
    if not rules.HasField("width"):
        name = rules.preset or "simplified"
        # Rules that the server does not know are for the server to refuse.
        width = next((preset.rules.width for preset in evaluator.server_info().rules_presets if preset.name == name), 0)
    for known in evaluator.server_info(width).feature_sets:
        if known.name == features:
            return len(known.columns)
    raise InvalidArgumentError(
        unknown("feature set", features, (known.name for known in evaluator.server_info().feature_sets))
    )
