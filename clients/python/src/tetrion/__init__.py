"""A client of Tetrion, a server that steps Tetris environments for reinforcement learning.

`Client` steps sessions of environments and asks for placements with features and afterstates, snapshots, streams,
and the evaluation of weight vectors and controllers; with numpy arrays in and out.

No rules of the game live in this package. What it needs to know, it asks the server.
"""

from tetrion.client import Client
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
from tetrion.evaluation import Evaluation, SeedRange
from tetrion.placements import Placements
from tetrion.requests import Drawing, Packed
from tetrion.server import Server, ServerNotFound, ServerNotStarted
from tetrion.session import Observed, Session, Stepped, StepStream

__version__ = "0.1.0"

__all__ = [
    "Client",
    "DeadlineExceeded",
    "Drawing",
    "EpisodeEnded",
    "Evaluation",
    "IllegalAction",
    "InternalError",
    "InvalidRequest",
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
    "Session",
    "SessionNotFound",
    "StepStream",
    "Stepped",
    "TetrionError",
    "Unauthenticated",
    "VersionMismatch",
]
