"""Tetris environments for reinforcement learning, in this process or on a Tetrion server.

    import gymnasium, tetrion
    env = gymnasium.make("tetrion/Placement-v0")                    # one game
    envs = gymnasium.make_vec("tetrion/Placement-v0", num_envs=256)  # one session of 256, one call a step

Without an address, they use the server that the environment variable TETRION_SERVER names, or else play in this process.
There are:

- Environments: `PlacementEnv`, `PlacementVectorEnv`; key by key `KeypressEnv`, `KeypressVectorEnv`. `Flattener` turns
  observations into rows of numbers, `Planes` into pictures for convolutions; `tetrion.sb3.TetrisVecEnv` is for
  Stable-Baselines3.
- `Client`, for everything else. `Client.create_session` makes a `Session` of environments, whose calls are faster as a
  `StepStream`: `Observed`, `Stepped` with `Final`, `Placements` with features and afterstates, snapshots as bytes. A session
  reads and writes actions by their `ActionDigit`s; `EpisodeEnd` names the numbers of the info `end`.
- `Client.enumerate_placements` for a `Drawing` or `Packed` playfields of your own.
- `Client.evaluate`: whole games of any number of policies on `DrawnSeeds` or on seeds, with `EvaluationOptions`, as an
  `Evaluation` of `Games`, or an `EvaluationRun` while it goes on; `Client.estimate`, how long games of good policies last,
  as an `Estimation` of `Estimates`. A `Policy` says how an agent plays, a `Search` how it weighs what the next pieces can
  reach. `Mlp` and `NTuple` (of `TuplePattern`s) are models beside the weights.
- `Client.watch`: the games of a session while its learner steps it, wherever that is; a `Watching` yields each
  `WatchedFrame` with a `WatchedEnv` and perhaps its last `WatchedEpisode` for each environment.
- `Recording`, a game in a file, which notebooks show with controls; `Recorder` makes them of any session or environment,
  `RecordGames` and `RecordVectorGames` write those of an environment; a `Replay` walks through one, `Scene` by `Scene`.
- `cem` and `genetic`, the searches of `tetrion train`: a `Training`, which yields a `TrainedGeneration` at a time.
  `CemOptimizer` with `CemConfig` and `Noise`, and `GeneticOptimizer` with `GeneticConfig`, are for scores of your own.
- `ConnectionSettings`, how a client connects; `Tls`, the files of an encrypted connection; `Servers`, several as one
  client; `tetrion.ray.Pool`, a Ray cluster as one; `Server`, one as a child of this process.
- `RulesFields` with `ScoringFields` and `GarbageFields`, the types of `rules`; `RulesLike`, `FeaturesLike` and
  `PoliciesLike`, all that these arguments take.
- `ServerInfo`, `Catalog`, `SessionConfig`, `EvaluationSummary` and other results; `tetrion.records` has all their parts.
- `TetrionError` and its subclasses in `tetrion.errors`; each says what to do.

`help(tetrion.PlacementEnv)`, and so on, explains shapes, types, ranges and errors. In shapes N is the number of environments
or games, A of actions, P of policies, F of features.

This package holds no rules of the game: in this process its extension module has them.
"""

import gymnasium as _gymnasium

from tetrion import records  # noqa: F401
from tetrion._clients.client import Client
from tetrion._clients.servers import Servers
from tetrion._envs.flat import Flattener, Planes
from tetrion._envs.keypress import KeypressEnv, KeypressVectorEnv
from tetrion._envs.placement import PlacementEnv, PlacementVectorEnv
from tetrion._evaluations.games import Estimates, Games
from tetrion._evaluations.request import EvaluationOptions
from tetrion._evaluations.results import Estimation, Evaluation
from tetrion._evaluations.run import EvaluationRun
from tetrion._messages.answers import Final, Observed, Stepped
from tetrion._messages.digits import ActionDigit
from tetrion._messages.ends import EpisodeEnd
from tetrion._messages.models import Mlp, NTuple, TuplePattern
from tetrion._messages.placements import KEYS, Placements
from tetrion._messages.policies import PoliciesLike, Policy, Search
from tetrion._messages.requests import Drawing, FeaturesLike, Packed, PlacementsOptions, RulesLike
from tetrion._messages.seedings import DrawnSeeds
from tetrion._pb.fields import GarbageFields, RulesFields, ScoringFields
from tetrion._pictures.scenes import Scene
from tetrion._recordings.record_games import RecordGames, RecordVectorGames
from tetrion._recordings.recorder import Recorder
from tetrion._recordings.recording import Recording
from tetrion._recordings.replay import Replay
from tetrion._sessions.session import Session
from tetrion._sessions.stream import StepStream
from tetrion._training.cem import CemConfig, CemOptimizer, Noise
from tetrion._training.genetic import GeneticConfig, GeneticOptimizer
from tetrion._training.optimizer import Generation, Round
from tetrion._training.training import TrainedGeneration, Training, cem, genetic
from tetrion._transport import versions as _versions
from tetrion._transport.connection import ConnectionSettings
from tetrion._transport.server import Server
from tetrion._transport.tls import Tls
from tetrion._watching.frames import WatchedEnv, WatchedEpisode, WatchedFrame
from tetrion._watching.watching import Watching
from tetrion.errors import (
    EpisodeEndedError,
    IllegalActionError,
    InvalidArgumentError,
    InvalidRequestError,
    ResetNeededError,
    ServerUnavailableError,
    SessionNotFoundError,
    TetrionError,
)
from tetrion.records import (
    Catalog,
    EstimateSummary,
    EvaluationProgress,
    EvaluationStarted,
    EvaluationSummary,
    PairedDifference,
    PolicySummary,
    ServerInfo,
    SessionConfig,
    Statistics,
)

__version__ = _versions.VERSION

__all__ = [
    "KEYS",
    "ActionDigit",
    "Catalog",
    "CemConfig",
    "CemOptimizer",
    "Client",
    "ConnectionSettings",
    "Drawing",
    "DrawnSeeds",
    "EpisodeEnd",
    "EpisodeEndedError",
    "EstimateSummary",
    "Estimates",
    "Estimation",
    "Evaluation",
    "EvaluationOptions",
    "EvaluationProgress",
    "EvaluationRun",
    "EvaluationStarted",
    "EvaluationSummary",
    "FeaturesLike",
    "Final",
    "Flattener",
    "Games",
    "GarbageFields",
    "Generation",
    "GeneticConfig",
    "GeneticOptimizer",
    "IllegalActionError",
    "InvalidArgumentError",
    "InvalidRequestError",
    "KeypressEnv",
    "KeypressVectorEnv",
    "Mlp",
    "NTuple",
    "Noise",
    "Observed",
    "Packed",
    "PairedDifference",
    "PlacementEnv",
    "PlacementVectorEnv",
    "Placements",
    "PlacementsOptions",
    "Planes",
    "PoliciesLike",
    "Policy",
    "PolicySummary",
    "RecordGames",
    "RecordVectorGames",
    "Recorder",
    "Recording",
    "Replay",
    "ResetNeededError",
    "Round",
    "RulesFields",
    "RulesLike",
    "Scene",
    "ScoringFields",
    "Search",
    "Server",
    "ServerInfo",
    "ServerUnavailableError",
    "Servers",
    "Session",
    "SessionConfig",
    "SessionNotFoundError",
    "Statistics",
    "StepStream",
    "Stepped",
    "TetrionError",
    "Tls",
    "TrainedGeneration",
    "Training",
    "TuplePattern",
    "WatchedEnv",
    "WatchedEpisode",
    "WatchedFrame",
    "Watching",
    "cem",
    "genetic",
]

# The modules are private: tracebacks, pickles and specifications of environments call everything by its public name.
for _name in __all__:
    if hasattr(globals()[_name], "__module__"):
        globals()[_name].__module__ = "tetrion"

_MODULES = ["errors", "records"]


def __dir__() -> list[str]:
    """The public names."""
    return sorted([*__all__, *_MODULES, "__version__"])


_gymnasium.register(
    id="tetrion/Placement-v0", entry_point="tetrion:PlacementEnv", vector_entry_point="tetrion:PlacementVectorEnv"
)
_gymnasium.register(
    id="tetrion/Keypress-v0", entry_point="tetrion:KeypressEnv", vector_entry_point="tetrion:KeypressVectorEnv"
)
