"""Games that MDPTetris played, played again through Gymnasium from observations alone.

The pieces come as written sequences, the features from the client for the playfields that were observed, the choice from
adding them up in float64 in the order of the set. What comes out must be the reference program's lines and placements.
"""

from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import gymnasium
import pytest
from draws import word

import tetrion

FILE = Path(__file__).parents[3] / "src/core/tests/data/reference_games.txt"


class Game(NamedTuple):
    controller: str
    width: int
    height: int
    seed: int
    pieces: int
    lines: int
    checksum: str
    end: str

    @property
    def sequence(self):
        """The pieces of the `uniform` randomizer, one for each placement of the game."""
        return "".join("IOTZSJL"[(word(self.seed, 0, n) * 7) >> 64] for n in range(self.pieces))


def read_games():
    rows = (line.split() for line in FILE.read_text().splitlines() if not line.startswith("#"))
    return [Game(row[0], *(int(number) for number in row[1:6]), *row[6:]) for row in rows]


# The shorter ones of each controller and size, and some that were cut.
GAMES = [game for game in read_games() if game.pieces <= 700 or (game.end == "cut" and game.pieces <= 3000)]
GROUPS = [(key, list(group)) for key, group in groupby(GAMES, key=lambda game: game[:3])]


@pytest.fixture
def controllers(client):
    return {name: client.get_policy(name) for name in {game.controller for game in GAMES}}


def checksum(actions, width):
    """64-bit FNV-1a over orientation and column of every placement."""
    value = 0xCBF29CE484222325
    for action in actions:
        for byte in divmod(int(action), width):
            value = ((value ^ byte) * 0x100000001B3) % 2**64
    return f"{value:016x}"


def choose(client, observations, rules, controller):
    """The greedy placements in the playfields observed."""
    packed = tetrion.Packed(observations["board_bits"], observations["current"])
    placements = client.enumerate_placements(packed, rules=rules, features=controller.features)
    return placements.actions[placements.best_rows(placements.scores(controller.weights))]


def test_there_are_games_of_many_kinds():
    assert len(GAMES) > 25
    assert len(GROUPS) > 10
    assert {game.end for game in GAMES} == {"over", "cut"}


@pytest.mark.parametrize("games", [games for _, games in GROUPS], ids=["-".join(map(str, key)) for key, _ in GROUPS])
def test_many_at_once(client, controllers, games):
    name, width, height = games[0][:3]
    rules = {"width": width, "height": height}
    envs = gymnasium.make_vec(
        "tetrion/Placement-v0",
        num_envs=len(games),
        address=client,
        rules=rules,
        observations=["board_bits", "current"],
        autoreset_mode="SameStep",
        invalid_action_policy="reject",
    )
    observations, _ = envs.reset(options={"piece_sequences": [game.sequence for game in games]})
    actions = [[] for _ in games]
    played = [None for _ in games]
    while None in played:
        chosen = choose(client, observations, rules, controllers[name])
        observations, _, terminated, truncated, infos = envs.step(chosen)
        for index in range(len(games)):
            if played[index] is None:
                actions[index].append(chosen[index])
                if terminated[index] or truncated[index]:
                    end = "over" if terminated[index] else "cut"
                    counts = [int(infos["final_info"][count][index]) for count in ("pieces", "lines")]
                    played[index] = (*counts, checksum(actions[index], width), end)
    envs.close()
    assert played == [game[4:] for game in games]


def test_one_by_one(client, controllers):
    for game in sorted(GAMES, key=lambda game: game.pieces)[:6]:
        rules = {"width": game.width, "height": game.height}
        env = gymnasium.make(
            "tetrion/Placement-v0",
            address=client,
            rules=rules,
            observations=["board_bits", "current"],
            invalid_action_policy="reject",
        )
        observation, info = env.reset(options={"piece_sequence": game.sequence})
        actions, rewards, ended = [], 0.0, False
        while not ended:
            batch = {name: value[None] for name, value in observation.items()}
            (action,) = choose(client, batch, rules, controllers[game.controller])
            assert info["action_mask"][action] == 1
            observation, reward, terminated, truncated, info = env.step(action)
            actions.append(action)
            rewards += reward
            ended = terminated or truncated
        env.close()
        assert (info["pieces"], info["lines"], rewards) == (game.pieces, game.lines, game.lines)
        assert checksum(actions, game.width) == game.checksum
        assert terminated == (game.end == "over")
