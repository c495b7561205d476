"""`KeypressEnv`: what Gymnasium requires of it, and the same game as the server's, key by key."""

from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from test_env import check
from test_vector_env import assert_follows

import tetrion

PLAYTHROUGH = Path(__file__).parents[3] / "src/core/tests/data/playthroughs/lab_5x7.txt"
SMALL = {"width": 5, "height": 7}
DROP, HOLD = 5, 9

OPTIONS = [
    {},
    {"rules": {"width": 6, "height": 8, "randomizer": "bag7", "preview": 3}},
    {"rules": "genetic"},
    {"observations": ["board_bits", "falling_cells", "heights", "current"]},
    {"features": "bcts8"},
    {"max_episode_steps": 5},
    {"rules": {"preset": "guideline", "height": 24}},
    {"rules": {"preset": "guideline", "height": 24, "fall_delay": 1, "lock_delay": 1}, "observe_mask": True},
]


@pytest.mark.parametrize("kwargs", OPTIONS, ids=str)
def test_check_env_has_nothing_to_say(client, kwargs, capsys):
    check("tetrion/Keypress-v0", client, kwargs)


def test_pieces_fall_under_any_rules(client):
    for rules in (None, "simplified", "survey", {"preset": "leiden", "preview": 1}, {"width": 6}, SMALL):
        env = tetrion.KeypressEnv(address=client, rules=rules)
        resolved = env.session._message.config.rules
        assert env.action_space.n == 6
        assert resolved.preset == (rules if isinstance(rules, str) else (rules or {}).get("preset", "lab"))
        if isinstance(rules, dict) and "width" in rules:
            assert resolved.width == rules["width"]
        observation, _ = env.reset(seed=1)
        assert observation["falling"].sum() > 0 == observation["board"].sum()
        _, _, _, _, info = env.step(DROP)
        assert info["pieces"] == 1
        env.close()


def test_the_modern_game_has_ten_keys_and_time(client):
    env = gymnasium.make("tetrion/Keypress-v0", address=client, rules="guideline", invalid_action_policy="reject")
    assert env.action_space.n == 10
    assert env.observation_space["piece_state"].shape == (8,)
    rules = env.unwrapped.session._message.config.rules
    assert (rules.fall_delay, rules.lock_delay, rules.lock_resets) == (60, 30, 15)
    observation, info = env.reset(seed=3)
    assert info["action_mask"].tolist() == [1] * 8 + [0, 1]
    first = observation["current"]
    observation, _, _, _, info = env.step(HOLD)
    assert (observation["held"], info["action_mask"][HOLD]) == (first, 0)
    with pytest.raises(tetrion.IllegalActionError):
        env.step(HOLD)
    # A piece that is left alone falls by a row after 60 steps, the one of hold not counted.
    rows = [np.flatnonzero(env.step(0)[0]["falling"].any(axis=1)).min() for _ in range(60)]
    assert rows == [19] * 59 + [18]
    observation, _, _, _, info = env.step(DROP)
    assert (info["pieces"], info["action_mask"][HOLD], observation["board"].sum()) == (1, 1, 4)
    env.close()
    with pytest.raises(tetrion.InvalidRequestError, match=r"fall_delay is 256, expected 1 to 255"):
        tetrion.KeypressEnv(address=client, rules={"preset": "guideline", "fall_delay": 256})


def test_a_modern_game_is_recorded_with_its_colours(client):
    """Random keys; what is replayed of the recording is the playfield that the environment showed."""
    rng = np.random.default_rng(5)
    rules = {"preset": "guideline", "height": 24, "fall_delay": 3, "lock_delay": 4, "half_turns": "tetrio"}
    env = tetrion.KeypressEnv(address=client, rules=rules)
    with tetrion.Recorder(env.session) as recorder:
        _, info = env.reset(seed=2)
        terminated = False
        while not terminated:
            keys = np.flatnonzero(info["action_mask"])
            observation, _, terminated, _, info = env.step(int(rng.choice(keys)))
        recording = recorder.recording()
    assert recording.pieces == info["pieces"] > 5
    replay = recording.replay()
    for step in range(0, len(replay), 50):
        scene = replay.scene(step)
        assert 7 not in scene.cells, "every cell has the colour of its piece"
    last = replay.scene()
    np.testing.assert_array_equal(last.cells >= 0, observation["board"] == 1)
    env.close()


def test_rules_of_placements_belong_to_the_other_environment(client):
    for make in (tetrion.KeypressEnv, lambda **given: tetrion.KeypressVectorEnv(2, **given)):
        with pytest.raises(ValueError, match=r"'placement', which is played by 'tetrion/Placement-v0'"):
            make(address=client, rules={"preset": "simplified", "action_model": "placement"})


def test_the_shared_playthrough(client):
    """A game written down for all clients: each key, and the playfield after it."""
    env = gymnasium.make("tetrion/Keypress-v0", address=client, rules=SMALL)
    rows = [line.split() for line in PLAYTHROUGH.read_text().splitlines() if line and not line.startswith("#")]
    assert len(rows) > 10
    for key, reward, ended, lines, frame in rows:
        if key == "-":
            observation, info = env.reset(seed=42)
        else:
            observation, got, terminated, truncated, info = env.step(int(key))
            assert (got, terminated, truncated) == (float(reward), ended == "terminated", False)
        assert info["lines"] == int(lines)
        cells = np.where(observation["falling"] == 1, "@", np.where(observation["board"] == 1, "#", "."))
        assert "/".join("".join(row) for row in cells[::-1]) == frame
    assert terminated
    env.close()


def test_held_out_games_are_the_raw_clients(client):
    """Keys pressed at random on seeds of their own, in one environment and in a session of the raw client."""
    rng = np.random.default_rng(7)
    env = tetrion.KeypressEnv(address=client, rules=SMALL, observations=["board", "falling_cells", "current"])
    with client.create_session(
        rules={"preset": "lab", **SMALL}, observations=["board", "falling_cells", "current"], autoreset_mode="disabled"
    ) as session:
        for seed in range(1000, 1010):
            observation, info = env.reset(seed=seed)
            raw = session.reset(seeds=[seed])
            ended = False
            while not ended:
                for name, array in observation.items():
                    expected = raw.observations[name][0]
                    expected = np.where(expected < 0, 7, expected) if name == "current" else expected
                    np.testing.assert_array_equal(array, expected)
                for name in ("lines", "pieces", "steps", "episode_return", "seed"):
                    assert info[name] == raw.infos[name][0]
                key = int(rng.choice(6, p=[0.1, 0.2, 0.2, 0.1, 0.1, 0.3]))
                observation, reward, terminated, truncated, info = env.step(key)
                raw = session.step([key])
                assert (reward, terminated, truncated) == (raw.rewards[0], raw.terminated[0], raw.truncated[0])
                ended = terminated or truncated
            assert info["pieces"] >= 3
    env.close()


def test_the_next_key_towards_a_placement(client):
    """A player that thinks in placements presses the keys that the client returns, and gets the placement."""
    bcts = client.get_policy("bcts")
    env = tetrion.KeypressEnv(address=client, features="bcts8")
    _, info = env.reset(seed=5)
    for _ in range(40):
        pieces, wanted = info["pieces"], None
        while info["pieces"] == pieces:
            placements = env.session.enumerate_placements()
            if wanted is None:
                wanted = placements.placements[placements.best_rows(placements.scores(bcts.weights))[0]]
            (row,) = np.flatnonzero(placements.placements == wanted)
            _, _, terminated, _, info = env.step(int(placements.actions[row]))
            assert not terminated
    # A good controller leaves little of forty pieces, 160 cells, on the playfield.
    assert info["lines"] >= 11
    env.close()


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED])
def test_as_gymnasium_would_do_it_with_single_environments(client, mode):
    ours = gymnasium.make_vec("tetrion/Keypress-v0", num_envs=4, address=client, rules=SMALL, autoreset_mode=mode)
    theirs = SyncVectorEnv([lambda: tetrion.KeypressEnv(address=client, rules=SMALL)] * 4, autoreset_mode=mode)
    assert isinstance(ours, tetrion.KeypressVectorEnv)
    assert ours.session.num_envs == 4
    rng = np.random.default_rng(3)
    # An ended game that waits has only key 0 in its mask, as it takes any key.
    assert_follows(ours, theirs, lambda infos: rng.choice(6, size=4, p=[0.1, 0.2, 0.2, 0.1, 0.1, 0.3]), steps=120)


def test_renders_the_falling_piece(client, capsys):
    for mode in ("ansi", "rgb_array", "human"):
        env = tetrion.KeypressEnv(address=client, rules=SMALL, render_mode=mode)
        env.reset(options={"piece_sequence": "OO"})
        env.step(DROP)
        frame = env.render()
        if mode == "rgb_array":
            # The middle of each cell: those of the landed O, and of the part of the falling one that is in the playfield.
            cells = frame[18 : 18 + 112 : 16, 18 : 18 + 80 : 16]
            full = (cells == (0xF2, 0xCF, 0x3C)).all(axis=2)
            assert full.sum(axis=1).tolist() == [2, 0, 0, 0, 0, 2, 2]
        elif mode == "ansi":
            assert "pieces 1" in frame
        else:
            assert capsys.readouterr().out.count("pieces") == 2
        env.close()


def test_keys_of_a_keyboard(client):
    """`gymnasium.utils.play` asks for them."""
    left, down = 0x40000050, 0x40000051
    for rules, has, lacks in (
        (None, {left: 1, "a": 1, "x": 4, "z": 3, " ": 5, down: 0}, "cfr"),
        ("guideline", {left: 1, " ": 5, down: 6, "f": 7, "c": 9}, "r"),
        ({"preset": "guideline", "half_turns": "tetrio", "hold": False}, {"r": 8}, "c"),
    ):
        env = gymnasium.make("tetrion/Keypress-v0", address=client, rules=rules)
        keys = env.get_wrapper_attr("get_keys_to_action")()
        assert all(action in env.action_space for action in keys.values())
        for key, action in has.items():
            assert keys[(ord(key) if isinstance(key, str) else key,)] == action
        assert not {(ord(key),) for key in lacks} & set(keys)
        env.close()
    assert not gymnasium.make("tetrion/Placement-v0", address=client).has_wrapper_attr("get_keys_to_action")
