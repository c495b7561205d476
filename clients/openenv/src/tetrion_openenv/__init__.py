"""Tetrion as an OpenEnv environment: games and tasks with known optima, as text for language models.

`TetrionEnvironment` is the environment, `tetrion_openenv.app` serves it, and `Tetris` is the class for TRL. Clients need
nothing of this package: OpenEnv's `GenericEnvClient` is enough.
"""

from tetrion_openenv.environment import TetrionEnvironment
from tetrion_openenv.models import TetrionAction, TetrionObservation, TetrionState
from tetrion_openenv.trl import Tetris

__all__ = ["TetrionAction", "TetrionEnvironment", "TetrionObservation", "TetrionState", "Tetris"]
