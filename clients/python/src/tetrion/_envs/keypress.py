"""The game key by key, as people play it: a `gymnasium.Env` and a `VectorEnv`."""

from __future__ import annotations

from tetrion._envs.single import SingleEnv
from tetrion._envs.vector import ManyEnv
from tetrion._messages.records import rules_fields
from tetrion._messages.requests import RulesLike, rules_message
from tetrion._pb import messages as pb
from tetrion._pb.fields import RulesFields
from tetrion.errors import InvalidArgumentError

# Fields that make pieces fall, as in the preset `lab`.
_FALLING: RulesFields = {"action_model": "keypress", "reach": "sideways_walk", "orientation_table": "lab"}

_STEERED: RulesFields = {"action_model": "keypress"}

# Arrow keys have SDL's numbers, like in pygame.
_RIGHT, _LEFT, _DOWN, _UP = range(0x4000004F, 0x40000053)
_KEYBOARD: dict[str | int, int] = {
    _LEFT: 1, "a": 1, _RIGHT: 2, "d": 2, "z": 3, "y": 3, _UP: 4, "x": 4, "w": 4, " ": 5, "\r": 5, _DOWN: 0, "s": 0,
}  # fmt: skip
_MODERN_KEYBOARD: dict[str | int, int] = {_DOWN: 6, "s": 6, "f": 7, "r": 8, "c": 9}


class KeypressEnv(SingleEnv):
    """One game of Tetris in which a piece falls, and a step is a key.

    ## Description

    The rules are those of the preset `lab`, the game of a course notebook, unless `rules` says otherwise: 10 columns and 20
    rows, and each tetromino drawn with probability 1/7. A piece appears in the middle of the top row and falls one row per
    step, after the key. If it cannot fall further, it locks in that step, full rows clear, and the next piece appears.

    ## Action Space

    `Discrete(6)`: 0 idle, 1 left, 2 right, 3 turn_left, 4 turn_right, 5 hard_drop. All keys are always allowed; a key that
    would push the piece out of the playfield or into a full cell has no effect.

    With `rules="guideline"`, the modern game, it is `Discrete(10)`. Turns kick, and a step is a step of time (`fall_delay`,
    `lock_delay` and `lock_resets` of the rules, by default level 1 at 60 steps per second). There are also 6 soft_drop, 7
    sonic_drop, 8 turn_half and 9 hold; the mask tells whether the last two exist. A move or turn on the ground restarts the
    lock delay, up to `lock_resets` times. After that, a piece locks at the end of the current delay, not at once.

    ## Observation Space

    Like in `PlacementEnv`, and

    - `falling`: uint8 (height, width), 1 in the cells of the falling piece, except those above the playfield
    - `piece_state`: uint8 (8,), in the modern game: everything about the piece that its cells do not show, such as the
      number of steps before it falls or locks; the server's `SessionConfig.observation_fields` lists the entries

    `observations=[...]` selects fields of `PlacementEnv` and `falling_cells`, int8 (4, 2): row and column of each of the
    piece's cells, including those above the playfield.

    ## Starting State

    An empty playfield with a piece at the top. Seeds work like in `PlacementEnv`.

    ## Rewards

    The points of the rules' scoring when a piece locks, by default 1 per line; 0 in other steps.

    ## Episode End

    ### Termination

    By the rules: by default when a cell in the top row remains full, or a piece appears where the playfield is full.

    ### Truncation

    After `max_episode_steps` keys, or at the end of an explicit piece sequence.

    ## Information

    Like in `PlacementEnv`; `steps` counts keys, `pieces` counts locked pieces.

    ## Arguments

    Like in `PlacementEnv`. `rules` may name any preset or fields; here pieces fall under all of them. Under `guideline`, or
    with the reach `moves`, they fall as in modern Tetris, otherwise as under `lab`. The action model `placement` is refused;
    it is for `PlacementEnv`.
    """

    _action_model = pb.ACTION_MODEL_KEYPRESS

    def _rules_of(self, rules: RulesLike) -> RulesLike:
        return _falling(rules)

    def get_keys_to_action(self) -> dict[tuple[int, ...], int]:
        """The keys of a keyboard for `gymnasium.utils.play`, with pygame's numbers. `tetrion play` has the same keys.

        Play with `invalid_action_policy="ignore"`: by default, holding a piece twice ends the episode.
        """
        rules = self.session._message.config.rules
        keys = _KEYBOARD if self.session.num_actions == 6 else _KEYBOARD | _MODERN_KEYBOARD
        missing = {"r"} if rules.half_turns == pb.HALF_TURNS_NONE else set()
        missing |= set() if rules.hold else {"c"}
        return {(ord(key) if isinstance(key, str) else key,): action for key, action in keys.items() if key not in missing}


class KeypressVectorEnv(ManyEnv):
    """N games of Tetris key by key, like N `KeypressEnv`, in one session; see `PlacementVectorEnv`."""

    _action_model = pb.ACTION_MODEL_KEYPRESS

    def _rules_of(self, rules: RulesLike) -> RulesLike:
        return _falling(rules)


def _falling(rules: RulesLike) -> RulesLike:
    """The rules with falling pieces; `lab` if no preset is named.

    Raises:
        InvalidArgumentError: The rules ask for placements.
    """
    message = rules_message(rules)
    if message is not None and message.action_model == pb.ACTION_MODEL_PLACEMENT:
        raise InvalidArgumentError(
            "rules",
            "have the action model 'placement', which is played by 'tetrion/Placement-v0' (PlacementEnv, "
            "PlacementVectorEnv)",
        )
    if message is None or not message.preset:
        named = rules_message("lab")
        assert named is not None
        if message is not None:
            named = named.merged(message)
        return rules_fields(named)
    # In the modern game, pieces keep their kicks and moves.
    is_named = message.preset == "guideline" and not message.reach
    is_modern = is_named or message.reach == pb.REACH_MOVES
    fields: RulesFields = {"preset": message.preset, **(_STEERED if is_modern else _FALLING)}
    falling = rules_message(fields)
    assert falling is not None
    falling = falling.merged(message)
    return rules_fields(falling)
