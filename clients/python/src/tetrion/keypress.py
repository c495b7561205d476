"""The game as people play it, key by key, as a `gymnasium.Env` and as a `VectorEnv`."""

from __future__ import annotations

from typing import Any

from tetrion._pb import rules_pb2
from tetrion.env import TetrisEnv
from tetrion.errors import InvalidArgument
from tetrion.requests import RulesLike, rules_message
from tetrion.vector_env import TetrisVectorEnv

# What rules need for pieces that fall; the preset `lab` has it.
_FALLING = {"action_model": "keypress", "reach": "sideways_walk", "orientation_table": "lab"}


class KeypressEnv(TetrisEnv):
    """One game of Tetris in which a piece falls, and a step is a key.

    ## Description

    The rules are those of the server's preset `lab`, a course notebook's game, unless `rules` says otherwise: 10 columns
    and 20 rows, each tetromino drawn with probability 1/7. A piece appears in the middle of the top row and falls one
    row a step, after the key. Where it can fall no further it is locked in that same step, full rows clear, and the next
    piece appears.

    ## Action Space

    `Discrete(6)`: 0 idle, 1 left, 2 right, 3 rotate left, 4 rotate right, 5 drop. All keys are allowed at any time; one
    that would push the piece out of the playfield or into a full cell does nothing.

    ## Observation Space

    As `TetrisEnv`, and

    - `falling`: uint8 (height, width), 1 where the falling piece is; its cells above the playfield are not seen

    `observations=[...]` chooses among those of `TetrisEnv` and `falling_cells`, int8 (4, 2), row and column of its cells,
    those above the playfield included.

    ## Starting State

    An empty playfield and a piece at its top; seeds are those of `TetrisEnv`.

    ## Rewards

    The points of the rules' scoring, when a piece is locked; by default 1 a line. Other steps bring 0.

    ## Episode End

    ### Termination

    By the rules: by default when a cell is left full in the top row, or a piece appears where the playfield is full.

    ### Truncation

    After `max_episode_steps` keys, or at the end of an explicit piece sequence.

    ## Information

    As `TetrisEnv`; `length` counts keys, `pieces` those locked.

    ## Arguments

    As `TetrisEnv`. `rules` may name any preset or fields: pieces fall in all of them. The action model `placement` is
    refused: that is `TetrisEnv`.
    """

    _action_model = rules_pb2.ACTION_MODEL_KEYPRESS

    def __init__(self, *args: Any, rules: RulesLike = None, **kwargs: Any) -> None:
        """Makes a session of one environment; the arguments are those of `TetrisEnv`."""
        super().__init__(*args, rules=_falling(rules), **kwargs)


class KeypressVectorEnv(TetrisVectorEnv):
    """N games of Tetris key by key, as N `KeypressEnv` would be, in one session; see `TetrisVectorEnv`."""

    _action_model = rules_pb2.ACTION_MODEL_KEYPRESS

    def __init__(self, *args: Any, rules: RulesLike = None, **kwargs: Any) -> None:
        """Makes a session of environments; the arguments are those of `TetrisVectorEnv`."""
        super().__init__(*args, rules=_falling(rules), **kwargs)


def _falling(rules: RulesLike) -> RulesLike:
    """The same rules for pieces that fall; `lab` where no preset is named.

    Raises:
        InvalidArgument: They say that pieces do not fall.
    """
    message = rules_message(rules)
    if message is not None and message.action_model == rules_pb2.ACTION_MODEL_PLACEMENT:
        raise InvalidArgument(
            "rules",
            "have the action model 'placement', which is played by 'tetrion/Placement-v0' (TetrisEnv, TetrisVectorEnv)",
        )
    if message is None or not message.preset:
        named = rules_message("lab")
        assert named is not None
        if message is not None:
            named.MergeFrom(message)
        return named
    falling = rules_message({"preset": message.preset, **_FALLING})
    assert falling is not None
    falling.MergeFrom(message)
    return falling
