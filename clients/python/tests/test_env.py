"""`PlacementEnv`: what Gymnasium requires of an environment, and the same game as the server's."""

import copy
import gc
import pickle
import threading
import time
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

import tetrion

OPTIONS = [
    {},
    {"rules": {"width": 6, "height": 8, "randomizer": "bag7", "preview": 3}},
    {"observations": ["board_bits", "heights", "current"]},
    {"features": "bcts8"},
    {"max_episode_steps": 5},
]


@pytest.mark.parametrize("kwargs", OPTIONS, ids=str)
def test_check_env_has_nothing_to_say(client, kwargs, capsys):
    check("tetrion/Placement-v0", client, kwargs)


def check(env_id, client, kwargs):
    """Gymnasium's own checker, every warning an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Features are unbounded, the only thing that the checker remarks on.
        if "features" in kwargs:
            warnings.filterwarnings("ignore", message=".*infinity.*")
        env = gymnasium.make(env_id, address=client.address, **kwargs)
        # It makes an environment of each render mode itself.
        check_env(env.unwrapped)
        env.close()


def play(env, seed, steps):
    """Plays the last allowed placement, and returns the steps."""
    _, info = env.reset(seed=seed)
    seen = []
    for _ in range(steps):
        action = np.flatnonzero(info["action_mask"])[-1]
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append((int(action), observation["board"].tobytes(), reward, terminated, truncated, info["seed"]))
        if terminated or truncated:
            _, info = env.reset()
    return seen


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1])
def test_same_seed_same_games(client, seed):
    first, second = tetrion.PlacementEnv(address=client), tetrion.PlacementEnv(address=client)
    played = play(first, seed, 60)
    assert played == play(second, seed, 60)
    assert played == play(first, seed, 60)
    assert played != play(first, seed + 1, 60)
    # Several episodes, each with a seed of its own, the first of them the seed given.
    seeds = [seen[-1] for seen in played]
    assert seeds[0] == seed
    assert len(set(seeds)) > 1


def test_same_game_as_the_raw_client(client):
    env = tetrion.PlacementEnv(address=client)
    with client.create_session(env_seeds=[7], autoreset_mode="disabled") as session:
        observation, info = env.reset(seed=7)
        raw = session.reset()
        for _ in range(100):
            np.testing.assert_array_equal(observation["board"], raw.observations["board"][0])
            np.testing.assert_array_equal(info["action_mask"], raw.action_mask[0])
            assert observation["current"] == raw.observations["current"][0]
            action = int(np.flatnonzero(info["action_mask"])[3])
            observation, reward, terminated, truncated, info = env.step(action)
            raw = session.step([action])
            assert (reward, terminated, truncated) == (raw.rewards[0], raw.terminated[0], raw.truncated[0])
            if terminated:
                break
        assert terminated
        assert info["pieces"] == raw.infos["pieces"][0] > 5


def test_masks_where_libraries_look(client):
    env = tetrion.PlacementEnv(address=client)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.action_masks()
    _, info = env.reset(options={"piece_sequence": "OI"})
    # O has one orientation over 9 columns, I two: upright over 10, lying over 7.
    assert np.flatnonzero(env.action_masks()).tolist() == list(range(9))
    assert info["action_mask"].dtype == np.int8
    assert env.action_space.sample(info["action_mask"]) in range(9)
    env.step(0)
    assert np.flatnonzero(env.action_masks()).tolist() == [*range(10), *range(10, 17)]


def test_forbidden_actions_end_the_episode_and_say_so(client):
    env = tetrion.PlacementEnv(address=client)
    _, info = env.reset(options={"piece_sequence": "OO"})
    assert (info["invalid_action"], info["invalid_actions"]) == (False, 0)
    _, _, terminated, _, info = env.step(0)
    assert (terminated, info["invalid_action"]) == (False, False)
    _, reward, terminated, truncated, info = env.step(9)
    assert (reward, terminated, truncated, info["pieces"]) == (0.0, True, False, 1)
    assert (info["invalid_action"], info["invalid_actions"]) == (True, 1)
    assert type(info["invalid_action"]) is bool
    assert env.reset()[1]["invalid_action"] is False


def test_forbidden_actions_are_refused(client):
    env = tetrion.PlacementEnv(address=client, invalid_action_policy="reject")
    _, info = env.reset(options={"piece_sequence": "O"})
    assert "invalid_action" not in info  # which could only be false
    with pytest.raises(tetrion.IllegalActionError):
        env.step(9)


def test_forbidden_actions_are_ignored_at_a_price(client):
    kwargs = {"invalid_action_policy": "ignore", "invalid_action_reward": -0.25}
    env = tetrion.PlacementEnv(address=client, **kwargs)
    before, _ = env.reset(options={"piece_sequence": "OO"})
    for count in (1, 2):
        observation, reward, terminated, truncated, info = env.step(9)
        assert (reward, terminated, truncated) == (-0.25, False, False)
        np.testing.assert_equal(observation, before)
        assert (info["invalid_action"], info["invalid_actions"]) == (True, count)
        assert (info["pieces"], info["steps"], info["episode_return"]) == (0, count, -0.25 * count)
    _, reward, _, _, info = env.step(0)
    assert (reward, info["pieces"], info["invalid_action"], info["invalid_actions"]) == (0.0, 1, False, 2)
    envs = tetrion.PlacementVectorEnv(
        2, address=client, invalid_action_policy="ignore", invalid_action_reward=-0.25, autoreset_mode="SameStep"
    )
    envs.reset(options={"piece_sequences": "OO"})
    _, rewards, terminated, _, infos = envs.step(np.array([0, 9]))
    assert (rewards.tolist(), terminated.any()) == ([0.0, -0.25], False)
    assert (infos["invalid_action"].tolist(), infos["invalid_actions"].tolist()) == ([False, True], [0, 1])
    assert (infos["invalid_action"].dtype, infos["invalid_actions"].dtype) == (bool, np.int64)
    *_, infos = envs.step(np.array([2, 2]))
    assert infos["final_info"]["invalid_actions"][0] == 0
    with pytest.raises(tetrion.InvalidRequestError, match="invalid_action_reward"):
        tetrion.PlacementEnv(address=client, invalid_action_reward=-1)
    with pytest.raises(ValueError, match="invalid_action_policy is 'skip', expected one of reject, terminate, ignore"):
        tetrion.PlacementEnv(address=client, invalid_action_policy="skip")


def test_the_row_where_a_piece_came_to_rest(client):
    env = tetrion.PlacementEnv(address=client, infos=["landing_row", "lines"])
    _, info = env.reset(options={"piece_sequence": "OO"})
    assert (set(info), info["landing_row"]) == ({"landing_row", "lines", "action_mask"}, -1)
    assert [env.step(0)[-1]["landing_row"] for _ in range(2)] == [0, 2]


def test_a_step_after_the_end_is_refused(client):
    env = tetrion.PlacementEnv(address=client, max_episode_steps=2)
    env.reset(seed=0)
    assert env.step(0)[2:4] == (False, False)
    assert env.step(0)[2:4] == (False, True)
    with pytest.raises(tetrion.EpisodeEndedError):
        env.step(0)


def test_render_modes(client, capsys):
    kwargs = {"rules": {"width": 4, "height": 4}}
    for mode in ("ansi", "rgb_array", "human"):
        env = tetrion.PlacementEnv(address=client, render_mode=mode, **kwargs)
        env.reset(options={"piece_sequence": "OO"})
        env.step(0)
        frame = env.render()
        if mode == "ansi":
            assert "pieces 1" in frame
        elif mode == "rgb_array":
            assert frame.dtype == np.uint8
            # The middle of each cell; the playfield begins 10 pixels from the upper left corner.
            cells = frame[18 : 18 + 64 : 16, 18 : 18 + 64 : 16]
            full = (cells == (0xF2, 0xCF, 0x3C)).all(axis=2)
            assert full.tolist() == [[False] * 4, [False] * 4, [True, True, False, False], [True, True, False, False]]
        else:
            assert frame is None
            assert capsys.readouterr().out.count("pieces") == 2
    with pytest.raises(ValueError, match="render_mode"):
        tetrion.PlacementEnv(address=client, render_mode="pixels")


def test_observations_are_the_learners_own(client):
    env = tetrion.PlacementEnv(address=client)
    observation, info = env.reset(seed=1)
    observation["board"][:] = 1
    info["action_mask"][:] = 0
    assert env.step(int(env.action_masks().argmax()))[0]["board"].sum() == 4


def test_close_ends_the_session(client):
    env = tetrion.PlacementEnv(address=client.address)
    env.close()
    env.close()
    with pytest.raises(tetrion.SessionNotFoundError):
        tetrion.Session(client._connection, env.session._message).reset()


def test_spaces_have_the_names_and_bounds_of_the_server(client):
    env = tetrion.PlacementEnv(address=client, rules={"width": 6, "height": 8, "preview": 2}, features="bcts8")
    specs = {spec.name: spec for spec in env.session._message.observation_specs}
    assert set(env.observation_space.spaces) == set(specs) == {"board", "current", "queue", "features"}
    assert env.observation_space["board"].shape == (8, 6)
    for name, space in env.observation_space.spaces.items():
        assert specs[name].description
        if isinstance(space, spaces.Box) and specs[name].has("high"):
            assert space.low.min() == specs[name].low
            assert space.high.max() == specs[name].high
    # Tetrominoes are names: 0 to 6, and 7 for none.
    assert env.observation_space["current"] == spaces.Discrete(8)
    assert env.observation_space["queue"] == spaces.MultiDiscrete([8, 8])
    assert env.action_space.n == 24


def test_no_piece_has_a_number_of_the_space_too(client):
    rules = {"preview": 2}
    env = tetrion.PlacementEnv(address=client, rules=rules)
    envs = tetrion.PlacementVectorEnv(2, address=client, rules=rules, autoreset_mode="Disabled")
    seen = [env.reset(options={"piece_sequence": "OI"})[0], env.step(0)[0], env.step(0)[0]]
    assert [(step["current"], step["queue"].tolist()) for step in seen] == [(1, [0, 7]), (0, [7, 7]), (7, [7, 7])]
    assert all(step in env.observation_space for step in seen)
    assert type(seen[0]["current"]) is np.int64
    observations, _ = envs.reset(options={"piece_sequences": "OI"})
    assert (observations["current"].tolist(), observations["queue"].tolist()) == ([1, 1], [[0, 7], [0, 7]])
    observations = envs.step(np.array([0, 0]))[0]
    assert observations in envs.observation_space
    assert observations["queue"].tolist() == [[7, 7], [7, 7]]


def test_no_preview_no_queue(client):
    env = tetrion.PlacementEnv(address=client, observations=["board", "queue"])
    assert list(env.observation_space.spaces) == list(env.reset(seed=0)[0]) == ["board"]
    with pytest.raises(ValueError, match=r"observations is \['queue'\], which shows nothing"):
        tetrion.PlacementEnv(address=client, observations=["queue"])


def test_infos_are_numbers_whose_differences_do_not_wrap(client):
    env = tetrion.PlacementEnv(address=client)
    _, before = env.reset(seed=1)
    *_, after = env.step(0)
    assert before["pieces"] - after["pieces"] == -1
    for name, kind in {"lines": int, "pieces": int, "steps": int, "episode_return": float, "seed": int}.items():
        assert type(before[name]) is kind, name
    envs = tetrion.PlacementVectorEnv(2, address=client, autoreset_mode="SameStep", max_episode_steps=2)
    _, before = envs.reset(seed=1)
    *_, after = envs.step(np.array([0, 0]))
    assert (before["pieces"] - after["pieces"]).tolist() == [-1, -1]
    *_, after = envs.step(np.array([0, 0]))
    for infos in (before, after, after["final_info"]):
        assert [infos[name].dtype for name in ("lines", "pieces", "steps", "seed")] == [np.int64] * 4


def test_the_seed_of_an_episode_deals_it_again(client):
    env = tetrion.PlacementEnv(address=client, rules={"preview": 6})
    env.reset(seed=5)
    for _ in range(5):
        observation, info = env.reset()
        again, repeated = env.reset(seed=info["seed"])
        np.testing.assert_array_equal(again["queue"], observation["queue"])
        assert repeated["seed"] == info["seed"]


@pytest.mark.parametrize("seed", [2**63 - 1, 2**63, 2**64 - 1])
def test_a_seed_of_64_bits_is_a_number_that_fits_int64(client, seed):
    """Gymnasium puts the infos of many environments into int64, and PyTorch computes with nothing larger."""
    rules = {"preview": 6}
    with client.create_session(1, rules=rules, env_seeds=[seed]) as session:
        dealt = session.reset().observations["queue"][0].tolist()
    env = tetrion.PlacementEnv(address=client, rules=rules)
    envs = tetrion.PlacementVectorEnv(2, address=client, rules=rules)
    many = gymnasium.vector.SyncVectorEnv([lambda: tetrion.PlacementEnv(address=client, rules=rules)] * 2)
    signed = seed - 2**64 if seed >= 2**63 else seed
    for given in (seed, signed, np.int64(signed)):
        observation, info = env.reset(seed=given)
        assert (observation["queue"].tolist(), info["seed"]) == (dealt, signed)
        for vector in (envs, many):
            observations, infos = vector.reset(seed=[given, 0])
            assert infos["seed"].dtype == np.int64
            assert infos["seed"].tolist() == [signed, 0]
            assert observations["queue"][0].tolist() == dealt
            again, _ = vector.reset(seed=infos["seed"].tolist())
            assert again["queue"].tolist() == observations["queue"].tolist()
    assert client.evaluate("random", seeds=infos["seed"], rules=rules, max_pieces=5).seeds.tolist() == [seed, 0]
    with client.create_session(2, rules=rules) as session:
        assert session.reset(seeds=infos["seed"]).infos["seed"].tolist() == [seed, 0]
    for vector in (envs, many):
        assert vector.reset(seed=-1)[1]["seed"].tolist() == [-1, 0]


@pytest.mark.parametrize(
    ("name", "kwargs"),
    [
        ("tetrion/Placement-v0", {"observations": "all"}),
        ("tetrion/Placement-v0", {"observations": "all", "rules": {"width": 32, "preview": 2, "hold": True}}),
        ("tetrion/Placement-v0", {"rules": {"preset": "guideline", "garbage": {"lines_per_piece": 0.5}}}),
        ("tetrion/Keypress-v0", {"observations": "all"}),
        ("tetrion/Keypress-v0", {"rules": "guideline"}),
        ("tetrion/Placement-v0", {"infos": ["lines", "landing_row", "invalid_action"], "features": "bcts8"}),
    ],
)
def test_observations_and_infos_have_types_that_pytorch_computes_with(client, name, kwargs):
    """It has uint16, uint32 and uint64 too, but hardly any operation takes them."""
    if kwargs.get("observations") == "all":
        names = ["board", "board_bits", "current", "heights"] + ["falling", "falling_cells"] * ("Keypress" in name)
        kwargs = {**kwargs, "observations": names}
    taken = [np.dtype(kind) for kind in ("?", "u1", "i1", "i2", "i4", "i8", "f4", "f8")]
    env = gymnasium.make(name, address=client, **kwargs)
    envs = gymnasium.make_vec(name, 2, address=client, autoreset_mode="SameStep", max_episode_steps=1, **kwargs)
    for space in (*env.observation_space.values(), *envs.observation_space.values()):
        assert space.dtype in taken
    observation, info = env.reset(seed=1)
    observations, infos = envs.reset(seed=1)
    assert observation in env.observation_space
    assert observations in envs.observation_space
    *_, after = envs.step(np.array([np.flatnonzero(mask)[0] for mask in infos["action_mask"]]))
    for values in (observation, info, observations, infos, after["final_info"], *after["final_obs"]):
        for value in values.values():
            assert np.asarray(value).dtype in taken or np.asarray(value).dtype == object


def test_unknown_options_and_wrong_seeds_are_refused_by_name(client):
    env, envs = tetrion.PlacementEnv(address=client), tetrion.PlacementVectorEnv(2, address=client)
    assert env.reset(options={})[1]["pieces"] == 0
    with pytest.raises(ValueError, match=r"options has 'piece_sequences', .*did you mean 'piece_sequence'"):
        env.reset(options={"piece_sequences": "OI"})
    with pytest.raises(ValueError, match=r"options has 'mask', .*expected one of reset_mask, piece_sequences"):
        envs.reset(options={"mask": np.array([True, False])})
    for seed in (2**64, -(2**63) - 1):
        for refuse, high in ((env, 2**64 - 1), (envs, 2**64 - 2)):
            with pytest.raises(ValueError, match=rf"seed is {seed}, expected an integer from {-(2**63)} to {high}"):
                refuse.reset(seed=seed)
    with pytest.raises(ValueError, match=r"options\['piece_sequence'\] is 5, expected a string of the letters IOTZSJL"):
        env.reset(options={"piece_sequence": 5})


def test_rules_of_key_presses_belong_to_the_other_environment(client):
    for make in (tetrion.PlacementEnv, lambda **given: tetrion.PlacementVectorEnv(2, **given)):
        with pytest.raises(ValueError, match=r"'keypress', which is played by 'tetrion/Keypress-v0'"):
            make(address=client, rules="lab")


def test_after_close_everything_says_so_at_once(client):
    env = tetrion.PlacementEnv(address=client, render_mode="ansi")
    envs = tetrion.PlacementVectorEnv(2, address=client, render_mode="ansi")
    env.reset(seed=0)
    envs.reset(seed=0)
    state = env.save_state()
    began = time.monotonic()
    for closed, action in ((env, 0), (envs, np.array([0, 0]))):
        closed.close()
        calls = {
            "reset": closed.reset,
            "step": lambda closed=closed, action=action: closed.step(action),
            "render": closed.render,
            "save_state": closed.save_state,
            "restore_state": lambda closed=closed: closed.restore_state(state),
            "pickle or copy": lambda closed=closed: pickle.dumps(closed),
        }
        for name, call in calls.items():
            with pytest.raises(gymnasium.error.ClosedEnvironmentError, match=rf"{name} after close\(\)"):
                call()
    assert time.monotonic() - began < 5
    with client.create_session() as session, session.stream() as stream:
        stream.reset()
    with pytest.raises(ValueError, match="step on a stream that was closed"):
        stream.step([0])


def test_human_rendering_keeps_its_pace(client, capsys):
    """However slow the machine is, it draws nothing too early."""
    env = gymnasium.make("tetrion/Placement-v0", address=client, render_mode="human")
    assert env.metadata["render_fps"] == 10
    env.unwrapped.metadata["render_fps"] = 25
    began = time.monotonic()
    env.reset(seed=0)
    for action in range(5):
        env.step(action)
    assert time.monotonic() - began >= 5 / 25
    assert tetrion.PlacementEnv.metadata["render_fps"] == 10


def test_dropped_environments_leave_room_for_others():
    """Copies are easily forgotten, above all by a tree search."""
    with tetrion.Server(args=["--max-sessions", "3"]) as server, tetrion.Client(server) as client:
        for make in (
            tetrion.PlacementEnv,
            lambda address: tetrion.PlacementVectorEnv(2, address=address),
            tetrion.PlacementEnv,
        ):
            env = make(address=client)
            for _ in range(5):
                env = copy.deepcopy(env)
                env.reset(seed=0)
        for _ in range(5):
            # As with a learner, when it and its environment refer to each other.
            env = make(address=client)
            env.learner = {"env": env}


def test_room_is_found_while_another_thread_collects_garbage():
    """gRPC's threads may do so at any time, and then `gc.collect` does nothing in ours."""

    class Slow:
        """Garbage that holds up the collection, and so the end of the environment, until the server has refused another."""

        def __del__(self):
            collecting.set()
            assert refused.wait(60)

    class Observed(tetrion.Client):
        """A client that reports refusals."""

        def create_session(self, *args, **kwargs):
            try:
                return super().create_session(*args, **kwargs)
            except tetrion.errors.ServerFullError:
                refused.set()
                raise

    collecting, refused = threading.Event(), threading.Event()
    with tetrion.Server(args=["--max-sessions", "1"]) as server, Observed(server) as client:
        # Finalized first, since it is made first.
        slow = Slow()
        env = tetrion.PlacementEnv(address=client)
        slow.cycle, slow.env, env.slow = slow, env, slow
        del env, slow
        collector = threading.Thread(target=gc.collect)
        collector.start()
        assert collecting.wait(60)
        tetrion.PlacementEnv(address=client).close()
        refused.set()
        collector.join()


def test_masks_in_the_observation(client):
    env = tetrion.PlacementEnv(address=client, observe_mask=True)
    observation, info = env.reset(seed=1)
    assert observation in env.observation_space
    np.testing.assert_array_equal(observation["action_mask"], info["action_mask"])
    observation["action_mask"][:] = 0
    assert env.action_masks().any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env, skip_render_check=True)
    for mode in ("NextStep", "SameStep", "Disabled"):
        envs = tetrion.PlacementVectorEnv(3, address=client, observe_mask=True, max_episode_steps=2, autoreset_mode=mode)
        observations, infos = envs.reset(seed=1)
        for _ in range(2):
            assert observations in envs.observation_space
            np.testing.assert_array_equal(observations["action_mask"], infos["action_mask"])
            observations, *_, infos = envs.step(infos["action_mask"].argmax(axis=1))
        if mode == "SameStep":
            assert infos["final_obs"][0] in envs.single_observation_space
            # As a single environment has it: a distribution over no action at all does not exist.
            assert np.flatnonzero(infos["final_obs"][0]["action_mask"]).tolist() == [0]
    with pytest.raises(ValueError, match="action_mask"):
        tetrion.PlacementVectorEnv(3, address=client, observe_mask=True, action_mask=False)


def test_flat_observations(client):
    envs = tetrion.PlacementVectorEnv(
        3, address=client, rules={"width": 4, "height": 5, "preview": 1}, features=["holes"], observe_mask=True
    )
    flat = tetrion.Flattener(envs.single_observation_space)
    rows = flat(envs.reset(options={"piece_sequences": ["IO", "OT", "TL"]})[0])
    # In alphabetical order: 20 cells, the current piece as one of nothing, I, O, T, Z, S, J, L, a feature, the next piece.
    assert rows.shape == (3, flat.size) == (3, 20 + 8 + 1 + 8)
    assert rows.dtype == np.float32
    assert all(row in flat.space for row in rows)
    assert np.delete(rows, 28, axis=1)[:, 20:].nonzero()[1].tolist() == [1, 8 + 2, 2, 8 + 3, 3, 8 + 7]
    observations = envs.step(np.array([0, 0, 0]))[0]
    rows = flat(observations)
    assert rows[:, :20].sum() == 12
    assert rows[:, 28].tolist() == observations["features"][:, 0].tolist()
    with pytest.raises(ValueError, match="Dict"):
        tetrion.Flattener(envs.single_action_space)


@pytest.mark.parametrize("kind", [tetrion.Flattener, tetrion.Planes])
def test_what_is_no_batch_of_observations(client, kind):
    env = tetrion.PlacementEnv(address=client, rules={"width": 4, "height": 5})
    layout = kind(env.observation_space)
    observation, _ = env.reset(seed=1)
    batch = {name: field[None] for name, field in observation.items()}
    assert len(layout(batch)) == 1
    for wrong, said in (
        (observation, "observations['board'] has the shape (5, 4), expected (N, 5, 4), a row for each environment"),
        ({**batch, "current": observation["current"]}, "observations['current'] has the shape (), expected (N), a row"),
        ({"board": batch["board"]}, "observations have no 'current', expected the fields of the space by name"),
        (batch["board"], "observations have no 'board', expected the fields"),
        (None, "observations have no 'board', expected the fields"),
    ):
        with pytest.raises(tetrion.InvalidArgumentError) as caught:
            layout(wrong)
        assert str(caught.value).startswith(said)


def test_observations_as_planes(client):
    rules = {"width": 5, "height": 7, "preview": 1}
    envs = tetrion.KeypressVectorEnv(2, address=client, rules=rules, observe_mask=True)
    planes = tetrion.Planes(envs.single_observation_space)
    assert planes.names == ["board", "falling", *(f"current={p}" for p in "IOTZSJL"), *(f"queue[0]={p}" for p in "IOTZSJL")]
    observations, _ = envs.reset(options={"piece_sequences": ["OT", "L"]})
    drop = 5
    for step in range(2):
        seen = planes(observations)
        assert (seen.shape, seen.dtype) == ((2, 16, 7, 5), np.uint8)
        assert all(picture in planes.space for picture in seen)
        for name in ("board", "falling"):
            # The top row first, as pictures have it.
            np.testing.assert_array_equal(seen[:, planes.names.index(name)], observations[name][:, ::-1])
        for place, (current, queue) in enumerate([("O", "T"), ("L", None)] if step == 0 else [("T", None), (None, None)]):
            full = {name for name, plane in zip(planes.names[2:], seen[place, 2:], strict=True) if plane.all()}
            assert full == {f"current={current}", f"queue[0]={queue}"} - {"current=None", "queue[0]=None"}
            assert seen[place, 2:].sum() == 35 * len(full)
        observations = envs.step(np.array([drop, drop]))[0]
    with pytest.raises(ValueError, match="Dict"):
        tetrion.Planes(envs.single_action_space)
    with pytest.raises(ValueError, match=r"observations is \['board', 'heights'\]; planes need board"):
        tetrion.Planes(tetrion.PlacementEnv(address=client, observations=["board", "heights"]).observation_space)


def test_who_ignores_the_mask_is_warned_once(client):
    env = gymnasium.make("tetrion/Placement-v0", address=client)
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        for episode in range(250):
            env.reset(seed=episode)
            terminated = False
            while not terminated:
                _, _, terminated, _, _ = env.step(19)
            assert len(met) == (episode >= 99)
    assert "actions that the mask forbids ended 100 of the first 100 episodes; let the agent choose among" in str(
        met[0].message
    )
    env.close()


def test_a_first_loop_that_ignores_the_end_of_an_episode(client):
    """The error's advice is something that `gymnasium.make` offers."""
    env = gymnasium.make("tetrion/Keypress-v0", address=client, disable_env_checker=True, rules={"height": 4, "width": 4})
    env.reset(seed=1)
    rng = np.random.default_rng(1)

    def first_loop():
        for _ in range(1000):
            env.step(int(rng.integers(env.action_space.n)))

    with pytest.raises(tetrion.EpisodeEndedError, match=r"; call `env\.reset\(\)` after a step that returns terminated"):
        first_loop()
    env.reset()
    env.step(0)
