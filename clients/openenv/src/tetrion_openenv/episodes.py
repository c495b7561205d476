"""Episodes as text: a game with a goal, a task that is played, and a task that asks for a formula.

All of them have `prompt`, `score`, `lines`, `pieces`, `terminated`, `truncated`, `play`, `show`, `legal_actions`, `peek` and
`close`. `play` raises `ValueError` with one sentence for a text that is no legal action, and then nothing has changed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import tetrion
from tetrion import tasks

PROMPT = """You play Tetris on a playfield of {width} columns and {height} rows. Full rows vanish, and the rows above them \
move down. The game is lost when a piece does not fit any more.

Goal: clear {lines} lines with at most {pieces} pieces.

{text}

Answer with the letter of an action, or its name."""


def sentence(error: tetrion.TetrionError) -> str:
    """The problem that an error names, without codes and advice for programmers."""
    if isinstance(error, tetrion.InvalidArgumentError):
        return str(error)
    return error.violations[0][1] if error.violations else error.details


class Board:
    """A session of one game, read and played as text."""

    def __init__(self, session: tetrion.Session, mask: npt.NDArray[np.bool_] | None) -> None:
        """Takes over a session that has been reset."""
        self.session = session
        self._mask = mask
        # Texts of the current state by level: an observation shows one and reads the legal actions from another.
        self._texts: dict[str, str] = {}

    def show(self, level: str) -> str:
        """The game at a level of detail."""
        if level not in self._texts:
            self._texts[level] = self.session.render(style=f"prompt_{level}")[0]
        return self._texts[level]

    def entries(self, level: str = "actions") -> list[str]:
        """The legal actions, as listed at a level."""
        _, found, listed = self.show(level).partition("\nactions: ")
        return listed.splitlines()[1:] if found else []

    def step(self, text: str) -> tuple[int, tetrion.Stepped]:
        """Plays an action, and returns its number and the outcome.

        Raises:
            ValueError: The text is no legal action.
        """
        try:
            stepped = self.session.step([text])
        except tetrion.IllegalActionError as error:
            raise ValueError(sentence(error)) from None
        assert stepped.actions is not None
        self._mask, self._texts = stepped.action_mask, {}
        return int(stepped.actions[0]), stepped

    def peek(self, text: str) -> str:
        """The consequences of an action, which is taken back. Hidden pieces stay hidden."""
        assert self._mask is not None
        entries, legal, state = self.entries("consequences"), np.flatnonzero(self._mask), self.session.save_state()
        texts = self._texts
        action, _ = self.step(text)
        self._mask, self._texts = self.session.restore_state(state).action_mask, texts
        return entries[int(np.searchsorted(legal, action))]


class GameEpisode:
    """A game on a seed: clear a number of lines with at most so many pieces."""

    def __init__(self, client: tetrion.Client, *, seed: int, rules: tetrion.RulesFields, lines: int, pieces: int) -> None:
        """Starts the game."""
        session = client.create_session(rules=rules, seed=seed, autoreset_mode="disabled", infos=["lines", "pieces"])
        self._board = Board(session, session.reset().action_mask)
        self._goal, self._limit = lines, pieces
        self.lines = self.pieces = 0
        self.terminated = self.truncated = False
        self.seed: int | None = seed
        self.show, self.peek, self.close = self._board.show, self._board.peek, session.close

    @property
    def score(self) -> float:
        """The share of the goal."""
        return min(1.0, self.lines / self._goal)

    def prompt(self, level: str) -> str:
        """The game and its goal."""
        rules = self._board.session.config.rules
        size = {"width": rules["width"], "height": rules["height"]}
        return PROMPT.format(**size, lines=self._goal, pieces=self._limit, text=self.show(level))

    def legal_actions(self) -> list[str]:
        """The legal actions; none after the end."""
        return [] if self.terminated or self.truncated else self._board.entries()

    def play(self, text: str) -> None:
        """Plays an action."""
        _, stepped = self._board.step(text)
        self.lines, self.pieces = int(stepped.infos["lines"][0]), int(stepped.infos["pieces"][0])
        self.terminated = bool(stepped.terminated[0]) or self.lines >= self._goal
        self.truncated = not self.terminated and self.pieces >= self._limit


class TaskEpisode:
    """A task of the suite that is played piece by piece."""

    truncated = False
    seed = None

    def __init__(self, client: tetrion.Client, task: tasks.Task) -> None:
        """Starts the task."""
        self._client, self._task = client, task
        session = client.create_session(rules=task.rules, autoreset_mode="disabled")
        self._board = Board(session, session.restore_state([task.state]).action_mask)
        self._actions: list[int] = []
        self.score = 0.0
        self.lines = self.pieces = 0
        self.terminated = False
        self.show, self.peek, self.close = self._board.show, self._board.peek, session.close

    def prompt(self, level: str) -> str:
        """The task's prompt, with the start at a level of detail."""
        return self._task.prompt.replace(self.show("actions"), self.show(level))

    def legal_actions(self) -> list[str]:
        """The legal actions; none after the end."""
        return [] if self.terminated else self._board.entries()

    def play(self, text: str) -> None:
        """Plays an action."""
        self._actions.append(self._board.step(text)[0])
        scored = self._client.score_task(self._task.split, self._task.index, actions=self._actions)
        self.score, self.terminated = scored.score, scored.done
        self.lines, self.pieces = scored.lines, scored.pieces


class FormulaEpisode:
    """A task of the suite that asks for a formula: one action, which is the formula."""

    truncated = False
    seed = None

    def __init__(self, client: tetrion.Client, task: tasks.Task) -> None:
        """Starts the task."""
        self._client, self._task = client, task
        self.score = 0.0
        self.lines = self.pieces = 0
        self.terminated = False

    def prompt(self, level: str) -> str:
        """The task's prompt, the same at all levels."""
        return self._task.prompt

    def show(self, level: str) -> str:
        """What is left to do."""
        return f"lines {self.lines}, pieces {self.pieces}" if self.terminated else self._task.prompt

    def legal_actions(self) -> list[str]:
        """None: any formula will do."""
        return []

    def peek(self, text: str) -> str:
        """Refuses: there is no game."""
        raise ValueError("this task asks for a formula, use evaluate_formula")

    def play(self, text: str) -> None:
        """Scores a formula."""
        try:
            scored = self._client.score_task(self._task.split, self._task.index, formula=text)
        except tetrion.InvalidRequestError as error:
            raise ValueError(sentence(error)) from None
        self.score, self.lines, self.pieces, self.terminated = scored.score, scored.lines, scored.pieces, True

    def close(self) -> None:
        """Nothing is held."""


Episode = GameEpisode | TaskEpisode | FormulaEpisode


def task_episode(client: tetrion.Client, task: tasks.Task) -> TaskEpisode | FormulaEpisode:
    """Starts a task of any group."""
    start: Callable[..., TaskEpisode | FormulaEpisode] = TaskEpisode if task.state else FormulaEpisode
    return start(client, task)
