"""The game placement by placement, as in the research literature: a `gymnasium.Env` and a `VectorEnv`."""

from __future__ import annotations

from tetrion._envs.single import SingleEnv
from tetrion._envs.vector import ManyEnv


class PlacementEnv(SingleEnv):
    """One game of Tetris.

    For more than a few games use `PlacementVectorEnv`: most of the cost of a step is its call, and there all games share
    one.

    ## Description

    The rules are those of the preset `simplified`, the game of the research literature, unless `rules` says
    otherwise: an empty playfield of 10 columns and 20 rows, each tetromino drawn with probability 1/7, placed by a
    straight drop.

    ## Action Space

    `Discrete(4 * width)`: an action is a placement, `orientation * width + column of the leftmost cell`. Which of them
    are allowed depends on the current tetromino: see `info["action_mask"]` (int8, as `Discrete.sample(mask)` takes it) and
    `action_masks()` (bool, as MaskablePPO takes it). The game key by key is `KeypressEnv`. With `rules="guideline"` pieces
    turn on their way down and can be held, and there are 5,760 actions; `ActionModel` in `rules.proto` has their numbers.

    ## Observation Space

    A `Dict`, whose shapes and bounds follow from the rules, by default

    - `board`: `Box` uint8 (height, width), 1 where a cell is full; row 0 is the lowest
    - `current`: `Discrete(8)`, the current tetromino as its number in I O T Z S J L; 7 means none (behind the last piece
      of an explicit sequence). With another `piece_set` of n pieces it is `Discrete(n + 1)`, and n means none
    - `queue`: `MultiDiscrete([8] * preview)`, the next ones, if the rules show any
    - `held`: `Discrete(8)`, the held one, if the rules let one be held; 7 while none is
    - `garbage`: uint8 (delay_pieces + 1,), where the rules have garbage: lines that wait, by the piece with which they
      may rise
    - `features`: `Box` float32, if `features` names some
    - `action_mask`: `Box` int8 (A,), with `observe_mask`

    Libraries turn `Discrete` and `MultiDiscrete` into a one-hot code, which suits a tetromino: it is a name and not an
    amount. Sessions of `Client.create_session` return the numbers of the protocol, with -1 for none.

    ## Starting State

    An empty playfield. `reset(seed=s)` begins episode 0 of the seed s, `reset()` the next episode of the last seed. The
    pieces of each are a pure function of the seed and the number of the episode, which `info["seed"]` holds as one number:
    `reset(seed=info["seed"])` deals the same pieces again, everywhere with the same `rules_version`. If you never give a
    seed, one is drawn.

    ## Rewards

    The points of the rules' scoring; by default 1 a line. With `invalid_action_policy="ignore"`, `invalid_action_reward` for
    an action that the mask forbids.

    ## Episode End

    ### Termination

    By the rules: by default when a landed cell lies above the playfield. With `invalid_action_policy="terminate"` an action
    that the mask forbids ends the episode too, which `info["invalid_action"]` says.

    ### Truncation

    After `max_episode_steps` steps, or at the end of an explicit piece sequence. A step after the end of the episode
    raises `EpisodeEndedError`.

    ## Information

    `lines`, `pieces`, `steps` and `episode_return` of the episode so far, as Python's numbers; `seed`, that of the
    episode: its 64 bits as a number with a sign, which fits int64; and `action_mask`. Unless
    `invalid_action_policy="reject"`: `invalid_action`, whether the mask forbade the last action, and `invalid_actions`, how
    many it has forbidden in the episode. If `infos` asks for it: `landing_row`, the row in which the last piece came to
    rest.

    ## Snapshots and copies

    `save_state()` takes a snapshot of everything that decides the future of the game; `restore_state` returns to it, in
    this environment or in another with the same rules. `copy.deepcopy` and `pickle` make an environment that continues from
    where this one is, in a session of its own. On a wrapped environment call the methods of `env.unwrapped`.

    ## Arguments

    The `options` of `reset` take a `"piece_sequence"`: letters of IOTZSJL to deal in this and all later episodes.
    """


class PlacementVectorEnv(ManyEnv):
    """N games of Tetris, like N `PlacementEnv`, in one session.

    Actions, observations, rewards and infos are those of `PlacementEnv`, one row a game.

    ## Seeds

    `reset(seed=s)` gives game i the seed s + i, and plays with it what `PlacementEnv` plays with that seed.
    `reset(seed=[...])` gives each game its own, or None to begin its next episode. Autoreset begins the next episode of
    each seed.

    ## Autoreset

    As `autoreset_mode` says, with Gymnasium's meanings:

    - `NEXT_STEP`: the step after the end of an episode ignores that game's action and begins the next episode.
    - `SAME_STEP`: the ending step begins the next episode; the last observation is in `infos["final_obs"]`, the last
      infos in `infos["final_info"]`.
    - `DISABLED`: `reset(options={"reset_mask": ...})` begins new episodes where the mask, bool (num_envs,), is true;
      stepping an ended game raises `EpisodeEndedError`. The option works in the other modes too.

    ## Information

    Every key of `infos` is an array with a row a game, and beside each `key` is `_key`, bool (num_envs,): which rows hold
    a value. Counts are int64, so that differences do not wrap. So is `seed`: its 64 bits as a number with a sign, which
    `reset` takes.

    ## Snapshots and copies

    `save_state()` takes a snapshot of each game; `restore_state` returns to them, or puts all games into one of them.
    `copy.deepcopy` and `pickle` make an environment that continues from where this one is, in a session of its own.
    """
