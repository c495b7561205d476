"""The game by afterstates, the playfields after a placement: a `gymnasium.Env` and a `VectorEnv`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tetrion._checks import arguments
from tetrion._clients.client import Client
from tetrion._envs.base import SessionEnv
from tetrion._envs.listing import Listing
from tetrion._envs.single import SingleEnv
from tetrion._envs.vector import ManyEnv
from tetrion._messages import requests
from tetrion._pb import messages as pb
from tetrion._sessions.session import Session

_OBSERVATIONS = ("features", "rewards", "terminated")
_FEATURES = "bcts8"


class _AfterstateEnv(SessionEnv):
    """The part that lists the placements after each call."""

    def _make(self, address: str | Client | None, token: str | None, observe_mask: bool, **config: Any) -> None:
        shown = config["observations"]
        self._shown = _OBSERVATIONS if shown is None else tuple(arguments.names("observations", shown, "features"))
        self._features = requests.selected_features(config["features"]) or _FEATURES
        self._has_masks = config.get("action_mask", True)
        # The session shows the server's choice, from which the placements of a game that a limit has cut are listed.
        config |= {"observations": None, "features": self._features, "action_mask": False}
        super()._make(address, token, observe_mask, **config)

    def _opened(self, session: Session) -> tuple[int, Sequence[pb.TensorSpec], Listing]:
        listing = Listing(session, self._shown, self._features, masks=self._has_masks)
        return listing.num_rows, listing.specs, listing


class AfterstateEnv(_AfterstateEnv, SingleEnv):
    """One game of Tetris in which an action is an afterstate: the playfield after a placement of the current piece.

    The observation lists them with their features, so a learner can choose by the values of afterstates, as the literature
    does, without knowing the rules.

    ## Description

    The games of `PlacementEnv`, with other actions and observations. Equal seeds and equal placements give equal games.

    ## Action Space

    `Discrete(R)`: an action is the number of a row. Row i is the i-th placement of the current piece, in ascending order of
    the actions of `PlacementEnv`. The mask, `info["action_mask"]`, forbids the rows after the last placement.

    R is the number of actions of `PlacementEnv`, or 20 per column of the playfield if that is less: 40 by default, and 200
    under `guideline`. If there are more placements than rows, the last ones are left out.

    ## Observation Space

    A `Dict`, by default of `features`, `rewards` and `terminated`. `observations=[...]` selects among these and

    - `features`: `Box` float32 (R, F), the features of each afterstate
    - `rewards`: `Box` float32 (R,), the reward of each placement
    - `terminated`: `Box` int8 (R,), 1 if the placement ends the game; the piece that is dealt next may end it too
    - `afterstates`: `Box` uint8 (R, height, width), 1 where a cell is full; row 0 is the lowest
    - `board`, `current` and, if the rules have them, `queue`, `held` and `garbage`, as in `PlacementEnv`
    - `action_mask`: `Box` int8 (R,), with `observe_mask`

    Rows without a placement are zeros.

    ## Starting State, Rewards, Episode End

    Like in `PlacementEnv`. If `max_episode_steps` cuts an episode, its last observation has the placements that would have
    followed, so that their values can stand for the rest; after any other end there are none.

    ## Information

    Like in `PlacementEnv`.

    ## Arguments

    Like in `PlacementEnv`, except that `features` is by default `bcts8`.
    """


class AfterstateVectorEnv(_AfterstateEnv, ManyEnv):
    """N games of Tetris by afterstates, like N `AfterstateEnv`, in one session; see `PlacementVectorEnv`.

    A step is two calls, which `step_async` and `send` make in one round trip.
    """
