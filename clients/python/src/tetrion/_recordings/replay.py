"""A game that was played again, to walk through in both directions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion._messages.records import rules_fields
from tetrion._pb import messages as pb
from tetrion._pb.fields import RulesFields
from tetrion._pictures import pictures
from tetrion._pictures.scenes import ENDINGS, Course, GameState, Landing, Scene

# Steps between copies of the game.
_SPACING = 64


class Replay:
    """A game, step by step. Step 0 is its beginning.

    Attributes:
        player: Who or what played it; may be empty.
        states: What the server showed after each number of steps, the beginning first.
        landings: The landing of each step, None where no piece landed.
    """

    def __init__(self, rules: pb.Rules, course: Course, player: str = "") -> None:
        """A game at its beginning. Internal: `Recording.replay` makes replays."""
        self._rules = rules
        self.player = player
        self.landings: list[Landing | None] = []
        self.states: list[GameState] = [course.state]
        self._ends: list[str | None] = [course.end]
        self._actions: list[int] = [course.action]
        self._copies = [course.copy()]

    @property
    def rules(self) -> RulesFields:
        """Its rules, every field filled in."""
        return rules_fields(self._rules)

    def _follow(self, course: Course) -> None:
        """Takes a step that was just played."""
        self.states.append(course.state)
        self._ends.append(course.end)
        self._actions.append(course.action)
        self.landings.append(course.landing)
        if len(self) % _SPACING == 0:
            self._copies.append(course.copy())

    def __len__(self) -> int:
        """How many steps it has."""
        return len(self.landings)

    def scene(self, step: int | None = None) -> Scene:
        """The game after so many steps; None: after all of them."""
        return self._course(self._checked(step)).scene()

    def moment(self, step: int | None = None) -> Scene:
        """What the picture of a step shows.

        Where keys move the pieces, the scene. Where a step is a placement, the next piece at rest, with the rows that it
        completes still there, and the numbers counted already; after all steps the scene, without the piece that waits.
        """
        step = self._checked(step)
        scene = self.scene(step)
        if self._rules.action_model == pb.ACTION_MODEL_KEYPRESS:
            return scene
        if step == len(self):
            return replace(scene, current=None)
        landing, after = self.landings[step], self.scene(step + 1)
        if landing is None:
            return replace(after, current=None)
        return replace(
            scene,
            falling=landing.cells,
            last=(),
            full_rows=landing.cleared,
            steps=after.steps,
            pieces=after.pieces,
            lines=after.lines,
            score=after.score,
        )

    def picture(
        self, step: int | None = None, *, render_scale: float = 1.0, render_palette: str = "usual"
    ) -> npt.NDArray[np.uint8]:
        """The picture of a step; see `Recording.picture`."""
        has_caption = bool(self.player) or self._ends[-1] is not None
        layout = pictures.Layout.of(self._rules, render_scale, has_caption=has_caption)
        moment = self.moment(step)
        words = [self.player, ENDINGS[moment.end] if moment.end is not None else ""]
        return pictures.Painter(layout, render_palette).paint(moment, ": ".join(filter(None, words)))

    def _checked(self, step: int | None) -> int:
        return len(self) if step is None else arguments.integer("step", step, 0, len(self))

    def _course(self, step: int) -> Course:
        near = step // _SPACING
        course = self._copies[near].copy()
        for later in range(near * _SPACING + 1, step + 1):
            course.step(self._actions[later], self.states[later], self._ends[later])
        return course
