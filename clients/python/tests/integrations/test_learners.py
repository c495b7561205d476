"""Libraries that learn, on our environments: a few seconds of each example, and what the libraries' own checkers say."""

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import tetrion

EXAMPLES = Path(__file__).parents[2] / "examples"
README = Path(__file__).parents[2] / "README.md"

# What other people's packages warn about is theirs.
pytestmark = pytest.mark.filterwarnings("default")


def run(example, *args):
    """Runs an example as a person would; a failure shows what it said."""
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


def test_stable_baselines_has_nothing_to_say(client):
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    env = tetrion.TetrisEnv(client, rules={"width": 6, "height": 8, "preview": 1}, render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checker.check_env(gymnasium.wrappers.FlattenObservation(env))
    env.close()


def test_a_session_is_a_vec_env(client):
    pytest.importorskip("stable_baselines3")
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

    from tetrion.sb3 import TetrisVecEnv

    rules = {"width": 4, "height": 6}
    envs = TetrisVecEnv(5, client, rules=rules, max_episode_steps=4)
    twin = tetrion.TetrisVectorEnv(5, client, rules=rules, max_episode_steps=4, autoreset_mode="SameStep")
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
        rows, rewards, dones, told = envs.step(actions)
        observations, expected, terminated, truncated, infos = twin.step(actions)
        np.testing.assert_array_equal(rewards, expected)
        np.testing.assert_array_equal(dones, terminated | truncated)
        for env, done in enumerate(dones):
            assert ("episode" in told[env]) == done
            if done:
                ended["truncated" if truncated[env] else "terminated"] += 1
                last = {name: field[None] for name, field in infos["final_obs"][env].items()}
                np.testing.assert_array_equal(told[env]["terminal_observation"], flat(last)[0])
                assert told[env]["TimeLimit.truncated"] == truncated[env]
                assert told[env]["episode"]["l"] == infos["final_info"]["length"][env]
                assert told[env]["episode"]["r"] == told[env]["lines"] == infos["final_info"]["lines"][env]
    assert min(ended.values()) > 0
    with pytest.raises(NotImplementedError, match="no method"):
        envs.env_method("reset")
    envs.close()
    twin.close()


def test_maskable_ppo(server):
    pytest.importorskip("sb3_contrib")
    output = run("maskable_ppo.py", "--address", server.address, "--steps", 16_000, "--games", 20)
    assert "16,384 steps" in output
    assert re.search(r"trained: [\d.]+ lines a game over 20 games", output)


def test_the_block_of_the_readme(client, capsys):
    """Cut short: the README has a million steps."""
    pytest.importorskip("sb3_contrib")
    code = re.search(r"```python\n(from sb3_contrib import.*?)```", README.read_text(), re.S)[1]
    assert "learn(1_000_000)" in code
    names = {"client": client}
    exec(code.replace("learn(1_000_000)", "learn(9_000)"), names)
    assert "ep_rew_mean" in capsys.readouterr().out
    names["envs"].close()


def test_ppo_in_one_file(server, tmp_path):
    pytest.importorskip("torch")
    log = tmp_path / "curve.csv"
    output = run("ppo.py", "--address", server.address, "--steps", 17_000, "--log", log)
    assert "16,384 steps" in output
    header, first, second = log.read_text().splitlines()
    assert header == "steps,seconds,lines"
    assert [row.split(",")[0] for row in (first, second)] == ["8192", "16384"]


def test_ppo_learns(server):
    """Half a minute on a playfield so small that it shows."""
    pytest.importorskip("torch")
    args = ["--steps", 40_000, "--envs", 32, "--rollout", 64]
    output = run("ppo.py", "--address", server.address, *args)
    lines = [float(number) for number in re.findall(r"([\d.]+) lines a game", output)]
    assert len(lines) >= 15
    assert np.mean(lines[-3:]) > 1.5 * np.mean(lines[:3])


def test_cma_es(server):
    pytest.importorskip("cma")
    output = run("cma_search.py", "--address", server.address, "--generations", 6, "--games", 5, "--final-games", 50)
    medians = [float(number.replace(",", "")) for number in re.findall(r"median +([\d,]+)", output)]
    assert len(medians) == 6
    # From nothing to hundreds of lines in six generations of 32.
    final = float(re.search(r"([\d,]+) lines a game over 50 fresh games", output)[1].replace(",", ""))
    assert final > 100 > medians[0]


def test_the_lab_notebook():
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    notebook = nbformat.read(EXAMPLES / "lab.ipynb", as_version=4)
    kept = outputs_of(notebook)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    # Everything but a picture is the same numbers on every machine; what it says of key presses depends on the server.
    assert outputs_of(notebook)[:-1] == kept[:-1]


def outputs_of(notebook):
    return [
        "".join(output["text"] for output in cell.outputs if output.output_type == "stream" and output.name == "stdout")
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]
