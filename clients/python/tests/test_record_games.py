"""Wrappers that record: which games they write, and what the program says of their files."""

import copy

import gymnasium
import numpy as np
import pytest
from recorded import check_file, random_actions

import tetrion


def test_a_wrapper_writes_the_games_that_its_trigger_wants(client, tmp_path):
    env = gymnasium.make("tetrion/Placement-v0", address=client, rules={"width": 4, "height": 6}, max_episode_steps=50)
    env = tetrion.RecordGames(env, tmp_path / "games", lambda episode: episode % 2 == 0, player="first", name_prefix="run")
    rng = np.random.default_rng(1)
    for episode in range(5):
        _, info = env.reset(seed=episode)
        ended = False
        while not ended:
            action = rng.choice(np.flatnonzero(info["action_mask"]))
            _, _, terminated, truncated, info = env.step(action)
            ended = terminated or truncated
        assert [recording.seed for recording in env.recordings] == ([episode] if episode % 2 == 0 else [])
        if env.recordings:
            assert (env.recordings[0].pieces, env.recordings[0].lines) == (info["pieces"], info["lines"])
    env.reset()
    env.step(0)
    assert len(env.recorder.recording()) == 1
    # A game that a reset leaves is one more.
    env.reset()
    env.close()
    names = sorted(path.name for path in (tmp_path / "games").iterdir())
    assert names == [f"run-episode-{number}.json" for number in (0, 2, 4)]
    for name in names:
        check_file(tmp_path / "games" / name)


@pytest.mark.parametrize("rules", ["melax", "guideline", {"width": 6}])
def test_a_game_that_a_time_limit_cuts_is_written_at_once(client, tmp_path, rules):
    env = gymnasium.make("tetrion/Placement-v0", address=client, rules=rules, max_episode_steps=3)
    env = tetrion.RecordGames(env, tmp_path, lambda episode: True)
    for episode in range(2):
        _, info = env.reset(seed=episode)
        for _step in range(3):
            assert not env.recordings
            _, _, _, truncated, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
        assert truncated
        assert [(len(recording), recording.seed) for recording in env.recordings] == [(3, episode)]
    env.reset()
    assert not env.recordings
    env.close()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["game-episode-0.json", "game-episode-1.json"]
    for name in names:
        check_file(tmp_path / name)


@pytest.mark.parametrize("trigger", [3, "all", True])
def test_what_is_no_trigger_is_refused_before_play(client, tmp_path, trigger):
    with pytest.raises(
        tetrion.InvalidArgumentError, match=r"^episode_trigger is .*, expected a function of an episode's number"
    ):
        tetrion.RecordGames(tetrion.PlacementEnv(address=client), tmp_path, trigger)


def test_the_usual_trigger_is_that_of_videos(client, tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gymnasium.logger, "warn", lambda message: warned.append(message))
        warned = []
        for _ in range(2):
            env = tetrion.RecordGames(tetrion.KeypressEnv(address=client, rules={"height": 9}), tmp_path, suffix=".tetrion")
            for _ in range(10):
                env.reset()
                for _ in range(3):
                    env.step(5)
            env.reset()
            env.close()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["game-episode-0.tetrion", "game-episode-1.tetrion", "game-episode-8.tetrion"]
    assert len(warned) == 1
    assert "has recordings already" in warned[0]
    with pytest.raises(tetrion.InvalidArgumentError, match=r"did you mean '\.json'"):
        tetrion.RecordGames(tetrion.PlacementEnv(address=client), tmp_path, suffix=".jsn")


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_a_wrapper_of_a_vector_environment(client, tmp_path, mode):
    envs = gymnasium.make_vec(
        "tetrion/Placement-v0", num_envs=6, address=client, rules={"width": 4, "height": 6}, autoreset_mode=mode
    )
    envs = tetrion.RecordVectorGames(envs, tmp_path, lambda episode: episode < 12)
    rng = np.random.default_rng(2)
    _, infos = envs.reset(seed=9)
    mask = infos["action_mask"]
    ended = 0
    for _ in range(40):
        _, _, terminated, truncated, infos = envs.step(random_actions(rng, mask))
        mask = np.array(infos["action_mask"])
        over = terminated | truncated
        assert len(envs.recordings) == min(max(12 - ended, 0), over.sum())
        ended += over.sum()
        if mode == "Disabled" and over.any():
            _, infos = envs.reset(options={"reset_mask": over})
            mask[over] = infos["action_mask"][over]
    assert ended > 12
    assert len(list(tmp_path.iterdir())) == 12
    for path in tmp_path.iterdir():
        check_file(path)
        assert tetrion.Recording.load(path).end == "topped_out"
    envs.close()


def test_a_tree_search_is_recorded_as_the_game_that_it_plays(client, tmp_path):
    """It tries every placement and returns, in the environment itself; what it tried is not in the recording."""
    env = tetrion.RecordGames(
        tetrion.PlacementEnv(address=client, rules={"width": 4, "height": 6}), tmp_path, lambda episode: True
    )
    _, info = env.reset(seed=3)
    ended, played, tried_to_the_end = False, [], 0
    while not ended:
        state = env.unwrapped.save_state()
        outcomes = {}
        for action in np.flatnonzero(info["action_mask"]).tolist():
            env.unwrapped.restore_state(state)
            observation, _, lost, _, _ = env.unwrapped.step(action)
            tried_to_the_end += lost
            outcomes[action] = (lost, observation["board"].nonzero()[0].max(initial=0))
        env.unwrapped.restore_state(state)
        best = min(outcomes, key=outcomes.get)
        _, _, terminated, truncated, info = env.step(best)
        played.append(best)
        ended = terminated or truncated or len(played) == 30
        assert len(env.recordings) == (terminated or truncated)
    assert tried_to_the_end > 0
    recording = env.recordings[0] if env.recordings else env.recorder.recording()
    assert recording.actions.tolist() == played
    assert (recording.seed, recording.start, recording.pieces) == (3, None, len(played))
    recording.save(tmp_path / "whole.json")
    check_file(tmp_path / "whole.json")


def test_copies_of_a_wrapped_environment_do_not_record(client, tmp_path):
    env = tetrion.RecordGames(tetrion.PlacementEnv(address=client, max_episode_steps=1), tmp_path, lambda episode: True)
    env.reset(seed=1)
    twin = copy.deepcopy(env)
    assert twin.recorder is None
    twin.step(0)
    assert list(tmp_path.iterdir()) == []
    env.step(0)
    assert [path.name for path in tmp_path.iterdir()] == ["game-episode-0.json"]
