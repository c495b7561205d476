"""Tasks with a known optimum: what they are, how they are scored, and as environments."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import tetrion
from tetrion import tasks


@pytest.fixture(scope="module")
def client():
    with tetrion.Client() as client:
        yield client


@pytest.mark.parametrize("split", tasks.SPLITS)
def test_a_task_is_what_its_number_says(client, split):
    for index in range(7):
        task = client.task(split, index)
        assert (task.suite, task.split, task.index) == (tasks.SUITE, split, index)
        assert (task.group, task.difficulty, task.num_tasks) == (tasks.GROUPS[index], 1, tasks.NUM_TASKS)
        assert task == client.task(split, index)
        assert 0 <= task.floor_first < 1
        assert 0 <= task.floor_random < 1


@pytest.mark.parametrize("index", range(6))
def test_an_oracle_scores_one_and_half_of_it_less(client, index):
    task = client.task("test", index)
    score = client.score_task("test", index, actions=task.oracle_actions)
    assert (score.score, score.done, score.pieces) == (1.0, True, len(task.oracle_actions))
    half = client.score_task("test", index, actions=task.oracle_actions[:-1])
    assert (half.score < 1, half.done, half.pieces) == (True, False, score.pieces - 1)
    assert all(regret == 0 for regret in score.regrets)
    assert len(score.regrets) == len(score.spreads) == (score.pieces if index < 2 else 0)


@pytest.mark.parametrize("index", range(6))
def test_texts_are_scored_as_their_numbers(client, index):
    task = client.task("test", index)
    with tasks.begin(client, task) as session:
        texts = []
        for action in task.oracle_actions:
            lines = session.render(style="prompt_actions")[0].split("column\n")[1].splitlines()
            place = session.enumerate_placements().actions.tolist().index(action)
            texts.append(lines[place].split()[len(texts) % 2])
            session.step([action])
    by_numbers = client.score_task("test", index, actions=task.oracle_actions)
    assert client.score_task("test", index, actions=texts) == by_numbers
    assert by_numbers.score == 1.0


def test_a_formula_is_scored(client):
    task = client.task("train", 6)
    assert client.score_task("train", 6, formula=task.oracle_formula).score == 1.0
    poor = client.score_task("train", 6, formula="-max_height")
    assert (0 < poor.score < 1, poor.done, poor.lines > 0) == (True, True, True)


def test_what_is_no_answer_is_refused(client):
    with pytest.raises(tetrion.InvalidRequestError, match="split"):
        client.task("validation", 0)
    with pytest.raises(tetrion.InvalidRequestError, match=r"expected at most 10499"):
        client.task("train", tasks.NUM_TASKS)
    with pytest.raises(tetrion.InvalidRequestError, match=r"actions\[0\]"):
        client.score_task("train", 0, actions=[99])
    with pytest.raises(tetrion.InvalidRequestError, match="formula"):
        client.score_task("train", 0, formula="-holes")
    with pytest.raises(tetrion.InvalidArgumentError, match="actions"):
        client.score_task("train", 0, actions=[None])
    with pytest.raises(tetrion.InvalidRequestError, match=r'text_actions\[0\]: "zz" is not a legal action, .*: a 0@0'):
        client.score_task("train", 0, actions=["zz"])
    with pytest.raises(tetrion.InvalidRequestError, match=r"text_actions\[1\]: follows the end of the task"):
        client.score_task("train", 0, actions=["a", "a"])
    with pytest.raises(tetrion.InvalidArgumentError, match=r"actions\[1\] is 0, expected a name"):
        client.score_task("train", 1, actions=["a", 0])
    with pytest.raises(tetrion.InvalidRequestError, match=r"text_actions: are given for a task that asks for a formula"):
        client.score_task("train", 6, actions=["a"])


def test_a_task_is_played_in_a_session(client):
    task = client.task("train", 1)
    with tasks.begin(client, task, infos=["regret", "lines"]) as session:
        for action in task.oracle_actions:
            assert session.step([action]).infos["regret"].tolist() == [0.0]
    with pytest.raises(tetrion.InvalidArgumentError, match="formula"):
        tasks.begin(client, client.task("train", 6))


@pytest.mark.parametrize("index", [0, 1, 5])
def test_an_environment_pays_the_score(index):
    with gymnasium.make("tetrion/Task-v0", split="test", index=index) as env:
        task = env.unwrapped.task
        _, info = env.reset()
        assert (info["prompt"], info["score"]) == (task.prompt, 0.0)
        rewards, done = [], False
        for action in task.oracle_actions:
            assert (done, info["action_mask"][action]) == (False, 1)
            _, reward, done, truncated, info = env.step(action)
            rewards.append(reward)
            assert not truncated
            assert info.get("regret") == (None if index == 5 else 0.0)
        assert (done, info["score"], sum(rewards)) == (True, 1.0, pytest.approx(1.0))
        with pytest.raises(tetrion.EpisodeEndedError):
            env.unwrapped.step(0)


@pytest.mark.parametrize("index", [index for start in range(0, 42, 7) for index in range(start, start + 6)])
def test_after_looking_ahead_the_oracle_still_scores_one(index):
    with gymnasium.make("tetrion/Task-v0", split="test", index=index) as env:
        game = env.unwrapped
        _, info = env.reset()
        for action in game.task.oracle_actions:
            state, score = game.save_state(), info["score"]
            for ahead in np.flatnonzero(info["action_mask"])[:3]:
                env.step(int(ahead))
                _, info = game.restore_state(state)
                assert info["score"] == score
            _, _, done, _, info = env.step(action)
        assert (done, info["score"]) == (True, 1.0)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_of_a_task_goes_on_alone(duplicate):
    with tetrion.tasks.TaskEnv(index=1) as env:
        env.reset()
        first, *others = env.task.oracle_actions
        env.step(first)
        with duplicate(env) as twin:
            for game in (twin, env):
                infos = [game.step(action)[4] for action in others]
                assert infos[-1]["score"] == 1.0


def test_a_snapshot_returns_to_its_task():
    with tetrion.tasks.TaskEnv(index=1) as env:
        env.reset()
        env.step(env.task.oracle_actions[0])
        state, prompt = env.save_state(), env.task.prompt
        env.reset(options={"index": 22})
        with tetrion.tasks.TaskEnv(index=1) as other:
            for game in (env, other):
                _, info = game.restore_state(state)
                assert (game.task.prompt, game.task.index) == (prompt, 1)
                assert info["score"] > 0
                info = [game.step(action)[4] for action in game.task.oracle_actions[1:]][-1]
                assert info["score"] == 1.0


def test_what_is_no_snapshot_of_a_task_is_refused():
    with tetrion.tasks.TaskEnv(index=1) as env, tetrion.tasks.TaskEnv(index=2) as other:
        for game in (env, other):
            game.reset()
        state = env.save_state()
        for wrong in (b"", state[:20], other.task.state, tetrion.Drawing(["...."], "T")):
            with pytest.raises(tetrion.InvalidArgumentError, match=r"state is .*, expected a snapshot from save_state"):
                env.restore_state(wrong)
        with pytest.raises(tetrion.InvalidArgumentError, match="state is of task 2, which has other rules"):
            env.restore_state(other.save_state())
        with pytest.raises(tetrion.InvalidArgumentError, match="reseed is 1, expected None: the pieces belong to the task"):
            env.restore_state(state, reseed=1)
        assert env.step(env.task.oracle_actions[0])[1] > 0


def test_an_action_that_is_no_placement_ends_the_episode_without_reward():
    with tetrion.tasks.TaskEnv(index=1) as env:
        _, info = env.reset()
        forbidden = int(np.flatnonzero(info["action_mask"] == 0)[0])
        _, reward, done, _, info = env.step(forbidden)
        assert (reward, done, info["score"]) == (0.0, True, 0.0)
        _, info = env.reset()
        assert (info["score"], info["action_mask"][env.task.oracle_actions[0]]) == (0.0, 1)


def test_another_task_with_the_same_rules():
    with tetrion.tasks.TaskEnv(index=0) as env:
        first = env.task
        _, info = env.reset(options={"index": 21})
        assert info["prompt"] == env.task.prompt != first.prompt
        assert env.task.index == 21
        with pytest.raises(tetrion.InvalidArgumentError, match="other rules"):
            env.reset(options={"index": 2})
        with pytest.raises(tetrion.InvalidArgumentError, match="formula"):
            env.reset(options={"index": 6})
        twin = copy.deepcopy(env)
        action = env.task.oracle_actions[0]
        assert env.step(action)[1:4] == twin.step(action)[1:4]
        twin.close()


def test_environments_pass_gymnasiums_checks():
    env = tetrion.tasks.TaskEnv(index=2, observe_mask=True)
    check_env(env, skip_render_check=True)
