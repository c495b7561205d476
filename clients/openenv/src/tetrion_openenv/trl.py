"""The environment for TRL's `environment_factory`, in the trainer's own process.

TRL makes instances without arguments, calls `reset` with the columns of the data set, and offers every other public method
to the model as a tool. It hands exceptions to the model as text.
"""

from __future__ import annotations

from typing import Any

from tetrion_openenv.environment import TetrionEnvironment, as_text, evaluate_formula_text

# Columns that choose an episode; all others are the trainer's, such as `prompt`.
_ARGUMENTS = ("seed", "split", "index", "level", "rules", "lines", "pieces", "max_refusals")


class Tetris:
    """Tetris with tools. Columns of the data set are arguments of `TetrionEnvironment.reset`; others are ignored."""

    def __init__(self) -> None:
        """Makes an environment without an episode."""
        self._environment = TetrionEnvironment()
        self._score = 0.0

    def reset(self, **columns: Any) -> str | None:
        """Starts an episode and returns its prompt."""
        chosen = {name: columns[name] for name in _ARGUMENTS if columns.get(name) is not None}
        observation = self._environment.reset(**chosen)
        self._score = 0.0
        return observation.text

    def place(self, action: str) -> str:
        """Place the current piece, and show the game afterwards.

        Args:
            action: The letter or the name of a listed action, such as "c" or "0@2"; in a task that asks for a formula, the
                formula.

        Returns:
            The game as text.
        """
        observation = self._environment.place(action)
        self._score = observation.score
        if observation.refusal:
            raise ValueError(as_text(observation))
        return as_text(observation)

    def peek(self, action: str) -> str:
        """Tell what an action would lead to, without placing the piece.

        Args:
            action: The letter or the name of a listed action.

        Returns:
            Lines, holes, height and bumpiness afterwards.
        """
        return self._environment.current().peek(action)

    def evaluate_formula(self, formula: str, games: int = 8) -> str:
        """Play whole games on 10 x 10 with a formula that scores placements.

        Args:
            formula: The formula, such as "-holes - 0.5 * max_height".
            games: The number of games, at most 64.

        Returns:
            The lines per game.
        """
        return evaluate_formula_text(formula, games)


def score_reward(environments: list[Tetris], **_: Any) -> list[float]:
    """The score of each episode, in [0, 1]."""
    return [environment._score for environment in environments]


def success_reward(environments: list[Tetris], **_: Any) -> list[float]:
    """1 for each episode that reached the best possible score, else 0."""
    return [float(environment._score == 1.0) for environment in environments]
