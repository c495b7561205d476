"""Games of other pieces than the tetrominoes."""

from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from recorded import check_file

import tetrion
from tetrion import PlacementEnv
from tetrion._envs.flat import Planes

RULES = {"piece_set": "melax", "width": 6, "height": 8, "preview": 2}


def test_an_environment_of_melax_pieces_is_one_that_gymnasium_takes(client: tetrion.Client) -> None:
    env = gymnasium.make("tetrion/Placement-v0", address=client, rules=RULES)
    spaces = env.observation_space
    assert spaces["current"] == gymnasium.spaces.Discrete(6)
    assert spaces["queue"] == gymnasium.spaces.MultiDiscrete([6, 6])
    assert env.action_space == gymnasium.spaces.Discrete(24)
    check_env(env.unwrapped, skip_render_check=True)
    env.close()


def test_letters_of_the_set_are_dealt_and_the_number_behind_them_is_none(client: tetrion.Client) -> None:
    rules = {"piece_set": "u=X.X/XXX d=X./.X", "width": 5, "height": 6, "preview": 1}
    env = gymnasium.make("tetrion/Placement-v0", address=client, rules=rules, observe_mask=True)
    observation, _ = env.reset(options={"piece_sequence": "ud"})
    assert (observation["current"], list(observation["queue"])) == (0, [1])
    planes = Planes(env.observation_space)
    assert planes.names == ["board", "current=0", "current=1", "queue[0]=0", "queue[0]=1"]
    # The U standing on its back: its first picture in columns 0 to 2.
    observation, *_ = env.step(0)
    assert observation["board"][:2].tolist() == [[1, 1, 1, 0, 0], [1, 0, 1, 0, 0]]
    assert (observation["current"], list(observation["queue"])) == (1, [2]), "2 pieces, so 2 is none"
    batch = {name: np.asarray(value)[None] for name, value in observation.items()}
    assert planes(batch)[0, 1:, 0, 0].tolist() == [0, 1, 0, 0]
    env.close()


def test_games_of_other_pieces_are_evaluated(client: tetrion.Client) -> None:
    games = client.evaluate(["random", "bcts"], seeds=[1, 2, 3], rules=RULES, max_pieces=300)
    assert games.lines.size == 6
    assert games.pieces.min() > 3


@pytest.mark.parametrize(
    "rules",
    [
        RULES,
        {"preset": "melax"},
        {"piece_set": "pentominoes", "width": 10, "height": 12, "preview": 1, "hold": True},
        {"piece_set": "u=X.X/XXX d=X./.X", "width": 5, "height": 8, "randomizer": "bag7"},
        {"piece_set": "X./XX XX", "width": 6, "height": 8, "reach": "sideways_walk", "garbage": {"lines_per_piece": 0.2}},
    ],
)
def test_games_of_other_pieces_are_recorded(client: tetrion.Client, tmp_path: Path, rules: dict) -> None:
    env = PlacementEnv(address=client, rules=rules, max_episode_steps=60, features=["landing_height", "holes"])
    recorded = tetrion.RecordGames(env, tmp_path, lambda episode: True)
    games = []
    for episode in range(3):
        _, info = recorded.reset(seed=episode)
        ended = False
        while not ended:
            found = env.session.enumerate_placements()
            best = found.best_rows(found.scores([-1.0, -4.0]))[0]
            _, _, terminated, truncated, info = recorded.step(found.actions[best])
            ended = terminated or truncated
        games += recorded.recordings
        assert (games[-1].pieces, games[-1].lines) == (info["pieces"], info["lines"])
    assert sum(game.lines for game in games) > 0
    assert len(list(tmp_path.iterdir())) == 3
    for path in tmp_path.iterdir():
        check_file(path)
        assert tetrion.Recording.load(path).check() is None
    # A lie is found.
    message = games[-1]._message
    message.outcome = message.outcome.changed(lines=message.outcome.lines + 1)
    assert "lines" in str(games[-1].check())
    # Scenes are of tetrominoes.
    with pytest.raises(tetrion.InvalidArgumentError, match="are of tetrominoes"):
        games[0].replay().scene()
    assert games[0]._repr_html_() is None
    assert games[0].picture().shape[2] == 3
    recorded.close()


def test_a_game_of_other_pieces_is_recorded_from_where_a_snapshot_left_it(client: tetrion.Client, tmp_path: Path) -> None:
    rules = {"piece_set": "pentominoes", "width": 10, "height": 12, "preview": 2, "hold": True}
    env, twin = tetrion.PlacementEnv(address=client, rules=rules), tetrion.PlacementEnv(address=client, rules=rules)
    _, info = env.reset(seed=4)
    for _ in range(4):
        *_, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
    with tetrion.Recorder(twin) as recorder:
        _, info = twin.restore_state(env.save_state())
        for _ in range(3):
            *_, info = twin.step(int(np.flatnonzero(info["action_mask"])[0]))
        recording = recorder.recording()
    assert recording.start is not None
    assert set(recording.start.piece) <= set("FfILlNnPpTUVWXYyZz")
    assert recording.check() is None
    recording.save(tmp_path / "game.json")
    check_file(tmp_path / "game.json")


def test_evaluations_of_other_pieces_are_recorded(client: tetrion.Client, tmp_path: Path) -> None:
    result = client.evaluate(["random", "bcts"], seeds=[1, 2, 3], rules=RULES, max_pieces=200, record=["best", "worst"])
    assert len(result.recordings) >= 3, "the worst may be the best"
    for place, recording in enumerate(result.recordings):
        assert recording.check() is None
        recording.save(tmp_path / f"{place}.json")
        check_file(tmp_path / f"{place}.json")
    dealt = client.evaluate("bcts", piece_sequences=["MDXLO" * 4], rules=RULES, record="best").recordings[0]
    assert (dealt.piece_sequence, dealt.check()) == ("MDXLO" * 4, None)


def test_pictures_show_any_pieces_and_scenes_tetrominoes(client: tetrion.Client) -> None:
    env = PlacementEnv(address=client, rules=RULES, render_mode="rgb_array")
    _, info = env.reset(seed=1)
    env.step(int(info["action_mask"].argmax()))
    assert len({tuple(colour) for row in env.render() for colour in row}) > 5
    with pytest.raises(tetrion.InvalidArgumentError, match="are of tetrominoes"):
        client.watch(env)


def test_what_is_no_set_is_refused_with_the_names_of_those_there_are(client: tetrion.Client) -> None:
    with pytest.raises(tetrion.InvalidRequestError, match="expected one of tetrominoes, melax"):
        gymnasium.make("tetrion/Placement-v0", address=client, rules={"piece_set": "melaks"})
