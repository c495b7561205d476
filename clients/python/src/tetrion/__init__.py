"""Tetris environments for reinforcement learning, in this process or on a Tetrion server.

    import gymnasium, tetrion
    env = gymnasium.make("tetrion/Placement-v0")                    # one game
    envs = gymnasium.make_vec("tetrion/Placement-v0", num_envs=256)  # one session of 256, one call per step

Without an address, they use the server in the environment variable TETRION_SERVER, or else play in this process. The package
provides:

- Environments: `PlacementEnv`, `PlacementVectorEnv`; by afterstates `AfterstateEnv`, `AfterstateVectorEnv`; key by key
  `KeypressEnv`, `KeypressVectorEnv`; matches against an opponent inside `VersusEnv`, `VersusVectorEnv`. `Flattener` turns
  observations into rows of numbers, `Planes` into pictures for convolutions; `tetrion.sb3.TetrisVecEnv` is for
  Stable-Baselines3, `tetrion.pettingzoo.parallel_env` for PettingZoo.
- `Client`, for everything else. `Client.create_session` makes a `Session` of environments, whose calls are faster over a
  `StepStream`: `Observed`, `Stepped` with `Final`, `Placements` with features and afterstates, snapshots as bytes. A session
  converts actions to and from their `ActionDigit`s; `EpisodeEnd` names the values of the info `end`.
- `Client.enumerate_placements` for a `Drawing` or `Packed` playfields of your own.
- `Client.evaluate`: whole games of any number of policies on `DrawnSeeds` or on seeds, with `EvaluationOptions`, as an
  `Evaluation` of `Games`, or as an `EvaluationRun` while they are played. `Client.estimate`: estimates of how long games of
  good policies last, as an `Estimation` of `Estimates`. A `Policy` describes how an agent plays, a `Search` how it uses the
  next pieces, a `Beam` how it follows many sequences of placements. `Mlp` and `NTuple` (of `TuplePattern`s) are models that
  add to the weighted sum.
- `Client.history`: the learning curve of a session, a `History`: lines, lengths and returns of its finished episodes.
- `Client.watch`: the games of a session while its learner steps it, on any machine. A `Watching` yields `WatchedFrame`s,
  with a `WatchedEnv` per environment and its last `WatchedEpisode`, if any.
- `Recording`, a game in a file, which notebooks show with controls. `Recorder` records any session or environment,
  `RecordGames` and `RecordVectorGames` record those of an environment; a `Replay` steps through one, `Scene` by `Scene`.
- `cem` and `genetic`, the searches of `tetrion train`: a `Training` yields one `TrainedGeneration` at a time. `CemOptimizer`
  with `CemConfig` and `Noise`, and `GeneticOptimizer` with `GeneticConfig`, search with any scores.
- `ConnectionSettings`, the settings of a client's connection; `Tls`, the files of an encrypted connection; `Servers`,
  several servers as one client; `tetrion.ray.Pool`, a Ray cluster as one client; `Server`, a server as a child of this
  process.
- `Client.task` and `Client.score_task`: tasks whose best possible score is known; `tetrion.tasks` plays them, and so does
  `gymnasium.make("tetrion/Task-v0", split="train", index=0)`.
- `tetrion.dataset`: games of policies, or recordings, as Parquet files and data sets of Minari.
- `RulesFields` with `ScoringFields` and `GarbageFields`, the types of `rules`; `RulesLike`, `FeaturesLike` and
  `PoliciesLike`, the types that these arguments accept.
- `ServerInfo`, `Catalog`, `SessionConfig`, `EvaluationSummary` and other results; `tetrion.records` contains all their
  parts.
- `TetrionError` and its subclasses in `tetrion.errors`; each message gives advice.

`help(tetrion.PlacementEnv)`, and so on, explains shapes, types, ranges and errors. In shapes, N is the number of
environments or games, A of actions, P of policies, F of features.

This package contains no rules of the game; in this process, its extension module has them.
"""

import gymnasium as _gymnasium

from tetrion import records, tasks  # noqa: F401
from tetrion._clients.client import Client
from tetrion._clients.servers import Servers
from tetrion._envs.afterstate import AfterstateEnv, AfterstateVectorEnv
from tetrion._envs.flat import Flattener, Planes
from tetrion._envs.keypress import KeypressEnv, KeypressVectorEnv
from tetrion._envs.placement import PlacementEnv, PlacementVectorEnv
from tetrion._envs.versus import VersusEnv, VersusVectorEnv
from tetrion._evaluations.games import Estimates, Games
from tetrion._evaluations.request import EvaluationOptions
from tetrion._evaluations.results import Estimation, Evaluation
from tetrion._evaluations.run import EvaluationRun
from tetrion._messages.answers import Final, Observed, Stepped
from tetrion._messages.digits import ActionDigit
from tetrion._messages.ends import EpisodeEnd
from tetrion._messages.listing import PlacementsOptions
from tetrion._messages.models import Mlp, NTuple, TuplePattern
from tetrion._messages.placements import KEYS, Placements
from tetrion._messages.policies import Beam, PoliciesLike, Policy, Search
from tetrion._messages.requests import Drawing, FeaturesLike, Packed, RulesLike
from tetrion._messages.scenes import Scene
from tetrion._messages.seedings import DrawnSeeds
from tetrion._pb.fields import GarbageFields, RulesFields, ScoringFields
from tetrion._recordings.record_games import RecordGames, RecordVectorGames
from tetrion._recordings.recorder import Recorder
from tetrion._recordings.recording import Recording
from tetrion._recordings.replay import Replay
from tetrion._sessions.history import History
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
    "AfterstateEnv",
    "AfterstateVectorEnv",
    "Beam",
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
    "History",
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
    "VersusEnv",
    "VersusVectorEnv",
    "WatchedEnv",
    "WatchedEpisode",
    "WatchedFrame",
    "Watching",
    "cem",
    "genetic",
]

# The modules are private: tracebacks, pickles and specifications of environments use the public names.
for _name in __all__:
    if hasattr(globals()[_name], "__module__"):
        globals()[_name].__module__ = "tetrion"

_MODULES = ["errors", "records", "tasks"]


def __dir__() -> list[str]:
    """The public names."""
    return sorted([*__all__, *_MODULES, "__version__"])


_gymnasium.register(
    id="tetrion/Placement-v0", entry_point="tetrion:PlacementEnv", vector_entry_point="tetrion:PlacementVectorEnv"
)
_gymnasium.register(
    id="tetrion/Afterstate-v0", entry_point="tetrion:AfterstateEnv", vector_entry_point="tetrion:AfterstateVectorEnv"
)
_gymnasium.register(id="tetrion/Task-v0", entry_point="tetrion.tasks:TaskEnv")
_gymnasium.register(
    id="tetrion/Keypress-v0", entry_point="tetrion:KeypressEnv", vector_entry_point="tetrion:KeypressVectorEnv"
)
_gymnasium.register(id="tetrion/Versus-v0", entry_point="tetrion:VersusEnv", vector_entry_point="tetrion:VersusVectorEnv")
