"""The cross-entropy search: the path of the server program's own, to the last bit."""

import dataclasses
import json
import math
import subprocess
from pathlib import Path

import numpy as np
import pytest
from draws import word

import tetrion
from tetrion._training.cem import CemConfig, CemOptimizer, Noise
from tetrion._transport.server import find_program

PATHS = Path(__file__).parents[3] / "src/toolkit/tests/data/optimizer_paths.txt"
SUMMIT = np.array([1.0, -2.0, 0.5])


def toy(candidates):
    """Largest, 0, at the summit. Added up one by one, as for the golden numbers."""
    squares = (candidates - SUMMIT) ** 2
    return -(squares[:, 0] + squares[:, 1] + squares[:, 2])


def advance(search):
    while (generation := search.tell(toy(search.ask().candidates))) is None:
        pass
    return generation


def test_words_are_the_seed_functions():
    assert word(42, 0, 0) == 6332618229526065668


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("cem-diagonal", {"elite_fraction": 0.2, "noise": Noise("linear", 4.0, 3.0)}),
        ("cem-full", {"elite_fraction": 0.3, "noise": Noise("hyperbolic", 0.25), "covariance": "full"}),
    ],
)
def test_follows_the_golden_paths(name, config):
    """The paths that the server program's own search is held to."""
    rows = [line.split() for line in PATHS.read_text().splitlines()]
    means = [[float(number) for number in row[1:]] for row in rows if row[0] == name]
    search = CemOptimizer(CemConfig(population=10, initial_std=1.0, **config), 3, 42)
    assert len(means) == 5
    assert [advance(search).mean.tolist() for _ in means] == means


@pytest.mark.parametrize("preset", ["szita-lorincz", "thiery-scherrer", "lab", "tetrion"])
def test_learns_what_tetrion_train_learns(client, server, tmp_path, preset):
    """The same run by the server program: generation by generation the same numbers, and the same state at the end."""
    arguments = "--generations 4 --population 20 --games 2 --check-games 6 --final-games 2 --max-pieces 2000 --seed 5"
    command = [*find_program(), "train", "cem", "--settings", preset, "--rules", "simplified", "--features", "dellacherie6"]
    size = ["--width", "8", "--height", "8", "--server", server.address, "--out", tmp_path / "run"]
    subprocess.run([*command, *arguments.split(), *size], check=True, capture_output=True, timeout=60)
    expected = [json.loads(line) for line in (tmp_path / "run/generations.jsonl").read_text().splitlines()]
    # The notebook's games are short, end as the weights will have it, and are others for each candidate.
    notebook = {"max_steps": 1000, "terminal_value": "score", "game_seeds": "per_slot"} if preset == "lab" else {}
    training = tetrion.cem(
        client,
        tetrion.CemConfig.preset(preset, 4),
        features="dellacherie6",
        rules={"width": 8, "height": 8},
        population=20,
        generations=4,
        games=2,
        check_games=6,
        max_pieces=2000,
        seed=5,
        **notebook,
    )
    trained = list(training)
    assert [generation.to_json() for generation in trained] == expected
    checkpoint = json.loads((tmp_path / "run/checkpoint").read_text())
    assert training.state() == checkpoint["state"]["cem"]
    assert training.weights.tolist() == trained[-1].weights.tolist()


def test_learns_around_known_weights_what_tetrion_train_learns(client, server, tmp_path):
    """A list of features, weights to start from, and candidates that weigh the pieces to come."""
    bcts = client.get_policy("bcts")
    (columns,) = (known.columns for known in client.catalog(6).feature_sets if known.name == bcts.features)
    features, start = [*columns, "height_difference[0]"], [*bcts.weights, 0.0]
    arguments = "--generations 2 --population 8 --games 2 --check-games 4 --final-games 2 --max-pieces 300 --seed 5"
    around = ["--start", "bcts", "--initial-std", "0.1", "--noise", "0", "--covariance", "full"]
    looking = ["--search", "expectation,placements=3", "--features", ",".join(features)]
    command = [*find_program(), "train", *arguments.split(), *around, *looking, "--width", "6", "--height", "6"]
    command += ["--server", server.address, "--out", tmp_path / "run"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    expected = [json.loads(line) for line in (tmp_path / "run/generations.jsonl").read_text().splitlines()]
    config = dataclasses.replace(
        tetrion.CemConfig.preset("tetrion", 2), initial_std=0.1, noise=Noise("hyperbolic", 0.0), covariance="full"
    )
    training = tetrion.cem(
        client,
        config,
        features=features,
        rules={"width": 6, "height": 6},
        search=tetrion.Search(placements=3),
        start=start,
        population=8,
        generations=2,
        games=2,
        check_games=4,
        max_pieces=300,
        seed=5,
    )
    assert [trained.to_json() for trained in training] == expected


def test_a_search_goes_on_where_it_stopped():
    config = CemConfig(population=12, elite_fraction=0.25, initial_std=3.0, covariance="full", second_look=0.5)
    steady, resumed = CemOptimizer(config, 3, 11), CemOptimizer(config, 3, 11)
    for _ in range(8):  # every other time in the middle of a generation
        resumed = CemOptimizer.resume(config, json.loads(json.dumps(resumed.state())))
        ours, theirs = steady.ask(), resumed.ask()
        assert ours.candidates.tobytes() == theirs.candidates.tobytes()
        assert (ours.generation, ours.second_look) == (theirs.generation, theirs.second_look)
        assert ours.slots.tolist() == theirs.slots.tolist()
        assert str(steady.tell(toy(ours.candidates))) == str(resumed.tell(toy(theirs.candidates)))
    assert steady.state() == resumed.state()
    assert steady.generation == 4
    assert toy(steady.mean[None])[0] > toy(np.zeros((1, 3)))[0]
    assert steady.best[0] == toy(steady.best[1][None])[0]
    with pytest.raises(ValueError, match=r"^state "):
        CemOptimizer.resume(CemConfig(), steady.state())


def test_refuses_wrong_parameters():
    for wrong in (
        {"population": 1},
        {"elite_fraction": 0.0},
        {"initial_std": math.nan},
        {"covariance": "none"},
        {"second_look": 0.05},
        {"start": (1.0, math.inf)},
        {"noise": 4.0},
        {"population": "100"},
        {"population": 1.5},
        {"elite_fraction": "0.1"},
        {"initial_mean": True},
        {"start": (1.0, "2")},
        {"start": 1.0},
        {"unit_norm": "yes"},
    ):
        (name,) = wrong
        with pytest.raises(tetrion.InvalidArgumentError, match=name):
            CemConfig(**wrong)
    for kind, variance, generations in (
        ("pink", 1.0, 1.0),
        ("constant", -1.0, 1.0),
        ("linear", 1.0, 0.0),
        ("linear", "1", 1),
    ):
        with pytest.raises(tetrion.InvalidArgumentError, match=r"^noise\."):
            Noise(kind, variance, generations)
    for num_weights, seed in ((0, 1), (2, -1), ("2", 1), (2, 1.5)):
        with pytest.raises(tetrion.InvalidArgumentError, match=r"num_weights|seed"):
            CemOptimizer(CemConfig(), num_weights, seed)
    with pytest.raises(ValueError, match="name is 'ours', expected one of szita-lorincz"):
        CemConfig.preset("ours", 10)
    with pytest.raises(ValueError, match="start has 3 numbers, not 2"):
        CemOptimizer(CemConfig(start=(1.0, 2.0, 3.0)), 2, 1)
    search = CemOptimizer(CemConfig(population=4.0), 2.0, 1.0)
    assert search.ask().candidates.tobytes() == CemOptimizer(CemConfig(population=4), 2, 1).ask().candidates.tobytes()
    for scores in ([1.0], [1.0, 2.0, 3.0, math.nan]):
        with pytest.raises(ValueError, match="scores"):
            search.tell(scores)
    assert search.generation == 0


def test_refuses_wrong_arguments_of_a_training(client):
    with pytest.raises(ValueError, match="expected common or per_slot"):
        tetrion.cem(client, game_seeds="each")
    with pytest.raises(ValueError, match="check_games is 1, expected an integer from 2"):
        tetrion.cem(client, check_games=1)
    with pytest.raises(ValueError, match="start has 2 numbers, not 9"):
        tetrion.cem(client, start=[1.0, 2.0])
    with pytest.raises(ValueError, match="start is not an argument of genetic"):
        tetrion.genetic(client, start=[1.0, 2.0])
    with pytest.raises(ValueError, match="is called 'thiery', did you mean 'thiery9'\\? expected one of dellacherie6, "):
        tetrion.cem(client, features="thiery")
    for wrong, said in (
        ("thetrion", "config is 'thetrion', did you mean 'tetrion'? expected one of szita-lorincz, "),
        (3, "config is 3, expected a CemConfig, or the name of a preset"),
        (tetrion.GeneticConfig(), "config is GeneticConfig"),
    ):
        with pytest.raises(tetrion.InvalidArgumentError) as caught:
            tetrion.cem(client, wrong)
        assert str(caught.value).startswith(said)
    for evaluator in ("127.0.0.1:1", None, 3):
        with pytest.raises(tetrion.InvalidArgumentError, match=r"^evaluator is .*, expected a Client, Servers or a"):
            tetrion.cem(evaluator)
    with pytest.raises(tetrion.InvalidArgumentError, match=r"^features is 3, expected the name of a feature set, or a list"):
        tetrion.cem(client, features=3)


@pytest.mark.parametrize(("train", "other"), [(tetrion.cem, tetrion.genetic), (tetrion.genetic, tetrion.cem)])
def test_refuses_what_is_no_state(client, train, other):
    options = {"rules": {"width": 6, "height": 6}, "population": 10}
    training = train(client, **options, generations=1, games=1, max_pieces=20)
    training.run()
    state = training.state()
    wrong = [{}, 3, "x", [], {"seed": 1}, {**state, "seed": "x"}, {**state, "generation": "x"}, {**state, "best": 3}]
    needed = [name for name in state if name not in ("best", "first_scores", "incumbent")]
    wrong += [{name: value for name, value in state.items() if name != left_out} for left_out in needed]
    for given in wrong:
        with pytest.raises(tetrion.InvalidArgumentError, match=r"state|seed"):
            train(client, **options, state=given)
    with pytest.raises(tetrion.InvalidArgumentError, match=r"state"):
        other(client, **options, state=state)


def test_a_training_goes_on_where_another_stopped(client):
    options = {"rules": {"width": 6, "height": 6}, "population": 10, "games": 1, "max_pieces": 30, "check_games": 2}
    whole = tetrion.cem(client, generations=3, **options)
    assert (whole.generation, whole.weights) == (0, None)
    weights = whole.run()
    assert whole.generation == 3
    assert list(whole) == []
    assert whole.run().tolist() == weights.tolist()
    first = tetrion.cem(client, generations=1, **options)
    first.run()
    second = tetrion.cem(client, generations=3, **options, state=json.loads(json.dumps(first.state())))
    assert [trained.generation.generation for trained in second] == [1, 2]
    assert second.weights.tolist() == weights.tolist()
