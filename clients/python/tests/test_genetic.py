"""The genetic algorithm: the path of the server program's own, to the last bit."""

import json
import subprocess

import numpy as np
import pytest
from test_cem import PATHS, advance, toy

import tetrion
from tetrion._training.genetic import GeneticConfig, GeneticOptimizer
from tetrion._transport.server import find_program


def test_follows_the_golden_path():
    """The same golden path as for the server program's own search."""
    rows = [line.split() for line in PATHS.read_text().splitlines()]
    expected = [[float(number) for number in row[1:]] for row in rows if row[0] == "genetic"]
    search = GeneticOptimizer(GeneticConfig(individuals=10), 3, 42)
    assert len(expected) == 5
    assert search.incumbent is None
    assert [advance(search).best.tolist() for _ in expected] == expected
    assert search.incumbent.tolist() == expected[-1]


@pytest.mark.parametrize("settings", [{}, {"keep": 4, "tournament": 2, "crossover_probability": 0.9, "mutation_std": 1.5}])
def test_learns_what_tetrion_train_learns(client, server, tmp_path, settings):
    """The same run by the server program: generation by generation the same numbers, and the same state at the end."""
    arguments = "--generations 4 --population 15 --games 2 --check-games 6 --final-games 2 --max-pieces 300 --seed 5"
    flags = {"crossover_probability": "crossover", "mutation_std": "mutation-std"}
    chosen = [text for name, value in settings.items() for text in (f"--{flags.get(name, name)}", str(value))]
    command = [*find_program(), "train", "genetic", *arguments.split(), *chosen]
    subprocess.run(
        [*command, "--server", server.address, "--out", tmp_path / "run"], check=True, capture_output=True, timeout=60
    )
    expected = [json.loads(line) for line in (tmp_path / "run/generations.jsonl").read_text().splitlines()]
    config = GeneticConfig(**settings) if settings else None
    training = tetrion.genetic(client, config, population=15, generations=4, games=2, check_games=6, max_pieces=300, seed=5)
    assert [trained.to_json() for trained in training] == expected
    assert expected[0]["check"]["unit"] == "points"
    checkpoint = json.loads((tmp_path / "run/checkpoint").read_text())
    assert training.state() == checkpoint["state"]["genetic"]


def test_a_search_goes_on_where_it_stopped():
    config = GeneticConfig(individuals=7, keep=2)
    steady, resumed = GeneticOptimizer(config, 3, 11), GeneticOptimizer(config, 3, 11)
    for _ in range(6):
        resumed = GeneticOptimizer.resume(config, json.loads(json.dumps(resumed.state())))
        ours, theirs = steady.ask(), resumed.ask()
        assert ours.candidates.tobytes() == theirs.candidates.tobytes()
        assert str(steady.tell(toy(ours.candidates))) == str(resumed.tell(toy(theirs.candidates)))
    assert steady.state() == resumed.state()
    assert steady.best[0] == toy(steady.best[1][None])[0]
    # The two best go on as they are.
    before = steady.ask().candidates
    order = np.argsort(-toy(before), kind="stable")
    steady.tell(toy(before))
    np.testing.assert_array_equal(steady.ask().candidates[:2], before[order[:2]])
    with pytest.raises(ValueError, match=r"^state is wrong: individuals are 7, not 50"):
        GeneticOptimizer.resume(GeneticConfig(), steady.state())
    with pytest.raises(ValueError, match=r"^state cannot be read"):
        GeneticOptimizer.resume(config, tetrion.CemOptimizer(tetrion.CemConfig(), 3, 1).state())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("individuals", 1),
        ("initial_range", 0.0),
        ("tournament", 0),
        ("crossover_probability", 2.0),
        ("blend_alpha", -1.0),
        ("mutation_probability", float("nan")),
        ("mutation_std", -0.1),
        ("keep", 50),
        ("keep", True),
        ("tournament", 1.5),
        ("mutation_std", False),
    ],
)
def test_refuses_wrong_parameters(name, value):
    with pytest.raises(tetrion.InvalidArgumentError, match=f"{name} is {value}, expected "):
        GeneticConfig(**{name: value})
    with pytest.raises(tetrion.InvalidArgumentError, match=f"{name} is 'many', expected "):
        GeneticConfig(**{name: "many"})
    with pytest.raises(tetrion.InvalidArgumentError, match="seed is -1, expected an integer"):
        GeneticOptimizer(GeneticConfig(individuals=4.0, keep=1.0), 3.0, -1)
    assert GeneticOptimizer(GeneticConfig(individuals=4.0, keep=1.0), 3.0, 1.0).ask().candidates.shape == (4, 3)
