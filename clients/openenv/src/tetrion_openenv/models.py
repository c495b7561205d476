"""What clients send and receive."""

from typing import Literal

from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field

Level = Literal["board", "actions", "consequences", "short"]
Reward = Literal["score", "success"]


class TetrionAction(Action):
    """One placement, or the formula in a task that asks for a formula."""

    text: str = Field(max_length=4096, description="A letter such as `c`, a name such as `0@2`, or a formula")


class TetrionObservation(Observation):
    """The game after a reset or an action. `done` is `terminated or truncated`."""

    text: str = Field(description="The game as text; after a reset of a task, its whole prompt")
    legal_actions: list[str] = Field(description="All legal actions, such as `c 0@2-4`; empty after the end")
    lines: int = Field(description="Lines cleared so far")
    pieces: int = Field(description="Pieces placed so far")
    score: float = Field(ge=0, le=1, description="Score so far")
    terminated: bool = Field(description="Whether the goal or a loss ended the episode")
    truncated: bool = Field(description="Whether a limit on pieces or refusals ended the episode")
    refusal: str | None = Field(
        description="Why the last action was refused, in a sentence; a refused action changes nothing"
    )
    refusals: int = Field(description="Refused actions so far")


class TetrionState(State):
    """The episode, enough to repeat it."""

    seed: int | None = Field(default=None, description="Seed of the game; None for a task")
    split: str | None = Field(default=None, description="Split of the task; None for a game")
    index: int | None = Field(default=None, description="Index of the task; None for a game")
    group: str | None = Field(default=None, description="Group of the task; None for a game")
    actions: list[str] = Field(default_factory=list, description="Accepted actions, in order")
