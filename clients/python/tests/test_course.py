"""The drop-in module of `examples/course`: the cells of a course notebook run with it, and count what the engine counts."""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import tetrion

COURSE = Path(__file__).parent.parent / "examples/course"
PRINTED = """
   o--------------o
 0 |              |
 1 |              |
 2 |              |
 3 |              |
 4 |              |
 5 |              |
 6 |  [][]        |
 7 |[][][]        |
 8 |[][][]        |
 9 |[]  []    []  |
10 |[][][]    []  |
11 |[][][]    [][]|
   o--------------o
          TEST BOARD          
   o----------------------o
 0 |          [][]        |
 1 |    [][][][]  []    []|
 2 |    [][]  []  [][][][]|
 3 |[]  [][][][][][][][][]|
 4 |[]  [][]  [][][][][][]|
 5 |[]  [][][][][][][][][]|
   o----------------------o
Column height: [3 0 5 5 5 6 6 5 4 4 5]
Total height: 48
Number of holes: 4
         TEST BOARD         
   o--------------------o
 0 |        [][]        |
 1 |  [][][][]  []    []|
 2 |  [][]  []  [][][][]|
 3 |[][][][][][][][][][]|
 4 |[][][]  [][][][][][]|
 5 |[][][][][][][][][][]|
   o--------------------o
Complete lines: 2
Bumpiness: 6
Score: -56
          TEST BOARD          
   o----------------------o
 0 |          [][]        |
 1 |  [][][][][]  []    []|
 2 |[][][][]  []  [][][][]|
 3 |[][][][][][][][][][][]|
 4 |[]  [][]  [][][][][][]|
 5 |[]  [][][][][][][][][]|
   o----------------------o
Landing height: 4
          TEST BOARD          
   o----------------------o
 0 |          [][]        |
 1 |  [][][][][]  []    []|
 2 |[][][][][][][][][][][]|
 3 |[][][][][][][][][][][]|
 4 |[]  [][]  [][][][][][]|
 5 |[]  [][][][][][][][][]|
   o----------------------o
Erosion: 6
          TEST BOARD          
   o----------------------o
 0 |          [][]        |
 1 |    [][][][]  []    []|
 2 |    [][][][][][][][][]|
 3 |[]  [][][][][][][][][]|
 4 |[]  [][]  [][][][][][]|
 5 |[]  [][][][][][][][][]|
   o----------------------o
Row transitions: 20
Column transitions: 22
Cumulative wells: 6
Hole depths: 4
Lines with holes: 2
"""  # noqa: W291
# The engine's names for the quizzes' numbers.
COUNTED = {
    "total_height_preclear": "total_height",
    "lines_cleared": "complete_lines",
    "holes_preclear": "number_holes",
    "bumpiness_preclear": "bumpiness",
    "landing_height_lab": "landing_height",
    "eroded_piece_cells": "erosion",
    "row_transitions_preclear": "row_transitions",
    "column_transitions_lab_preclear": "column_transitions",
    "wells_lab_preclear": "cumulative_wells",
    "hole_depth_lab_preclear": "hole_depths",
    "rows_with_holes_preclear": "lines_with_holes",
}
OF_PIECES = ["landing_height", "erosion"]
# The notebook's weights of its eight features.
EIGHT = [12.63, 6.60, 9.22, 19.77, 13.08, 10.49, 1.61, 24.04]


@pytest.fixture
def cells(monkeypatch):
    """The notebook, with its games one after another in this process."""
    monkeypatch.syspath_prepend(COURSE)
    serial = SimpleNamespace(Parallel=lambda jobs: list, delayed=lambda play: play)
    monkeypatch.setitem(sys.modules, "joblib", serial)
    for name in ("course_cells", "tetris", "tetris.env"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("course_cells")


def test_the_cells_print_what_the_notebook_prints(capsys, cells):
    assert capsys.readouterr().out.endswith(PRINTED)


def drawing(board, piece):
    return tetrion.Drawing(["".join(".#"[cell] for cell in row) for row in board.grid.T], piece.name)


def positions(cells, games, keys):
    """States of games with random keys, each with a piece that has just appeared."""
    dice, game = np.random.default_rng(1), cells.TetrisEnv()
    for seed in range(games):
        game.seed(seed)
        state, done = game.reset(), False
        while not done:
            if state[1].anchor[1] == 0:
                yield state
            state, _, done = game.step(int(dice.choice(keys)))
    game.close()


def test_the_answers_to_the_quizzes_are_the_engines_numbers(cells):
    client, compared = tetrion.Client(), 0
    for board, piece in positions(cells, 8, [0, 1, 1, 2, 2, 3, 4, 5]):
        features = [*COUNTED, "column_height_preclear"]
        listed = client.enumerate_placements(
            drawing(board, piece), rules="lab", features=features, preclear_boards=True, policy=tetrion.Policy("lab8")
        )
        grids, tetros = cells.next_moves(board, piece)
        rows = [(grid.grid.T[::-1] << np.arange(10)).sum(axis=1).tolist() for grid in grids]
        assert rows == listed.preclear_boards.tolist()
        heights = [cells.column_height(grid.grid.T) for grid in grids]
        assert np.array_equal(np.array(heights), listed.features[:, len(COUNTED) :])
        for column, name in enumerate(COUNTED.values()):
            count = getattr(cells, name)
            pieces = ([tetro] for tetro in tetros) if name in OF_PIECES else ([] for _ in tetros)
            counted = [count(grid, *more) for grid, more in zip(grids, pieces, strict=True)]
            assert counted == listed.features[:, column].tolist(), name
        scores = [cells.compute_new_score(EIGHT, grid, tetro) for grid, tetro in zip(grids, tetros, strict=True)]
        np.testing.assert_allclose(scores, listed.policy_values)
        compared += len(grids)
    assert compared > 2000


def test_the_pieces_of_the_module_are_where_the_engine_has_them(cells):
    """Every key: a piece that the module lost would appear as a new one, in the top row."""
    dice, game = np.random.default_rng(2), cells.TetrisEnv()
    for seed in range(20):
        game.seed(seed)
        (board, piece), done = game.reset(), False
        while not done:
            before = piece
            (board, piece), _, done = game.step(int(dice.integers(5)))
            assert piece.anchor[1] == before.anchor[1] + 1 or piece.anchor == (5, 0)
            assert done or board.can_place(piece)


def test_the_player_plays_as_the_engines_does(cells):
    client = tetrion.Client()
    for name, weights, score in (("lab-uniform", [1] * 4, cells.compute_score), ("lab8", EIGHT, cells.compute_new_score)):
        ours = cells.play_tetris([weights] * 2, horizon=200, score_fun=score)
        engine = client.evaluate(name, rules="lab", seeds=[42, 43], max_steps=200)
        assert ours.tolist() == engine.lines.tolist()
        assert min(ours) > 3


def test_the_elite_is_that_of_the_engines_search(cells):
    config = tetrion.CemConfig.preset("lab", 100)
    search = tetrion.CemOptimizer(config, 4, seed=1)
    params = search.ask().candidates
    scores = np.random.default_rng(1).random(len(params))
    generation = search.tell(scores)
    mean, std, best = cells.elite_statistics(params, scores, 20)
    np.testing.assert_allclose(mean, generation.mean)
    np.testing.assert_allclose(std, generation.std)
    assert best.tolist() == generation.best.tolist()


def test_the_search_of_the_notebook_runs(cells):
    assert cells.policy_search(epochs=2, batch=5, horizon=20).shape == (4,)


def test_a_game_is_drawn(cells, capsys):
    game = cells.TetrisEnv()
    game.reset()
    game.step(5)
    capsys.readouterr()
    game.render()
    assert 4 < capsys.readouterr().out.count("[]") <= 8  # parts of the new piece may be above the top row
    game.close()
