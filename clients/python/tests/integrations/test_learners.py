"""Learning libraries on our environments: a few seconds of each example, and the libraries' own checkers."""

import os
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import tetrion

EXAMPLES = Path(__file__).parents[2] / "examples"
README = Path(__file__).parents[2] / "README.md"

# Warnings of other packages are not ours.
pytestmark = pytest.mark.filterwarnings("default")


def run(example, *args):
    """Runs an example as a person would; a failure shows its output."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / example, *map(str, args)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


SHOWN = [
    {},
    {"rules": {"width": 6, "height": 8, "preview": 2}, "observe_mask": True},
    {"observations": ["board_bits", "heights", "current", "features"], "features": "bcts8"},
    {"render_mode": "rgb_array"},
]


@pytest.mark.parametrize(
    ("env_id", "kwargs"),
    [
        *((env_id, kwargs) for env_id in ("tetrion/Placement-v0", "tetrion/Keypress-v0") for kwargs in SHOWN),
        ("tetrion/Afterstate-v0", {"observations": ["features", "current"], "observe_mask": True}),
    ],
    ids=str,
)
def test_stable_baselines_has_nothing_to_say(client, env_id, kwargs):
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    env = gymnasium.make(env_id, address=client, **kwargs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Playfields and features of placements are neither pictures nor rows. MultiInputPolicy lays their rows side by side.
        warnings.filterwarnings("ignore", message="Your observation (board|falling|features) has an unconventional shape")
        checker.check_env(env)
        checker.check_env(gymnasium.wrappers.FlattenObservation(env))
    env.close()


def test_policies_for_dictionaries_on_a_plain_environment(client):
    """As the documents of Stable-Baselines3 begin: a name, or what `gymnasium.make` and `make_vec_env` give."""
    stable_baselines3 = pytest.importorskip("stable_baselines3")
    contrib = pytest.importorskip("sb3_contrib")
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import SubprocVecEnv

    short = {"n_steps": 32, "batch_size": 32, "device": "cpu", "seed": 1}
    rules = {"width": 6, "height": 8, "preview": 2}
    kwargs = {"env_kwargs": {"address": client.address, "rules": rules}}
    envs = [
        gymnasium.make("tetrion/Placement-v0", address=client, rules=rules),
        make_vec_env("tetrion/Placement-v0", n_envs=2, **kwargs),
        # Workers begin with nothing imported, so the name says what to import.
        make_vec_env("tetrion:tetrion/Placement-v0", n_envs=2, vec_env_cls=SubprocVecEnv, **kwargs),
    ]
    for env in envs:
        model = contrib.MaskablePPO("MultiInputPolicy", env, **short).learn(96)
        # Tetrominoes are one-hot: 48 cells, and eight places for each of the three.
        assert model.policy.features_extractor.features_dim == 48 + 3 * 8
        env.close()
    for model in (
        stable_baselines3.PPO("MultiInputPolicy", "tetrion/Placement-v0", **short),
        contrib.MaskablePPO("MultiInputPolicy", "tetrion/Keypress-v0", **short),
        stable_baselines3.DQN("MultiInputPolicy", "tetrion/Placement-v0", learning_starts=20, buffer_size=500, device="cpu"),
    ):
        model.learn(64)
        model.env.close()


def test_videos_play_everywhere(client, tmp_path):
    pytest.importorskip("moviepy")
    ffmpeg = pytest.importorskip("imageio_ffmpeg").get_ffmpeg_exe()
    env = gymnasium.make("tetrion/Placement-v0", address=client, rules={"width": 5, "height": 7}, render_mode="rgb_array")
    env = gymnasium.wrappers.RecordVideo(env, str(tmp_path / "videos"), episode_trigger=lambda episode: True)
    env.reset(options={"piece_sequence": "OOO"})
    for column in (0, 2, 3):
        env.step(column)
    env.close()
    (video,) = tmp_path.glob("videos/*.mp4")
    described = subprocess.run([ffmpeg, "-i", video], capture_output=True, text=True, check=False).stderr
    # yuv420p is what browsers and phones play, and it needs even sizes.
    assert re.search(r"Video: h264.* yuv420p.* 204x166.* 10 fps", described), described


def test_games_of_a_vec_env_are_recorded(client, tmp_path):
    pytest.importorskip("stable_baselines3")
    from tetrion.sb3 import TetrisVecEnv

    envs = TetrisVecEnv(2, address=client, rules={"width": 4, "height": 6}, max_episode_steps=3)
    recorder = tetrion.Recorder(envs, player="SB3")
    envs.seed(1)
    envs.reset()
    for _ in range(6):
        envs.step(np.array([int(np.flatnonzero(mask)[0]) for mask in envs.action_masks()]))
    recordings = recorder.take()
    assert len(recordings) >= 4
    assert all(recording.check() is None for recording in recordings)
    envs.close()


def test_a_session_is_a_vec_env(client):
    pytest.importorskip("stable_baselines3")
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

    from tetrion.sb3 import TetrisVecEnv

    rules = {"width": 4, "height": 6}
    envs = TetrisVecEnv(5, address=client, rules=rules, max_episode_steps=4)
    twin = tetrion.PlacementVectorEnv(5, address=client, rules=rules, max_episode_steps=4, autoreset_mode="SameStep")
    flat = tetrion.Flattener(twin.single_observation_space)
    assert is_masking_supported(envs)
    envs.seed(3)
    rows, (observations, infos) = envs.reset(), twin.reset(seed=3)
    ended = {"terminated": 0, "truncated": 0}
    for _ in range(40):
        assert rows.dtype == np.float32
        np.testing.assert_array_equal(rows, flat(observations))
        masks = get_action_masks(envs)
        np.testing.assert_array_equal(masks, infos["action_mask"].astype(bool))
        actions = masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
        rows, rewards, dones, reported = envs.step(actions)
        observations, expected, terminated, truncated, infos = twin.step(actions)
        np.testing.assert_array_equal(rewards, expected)
        np.testing.assert_array_equal(dones, terminated | truncated)
        for env, done in enumerate(dones):
            assert ("episode" in reported[env]) == ("terminal_observation" in reported[env]) == done
            if done:
                ended["truncated" if truncated[env] else "terminated"] += 1
                last = {name: field[None] for name, field in infos["final_obs"][env].items()}
                np.testing.assert_array_equal(reported[env]["terminal_observation"], flat(last)[0])
                assert reported[env]["TimeLimit.truncated"] == truncated[env]
                assert reported[env]["episode"]["l"] == infos["final_info"]["steps"][env]
                assert reported[env]["episode"]["r"] == reported[env]["lines"] == infos["final_info"]["lines"][env]
                assert (reported[env]["pieces"], reported[env]["invalid_actions"]) == (infos["final_info"]["pieces"][env], 0)
    assert min(ended.values()) > 0
    envs.close()
    twin.close()


def same(one, other):
    """Whether infos are equal, numbers in arrays included, but for the seconds of an episode."""
    one, other = ({**info, "episode": {**info.get("episode", {}), "t": 0}} for info in (one, other))
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_equal(one[name], other[name], err_msg=name)
        if not isinstance(one[name], (np.ndarray, dict)):
            assert type(one[name]) is type(other[name]), name


@pytest.mark.parametrize(
    ("env_id", "kwargs"),
    [
        ("tetrion/Placement-v0", {"rules": {"width": 4, "height": 6}}),
        ("tetrion/Placement-v0", {"rules": {"width": 4, "height": 6, "preview": 2}, "max_episode_steps": 3}),
        (
            "tetrion/Placement-v0",
            {"rules": {"width": 4, "height": 6}, "invalid_action_policy": "ignore", "observe_mask": True},
        ),
        ("tetrion/Placement-v0", {"infos": ["lines"], "rules": {"width": 4, "height": 6}}),
        ("tetrion/Placement-v0", {"infos": [], "rules": {"width": 4, "height": 6}}),
        ("tetrion/Keypress-v0", {"rules": {"width": 5, "height": 7}}),
        ("tetrion/Afterstate-v0", {"rules": {"width": 4, "height": 6}, "max_episode_steps": 3, "observe_mask": True}),
    ],
)
def test_a_vec_env_is_a_dummy_vec_env(client, env_id, kwargs):
    """Everything that the `DummyVecEnv` of the same environments in monitors returns, step by step."""
    pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.env_util import make_vec_env

    from tetrion.sb3 import TetrisVecEnv

    ours = TetrisVecEnv(4, address=client, env_id=env_id, layout="dict", **kwargs)
    # Not by gymnasium.make, which has a wrapper for max_episode_steps.
    kind = getattr(tetrion, env_id.removeprefix("tetrion/").replace("-v0", "Env"))
    theirs = make_vec_env(lambda: kind(address=client, **kwargs), n_envs=4, seed=5)
    ours.seed(5)
    sequences = [{"piece_sequence": "OIOIOIOI"}, {}, {"piece_sequence": "ITITITIT"}, {}]
    rng = np.random.default_rng(1)
    ends = 0
    for options in (None, sequences, {"piece_sequence": "TOTOTO"}):
        for envs in (ours, theirs):
            envs.set_options(options)
        seen, expected = ours.reset(), theirs.reset()
        for _ in range(40):
            np.testing.assert_equal(seen, expected)
            for one, other in zip(ours.reset_infos, theirs.reset_infos, strict=True):
                same({name: one[name] for name in other}, other)
            actions = rng.integers(ours.action_space.n, size=4)
            for envs in (ours, theirs):
                envs.step_async(actions)
            (seen, *one), (expected, *other) = ours.step_wait(), theirs.step_wait()
            for array, wanted in zip(one[:2], other[:2], strict=True):
                np.testing.assert_array_equal(array, wanted)
                assert array.dtype == wanted.dtype
            for info, wanted in zip(one[2], other[2], strict=True):
                same({name: info[name] for name in wanted}, wanted)
            ends += one[1].sum()
    assert ends > 10
    np.testing.assert_array_equal(ours.env_method("action_masks"), theirs.env_method("action_masks"))
    np.testing.assert_array_equal(
        ours.env_method("action_masks", indices=[2]), theirs.env_method("action_masks", indices=[2])
    )
    assert ours.get_attr("render_mode") == theirs.get_attr("render_mode")
    assert ours.get_attr("action_space", 1) == theirs.get_attr("action_space", 1)
    np.testing.assert_array_equal(ours.get_attr("action_masks", [3])[0](), theirs.get_attr("action_masks", [3])[0]())
    for envs in (ours, theirs):
        assert (envs.has_attr("action_masks"), envs.has_attr("nothing"), envs.has_attr("level")) == (True, False, False)
        envs.set_attr("level", "hard")
        envs.set_attr("level", "easy", indices=[1, 2])
        assert envs.get_attr("level") == ["hard", "easy", "easy", "hard"]
        assert envs.get_attr("level", 1) == ["easy"]
        with pytest.raises(AttributeError, match="nothing"):
            envs.env_method("nothing")
    ours.close()
    theirs.close()


def test_both_sides_of_a_match_have_its_seed(client):
    pytest.importorskip("stable_baselines3")
    from tetrion.sb3 import TetrisVecEnv

    rules = {"preset": "tetrio", "players": 2, "height": 14, "rows_above": 4, "clear_points": "result"}
    envs = TetrisVecEnv(6, address=client, rules=rules, layout="dict")
    assert envs.seed(5) == [5, 5, 6, 6, 7, 7]
    envs.reset()
    assert [info["seed"] for info in envs.reset_infos] == [5, 5, 6, 6, 7, 7]
    drawn = envs.seed()
    assert drawn == [drawn[0] + env // 2 for env in range(6)]
    won, rng = [], np.random.default_rng(1)
    while not won:
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in envs.env_method("action_masks")])
        _, rewards, ended, infos = envs.step(actions)
        won = [info["won"] for info, end in zip(infos, ended, strict=True) if end]
    np.testing.assert_array_equal(rewards[ended], won)
    np.testing.assert_array_equal(ended[::2], ended[1::2])
    envs.set_options([{"piece_sequence": "I"}, *[{}] * 5])
    with pytest.raises(tetrion.InvalidArgumentError, match="both sides of a match"):
        envs.reset()
    envs.close()


def test_a_vec_env_has_a_label(client):
    pytest.importorskip("stable_baselines3")
    from tetrion.sb3 import TetrisVecEnv

    envs = TetrisVecEnv(2, address=client, label="ppo")
    assert envs.envs.session.config.label == "ppo"
    envs.close()


def test_the_seconds_of_an_episode(client):
    pytest.importorskip("stable_baselines3")
    from tetrion.sb3 import TetrisVecEnv

    before = time.time()
    envs = TetrisVecEnv(2, address=client, max_episode_steps=1)
    made = time.time()
    envs.reset()
    _, _, _, infos = envs.step(np.array([0, 0]))
    assert made - made < infos[0]["episode"]["t"] <= time.time() - before
    envs.close()


def test_options_of_a_vec_env_are_checked(client):
    pytest.importorskip("stable_baselines3")
    from tetrion.sb3 import TetrisVecEnv

    with pytest.raises(tetrion.InvalidArgumentError, match="autoreset_mode is given, expected none"):
        TetrisVecEnv(2, address=client, autoreset_mode="next_step")
    envs = TetrisVecEnv(2.0, address=client)
    for options, said in (
        ({"piece_sequences": "IO"}, "options has 'piece_sequences', which is not an option of reset, did you mean"),
        ([{}], "options has 1 entries, expected one for each of 2 games"),
        ([{}, {"piece_sequence": 5}], r"piece_sequences\[0\] is 5, expected a string of the letters IOTZSJL"),
    ):
        envs.set_options(options)
        with pytest.raises(tetrion.InvalidArgumentError, match=said):
            envs.reset()
    envs.set_options()
    envs.reset()
    for name in ("reset", "restore_state"):
        with pytest.raises(AttributeError, match=name):
            envs.env_method(name)
    with pytest.raises(tetrion.InvalidArgumentError, match="name is 'render_mode', which is fixed"):
        envs.set_attr("render_mode", "ansi")
    envs.close()


def test_the_layouts_of_a_vec_env(client):
    """The same games as rows, as dictionaries and as planes, last observations included."""
    pytest.importorskip("stable_baselines3")
    from tetrion.sb3 import TetrisVecEnv

    kwargs = {"rules": {"width": 5, "height": 7, "preview": 1}, "max_episode_steps": 3}
    for env_id in ("tetrion/Placement-v0", "tetrion/Keypress-v0"):
        made = {
            name: TetrisVecEnv(3, address=client, env_id=env_id, layout=name, **kwargs)
            for name in ("rows", "dict", "planes")
        }
        space = made["dict"].observation_space
        lay_out = {"rows": tetrion.Flattener(space), "dict": dict, "planes": tetrion.Planes(space)}
        for envs in made.values():
            envs.seed(1)
        seen = {name: envs.reset() for name, envs in made.items()}
        for step in range(1, 7):
            for name, envs in made.items():
                expected = lay_out[name](seen["dict"])
                np.testing.assert_equal(seen[name], expected)
                one = {field: array[0] for field, array in seen[name].items()} if name == "dict" else seen[name][0]
                assert one in envs.observation_space
            actions = made["rows"].action_masks().argmax(axis=1)
            stepped = {name: envs.step(actions) for name, envs in made.items()}
            seen = {name: answer[0] for name, answer in stepped.items()}
            assert stepped["dict"][2].all() == (step % 3 == 0)
            for env in np.flatnonzero(stepped["dict"][2]):
                last = {name: answer[3][env]["terminal_observation"] for name, answer in stepped.items()}
                batch = {field: np.asarray(array)[None] for field, array in last["dict"].items()}
                for name in ("rows", "planes"):
                    np.testing.assert_array_equal(last[name], lay_out[name](batch)[0])
        for envs in made.values():
            envs.close()
    envs = TetrisVecEnv(2, address=client, max_episode_steps=1, infos=["landing_row"])
    envs.reset()
    reported = envs.step(np.array([0, 0]))[-1]
    assert reported[0]["episode"]["l"] == 1
    assert reported[0]["landing_row"] == 0
    envs.close()
    with pytest.raises(ValueError, match="layout is 'grid', expected one of rows, dict, planes"):
        TetrisVecEnv(1, address=client, layout="grid")
    with pytest.raises(ValueError, match="env_id is 'tetrion/Keypres-v0', did you mean 'tetrion/Keypress-v0'"):
        TetrisVecEnv(1, address=client, env_id="tetrion/Keypres-v0")
    with pytest.raises(ValueError, match="planes need board"):
        TetrisVecEnv(1, address=client, layout="planes", observations=["heights"])


def test_learning_from_dictionaries_and_from_planes(client):
    torch = pytest.importorskip("torch")
    contrib = pytest.importorskip("sb3_contrib")
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

    from tetrion.sb3 import TetrisVecEnv

    class Convolutions(BaseFeaturesExtractor):
        def __init__(self, space):
            super().__init__(space, features_dim=16)
            planes, height, width = space.shape
            self.layers = torch.nn.Sequential(
                torch.nn.Conv2d(planes, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(),
                torch.nn.Linear(8 * height * width, 16),
            )  # fmt: skip

        def forward(self, observations):
            return self.layers(observations)

    short = {"n_steps": 16, "batch_size": 32, "device": "cpu"}
    rules = {"width": 5, "height": 7, "preview": 1}
    for env_id, layout, policy, extractor in (
        ("tetrion/Placement-v0", "dict", "MultiInputPolicy", {}),
        ("tetrion/Placement-v0", "planes", "CnnPolicy", {"policy_kwargs": {"features_extractor_class": Convolutions}}),
        ("tetrion/Afterstate-v0", "rows", "MlpPolicy", {}),
    ):
        envs = TetrisVecEnv(4, address=client, env_id=env_id, rules=rules, layout=layout)
        model = contrib.MaskablePPO(policy, envs, **short, **extractor)
        model.learn(128)
        # The network gets what the games show: nothing was transposed or scaled on the way.
        assert model.observation_space == envs.observation_space
        envs.close()


def test_maskable_ppo(server):
    pytest.importorskip("sb3_contrib")
    output = run("maskable_ppo.py", "--address", server.address, "--steps", 16_000, "--games", 20)
    assert "16,384 steps" in output
    assert re.search(r"trained: [\d.]+ lines per game over 20 games", output)


def test_a_row_policy_scores_each_row_alone(client, tmp_path):
    """Its scores move with the rows, absent rows do not count, and a saved agent plays the same."""
    torch = pytest.importorskip("torch")
    contrib = pytest.importorskip("sb3_contrib")
    from tetrion.sb3 import RowPolicy, TetrisVecEnv

    shown = ["features", "rewards", "terminated", "afterstates", "current", "queue"]
    rules = {"width": 5, "height": 7, "preview": 2}
    envs = TetrisVecEnv(
        4, address=client, env_id="tetrion/Afterstate-v0", layout="dict", rules=rules, observations=shown, observe_mask=True
    )
    model = contrib.MaskablePPO(RowPolicy, envs, n_steps=16, batch_size=32, seed=1, device="cpu").learn(128)
    # Eight features, a reward, an end and 35 cells; 8 places for the current piece, and for each of two that follow.
    assert model.policy.features_dim == 8 + 1 + 1 + 35 + 3 * 8
    observations = envs.reset()
    masks = envs.action_masks()
    order = np.random.default_rng(1).permutation(masks.shape[1])
    of_rows = ("features", "rewards", "terminated", "afterstates", "action_mask")
    moved = {name: field[:, order] if name in of_rows else field for name, field in observations.items()}
    with torch.no_grad():
        (scores, value), (moved_scores, moved_value) = (
            (model.policy.get_distribution(tensors).distribution.logits, model.policy.predict_values(tensors))
            for tensors in (model.policy.obs_to_tensor(seen)[0] for seen in (observations, moved))
        )
    assert len(set(scores[0, masks[0]].tolist())) > 1
    torch.testing.assert_close(moved_scores, scores[:, order])
    torch.testing.assert_close(moved_value, value)
    # Without a placement, in the state after a lost game, the value is the bias of the last layer.
    empty = {name: np.zeros_like(field) for name, field in observations.items()}
    with torch.no_grad():
        nothing = model.policy.predict_values(model.policy.obs_to_tensor(empty)[0])
    torch.testing.assert_close(nothing, model.policy.value_net.bias.expand(4, 1))

    model.save(tmp_path / "agent")
    loaded = contrib.MaskablePPO.load(tmp_path / "agent", device="cpu")
    one, other = (
        agent.predict(observations, action_masks=masks, deterministic=True)[0].tolist() for agent in (model, loaded)
    )
    assert one == other
    envs.close()


@pytest.mark.parametrize("net_arch", [[16], {"pi": [8, 8], "vf": [4]}])
def test_the_server_plays_by_a_row_policy(client, net_arch):
    torch = pytest.importorskip("torch")
    contrib = pytest.importorskip("sb3_contrib")
    from tetrion.sb3 import RowPolicy, TetrisVecEnv

    envs = TetrisVecEnv(8, address=client, env_id="tetrion/Afterstate-v0", layout="dict", observations=["features"])
    kwargs = {"net_arch": net_arch, "activation_fn": torch.nn.ReLU}
    model = contrib.MaskablePPO(
        RowPolicy, envs, n_steps=16, batch_size=64, learning_rate=0.01, policy_kwargs=kwargs, seed=1, device="cpu"
    ).learn(256)
    network, weights = tetrion.Mlp.from_torch(model.policy.row_network())
    policy = tetrion.Policy(weights=weights, features="bcts8", model=network)
    observations = envs.reset()
    for _ in range(10):
        masks = envs.action_masks()
        listed = client.enumerate_placements(envs.envs.save_state(), features="bcts8", policy=policy)
        with torch.no_grad():
            scores = model.policy.get_distribution(model.policy.obs_to_tensor(observations)[0]).distribution.logits.numpy()
        # The server never prefers a placement that ends the game, and the scores of a game are up to a constant.
        counted = np.isfinite(listed.policy_values)
        games = np.repeat(np.arange(8), np.diff(listed.row_offsets))[counted]
        apart = listed.policy_values[counted] - scores[masks][counted]
        np.testing.assert_allclose(apart, apart[np.searchsorted(games, games)], atol=1e-4)
        assert counted.sum() > 100
        observations, *_ = envs.step(masks.argmax(axis=1))
    envs.close()


def test_a_row_policy_needs_rows(client):
    contrib = pytest.importorskip("sb3_contrib")
    from tetrion.sb3 import RowPolicy, TetrisVecEnv

    for kwargs, said in (
        ({"env_id": "tetrion/Afterstate-v0"}, r"^observation_space has no fields, expected .*layout='dict'"),
        ({"layout": "dict"}, "^observation_space has board and current, expected features, rewards"),
    ):
        envs = TetrisVecEnv(2, address=client, **kwargs)
        with pytest.raises(tetrion.InvalidArgumentError, match=said):
            contrib.MaskablePPO(RowPolicy, envs, device="cpu")
        envs.close()


def test_row_policy(server, tmp_path):
    """Where a policy that sees one long row has learned nothing yet."""
    pytest.importorskip("sb3_contrib")
    log = tmp_path / "curve.csv"
    output = run("row_policy.py", "--address", server.address, "--steps", 41_000, "--trials", 16, "--log", log)
    training = [float(number) for number in re.findall(r"([\d.]+) lines per game in", output)]
    assert training[0] < 2 < training[1]
    assert float(re.search(r"([\d,]+) lines per game \(estimate\)", output)[1].replace(",", "")) > 100
    header, first, *_ = log.read_text().splitlines()
    assert (header, first.split(",")[0]) == ("steps,seconds,lines", "20480")


def test_own_network(server):
    pytest.importorskip("torch")
    output = run("own_network.py", "--address", server.address, "--games", 50)
    assert float(re.search(r"difference of two scores: ([\d.e+-]+)", output)[1]) < 1e-4
    lines = [float(number.replace(",", "")) for number in re.findall(r"([\d,]+) lines per game", output)]
    assert len(lines) == 2
    assert min(lines) > 50


def test_the_blocks_of_the_readme(client, capsys, tmp_path, monkeypatch):
    """Cut short: the README has a million steps."""
    pytest.importorskip("sb3_contrib")
    monkeypatch.chdir(tmp_path)
    learning, recording = re.findall(r"```python\n(from sb3_contrib.*?)```", README.read_text(), re.S)
    assert "learn(1_000_000)" in learning
    names = {"client": client, "tetrion": tetrion}
    exec(learning.replace("learn(1_000_000)", "learn(9_000)"), names)
    assert "ep_rew_mean" in capsys.readouterr().out
    exec(recording, names)
    assert re.match(r"mean reward -?[\d.]+ \+- [\d.]+$", capsys.readouterr().out)
    assert tetrion.Recording.load("best.json").check() is None
    names["envs"].close()


PPO = pytest.mark.parametrize(("example", "needs"), [("ppo.py", "torch"), ("ppo_jax.py", "optax")])


@PPO
def test_ppo_in_one_file(server, tmp_path, example, needs):
    pytest.importorskip(needs)
    log = tmp_path / "curve.csv"
    output = run(example, "--address", server.address, "--steps", 17_000, "--log", log)
    assert "16,384 steps" in output
    header, first, second = log.read_text().splitlines()
    assert header == "steps,seconds,lines"
    assert [row.split(",")[0] for row in (first, second)] == ["8192", "16384"]


@PPO
def test_ppo_learns(server, example, needs):
    """Half a minute on a playfield so small that it shows."""
    pytest.importorskip(needs)
    args = ["--steps", 40_000, "--envs", 32, "--rollout", 64]
    output = run(example, "--address", server.address, *args)
    lines = [float(number) for number in re.findall(r"([\d.]+) lines per game", output)]
    assert len(lines) >= 15
    assert np.mean(lines[-3:]) > 1.5 * np.mean(lines[:3])


def test_cma_es(server):
    pytest.importorskip("cma")
    output = run("cma_search.py", "--address", server.address, "--generations", 6, "--games", 5, "--final-games", 50)
    medians = [float(number.replace(",", "")) for number in re.findall(r"median +([\d,]+)", output)]
    assert len(medians) == 6
    # From nothing to hundreds of lines in six generations of 32.
    final = float(re.search(r"([\d,]+) lines per game over 50 fresh games", output)[1].replace(",", ""))
    assert final > 100 > medians[0]


def test_deap(server, tmp_path):
    pytest.importorskip("deap")
    weights = tmp_path / "weights.txt"
    args = ["--generations", 6, "--games", 4, "--max-pieces", 2000, "--final-games", 50, "--out", weights]
    output = run("deap_search.py", "--address", server.address, *args)
    averages = [float(row.split()[2]) for row in output.splitlines() if re.match(r"\d+\s+\d+\s+[\d.]+", row)]
    assert len(averages) == 7
    # Most random individuals clear next to nothing.
    assert averages[-1] > 3 * averages[0]
    numbers = np.loadtxt(weights)
    assert numbers.shape == (4,)
    final = float(re.search(r"([\d,]+) lines per game over 50 fresh games", output)[1].replace(",", ""))
    assert final > 20
    seeds = tetrion.DrawnSeeds(seed=99, count=50)
    play = {"features": "lab4", "terminal_value": "score", "rules": "genetic", "max_pieces": 2000}
    assert tetrion.Client().evaluate(weights=numbers, seeds=seeds, **play).mean_lines[0] > final / 2


def test_the_lab_notebook():
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    notebook = nbformat.read(EXAMPLES / "course/lab.ipynb", as_version=4)
    kept = outputs_of(notebook)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    # Everything but the picture is the same on every machine; the numbers for key presses depend on the server.
    assert outputs_of(notebook)[:-1] == kept[:-1]


def outputs_of(notebook):
    return [
        "".join(output["text"] for output in cell.outputs if output.output_type == "stream" and output.name == "stdout")
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def test_a_network_of_pytorch_is_what_the_server_plays(client):
    torch = pytest.importorskip("torch")
    nn = torch.nn
    torch.manual_seed(1)
    found = client.enumerate_placements(tetrion.Drawing(["####.#####"], "T"), features="bcts8")
    rows = torch.from_numpy(found.features.astype(np.float32))
    for activation in (nn.ReLU, nn.LeakyReLU, nn.Hardtanh, nn.Softsign, nn.Hardswish, nn.Tanh):
        # Square, so that its shape does not show the order; one inside another; one without biases.
        inner = nn.Sequential(nn.Linear(8, 8, bias=False), activation())
        network = nn.Sequential(nn.Linear(8, 8), activation(), inner, nn.Linear(8, 1))
        model, weights = tetrion.Mlp.from_torch(network)
        with torch.no_grad():
            expected = network(rows)[:, 0].numpy()
        np.testing.assert_allclose(found.scores(weights, model), expected, atol=1e-5)
        policy = tetrion.Policy(weights=weights, features="bcts8", model=model)
        of_server = client.enumerate_placements(tetrion.Drawing(["####.#####"], "T"), features="bcts8", policy=policy)
        np.testing.assert_allclose(of_server.policy_values, expected, atol=1e-5)
    for wrong in (
        nn.Linear(8, 1),
        nn.Sequential(nn.Linear(8, 4), nn.Sigmoid(), nn.Linear(4, 1)),
        nn.Sequential(nn.Linear(8, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1)),
        nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1)),
    ):
        with pytest.raises(tetrion.InvalidArgumentError, match=r"^module"):
            tetrion.Mlp.from_torch(wrong)
