"""Tetris environments for reinforcement learning, stepped by a Tetrion server.

    import gymnasium, tetrion
    env = gymnasium.make("tetrion/Placement-v0")                    # one game
    envs = gymnasium.make_vec("tetrion/Placement-v0", num_envs=256)  # one session of 256, one call a step

Both start a server of their own when they are given no address. `Client` is the way to everything else: placements with
features and afterstates, snapshots, streams, evaluation of weight vectors and controllers.

No rules of the game live in this package. What it needs to know, it asks the server.
"""

from gymnasium.envs.registration import register

from tetrion.calls import Observed, Stepped
from tetrion.cem import Cem, CemConfig
from tetrion.client import Client
from tetrion.env import TetrisEnv
from tetrion.errors import (
    DeadlineExceeded,
    EpisodeEnded,
    IllegalAction,
    InternalError,
    InvalidRequest,
    NotBuilt,
    RequestTooLarge,
    ResetNeeded,
    ResponseTooLarge,
    SequenceMismatch,
    ServerFull,
    ServerUnavailable,
    SessionNotFound,
    TetrionError,
    Unauthenticated,
    VersionMismatch,
)
from tetrion.evaluation import Evaluation, Games, SeedRange
from tetrion.evaluation_run import EvaluationRun
from tetrion.flat import Flattener
from tetrion.keypress import KeypressEnv, KeypressVectorEnv
from tetrion.placements import Placements
from tetrion.requests import Drawing, Packed
from tetrion.server import Server, ServerNotFound, ServerNotStarted
from tetrion.servers import Servers
from tetrion.session import Session
from tetrion.stream import StepStream
from tetrion.training import TrainedGeneration, train
from tetrion.vector_env import TetrisVectorEnv

__version__ = "0.1.0"

__all__ = [
    "Cem",
    "CemConfig",
    "Client",
    "DeadlineExceeded",
    "Drawing",
    "EpisodeEnded",
    "Evaluation",
    "EvaluationRun",
    "Flattener",
    "Games",
    "IllegalAction",
    "InternalError",
    "InvalidRequest",
    "KeypressEnv",
    "KeypressVectorEnv",
    "NotBuilt",
    "Observed",
    "Packed",
    "Placements",
    "RequestTooLarge",
    "ResetNeeded",
    "ResponseTooLarge",
    "SeedRange",
    "SequenceMismatch",
    "Server",
    "ServerFull",
    "ServerNotFound",
    "ServerNotStarted",
    "ServerUnavailable",
    "Servers",
    "Session",
    "SessionNotFound",
    "StepStream",
    "Stepped",
    "TetrionError",
    "TetrisEnv",
    "TetrisVectorEnv",
    "TrainedGeneration",
    "Unauthenticated",
    "VersionMismatch",
    "train",
]

register(
    id="tetrion/Placement-v0",
    entry_point="tetrion.env:TetrisEnv",
    vector_entry_point="tetrion.vector_env:TetrisVectorEnv",
)

register(
    id="tetrion/Keypress-v0",
    entry_point="tetrion.keypress:KeypressEnv",
    vector_entry_point="tetrion.keypress:KeypressVectorEnv",
)
