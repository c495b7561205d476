"""Snapshots and copies: an environment goes on from where it was, in its own session or in another process."""

import copy
import functools
import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap

import gymnasium
import numpy as np
import pytest

import tetrion

RULES = {"width": 6, "height": 8, "randomizer": "bag7", "preview": 2}


def play(env, steps=40):
    """Everything from here on, across the ends of episodes, with the last allowed action."""
    seen = []
    for _ in range(steps):
        action = int(np.flatnonzero(env.unwrapped.action_masks())[-1])
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append(
            (observation["board"].tobytes(), observation["current"], reward, terminated, info["seed"], info["steps"])
        )
        if terminated or truncated:
            env.reset()
    return seen


def play_all(envs, steps=40):
    """The same for a vector environment, with whatever autoreset."""
    seen = []
    for _ in range(steps):
        observations, rewards, terminated, truncated, infos = envs.step(envs.action_masks().argmax(axis=1))
        seen.append((observations["board"].tobytes(), rewards.tobytes(), terminated.tobytes(), infos["seed"].tobytes()))
        ended = terminated | truncated
        if envs.autoreset_mode is gymnasium.vector.AutoresetMode.DISABLED and ended.any():
            envs.reset(options={"reset_mask": ended})
    return seen


def begun(env):
    env.reset(seed=3)
    play(env, 5)
    return env


def test_a_state_can_be_restored_any_number_of_times(client):
    env = begun(tetrion.PlacementEnv(address=client, rules=RULES))
    state = env.save_state()
    assert isinstance(state, bytes)
    mask = env.action_masks()
    future = play(env)
    assert len({seed for *_, seed, _ in future}) > 2
    for _ in range(2):
        observation, info = env.restore_state(state)
        assert observation in env.observation_space
        np.testing.assert_array_equal(info["action_mask"], mask)
        assert (info["seed"], info["pieces"] + 1) == future[0][-2:]
        assert play(env) == future
    # In another environment of the same rules, begun or not, and with other pieces from there on.
    other = tetrion.PlacementEnv(address=client, rules=RULES)
    other.restore_state(state)
    assert play(other) == future
    other.restore_state(state, reseed=1)
    assert play(other) != future
    with pytest.raises(tetrion.errors.VersionMismatchError):
        tetrion.PlacementEnv(address=client).restore_state(state)
    with pytest.raises(tetrion.InvalidRequestError):
        env.restore_state(b"nothing")
    with pytest.raises(tetrion.ResetNeededError):
        tetrion.PlacementEnv(address=client).save_state()


def test_states_of_many_games(client):
    envs = tetrion.PlacementVectorEnv(3, address=client, rules=RULES)
    envs.reset(seed=1)
    play_all(envs, 5)
    states = envs.save_state()
    assert len(states) == 3
    future = play_all(envs)
    envs.restore_state(states)
    assert play_all(envs) == future
    # One of them, the others where they are; then one for all.
    then = envs.restore_state(states)
    play_all(envs, 1)
    before = envs.reset(options={"reset_mask": np.array([False, True, False])})[0]
    observations, infos = envs.restore_state(states[0], [2])
    assert infos["_seed"].tolist() == [False, False, True]
    assert infos["seed"][2] == then[1]["seed"][0]
    np.testing.assert_array_equal(observations["board"][:2], before["board"][:2])
    np.testing.assert_array_equal(observations["board"][2], then[0]["board"][0])
    observations, infos = envs.restore_state(states[0])
    assert (infos["seed"] == then[1]["seed"][0]).all()
    assert (observations["board"] == then[0]["board"][0]).all()
    with pytest.raises(tetrion.InvalidRequestError):
        envs.restore_state(states[:2])


@pytest.mark.parametrize("duplicate", [copy.deepcopy, copy.copy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("env_id", ["tetrion/Placement-v0", "tetrion/Keypress-v0"])
@pytest.mark.parametrize("own", [True, False])
def test_a_copy_goes_on_where_the_original_stands(client, duplicate, env_id, own):
    address = client.address if own else client
    env = begun(gymnasium.make(env_id, address=address, rules=RULES, max_episode_steps=30, observe_mask=True))
    twin = duplicate(env.unwrapped)
    assert twin.session.name != env.unwrapped.session.name
    assert twin.observation_space == env.observation_space
    assert type(twin) is type(env.unwrapped)
    future = play(env)
    assert play(twin) == future
    # Each has a session of its own, which its own close ends.
    assert play(twin.unwrapped, 3)
    env.close()
    assert play(twin, 3)
    twin.close()
    twin.close()


def test_a_copy_of_a_wrapped_environment(client):
    env = begun(gymnasium.make("tetrion/Placement-v0", address=client, rules=RULES))
    twin = copy.deepcopy(env)
    assert twin.unwrapped.client is client
    assert play(twin) == play(env)


def test_a_copy_before_the_first_reset_draws_the_same_seed(client):
    env = tetrion.PlacementEnv(address=client)
    twin = copy.deepcopy(env)
    with pytest.raises(tetrion.ResetNeededError):
        twin.step(0)
    assert twin.reset()[1]["seed"] == env.reset()[1]["seed"]
    assert twin.reset()[1]["seed"] == env.reset()[1]["seed"]


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_a_copy_of_many_games(client, mode):
    envs = gymnasium.make_vec(
        "tetrion/Placement-v0", num_envs=4, address=client, rules=RULES, autoreset_mode=mode, max_episode_steps=9
    )
    envs.reset(seed=1)
    play_all(envs, 4)
    twin = pickle.loads(pickle.dumps(envs))
    assert twin.autoreset_mode is envs.autoreset_mode
    assert play_all(twin) == play_all(envs)
    # A game that has not begun has not begun in the copy either.
    fresh = tetrion.PlacementVectorEnv(2, address=client, rules=RULES)
    fresh.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(tetrion.ResetNeededError):
        copy.deepcopy(fresh).step(np.array([0, 0]))


def test_a_client_pickles_as_its_arguments(client):
    twin = pickle.loads(pickle.dumps(tetrion.Client(client.address, timeout=7, patience=1)))
    assert (twin.address, twin.timeout, twin.patience) == (client.address, 7, 1)
    assert twin.server_info() == client.server_info()
    assert copy.deepcopy(client) is client


def test_a_copy_in_another_process(client, tmp_path):
    """An environment sent to a worker, as by AsyncVectorEnv or SubprocVecEnv, continues there."""
    env = begun(gymnasium.make("tetrion/Placement-v0", address=client.address, rules=RULES))
    file = tmp_path / "env.pickle"
    file.write_bytes(pickle.dumps(env))
    script = f"""
        import pickle, sys
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        from test_copies import play
        with open({str(file)!r}, "rb") as file:
            env = pickle.load(file)
        print(play(env))
        env.close()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(play(env))


def in_child(env, envs, session, client, answers):
    """The errors in a forked child, by the name of the call."""
    uses = {
        "step": lambda: env.step(0),
        "reset": env.reset,
        "save_state": env.save_state,
        "steps": lambda: envs.step(np.array([0, 0])),
        "session": lambda: session.step([0]),
        "server_info": client.server_info,
        "catalog": lambda: client.catalog(width=6),
        "evaluate": lambda: client.evaluate("bcts", seeds=tetrion.DrawnSeeds(1, 1)),
    }
    met = {}
    for name, use in uses.items():
        try:
            use()
        except tetrion.errors.ForkedClientError as error:
            met[name] = str(error)
    # Closing in the child must not end the parent's.
    env.close()
    envs.close()
    session.close()
    client.close()
    answers.put(met)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_is_refused_at_once(server):
    fork = multiprocessing.get_context("fork")
    with tetrion.Client(server) as client, client.create_session() as session:
        env, envs = begun(tetrion.PlacementEnv(address=client)), tetrion.PlacementVectorEnv(2, address=client)
        envs.reset(seed=0)
        session.reset()
        answers = fork.SimpleQueue()
        child = fork.Process(target=in_child, args=(env, envs, session, client, answers))
        child.start()
        child.join(60)
        assert child.exitcode == 0
        met = answers.get()
        assert set(met) == {"step", "reset", "save_state", "steps", "session", "server_info", "catalog", "evaluate"}
        assert f"process {child.pid} was forked from {os.getpid()}" in met["step"]
        assert "spawn" in met["step"]
        # The parent continues.
        env.step(0)
        envs.step(np.array([0, 0]))
        session.step([0])


FORKED = """
    import multiprocessing, os, sys
    import tetrion

    fork, (address, before, after) = multiprocessing.get_context("fork"), sys.argv[1:]

    def use(answers):
        \"\"\"A forked child makes an environment and a client of several servers.\"\"\"
        env = tetrion.PlacementEnv(address=address)
        env.reset(seed=1)
        env.close()
        with tetrion.Servers([address]) as servers:
            servers.evaluate("bcts", seeds=[1], max_pieces=5)
        answers.put("played")

    env = None
    if before == "env":
        env = tetrion.PlacementEnv(address=address)
        env.reset(seed=1)
    elif before == "servers":
        env = tetrion.Servers([address])
        env.server_info()
    if after == "close":
        env.close()
    answers = fork.SimpleQueue()
    children = [fork.Process(target=use, args=(answers,)) for _ in range(3)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
        print(answers.get())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize(("before", "after"), [("servers", "-"), ("env", "-"), ("env", "close")])
def test_a_forked_child_plays(server, before, after):
    """As libraries start their workers: Tianshou's SubprocVectorEnv, SubprocVecEnv(start_method="fork")."""
    command = [sys.executable, "-c", textwrap.dedent(FORKED), server.address, before, after]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["played"] * 3


def test_workers_of_gymnasium(client):
    """AsyncVectorEnv's processes, one with a fresh environment and one with a copy, beside the same in this process."""
    original = begun(tetrion.PlacementEnv(address=client.address, rules=RULES))
    makers = [
        functools.partial(tetrion.PlacementEnv, address=client.address, rules=RULES),
        functools.partial(pickle.loads, pickle.dumps(original)),
    ]
    workers = gymnasium.vector.AsyncVectorEnv(makers, context="spawn")
    here = gymnasium.vector.SyncVectorEnv(makers)
    assert workers.observation_space == here.observation_space
    seen, expected = workers.reset(seed=1), here.reset(seed=1)
    for _ in range(12):
        for name, array in expected[0].items():
            np.testing.assert_array_equal(seen[0][name], array)
        for name, array in expected[-1].items():
            np.testing.assert_array_equal(seen[-1][name], array)
        actions = expected[-1]["action_mask"].argmax(axis=1)
        seen, expected = workers.step(actions), here.step(actions)
    workers.close()
    here.close()
