"""The learning curve that the server keeps of a session, and the label by which people find it."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import tetrion

RULES = {"width": 4, "height": 6}


def play(envs, steps):
    """Plays the first actions. Returns the lines, lengths and returns of the episodes in the order of their ends."""
    _, infos = envs.reset(seed=1)
    episodes = []
    for _ in range(steps):
        *_, terminated, truncated, infos = envs.step(infos["action_mask"].argmax(axis=1))
        ended = terminated | truncated
        final = infos.get("final_info", infos)
        columns = [final[name] for name in ("lines", "steps", "episode_return")]
        episodes += [[column[env] for column in columns] for env in np.flatnonzero(ended)]
    return np.array(episodes)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_a_history_holds_the_episodes_of_the_learner(client, mode):
    """Over gRPC, and in this process without messages."""
    envs = gymnasium.make_vec(
        "tetrion/Placement-v0", num_envs=3, address=client, rules=RULES, autoreset_mode=mode, max_episode_steps=7
    )
    assert client.history(envs).lines.shape == (0, 3)
    episodes = play(envs, 200)
    history = client.history(envs)
    assert isinstance(history, tetrion.History)
    assert (history.num_episodes, history.num_steps, history.episodes_per_row) == (len(episodes), 600, 1)
    np.testing.assert_array_equal(history.episodes, np.arange(1, len(episodes) + 1))
    for column, found in enumerate([history.lines, history.lengths, history.returns]):
        np.testing.assert_array_equal(found, np.repeat(episodes[:, [column]], 3, axis=1))
    assert (np.diff(history.steps) >= 0).all()
    assert history.steps[-1] <= 600
    assert (np.diff(history.seconds) >= 0).all()
    assert history.seconds[-1] <= history.age < 600
    session = envs.unwrapped.session
    np.testing.assert_array_equal(client.history(session).steps, history.steps)
    # More episodes than rows.
    episodes = np.concatenate([episodes, play(envs, 600)])
    history = client.history(session.name)
    assert len(episodes) > 256
    assert history.episodes_per_row == 2 ** int(np.ceil(np.log2(len(episodes) / 256)))
    rows = np.split(episodes[:, 0], history.episodes[:-1])
    np.testing.assert_array_equal(history.lines, [[row.mean(), row.min(), row.max()] for row in rows])
    envs.close()
    with pytest.raises(tetrion.SessionNotFoundError):
        client.history(session.name)


def test_every_environment_has_a_label(client):
    label = "ppo lr 3e-4, größer"
    for make in (
        lambda **options: client.create_session(**options),
        lambda **options: gymnasium.make("tetrion/Placement-v0", address=client, **options),
        lambda **options: gymnasium.make("tetrion/Keypress-v0", address=client, **options),
        lambda **options: gymnasium.make("tetrion/Afterstate-v0", address=client, **options),
        lambda **options: gymnasium.make_vec("tetrion/Placement-v0", num_envs=2, address=client, **options),
    ):
        for options, expected in [({}, ""), ({"label": label}, label)]:
            made = make(**options)
            session = getattr(made, "unwrapped", made)
            assert getattr(session, "session", session).config.label == expected
            made.close()


def test_a_label_that_is_none_is_refused(client):
    for wrong in (3, None, b"x"):
        with pytest.raises(tetrion.InvalidArgumentError, match="label"):
            client.create_session(label=wrong)
    for wrong in ("x" * 129, "two\nlines", "\x1b[2J"):
        with pytest.raises(tetrion.InvalidRequestError, match="label"):
            client.create_session(label=wrong)
    with pytest.raises(tetrion.InvalidArgumentError, match="session"):
        client.history(3)
