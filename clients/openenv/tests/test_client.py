"""OpenEnv's own client, unchanged, over a real socket."""

import asyncio

import httpx
import pytest
from conftest import PLACES
from openenv.core.generic_client import GenericEnvClient


def play(env, **reset):
    """An episode of first legal actions: its texts and rewards."""
    result = env.reset(**reset)
    texts, rewards = [result.observation["text"]], []
    while not result.done:
        legal = result.observation["legal_actions"]
        result = env.step({"text": legal[len(legal) // 2].split(" ")[0] if legal else "-holes"})
        texts.append(result.observation["text"])
        rewards.append(result.reward)
    return texts, rewards, result


async def play_async(url, places, index):
    async with places, GenericEnvClient(base_url=url) as env:
        result = await env.reset(split="train", index=index % 500)
        texts, rewards = [result.observation["text"]], []
        while not result.done:
            legal = result.observation["legal_actions"]
            result = await env.step({"text": legal[len(legal) // 2] if legal else "-holes"})
            texts.append(result.observation["text"])
            rewards.append(result.reward)
        return texts, rewards


def test_a_thousand_tasks_at_once_and_equal_tasks_play_equally(url):
    async def everything():
        places = asyncio.Semaphore(PLACES)
        return await asyncio.gather(*(play_async(url, places, index) for index in range(1000)))

    played = asyncio.run(everything())
    assert played[:500] == played[500:]
    assert len({texts[0] for texts, _ in played}) > 400
    for _, rewards in played:
        assert all(0 <= reward <= 1 for reward in rewards)
        assert sum(rewards) <= 1 + 1e-9


def test_more_environments_than_places_are_refused(url):
    async def crowd():
        envs = [GenericEnvClient(base_url=url) for _ in range(PLACES)]
        for env in envs:
            await env.connect()
            await env.reset(seed=1)
        extra = GenericEnvClient(base_url=url)
        with pytest.raises(Exception, match="capacity"):
            await extra.reset(seed=1)
        await asyncio.gather(*(env.close() for env in envs))

    asyncio.run(crowd())


def test_the_seed_decides_the_game(url):
    with GenericEnvClient(base_url=url).sync() as env:
        first = play(env, seed=5)
        assert play(env, seed=5)[:2] == first[:2]
        assert play(env, seed=6)[0] != first[0]
        assert env.state()["seed"] == 6
        assert env.reset(seed=7, split="test").observation == env.reset(split="test", index=7).observation


def test_a_refused_action_changes_nothing(url):
    with GenericEnvClient(base_url=url).sync() as env:
        start = env.reset(seed=1, level="board", max_refusals=2)
        refused = env.step({"text": "0@99"})
        assert refused.observation["refusal"].startswith('"0@99" is not a legal action, expected one of: a 0@0-')
        assert start.observation["text"].count(refused.observation["text"]) == 1
        assert (refused.reward, refused.done, refused.observation["refusals"]) == (0, False, 1)
        ended = env.step({"text": "?"})
        assert ended.done
        assert ended.observation["truncated"]
        assert not ended.observation["terminated"]
        with pytest.raises(RuntimeError, match="the episode has ended, reset the environment"):
            env.step({"text": "a"})


def test_a_wrong_reset_names_the_field_and_the_episode_goes_on(url):
    with GenericEnvClient(base_url=url).sync() as env:
        env.reset(seed=1)
        for wrong, message in [
            ({"level": "all"}, "level: is 'all', expected one of board, actions"),
            ({"split": "train", "index": 10_500}, "index: is 10500, expected 0 to 10499"),
            ({"split": "x", "index": 0}, "split: is 'x', expected one of train, test"),
            ({"index": 3}, "index: is 3 without a split"),
            ({"split": "train", "index": 3, "seed": 1}, "seed: is 1 with the index 3, expected one of the two"),
            ({"pieces": 0}, "pieces: is 0, expected 1 to 1000"),
        ]:
            with pytest.raises(RuntimeError, match=message):
                env.reset(**wrong)
        assert env.step({"text": "a"}).observation["pieces"] == 1


def test_rewards_of_success_come_at_the_end(url):
    with GenericEnvClient(base_url=url).sync() as env:
        for index in range(7):
            _, rewards, result = play(env, split="train", index=index, reward="success")
            assert rewards == [0.0] * (len(rewards) - 1) + [float(result.observation["score"] == 1.0)]


def test_a_game_ends_at_its_goal_or_at_its_limit(url):
    with GenericEnvClient(base_url=url).sync() as env:
        env.reset(seed=1, rules={"width": 4, "height": 20, "piece_set": "tetrominoes"}, lines=1, pieces=2)
        env.step({"text": "a"})
        result = env.step({"text": "a"})
        assert result.done
        assert result.observation["truncated"] == (result.observation["lines"] == 0)


def test_tasks_are_discovered_without_their_solutions(url):
    assert httpx.get(f"{url}/tetrion/splits").json() == [
        {"name": "train", "type": "train"},
        {"name": "test", "type": "test"},
    ]
    assert httpx.post(f"{url}/tetrion/num_tasks", json={"split": "test"}).json() == {"num_tasks": 10_500}
    task = httpx.post(f"{url}/tetrion/task", json={"split": "test", "index": 3}).json()["task"]
    assert (task["id"], task["group"]) == ("tetrion-tasks-1/test/3", "survive")
    assert not [name for name in task if "oracle" in name]
    tasks = httpx.post(f"{url}/tetrion/task_range", json={"split": "test", "start": 2, "stop": 5}).json()["tasks"]
    assert [task["index"] for task in tasks] == [2, 3, 4]
    assert httpx.post(f"{url}/tetrion/task", json={"split": "test", "index": -1}).status_code == 400


def test_tools_play_a_game(url):
    async def tools():
        async with GenericEnvClient(base_url=url) as env:
            names = {tool["name"] for tool in (await rpc(env, "tools/list"))["tools"]}
            game = await call(env, "new_game", split="train", index=2)
            peeked = await call(env, "peek", action="a")
            placed = await call(env, "place", action="a")
            refused = await call(env, "place", action="no")
            formula = await call(env, "evaluate_formula", formula="-holes", games=2)
            typo = await call(env, "evaluate_formula", formula="-hole")
            return names, game, peeked, placed, refused, formula, typo

    names, game, peeked, placed, refused, formula, typo = asyncio.run(tools())
    assert names == {"new_game", "show", "place", "peek", "evaluate_formula"}
    assert "Goal: " in game
    assert peeked.startswith("a 0@0-")
    assert "lines" in peeked
    assert "pieces 1" in placed
    assert refused.startswith('"no" is not a legal action')
    assert "lines per game" in formula
    assert 'did you mean "holes"?' in typo


async def rpc(env, method, **params):
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = await env._send_and_receive({"type": "mcp", "data": request})
    return answer["data"]["result"]


async def call(env, name, **arguments):
    result = await rpc(env, "tools/call", name=name, arguments=arguments)
    return result["content"][0]["text"] if isinstance(result, dict) and "content" in result else str(result)
