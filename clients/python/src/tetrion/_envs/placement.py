"""The game placement by placement, as in the research literature: a `gymnasium.Env` and a `VectorEnv`."""

from __future__ import annotations

from tetrion._envs.single import SingleEnv
from tetrion._envs.vector import ManyEnv


class PlacementEnv(SingleEnv):
    """One game of Tetris.

    For more than a few games use `PlacementVectorEnv`: most of the cost of a step is its call, and there all games share one
    call.

    ## Description

    The rules are those of the preset `simplified`, the game of the research literature, unless `rules` says otherwise: an
    empty playfield of 10 columns and 20 rows, and each tetromino drawn with probability 1/7 and placed by a straight drop.

    ## Action Space

    `Discrete(4 * width)`: an action is a placement, `orientation * width + column of the leftmost cell`. The current
    tetromino decides which of them are allowed: see `info["action_mask"]` (int8, for `Discrete.sample(mask)`) and
    `action_masks()` (bool, for MaskablePPO). `KeypressEnv` is the game key by key. With `rules="guideline"`, pieces turn on
    their way down and can be held, and there are 5,760 actions; `ActionModel` in `rules.proto` defines their numbers.

    ## Observation Space

    A `Dict` whose shapes and bounds follow from the rules, by default

    - `board`: `Box` uint8 (height, width), 1 where a cell is full; row 0 is the lowest
    - `current`: `Discrete(8)`, the current tetromino as its number in I O T Z S J L; 7 means none (after the last piece of
      an explicit sequence). With another `piece_set` of n pieces it is `Discrete(n + 1)`, and n means none
    - `queue`: `MultiDiscrete([8] * preview)`, the next tetrominoes, if the rules show any
    - `held`: `Discrete(8)`, the held tetromino, if the rules have hold; 7 means none
    - `garbage`: uint8 (delay_pieces + 1,), if the rules have garbage: waiting lines, by the piece with which they may rise
    - `features`: `Box` float32, if `features` is given
    - `action_mask`: `Box` int8 (A,), with `observe_mask`

    Libraries turn `Discrete` and `MultiDiscrete` into a one-hot code, which suits a tetromino, because it is a name and not
    an amount. Sessions of `Client.create_session` return the numbers of the protocol, with -1 for none.

    ## Starting State

    An empty playfield. `reset(seed=s)` starts episode 0 of the seed s, `reset()` the next episode of the last seed. The
    pieces of each episode are a pure function of the seed and the episode's number. `info["seed"]` combines both into one
    number: `reset(seed=info["seed"])` deals the same pieces again, with the same `rules_version` anywhere. If you never give
    a seed, one is drawn.

    ## Rewards

    The points of the rules' scoring, by default 1 per line. With `invalid_action_policy="ignore"`, an action that the mask
    forbids gives `invalid_action_reward`.

    ## Episode End

    ### Termination

    By the rules: by default when a landed cell lies above the playfield. With `invalid_action_policy="terminate"`, an action
    that the mask forbids also ends the episode; `info["invalid_action"]` tells.

    ### Truncation

    After `max_episode_steps` steps, or at the end of an explicit piece sequence. A step after the end of the episode
    raises `EpisodeEndedError`.

    ## Information

    `lines`, `pieces`, `steps` and `episode_return` of the episode so far, as Python's numbers; `seed`, the episode's seed:
    its 64 bits as a signed number, which fits into int64; and `action_mask`. Unless `invalid_action_policy="reject"`:
    `invalid_action`, whether the mask forbade the last action, and `invalid_actions`, how many actions it has forbidden in
    the episode. If `infos` includes it: `landing_row`, the row where the last piece came to rest.

    ## Snapshots and copies

    `save_state()` takes a snapshot of everything that decides the future of the game. `restore_state` returns to it, in this
    environment or in another one with the same rules. `copy.deepcopy` and `pickle` create an environment that continues from
    the current state, in a new session. On a wrapped environment, call the methods of `env.unwrapped`.

    ## Arguments

    The `options` of `reset` may contain a `"piece_sequence"`: letters of IOTZSJL to deal in this and all later episodes.
    """


class PlacementVectorEnv(ManyEnv):
    """N games of Tetris, like N `PlacementEnv`, in one session.

    Actions, observations, rewards and infos are those of `PlacementEnv`, with one row per game.

    ## Seeds

    `reset(seed=s)` gives game i the seed s + i; it then plays like a `PlacementEnv` with that seed. `reset(seed=[...])`
    gives each game its own seed, or None to start its next episode. Autoreset starts the next episode of each seed.

    ## Matches

    Under rules of two players, such as `{"preset": "tetrio", "players": 2}`, games 2k and 2k + 1 are the sides of match k.
    `reset(seed=s)` gives both the seed s + k; a list of seeds and a mask need equal entries for both. They end together, and
    `infos["won"]` is 1, -1 or, after a draw or a cut, 0. An illegal action loses with `invalid_action_policy="terminate"`.

    ## Autoreset

    `autoreset_mode` has Gymnasium's meanings:

    - `NEXT_STEP`: the step after the end of an episode ignores that game's action and starts the next episode.
    - `SAME_STEP`: the ending step starts the next episode; the last observation is in `infos["final_obs"]`, the last infos
      in `infos["final_info"]`.
    - `DISABLED`: `reset(options={"reset_mask": ...})` starts new episodes where the mask, bool (num_envs,), is true;
      stepping an ended game raises `EpisodeEndedError`. The option also works in the other modes.

    ## Information

    Every key of `infos` has an array with one row per game, and each `key` has a `_key`, bool (num_envs,), that tells which
    rows hold a value. Counts are int64, so that differences do not wrap. So is `seed`: its 64 bits as a signed number, which
    `reset` accepts.

    ## Snapshots and copies

    `save_state()` takes a snapshot of each game. `restore_state` returns to them, or puts all games into the state of one of
    them. `copy.deepcopy` and `pickle` create an environment that continues from the current state, in a new session.
    """
